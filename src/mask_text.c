/* Mask files: the format of gpufilt-mask(5). */
#include "alloc.h"
#include "mask_draft.h"
#include "signals.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const words[WORDS] = {"size", "divisor", "origin", "sigma", "x", "y", "z"};

/* The numbers after a word of the header, which are not taps. */
static enum gf_status read_values(struct gf_draft *d, int word, const char *text, const char *end,
                                  double *values, int least, int most, int *found,
                                  struct gf_error *e)
{
    *found = 0;
    while (text < end) {
        const char *token = text;
        struct gf_mask_number number;
        enum gf_mask_fault fault;
        if (gf_is_blank(*text) || *text == ',') {
            text++;
            continue;
        }
        while (text < end && !gf_is_blank(*text) && *text != ',')
            text++;
        if (*found == most)
            return gf_draft_fail(d, e, "more than %d number%s after '%s'", most,
                                 most == 1 ? "" : "s", words[word]);
        fault = gf_mask_number(token, (size_t)(text - token), false, &number);
        if (fault != GF_FAULT_NONE)
            return gf_draft_fail(d, e, "'%.*s' %s", gf_shown((size_t)(text - token)), token,
                                 gf_mask_fault_words(fault));
        values[(*found)++] = number.numerator;
    }
    if (*found < least)
        return gf_draft_fail(d, e, "'%s' needs %d number%s after it, found %d", words[word], least,
                             least == 1 ? "" : "s", *found);
    return GF_OK;
}

static enum gf_status check_origin(const struct gf_draft *d, struct gf_error *e)
{
    for (int a = 0; a < d->origin_count; a++)
        if (!(d->origin[a] >= 0 && rint(d->origin[a]) == d->origin[a]))
            return gf_draft_fail(d, e, "origin %g along %c; needed a whole number of 0 or more, "
                                 "counted from the first tap", d->origin[a], "xyz"[a]);
    return GF_OK;
}

static enum gf_status read_factor(struct gf_draft *d, int axis, const char *text, const char *end,
                                  struct gf_error *e)
{
    if (d->row_count > 0)
        return gf_draft_fail(d, e, "'%s' among rows of taps; a mask is given by rows or by x, y "
                             "and z lines", words[X_LINE + axis]);
    for (int a = axis + 1; a < 3; a++)
        if (d->factor_count[a] > 0)
            return gf_draft_fail(d, e, "'%s' after '%s'; the order is x, y, z",
                                 words[X_LINE + axis], words[X_LINE + a]);
    GF_TRY(gf_draft_numbers(d, text, end, &d->factor_count[axis], e));
    if (d->factor_count[axis] == 0)
        return gf_draft_fail(d, e, "no taps after '%s'", words[X_LINE + axis]);
    return GF_OK;
}

static int find_word(const char *token, size_t length)
{
    for (int i = 0; i < WORDS; i++)
        if (strlen(words[i]) == length && memcmp(words[i], token, length) == 0)
            return i;
    return WORDS;
}

static enum gf_status fail_at_word(const struct gf_draft *d, const char *token, size_t length,
                                   struct gf_error *e)
{
    char copy[41];
    const char *closest;
    struct gf_mask_number number;
    /* "nan" and "inf" begin with letters too. */
    if (gf_mask_number(token, length, true, &number) == GF_FAULT_NOT_FINITE)
        return gf_draft_fail(d, e, "'%.*s' %s", gf_shown(length), token,
                             gf_mask_fault_words(GF_FAULT_NOT_FINITE));
    snprintf(copy, sizeof copy, "%.*s", gf_shown(length), token);
    closest = gf_closest(copy, words, WORDS);
    if (closest != NULL)
        return gf_draft_fail(d, e, "unknown word '%s'; did you mean '%s'?", copy, closest);
    return gf_draft_fail(d, e, "unknown word '%s'; needed numbers, or size, divisor, origin, "
                         "sigma, x, y, z", copy);
}

