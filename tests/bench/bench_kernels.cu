/* The kernel families of cuda/ by themselves: checked against the CPU backend byte for byte
 * and timed on samples that are in device memory already.
 *
 *   bench_kernels [--rows TEXT] [--family best|all|NAME] [--repeat N] [--small]
 *
 * --rows: only those whose name holds TEXT; it can be given several times. --family: the one the
 * program would take (best), every one that takes the plan, or only that one. --small: checks
 * small images and times nothing. One line of JSON a result. Exit status 1 when samples
 * differ. */
#include "bench_rows.h"
#include "family.h"
#include "gpu_timer.cuh"

#include <vector>

namespace {

using GF_DEVICE::families;
using GF_DEVICE::family_for;

struct options {
    std::vector<const char *> rows;
    const char *family = "best";
    int repeats = 20;
    bool small = false;
};

size_t arithmetic_bytes(const struct gf_plan &p) { return p.arith == GF_DOUBLE ? 8 : 4; }

template <typename T> T *to_device(const T *from, size_t count)
{
    T *to;
    GPU(cudaMalloc(&to, count * sizeof(T)));
    GPU(cudaMemcpy(to, from, count * sizeof(T), cudaMemcpyHostToDevice));
    return to;
}

struct gf_device_mask mask_to_device(const struct gf_plan &p)
{
    struct gf_device_mask m = {};
    size_t taps = static_cast<size_t>(p.size[0]) * p.size[1] * p.size[2];

