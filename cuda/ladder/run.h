/* What the parts of the runner share: a work that was opened, and one that is run. */
#ifndef GPUFILT_CUDA_LADDER_RUN_H
#define GPUFILT_CUDA_LADDER_RUN_H

#include "../errors.h"
#include "version.h"

extern "C" {
#include "bench/expect.h"
#include "signals.h"
}

namespace GF_DEVICE {

/* ---- memory.cu: device memory that shows who writes beside it ---- */

/* `samples` on a boundary of 256 bytes. On a GPU words that nothing may write lie on both sides;
 * the simt device looks at every access by itself. Each byte of it all is 0xff at first: samples
 * that are NaN, so that one which nobody wrote, or which does not belong to the input, is found in
 * the result. */
struct guarded {
    char *base;
    float *data;
    uint64_t samples;
};
cudaError_t guarded_make(struct guarded *g, uint64_t samples);
/* Fills samples and guards with 0xff. */
cudaError_t guarded_poison(const struct guarded *g, cudaStream_t stream);
/* Whether the guards are as they were. Waits for the device. */
cudaError_t guarded_intact(const struct guarded *g, bool *intact);
/* Accepts what was never made; leaves zeros. */
void guarded_free(struct guarded *g);

/* ---- samples.cu ---- */

/* Rows of samples: size along x, y, z; rows `pitch` and planes `plane` samples apart. */
struct block_of_rows {
    float *data;
    uint64_t size[3], pitch, plane;
};

inline uint64_t count_of(const uint64_t size[3]) { return size[0] * size[1] * size[2]; }

/* Sample i of the block, x fastest, becomes gf_ladder_sample(i, stress). */
cudaError_t fill_samples(const struct block_of_rows *rows, bool stress, cudaStream_t stream);
/* And gf_ladder_mark(i, n, gf_mark_bits(n)). */
cudaError_t fill_marks(float *to, uint64_t n, cudaStream_t stream);
/* Adds to *print, which is 0 first, what tells blocks with other bits apart, but for an accident
 * of 1 in 2^64. What lies between the rows does not count. */
cudaError_t fingerprint(const struct block_of_rows *rows, unsigned long long *print,
                        cudaStream_t stream);

/* ---- a work ---- */

struct ladder_state {
    struct device device;
    struct gf_ladder_work work;
    cudaStream_t stream;
    unsigned processors;

    struct guarded in, out, scratch;
    enum { NOTHING, SAMPLES, MARKS } holds; /* what is in `in` */
    unsigned long long *print;  /* on the device, of fingerprint() */
    struct ladder_data data;    /* of the step that runs */

    /* The right answers. reduce: */
    double sum, marks;
    /* copy: */
    uint32_t parity;
    void *pinned, *pageable;
    /* conv: */
    struct gf_expect *expect;
    float mask[GF_EXPECT_MOST_TAPS];
};

/* GF_EMEMORY with the bytes that were needed, or GF_EDEVICE; GF_ESIGNAL when that is why. */
enum gf_status ladder_failed(const struct ladder_state *s, cudaError_t error, uint64_t needed,
                             struct gf_error *e);

/* Makes `out` of so many samples and the version's scratch memory, and prepares the version. */
enum gf_status make_room(struct ladder_state *s, const struct ladder_version *v, uint64_t out,
                         struct gf_error *e);
/* Poisons out and scratch, runs the version, waits. With `run` also counts on the simt device, and
 * describes the first kernel. */
cudaError_t run_once(struct ladder_state *s, const struct ladder_version *v,
                     struct gf_ladder_run *run);
/* Whether nothing was written beside out and scratch, nor beside `in`. */
cudaError_t all_intact(const struct ladder_state *s, bool *intact);
/* Fills run->seconds and its kin, where the work asks for it. */
cudaError_t time_version(struct ladder_state *s, const struct ladder_version *v,
                         struct gf_ladder_run *run);

/* A ladder's part: opening makes the right answer, and the input where all versions share one;
 * running fills *run. */
enum gf_status reduce_open(struct ladder_state *s, struct gf_error *e);
enum gf_status reduce_run(struct ladder_state *s, const struct ladder_version *v,
                          struct gf_ladder_run *run, struct gf_error *e);
enum gf_status copy_open(struct ladder_state *s, struct gf_error *e);
enum gf_status copy_run(struct ladder_state *s, const struct ladder_version *v,
                        struct gf_ladder_run *run, struct gf_error *e);
void copy_close(struct ladder_state *s);
enum gf_status conv_open(struct ladder_state *s, struct gf_error *e);
enum gf_status conv_run(struct ladder_state *s, const struct ladder_version *v,
                        struct gf_ladder_run *run, struct gf_error *e);
void conv_close(struct ladder_state *s);

}

#endif
