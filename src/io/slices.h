/* Names of files that are the slices of one volume: 'slice_*.tif' (what matches, in natural order)
 * and 'slice_%04d.png' (numbered). Only the last part of a path is a pattern. */
#ifndef GPUFILT_SRC_IO_SLICES_H
#define GPUFILT_SRC_IO_SLICES_H

#include "../status.h"

#include <stdbool.h>
#include <stdint.h>

/* A path with one %d or %0Nd, taken apart; %% in its last part has become %. */
struct gf_numbering {
    char *before, *after;       /* owned; NULL when the path has no such directive */
    unsigned width;             /* digits at least, filled with 0 */
};

/* No file gets a number from here on: it has 18 digits. */
#define GF_SLICE_NUMBERS UINT64_C(1000000000000000000)

/* GF_EUSAGE when there is a directive that is not understood, or more than one. */
enum gf_status gf_numbering_parse(struct gf_numbering *n, const char *path, struct gf_error *e);
/* The path of this number: gf_alloc's memory, or NULL when there is none left. */
char *gf_numbering_path(const struct gf_numbering *n, uint64_t number);
/* Accepts a zeroed struct. */
void gf_numbering_free(struct gf_numbering *n);

struct gf_slices {
    char **paths;               /* in order */
    uint64_t count;             /* >= 1 */
    uint64_t first;             /* the first one's number; 0 when they are not numbered */
};

/* Whether `path` is a pattern, and not the name of a file that there is. */
bool gf_slices_wanted(const char *path);
/* Whether slices written next to those of `path` can have their numbers. */
bool gf_slices_numbered(const char *path);
/* GF_EINPUT when there are none, or a number is missing between them. */
enum gf_status gf_slices_list(struct gf_slices *s, const char *path, struct gf_error *e);
/* Accepts a zeroed struct. */
void gf_slices_free(struct gf_slices *s);

/* Below, equal or above 0 as `a` comes before, with or after `b`; digits are numbers. */
int gf_natural_order(const char *a, const char *b);

#endif
