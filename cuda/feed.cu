#include "feed.h"

#include "errors.h"

namespace GF_DEVICE {
namespace {

/* Consecutive input indices that lie in consecutive slots of this chunk, and in those of the
 * chunk before from slot `before` on (-1: in none). */
struct piece {
    uint64_t index, count;
    uint64_t slot;
    int64_t before;
};

/* The piece that begins in slot `slot`. */
struct piece piece_at(const struct slots *slots, const struct slots *before, uint64_t slot)
{
    int run = slot < slots->count[0] ? 0 : 1;
    uint64_t offset = run == 0 ? slot : slot - slots->count[0];
    struct piece p;

    p.slot = slot;
    p.index = slots->first[run] + offset;
    p.count = slots->count[run] - offset;
    p.before = -1;
    if (before != nullptr)
        p.count = slots_piece(before, p.index, p.count, &p.before);
    return p;
}

struct rows at(const struct rows &rows, uint64_t row, uint64_t plane)
{
    struct rows r = rows;
    r.data += plane * r.plane + row * r.row;
    return r;
}

/* One box of samples: on the device already, or in the slab. */
cudaError_t bring(struct state *s, struct set *set, const struct set *before,
                  const struct gf_slab *in, const struct piece &rows, const struct piece &planes)
{
    struct rows to = at(set->in, rows.slot, planes.slot), from;

    if (rows.before >= 0 && planes.before >= 0) {
        from = at(before->in, static_cast<uint64_t>(rows.before),
                  static_cast<uint64_t>(planes.before));
        return copy_rows(to, from, s->in_row, rows.count, planes.count,
                         cudaMemcpyDeviceToDevice, s->upload);
    }
    from.data = static_cast<char *>(in->data);
    from.row = in->row_stride;
    from.plane = in->plane_stride;
    return copy_rows(to, at(from, rows.index - in->y, planes.index - in->z), s->in_row,
                     rows.count, planes.count, cudaMemcpyHostToDevice, s->upload);
}

cudaError_t feed_samples(struct state *s, struct set *set, const struct set *before,
                         const struct gf_slab *in)
{
    const struct slots *row_slots = before != nullptr ? &before->row_slots : nullptr;
    const struct slots *plane_slots = before != nullptr ? &before->plane_slots : nullptr;
    uint64_t row_count = slots_count(&set->row_slots), plane_count = slots_count(&set->plane_slots);
    struct piece rows, planes;

    for (uint64_t z = 0; z < plane_count; z += planes.count) {
        planes = piece_at(&set->plane_slots, plane_slots, z);
        for (uint64_t y = 0; y < row_count; y += rows.count) {
            rows = piece_at(&set->row_slots, planes.before >= 0 ? row_slots : nullptr, y);
            GF_CALL(bring(s, set, before, in, rows, planes));
        }
    }
    return cudaSuccess;
}

/* The four tables one after the other, in one transfer. */
cudaError_t feed_tables(struct state *s, struct set *set, struct gf_chunk *chunk)
{
    const struct gf_plan *plan = s->plan;
    uint64_t window_rows = chunk->rows + UINT64_C(0) + plan->size[1] - 1;
    uint64_t window_planes = chunk->planes + UINT64_C(0) + plan->size[2] - 1;
    uint64_t center = window_rows + window_planes, entries = center;
    int32_t *host = set->host_tables;

    if (plan->alpha_keep)
        entries += chunk->rows + UINT64_C(0) + chunk->planes;
    slots_fill(plan, 1, chunk->y, chunk->rows, &set->row_slots, host,
               plan->alpha_keep ? host + center : nullptr);
    slots_fill(plan, 2, chunk->z, chunk->planes, &set->plane_slots, host + window_rows,
               plan->alpha_keep ? host + center + chunk->rows : nullptr);
    chunk->row_slot = set->tables;
    chunk->plane_slot = set->tables + window_rows;
    chunk->center_row = plan->alpha_keep ? set->tables + center : nullptr;
    chunk->center_plane = plan->alpha_keep ? set->tables + center + chunk->rows : nullptr;
    return cudaMemcpyAsync(set->tables, host, entries * sizeof *host, cudaMemcpyHostToDevice,
                           s->upload);
}

}

cudaError_t feed(struct state *s, struct set *set, const struct set *before,
                 const struct gf_slab *in, struct gf_chunk *chunk)
{
    slots_find(s->plan, 1, chunk->y, chunk->rows, &set->row_slots);
    slots_find(s->plan, 2, chunk->z, chunk->planes, &set->plane_slots);
    chunk->in = set->in.data;
    chunk->in_row = set->in.row;
    chunk->in_plane = set->in.plane;
    chunk->in_rows = slots_count(&set->row_slots);
    chunk->in_planes = slots_count(&set->plane_slots);
    GF_CALL(feed_samples(s, set, before, in));
    return feed_tables(s, set, chunk);
}

}
