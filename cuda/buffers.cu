#include "buffers.h"

#include <climits>
#include <cstdio>
#include <cstdlib>

namespace GF_DEVICE {
namespace {

/* A slab is cut into about this many chunks, so that little of it is uploaded before the first
 * kernel starts and downloaded after the last one has ended, ... */
constexpr uint64_t CHUNKS = 8;
/* ... but not into transfers so short that starting them (some 20 us a chunk) counts, nor
 * into buffers larger than speed asks for. */
constexpr uint64_t LEAST_CHUNK = 4 << 20;
constexpr uint64_t MOST_CHUNK = 64 << 20;
/* Slots and window entries are counted in 32 bits. */
constexpr uint64_t MOST_ROWS = 1 << 30;

uint64_t slots_for(uint64_t outputs, uint32_t taps, uint64_t n)
{
    return gf_min(sum_of(outputs, taps - UINT64_C(1)), n);
}

uint64_t table_bytes(const struct gf_plan *plan, const struct shape *shape)
{
    uint64_t entries = UINT64_C(2) * shape->rows + plan->size[1] - 1 +
                       UINT64_C(2) * shape->planes + plan->size[2] - 1;
    return entries * sizeof(int32_t);
}

struct gf_chunk chunk_of(const struct gf_plan *plan, const struct shape *shape)
{
    struct gf_chunk c = {};
    c.rows = shape->rows;
    c.planes = shape->planes;
    c.in_rows = static_cast<uint32_t>(slots_for(shape->rows, plan->size[1], plan->in.height));
    c.in_planes = static_cast<uint32_t>(slots_for(shape->planes, plan->size[2], plan->in.depth));
    return c;
}

uint64_t work_bytes(const struct state *s, const struct shape *shape)
{
    struct gf_chunk c = chunk_of(s->plan, shape);
    return s->family->work != nullptr ? s->family->work(s->plan, &c) : 0;
}

/* n in equal shares of at most `most`: the size of a share. */
uint32_t share(uint64_t n, uint64_t most)
{
    most = gf_min(gf_max(most, 1), MOST_ROWS);
    return static_cast<uint32_t>(gf_ceil_div(n, gf_ceil_div(n, most)));
}

/* The shape that is best when there is memory enough. Every chunk holds all rows of the slab
 * where planes overlap in what they read, because the planes of the chunk before are copied
 * from it on the device, while a chunk of other rows would have to upload them all again. */
struct shape wanted(const struct gf_plan *plan, uint64_t unit, uint64_t rows, uint64_t planes)
{
    struct shape shape = {};
    bool deep = plan->size[2] > 1;
    uint64_t plane = product_of(unit, rows);
    uint64_t target = gf_min(gf_max(product_of(plane, planes) / CHUNKS, LEAST_CHUNK), MOST_CHUNK);
    uint64_t most_rows = deep ? rows : gf_max(target / unit, plan->size[1]);
    /* Planes of the halo are computed on again in separable passes. */
    uint64_t most_planes = gf_max(target / plane, (plan->size[2] + UINT64_C(3)) / 4);

#ifdef GPUFILT_TEST_HOOKS
    const char *text = getenv("GPUFILT_TEST_CHUNK");
    unsigned r, p;
    if (text != nullptr && sscanf(text, "%ux%u", &r, &p) == 2) {
        most_rows = r;
        most_planes = p;
    }
#endif
    shape.rows = share(rows, most_rows);
    shape.planes = share(planes, most_planes);
    shape.sets = SETS;
    return shape;
}

/* One step smaller; false when there is none. */
bool smaller(struct shape *shape)
{
    if (shape->planes > 1)
        shape->planes = (shape->planes + 1) / 2;
    else if (shape->rows > 1)
        shape->rows = (shape->rows + 1) / 2;
    else if (shape->sets > 1)
        shape->sets = 1;
    else
        return false;
    return true;
}

cudaError_t allocate(struct state *s)
{
    struct gf_chunk c = chunk_of(s->plan, &s->shape);
    uint64_t tables = table_bytes(s->plan, &s->shape);
    void *block;

    for (unsigned i = 0; i < s->shape.sets; i++) {
        struct set *set = &s->set[i];
        GF_CALL(rows_allocate(&set->in, s->in_row, c.in_rows, c.in_planes, s->packed));
        GF_CALL(rows_allocate(&set->out, s->out_row, c.rows, c.planes, s->packed));
        GF_CALL(cudaMalloc(&block, tables));
        set->tables = static_cast<int32_t *>(block);
        GF_CALL(cudaMallocHost(&block, tables));
        set->host_tables = static_cast<int32_t *>(block);
    }
    s->work_room = work_bytes(s, &s->shape);
    return s->work_room > 0 ? cudaMalloc(&s->work, s->work_room) : cudaSuccess;
}

}

uint64_t shape_bytes(const struct state *s, const struct shape *shape)
{
    struct gf_chunk c = chunk_of(s->plan, shape);
    uint64_t one = sum_of(rows_bytes(s->in_row, c.in_rows, c.in_planes, s->packed),
                          rows_bytes(s->out_row, c.rows, c.planes, s->packed));

    one = sum_of(one, table_bytes(s->plan, shape));
    return sum_of(product_of(one, shape->sets), work_bytes(s, shape));
}

cudaError_t buffers_make(struct state *s, uint64_t rows, uint64_t planes, struct shape *shape)
{
    *shape = wanted(s->plan, gf_max(s->in_row, s->out_row), rows, planes);
    while (shape_bytes(s, shape) > s->limit)
        if (!smaller(shape)) {
            buffers_free(s);
            return cudaErrorMemoryAllocation;
        }
    shape->rows = share(rows, shape->rows);
    shape->planes = share(planes, shape->planes);
    if (shape->rows <= s->shape.rows && shape->planes <= s->shape.planes &&
        shape->sets == s->shape.sets && work_bytes(s, shape) <= s->work_room)
        return cudaSuccess;
    buffers_free(s);
    s->shape = *shape;
    return allocate(s);
}

bool buffers_shrink(struct state *s)
{
    struct shape shape = s->shape;

    buffers_free(s);
    if (shape.rows == 0 || !smaller(&shape))
        return false;
    s->limit = shape_bytes(s, &shape);
    return true;
}

void buffers_free(struct state *s)
{
    for (struct set &set : s->set) {
        rows_free(&set.in);
        rows_free(&set.out);
        if (set.tables != nullptr)
            cudaFree(set.tables);
        if (set.host_tables != nullptr)
            cudaFreeHost(set.host_tables);
        set.tables = set.host_tables = nullptr;
        set.row_slots = set.plane_slots = {};
    }
    if (s->work != nullptr)
        cudaFree(s->work);
    s->work = nullptr;
    s->work_room = 0;
    s->shape = {};
}

}
