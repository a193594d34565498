/* A backend turns slabs of input samples into slabs of output samples, as the plan says.
 * Every backend gives the same bytes. */
#ifndef GPUFILT_SRC_BACKEND_H
#define GPUFILT_SRC_BACKEND_H

#include "plan.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Samples of planes [z, z + planes) and rows [y, y + rows) of an image, full width, in its
 * type. Strides are bytes. In 2D planes is 1. */
struct gf_slab {
    void *data;
    size_t row_stride, plane_stride;
    uint64_t y, z;
    uint64_t rows, planes;
};

/* What happened to samples while they were stored. */
struct gf_counts {
    uint64_t clipped_low, clipped_high;
    uint64_t nan;               /* NaN that became 0 in an integer type */
};

struct gf_backend {
    const char *name;           /* --device value */
    /* Prepares for a plan; *state is the backend's own. */
    enum gf_status (*open)(const struct gf_plan *plan, void **state, struct gf_error *e);
    /* Computes the output slab; the input slab holds every row and plane it reaches
     * (gf_plan_reach), indices of the input image. All runs of a state are over one image: a
     * row that two slabs hold is the same in both. Adds to *counts. GF_ESIGNAL soon after a
     * signal came; the slab is not complete then. */
    enum gf_status (*run)(void *state, const struct gf_slab *in, struct gf_slab *out,
                          struct gf_counts *counts, struct gf_error *e);
    /* Accepts NULL. */
    void (*close)(void *state);
    /* Optional, NULL where it makes no difference: pin() makes a buffer that slabs lie in fast
     * for the device, which pays when the buffer is used several times (pinning 1 GiB takes
     * 0.35 s); one that cannot be pinned works all the same. unpin() before the buffer is
     * freed and before close(); it accepts a buffer that was not pinned. */
    void (*pin)(void *state, void *data, size_t bytes);
    void (*unpin)(void *state, void *data);
    /* Optional: run() also hands the output's samples on to a measurer of this device while they
     * are there; `measuring` is what its open() made. Slabs then have to come in the order of the
     * output, from its first row on. */
    void (*watch)(void *state, void *measuring);
};

/* All backends, NULL-terminated; reference is last and not offered to users. */
extern const struct gf_backend *const gf_backends[];
/* The one of this name, or NULL. */
const struct gf_backend *gf_backend_by_name(const char *name);

/* cuda is there in every build: one without CUDA has an open() that says so (GF_EDEVICE). simt,
 * the same sources on a device in software, only in builds with test hooks. */
extern const struct gf_backend gf_backend_cpu, gf_backend_cuda, gf_backend_simt,
    gf_backend_reference;

#ifdef __cplusplus
}
#endif
#endif
