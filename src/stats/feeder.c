#include "feeder.h"

#include "../alloc.h"
#include "../util.h"

#include <string.h>

static enum gf_status hand_on(const struct gf_feeder *f, const void *samples, uint64_t count,
                              struct gf_error *e)
{
    for (unsigned i = 0; i < f->sink_count && count > 0; i++)
        if (!(f->watched >> i & 1))
            GF_TRY(f->sinks[i].feed(f->sinks[i].state, samples, count, e));
    return GF_OK;
}

enum gf_status gf_feeder_open(struct gf_feeder *f, enum gf_type type, const struct gf_sink *sinks,
                              unsigned count, struct gf_error *e)
{
    void *block;
    *f = (struct gf_feeder){.sinks = sinks, .sink_count = count, .bytes = gf_type_bytes(type)};
    GF_TRY(gf_allocate(&block, GF_LEAF, f->bytes, "the statistics", e));
    f->held = block;
    return GF_OK;
}

enum gf_status gf_feeder_add(struct gf_feeder *f, const void *samples, uint64_t count,
                             struct gf_error *e)
{
    const char *from = samples;
    while (count > 0) {
        uint64_t n = count / GF_LEAF * GF_LEAF;
        if (f->held_count == 0 && n > 0) {
            GF_TRY(hand_on(f, from, n, e));
        } else {
            n = gf_min(count, GF_LEAF - f->held_count);
            memcpy(f->held + f->held_count * f->bytes, from, n * f->bytes);
            f->held_count += n;
            if (f->held_count == GF_LEAF) {
                GF_TRY(hand_on(f, f->held, GF_LEAF, e));
                f->held_count = 0;
            }
        }
        from += n * f->bytes;
        count -= n;
    }
    return GF_OK;
}

enum gf_status gf_feeder_end(struct gf_feeder *f, struct gf_error *e)
{
    uint64_t count = f->held_count;
    f->held_count = 0;
    return hand_on(f, f->held, count, e);
}

void gf_feeder_close(struct gf_feeder *f)
{
    gf_free(f->held);
    f->held = NULL;
}
