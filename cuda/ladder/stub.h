/* A device that is not in the build: the file that includes this says which one, and why. */
#include "bench/ladder.h"

static enum gf_status stub_machine(unsigned gpu, bool time_copy, struct gf_ladder_machine *m,
                                   struct gf_error *e)
{
    (void)gpu;
    (void)time_copy;
    (void)m;
    return gf_fail(e, GF_EDEVICE, GF_LADDER_WHY);
}

static enum gf_status stub_open(unsigned gpu, const struct gf_ladder_work *work, void **state,
                                struct gf_error *e)
{
    (void)gpu;
    (void)work;
    *state = NULL;
    return gf_fail(e, GF_EDEVICE, GF_LADDER_WHY);
}

static enum gf_status stub_run(void *state, enum gf_ladder_step_id step,
                               struct gf_ladder_run *run, struct gf_error *e)
{
    (void)state;
    (void)step;
    (void)run;
    return gf_fail(e, GF_EDEVICE, GF_LADDER_WHY);
}

static void stub_close(void *state) { (void)state; }

const struct gf_ladder_device GF_LADDER_DEVICE = {
    .name = GF_LADDER_NAME,
    .machine = stub_machine,
    .open = stub_open,
    .run = stub_run,
    .close = stub_close,
};
