/* The versions of the ladders: what the runner (run.cu) and the files of kernels share. Each of
 * reduce.cu, conv2d.cu, conv3d.cu and copy.cu holds one ladder and its table of versions. */
#ifndef GPUFILT_CUDA_LADDER_VERSION_H
#define GPUFILT_CUDA_LADDER_VERSION_H

#include "../device.h"
#include "../launch.cuh"

extern "C" {
#include "bench/ladder.h"
#include "stats/measure.h"
}

namespace GF_DEVICE {

/* On the device, except where it says host. */
struct ladder_data {
    const struct gf_ladder_work *work;
    unsigned processors;    /* of the device */
    const float *in;        /* reduce and copy: work->n samples; conv: rows `in_pitch` apart, planes
                             * `in_plane` apart (in samples). 256-byte aligned */
    uint64_t in_pitch, in_plane;
    float *out;             /* reduce: 1 sample; copy: n; conv: as out_size, out_pitch, out_plane */
    uint64_t out_size[3], out_pitch, out_plane;
    float *scratch;         /* version->scratch(work) samples, or NULL */
    const float *mask;      /* host: taps^2 or taps^3 positive weights, x fastest, sum about 1 */
    void *pinned, *pageable; /* host, of copy: n samples each, or NULL: see version->host */
    void *measurer;         /* of a version that measures: the state that its open() made */
};

enum ladder_host { HOST_NONE, HOST_PINNED, HOST_PAGEABLE };

struct ladder_version {
    enum gf_ladder_step_id step;
    /* Samples of scratch memory; NULL: none. */
    uint64_t (*scratch)(const struct gf_ladder_work *work, unsigned processors);
    /* Why it cannot do this work, or NULL; the function may be NULL: it always can. */
    const char *(*cannot)(const struct gf_ladder_work *work);
    /* Queues everything on `stream` and says what the first kernel was, for the table (NULL: a
     * copy, or not known). May be called any number
     * of times. Reads only data->in; writes only out and scratch. */
    cudaError_t (*run)(const struct ladder_data *data, cudaStream_t stream,
                       struct launched *first);
    /* Reductions: additions on the longest way of a sample into the sum, of which the tolerance
     * is made. NULL elsewhere. */
    uint64_t (*depth)(const struct gf_ladder_work *work, unsigned processors);
    /* Theory, for the table; NULL: none. */
    double (*reads)(const struct gf_ladder_work *work), (*reuse)(const struct gf_ladder_work *work);
    bool packed;            /* conv: wants rows without padding (in_pitch == size[0]) */
    /* Uploads what runs need beside `in` (the mask into constant memory, tables into scratch), in
     * the order of `stream`. Once before the first run with this data; not timed. NULL: nothing.
     * Scratch of a version that has it keeps what it holds between runs: nobody else writes it. */
    cudaError_t (*prepare)(const struct ladder_data *data, cudaStream_t stream);
    /* Copies: the memory of the host that they need, and whether that is where the result goes. */
    enum ladder_host host;
    bool to_host;
    /* Of "ours" in reduce: the measurer whose state takes the result, instead of out. */
    const struct gf_measurer *measurer;
};

/* A ladder's versions, ended by a row whose run is NULL. */
extern const struct ladder_version reduce_versions[], conv2d_versions[], conv3d_versions[],
    copy_versions[];

/* For the table of rounds: the kernel of GF_STEP_REDUCE_PAIRS, GF_STEP_REDUCE_MODULO or
 * GF_STEP_REDUCE_SEQUENTIAL as one block of `threads` (a power of two, 32..1024) on as many
 * samples as such a block takes (PAIRS: two a thread, else one), all of which are at `in`; its
 * sum goes to out[0]. In reduce.cu. */
cudaError_t reduce_one_block(enum gf_ladder_step_id step, unsigned threads, const float *in,
                             float *out, cudaStream_t stream);

/* Two of the ladder of reductions, in peers.cu: the toolkit's, and that of `gpufilt stats`. */
struct ladder_version library_version();
struct ladder_version stats_version();

}

#endif
