/* Hands samples that come in pieces of any size on to measurers, which want whole leaves. */
#ifndef GPUFILT_SRC_STATS_FEEDER_H
#define GPUFILT_SRC_STATS_FEEDER_H

#include "measure.h"

/* Who gets the samples: `feed`, or `pull` if it is not NULL and there is a supply, is called with
 * the state, as measurers want it. */
struct gf_sink {
    enum gf_status (*feed)(void *state, const void *samples, uint64_t count, struct gf_error *e);
    enum gf_status (*pull)(void *state, const struct gf_supply *from, uint64_t count,
                           struct gf_error *e);
    void *state;
    const char *device;         /* of a measurer: its name; else NULL */
};

struct gf_feeder {
    const struct gf_sink *sinks; /* borrowed */
    unsigned sink_count;
    unsigned watched;           /* bit i: sink i gets its samples on the device that makes them */
    unsigned bytes;             /* of a sample */
    char *held;                 /* less than a leaf; owned */
    uint64_t held_count;
};

enum gf_status gf_feeder_open(struct gf_feeder *f, enum gf_type type, const struct gf_sink *sinks,
                              unsigned count, struct gf_error *e);
/* The next `count` samples, packed. */
enum gf_status gf_feeder_add(struct gf_feeder *f, const void *samples, uint64_t count,
                             struct gf_error *e);
/* Hands on what is left. */
enum gf_status gf_feeder_end(struct gf_feeder *f, struct gf_error *e);
/* Accepts a zeroed struct. */
void gf_feeder_close(struct gf_feeder *f);

#endif
