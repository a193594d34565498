/* The samples of a file sorted by the labels of their pixels, in memory: one group a label. */
#ifndef GPUFILT_SRC_STATS_LABELS_H
#define GPUFILT_SRC_STATS_LABELS_H

#include "collect.h"

/* A label's first sample of a value that no other passes. */
struct gf_label_extreme {
    uint64_t key;               /* the sample's (measure.h) */
    uint64_t index;             /* among the label's samples */
    struct gf_place place;
};

struct gf_labels {
    const struct gf_sequence *sequence; /* borrowed */
    struct gf_rows *rows;       /* of the labels; borrowed */
    uint64_t count;
    int64_t *label;             /* those that occur, ascending */
    uint64_t *start;            /* count + 1: where each one's samples begin */
    char *samples;              /* in the order of the sequence within a label */
    struct gf_label_extreme *least, *greatest; /* of each; not looked at where none is finite */
};

/* One of them, as the `of` of a gf_source. */
struct gf_label {
    const struct gf_labels *labels;
    uint64_t index;
};

/* Sorts a sequence by the labels of an image of the same size, one channel, of an integer type.
 * Zero is a label like the others. GF_EFEATURE when it is not such an image; GF_EMEMORY when the
 * samples do not fit in memory. gf_labels_free also after a failure. */
enum gf_status gf_labels_sort(struct gf_labels *labels, const struct gf_sequence *sequence,
                              struct gf_rows *rows, struct gf_error *e);
/* Accepts a zeroed struct. */
void gf_labels_free(struct gf_labels *labels);

/* gf_source.run, and place for the extremes: other places were not kept. */
enum gf_status gf_label_run(const void *of, const struct gf_sink *sinks, unsigned count,
                            struct gf_error *e);
enum gf_status gf_label_place(const void *of, uint64_t index, struct gf_place *place,
                              struct gf_error *e);

#endif
