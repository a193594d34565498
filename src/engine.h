/* Which backend computes an image, and what happens when it cannot. */
#ifndef GPUFILT_SRC_ENGINE_H
#define GPUFILT_SRC_ENGINE_H

#include "backend.h"
#include "cli.h"
#include "cost.h"
#include "text.h"

/* For a whole run: what --device asked for, and what became of it. */
struct gf_engine {
    const struct gf_request *request;
    bool automatic;           /* --device auto */
    bool gpu_failed;          /* auto: a GPU was tried in vain and is not tried again */
    struct gf_error why;      /* then: what it said */
    char gpu[256];            /* the GPU's name once it was looked for, else "" */
};

/* For one image. */
struct gf_choice {
    const struct gf_backend *backend;
    struct gf_cost cost;      /* what auto compares */
};

/* GF_EDEVICE when a GPU is asked for and the build has no CUDA. */
enum gf_status gf_engine_init(struct gf_engine *engine, const struct gf_request *request,
                              struct gf_error *e);
/* Chooses for a plan made for the CPU, with `alike` images like it in the run. Touches no
 * driver. */
void gf_engine_choose(const struct gf_engine *engine, const struct gf_plan *plan, uint64_t alike,
                      struct gf_choice *choice);
/* Looks for the GPU that was chosen, which starts the driver: one that cannot be used is
 * GF_EDEVICE, and under auto makes the CPU the choice. */
enum gf_status gf_engine_look(struct gf_engine *engine, struct gf_choice *choice,
                              struct gf_error *e);
/* False for the CPU's. */
bool gf_is_gpu(const struct gf_backend *backend);
/* Appends "cpu, 4 threads" or "cuda:1, NVIDIA H200" and, in brackets, why. */
void gf_engine_describe(struct gf_buffer *text, const struct gf_engine *engine,
                        const struct gf_choice *choice, const struct gf_plan *plan);

/* Opens *backend; under auto *backend becomes the CPU's when a GPU cannot be used, which is
 * noted. `name` is the input in messages. After a failure *state is NULL. */
enum gf_status gf_engine_open(struct gf_engine *engine, const struct gf_backend **backend,
                              const struct gf_plan *plan, const char *name, void **state,
                              struct gf_error *e);
/* Whether the CPU is to do again what `backend` failed to do, and the rest; warns. */
bool gf_engine_gives_up(struct gf_engine *engine, const struct gf_backend *backend,
                        enum gf_status status, const char *name, const struct gf_error *e);

#endif
