#include "cost.h"

#include "util.h"

/* Seconds an output sample takes on one core: what streaming it costs, what each tap adds, and
 * what colour with alpha adds; double precision has half the lanes. Fitted to check_backend
 * --bench on a core with AVX-512 (0.6 to 1.1 ns for 10 taps, 1.9 for 34, 5.2 for 125). */
#define CPU_SAMPLE 0.8e-9
#define CPU_TAP 0.04e-9
#define CPU_ALPHA 2.5e-9
#define CPU_DOUBLE 2.0

/* Bytes a second between a cached file and a buffer, on one core. A coded or a slow file takes
 * longer, on either device. */
#define READING 3.5e9
#define WRITING 2.9e9

/* Making a context: 0.21 to 0.35 s on an H200. Reading goes on meanwhile, but only until the
 * buffers are full, which is too little to count. Memory, streams and the mask take a few
 * milliseconds an image. */
#define GPU_START 0.3
#define GPU_IMAGE 0.005
/* Pinning buffers: 0.33 to 0.40 s a GiB, of not more than the ring's size. */
#define GPU_PINNING (0.35 / 1073741824.0)
#define GPU_RING 268435456.0
/* Pinned memory over PCIe 5 x16 moves 55 GB/s each way, over PCIe 4 half of it. */
#define GPU_LINK 25e9
/* Taps a second: a tenth of what the fastest kernels reach on an H200, so that smaller GPUs and
 * rarer plans save time as well; many GPUs have few units for double precision. */
#define GPU_TAPS 2e12
#define GPU_DOUBLE 16.0

/* How many times the GPU's estimate the CPU's has to be. */
#define MARGIN 1.25

static double larger(double a, double b) { return a > b ? a : b; }

/* Multiplications for one output sample. */
static double taps_of(const struct gf_plan *plan)
{
    double taps = plan->separable ? 0 : 1;
    for (int a = 0; a < 3; a++)
        if (!plan->separable)
            taps *= plan->size[a];
        else if (plan->size[a] > 1)
            taps += plan->size[a];
    return taps;
}

struct gf_cost gf_cost_estimate(const struct gf_plan *plan, uint64_t alike)
{
    const double samples = (double)plan->out.width * (double)plan->out.height *
                           (double)plan->out.depth * plan->out.channels;
    const double in = (double)gf_image_bytes(&plan->in), out = (double)gf_image_bytes(&plan->out);
    const double taps = taps_of(plan), reading = in / READING, writing = out / WRITING;
    const bool wide = plan->arith == GF_DOUBLE;
    const double images = (double)alike, threads = plan->threads;
    const double filtering = samples * (CPU_SAMPLE + taps * CPU_TAP * (wide ? CPU_DOUBLE : 1) +
                                        (plan->alpha_multiply ? CPU_ALPHA : 0));
    const double computing = samples * taps / GPU_TAPS * (wide ? GPU_DOUBLE : 1);
    const double pinning = (in + out < GPU_RING ? in + out : GPU_RING) * GPU_PINNING;
    const double files = larger(larger(reading, writing), (reading + writing) / threads);
    struct gf_cost cost;

    /* The stages overlap; the slowest decides, or the work of all over the cores there are. */
    cost.cpu = images * larger(files, (reading + filtering + writing) / threads);
    cost.gpu = GPU_START + images * (GPU_IMAGE + pinning +
                                     larger(files, (in + out) / GPU_LINK + computing));
    return cost;
}

bool gf_cost_gpu_pays(const struct gf_cost *cost) { return cost->cpu > MARGIN * cost->gpu; }