static enum gf_status read_word(struct gf_draft *d, const char *text, const char *end,
                                struct gf_error *e)
{
    const char *token = text;
    int word, found;
    while (text < end && !gf_is_blank(*text) && *text != ',')
        text++;
    word = find_word(token, (size_t)(text - token));
    if (word == WORDS)
        return fail_at_word(d, token, (size_t)(text - token), e);
    if (d->seen[word] > 0)
        return gf_draft_fail(d, e, "'%s' a second time, the first is in line %llu", words[word],
                             (unsigned long long)d->seen[word]);
    d->seen[word] = d->line;
    switch (word) {
    case SIZE_LINE:
        GF_TRY(read_values(d, word, text, end, d->size, 2, 3, &found, e));
        return gf_draft_check_size(d, e);
    case DIVISOR_LINE:
        GF_TRY(read_values(d, word, text, end, &d->divisor, 1, 1, &found, e));
        return gf_draft_check_divisor(d, e);
    case ORIGIN_LINE:
        GF_TRY(read_values(d, word, text, end, d->origin, 2, 3, &d->origin_count, e));
        return check_origin(d, e);
    case SIGMA_LINE:
        GF_TRY(read_values(d, word, text, end, d->sigma, 2, 3, &found, e));
        for (int a = 0; a < 3; a++)
            if (!(d->sigma[a] >= 0))
                return gf_draft_fail(d, e, "sigma %g; needed a number of 0 or more", d->sigma[a]);
        return GF_OK;
    default:
        return read_factor(d, word - X_LINE, text, end, e);
    }
}

static enum gf_status read_line(struct gf_draft *d, const char *text, const char *end,
                                struct gf_error *e)
{
    const char *comment;
    uint64_t width;
    if (end > text && end[-1] == '\r')
        end--;
    GF_TRY(gf_draft_check_text(d, text, end, e));
    comment = memchr(text, '#', (size_t)(end - text));
    if (comment != NULL)
        end = comment;
    while (text < end && gf_is_blank(*text))
        text++;
    while (end > text && gf_is_blank(end[-1]))
        end--;
    if (text == end)
        return GF_OK;
    if (end - text == 3 && memcmp(text, "---", 3) == 0)
        return gf_draft_end_plane(d, e);
    if ((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z'))
        return read_word(d, text, end, e);
    if (d->factor_count[0] + d->factor_count[1] + d->factor_count[2] > 0)
        return gf_draft_fail(d, e, "a row of taps after x, y or z lines; a mask is given by one or "
                             "the other");
    GF_TRY(gf_draft_numbers(d, text, end, &width, e));
    return gf_draft_end_row(d, width, e);
}

static enum gf_status read_file(struct gf_draft *d, const char *text, uint64_t length,
                                struct gf_error *e)
{
    const char *end = text + length;
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        text += 3;
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        if (gf_signal_pending())
            return GF_ESIGNAL;
        d->line++;
        GF_TRY(read_line(d, text, stop != NULL ? stop : end, e));
        text = stop != NULL ? stop + 1 : end;
    }
    if (d->count == 0 && d->plane_count == 0)
        return gf_fail(e, GF_EINPUT, "%s: no taps in it; needed at least one row of numbers",
                       d->name);
    if (d->row_count > 0 || d->plane_count > 0)
        return gf_draft_end_plane(d, e);
    return GF_OK;
}

/* "masks/edge.mask" becomes "edge". Some more than a mask keeps of its name, because only
 * gf_mask_begin cuts without splitting a character. */
static void short_name(const char *path, char *name, size_t room)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL && slash[1] != '\0' ? slash + 1 : path;
    size_t length = strlen(base);
    if (length > 5 && strcmp(base + length - 5, ".mask") == 0)
        length -= 5;
    length = gf_min(length, room - 1);
    memcpy(name, base, length);
    name[length] = '\0';
}

enum gf_status gf_mask_parse(struct gf_mask *mask, const char *text, uint64_t length,
                             const char *name, struct gf_error *e)
{
    struct gf_draft d = {.name = name, .divisor = 1.0, .size = {1, 1, 1}};
    char base[sizeof mask->name + 4];
    enum gf_status status;
    memset(mask, 0, sizeof *mask);
    short_name(name, base, sizeof base);
    status = read_file(&d, text, length, e);
    if (status == GF_OK)
        status = gf_draft_settle(&d, mask, base, e);
    gf_free(d.number);
    return status == GF_EUSAGE ? GF_EINPUT : status;
}
