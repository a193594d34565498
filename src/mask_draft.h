/* A mask while its text is being read, from a file or from the command line. */
#ifndef GPUFILT_SRC_MASK_DRAFT_H
#define GPUFILT_SRC_MASK_DRAFT_H

#include "mask_internal.h"
#include "util.h"

enum {
    SIZE_LINE, DIVISOR_LINE, ORIGIN_LINE, SIGMA_LINE, X_LINE, Y_LINE, Z_LINE, WORDS
};

struct gf_draft {
    const char *name;               /* of the file, for messages; NULL for an inline mask */
    uint64_t line;                  /* of the file, or row of the inline mask */
    struct gf_mask_number *number;  /* taps of all rows, or x, y and z one after another */
    uint64_t count, room;
    uint64_t width, row_count, plane_rows, plane_count, height;
    uint64_t factor_count[3];
    uint64_t seen[WORDS];           /* the line of a word, 0 when it was not there */
    double size[3], origin[3], sigma[3];
    int origin_count;
    double divisor;
    bool ends_in_fraction;          /* the last tap, and no other, was written as a fraction */
    uint64_t fraction_count;
};

/* Puts the place into the message: GF_EINPUT with FILE:LINE, or GF_EUSAGE with the row. */
enum gf_status gf_draft_fail(const struct gf_draft *d, struct gf_error *e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

enum gf_status gf_draft_check_text(const struct gf_draft *d, const char *text, const char *end,
                                   struct gf_error *e);
enum gf_status gf_draft_check_size(const struct gf_draft *d, struct gf_error *e);
enum gf_status gf_draft_check_divisor(const struct gf_draft *d, struct gf_error *e);

/* Reads taps separated by blanks or single commas. *found is how many. */
enum gf_status gf_draft_numbers(struct gf_draft *d, const char *text, const char *end,
                                uint64_t *found, struct gf_error *e);
enum gf_status gf_draft_end_row(struct gf_draft *d, uint64_t width, struct gf_error *e);
enum gf_status gf_draft_end_plane(struct gf_draft *d, struct gf_error *e);
/* Makes the mask. The draft still owns its numbers. */
enum gf_status gf_draft_settle(struct gf_draft *d, struct gf_mask *mask, const char *name,
                               struct gf_error *e);

static inline bool gf_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* So much of a token as fits in a message. */
static inline int gf_shown(size_t length)
{
    return (int)gf_min(length, 40);
}

#endif