    for (int a = 0; a < 3 && p.separable; a++)
        m.factor[a] = to_device(static_cast<const char *>(p.factor[a]),
                                p.size[a] * arithmetic_bytes(p));
    if (!p.separable)
        m.taps = to_device(static_cast<const char *>(p.taps), taps * arithmetic_bytes(p));
    return m;
}

/* The input row or plane under each tap of each output row or plane; the whole image is there. */
int32_t *slots_to_device(const struct gf_plan &p, int axis, uint64_t n, uint64_t out)
{
    std::vector<int32_t> slots(out + p.size[axis] - 1);
    for (size_t i = 0; i < slots.size(); i++)
        slots[i] = static_cast<int32_t>(
            gf_border_index(p.border, static_cast<int64_t>(i) + p.shift[axis] - p.origin[axis],
                            static_cast<int64_t>(n)));
    return to_device(slots.data(), slots.size());
}

/* A plan's image in device memory, all of it as one chunk. */
struct image {
    struct gf_plan plan;
    struct gf_device_mask mask;
    struct gf_chunk chunk;
    cudaPitchedPtr in, out;
    int32_t *row_slot, *plane_slot;
    unsigned long long *counts;
};

template <typename T> void fill_input(const struct image &m)
{
    fill_random(static_cast<T *>(m.in.ptr), gf_row_bytes(&m.plan.in) / sizeof(T),
                m.in.pitch / sizeof(T), m.plan.in.height * m.plan.in.depth);
}

void fill_input(const struct image &m)
{
    switch (m.plan.in.type) {
    case GF_U8: fill_input<uint8_t>(m); break;
    case GF_U16: fill_input<uint16_t>(m); break;
    case GF_F64: fill_input<double>(m); break;
    default: fill_input<float>(m); break;
    }
}

void image_make(struct image *m, size_t row, bool small)
{
    *m = {};
    bench_row_plan(row, small, &m->plan);
    const struct gf_plan &p = m->plan;
    m->mask = mask_to_device(p);
    m->row_slot = slots_to_device(p, 1, p.in.height, p.out.height);
    m->plane_slot = slots_to_device(p, 2, p.in.depth, p.out.depth);
    GPU(cudaMalloc3D(&m->in, make_cudaExtent(gf_row_bytes(&p.in), p.in.height, p.in.depth)));
    GPU(cudaMalloc3D(&m->out, make_cudaExtent(gf_row_bytes(&p.out), p.out.height, p.out.depth)));
    GPU(cudaMalloc(&m->counts, 3 * sizeof *m->counts));
    GPU(cudaMemset(m->counts, 0, 3 * sizeof *m->counts));

    m->chunk.in = m->in.ptr;
    m->chunk.in_row = m->in.pitch;
    m->chunk.in_plane = m->in.pitch * p.in.height;
    m->chunk.in_rows = static_cast<uint32_t>(p.in.height);
    m->chunk.in_planes = static_cast<uint32_t>(p.in.depth);
    m->chunk.out = m->out.ptr;
    m->chunk.out_row = m->out.pitch;
    m->chunk.out_plane = m->out.pitch * p.out.height;
    m->chunk.rows = static_cast<uint32_t>(p.out.height);
    m->chunk.planes = static_cast<uint32_t>(p.out.depth);
    m->chunk.row_slot = m->row_slot;
    m->chunk.plane_slot = m->plane_slot;
    m->chunk.mask = &m->mask;
    m->chunk.counts = m->counts;
    fill_input(*m);
}

void image_end(struct image *m)
{
    for (int a = 0; a < 3; a++)
        GPU(cudaFree(m->mask.factor[a]));
    GPU(cudaFree(m->mask.taps));
    GPU(cudaFree(m->row_slot));
    GPU(cudaFree(m->plane_slot));
    GPU(cudaFree(m->in.ptr));
    GPU(cudaFree(m->out.ptr));
    GPU(cudaFree(m->counts));
    bench_row_plan_end(&m->plan);
}

/* Rows [y, y + rows) of planes [z, z + planes) in device memory, packed into `to`. */
void from_device(std::vector<unsigned char> *to, const void *from, size_t row_pitch,
                 size_t plane_pitch, size_t row, const struct gf_slab &slab)
{
    to->resize(row * slab.rows * slab.planes);
    for (uint64_t k = 0; k < slab.planes; k++)
        GPU(cudaMemcpy2D(to->data() + k * slab.rows * row, row,
                         static_cast<const unsigned char *>(from) + (slab.z + k) * plane_pitch +
                             slab.y * row_pitch,
                         row_pitch, row, slab.rows, cudaMemcpyDeviceToHost));
}

/* Whether these output rows and planes are what the CPU backend computes. */
bool same_slab(const struct image &m, void *cpu, struct gf_slab out, struct gf_counts *counts)
{
    static std::vector<unsigned char> input, got, want;
    const struct gf_plan &p = m.plan;
    struct gf_error e = {};
    struct gf_slab in = {};
    uint64_t last;
    size_t in_row = gf_row_bytes(&p.in), out_row = gf_row_bytes(&p.out);

    gf_plan_reach(&p, 1, out.y, out.y + out.rows, &in.y, &last);
    in.rows = last - in.y;
    gf_plan_reach(&p, 2, out.z, out.z + out.planes, &in.z, &last);
    in.planes = last - in.z;
    from_device(&input, m.in.ptr, m.chunk.in_row, m.chunk.in_plane, in_row, in);
    from_device(&got, m.out.ptr, m.chunk.out_row, m.chunk.out_plane, out_row, out);
    want.resize(got.size());
    in.data = input.data();
    in.row_stride = in_row;
    in.plane_stride = in_row * in.rows;
    out.data = want.data();
    out.row_stride = out_row;
    out.plane_stride = out_row * out.rows;
    if (gf_backend_cpu.run(cpu, &in, &out, counts, &e) != GF_OK) {
        fprintf(stderr, "cpu: %s\n", e.text);
        return false;
    }
    for (size_t i = 0; i < got.size(); i++)
        if (got[i] != want[i]) {
            size_t line = i / out_row, x = i % out_row / gf_type_bytes(p.out.type);
            fprintf(stderr, "differs at sample %zu, row %zu, plane %zu\n", x,
                    static_cast<size_t>(out.y) + line % static_cast<size_t>(out.rows),
                    static_cast<size_t>(out.z) + line / static_cast<size_t>(out.rows));
            return false;
        }
    return true;
}

/* All of a small image, counts too; of a large one nine slabs, the first and the last among
 * them. */
bool same_image(const struct image &m, bool small)
{
    const struct gf_plan &p = m.plan;
    bool volume = p.out.depth > 1, fine = true;
    uint64_t length = volume ? p.out.depth : p.out.height, part = volume ? 2 : 50;
    uint64_t slabs = small ? 1 : 9;
    struct gf_counts counts = {};
    unsigned long long device_counts[3];
    struct gf_error e = {};
    void *cpu = nullptr;

    if (small)
        part = length;
    if (gf_backend_cpu.open(&p, &cpu, &e) != GF_OK) {
        fprintf(stderr, "cpu: %s\n", e.text);
        return false;
    }
    for (uint64_t i = 0; i < slabs && fine; i++) {
        struct gf_slab out = {};
        uint64_t first = slabs == 1 ? 0 : i * (length - part) / (slabs - 1);
        out.y = volume ? 0 : first;
        out.rows = volume ? p.out.height : part;
        out.z = volume ? first : 0;
        out.planes = volume ? part : 1;
        fine = same_slab(m, cpu, out, &counts);
    }
    gf_backend_cpu.close(cpu);
    GPU(cudaMemcpy(device_counts, m.counts, sizeof device_counts, cudaMemcpyDeviceToHost));
    if (fine && small &&
        (device_counts[0] != counts.clipped_low || device_counts[1] != counts.clipped_high ||
         device_counts[2] != counts.nan)) {
        fprintf(stderr, "counts differ\n");
        fine = false;
    }
    return fine;
}

/* Bytes and operations that the filter cannot do without. */
double least_bytes(const struct gf_plan &p)
{
    return static_cast<double>(gf_image_bytes(&p.in)) + static_cast<double>(gf_image_bytes(&p.out));
}

double operations(const struct gf_plan &p)
{
    double taps = p.separable ? 0 : 1;
    for (int a = 0; a < 3; a++) {
        if (!p.separable)
            taps *= p.size[a];
        else if (p.size[a] > 1)
            taps += p.size[a];
    }
    return 2 * taps * static_cast<double>(p.out.width * p.out.height * p.out.depth) *
           p.out.channels;
}

/* One family at one row and size; prints a line. Whether the samples were right. */
bool measure(const struct gf_family *family, size_t row, bool small, const struct options &o)
{
    struct image m;
    struct gpu_time t = {};
    uint64_t work;

    image_make(&m, row, small);
    work = family->work != nullptr ? family->work(&m.plan, &m.chunk) : 0;
    if (work > 0)
        GPU(cudaMalloc(&m.chunk.work, work));
    GPU(cudaMemset(m.out.ptr, 0xa5, m.chunk.out_plane * m.plan.out.depth));
    GPU(family->prepare(&m.plan, &m.mask, nullptr));
    GPU(family->launch(&m.plan, &m.chunk, nullptr));
    GPU(cudaDeviceSynchronize());
    bool fine = same_image(m, small);
    if (!small)
        t = timed([&] { GPU(family->launch(&m.plan, &m.chunk, nullptr)); }, o.repeats);
    if (!small || !fine || o.small)
        print_result("gpufilt", family->name, bench_row_name(row), t, least_bytes(m.plan),
                     operations(m.plan), fine ? "same" : "WRONG");
    GPU(cudaFree(m.chunk.work));
    image_end(&m);
    return fine;
}

bool wanted(const struct options &o, const struct gf_family *f, const struct gf_plan *p)
{
    if (strcmp(o.family, "best") == 0)
        return f == family_for(p, true);
    return f->takes(p, true) && (strcmp(o.family, "all") == 0 || strcmp(o.family, f->name) == 0);
}

bool run_row(size_t row, const struct options &o)
{
    bool fine = true;
    struct gf_plan p;

    bench_row_plan(row, o.small, &p);
    for (const struct gf_family *const *f = families; *f != nullptr; f++)
        if (wanted(o, *f, &p)) {
            fine = measure(*f, row, true, o) && fine;
            if (!o.small)
                fine = measure(*f, row, false, o) && fine;
        }
    bench_row_plan_end(&p);
    return fine;
}

bool named(const struct options &o, size_t row)
{
    for (const char *text : o.rows)
        if (strstr(bench_row_name(row), text) != nullptr)
            return true;
    return o.rows.empty();
}

}

int main(int argc, char **argv)
{
    struct options o;
    bool fine = true;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--small") == 0) {
            o.small = true;
        } else if (i + 1 < argc && strcmp(argv[i], "--rows") == 0) {
            o.rows.push_back(argv[++i]);
        } else if (i + 1 < argc && strcmp(argv[i], "--family") == 0) {
            o.family = argv[++i];
        } else if (i + 1 < argc && strcmp(argv[i], "--repeat") == 0) {
            o.repeats = atoi(argv[++i]);
        } else {
            fprintf(stderr, "usage: bench_kernels [--rows TEXT] [--family best|all|NAME] "
                            "[--repeat N] [--small]\n");
            return 2;
        }
    }
    if (!o.small)
        measure_copy("copy");
    for (size_t row = 0; row < bench_row_count(); row++)
        if (named(o, row))
            fine = run_row(row, o) && fine;
    return fine ? 0 : 1;
}
