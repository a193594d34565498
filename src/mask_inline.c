/* Masks on the command line, in the short form of gpufilt-mask(5). */
#include "alloc.h"
#include "mask_draft.h"

#include <stdio.h>
#include <string.h>

/* Whole numbers with `mark` between them; moves past them. 0 when it is anything else. */
static int read_list(const char **text, char mark, double *values)
{
    int count = 0;
    for (;;) {
        size_t digits = strspn(*text, "0123456789");
        double value = 0.0;
        if (digits == 0 || digits > 9 || count == 3)
            return 0;
        for (size_t i = 0; i < digits; i++)
            value = value * 10 + (*(*text)++ - '0');
        values[count++] = value;
        if (**text != mark)
            return count;
        (*text)++;
    }
}

/* "3x3", "3x3+1+1" or "+1+1". */
static enum gf_status read_geometry(struct gf_draft *d, const char *text, size_t length,
                                    struct gf_error *e)
{
    char copy[100];
    const char *next = copy;
    bool good;
    while (length > 0 && gf_is_blank(text[length - 1]))
        length--;
    good = length < sizeof copy;
    snprintf(copy, sizeof copy, "%.*s", (int)gf_min(length, sizeof copy), text);
    if (good && *next != '+') {
        good = read_list(&next, 'x', d->size) >= 2;
        d->seen[SIZE_LINE] = 1;
    }
    if (good && *next == '+') {
        next++;
        d->origin_count = read_list(&next, '+', d->origin);
        good = d->origin_count >= 2;
        d->seen[ORIGIN_LINE] = 1;
    }
    if (!good || *next != '\0')
        return gf_draft_fail(d, e, "'%.*s' before ':'; needed a size, an origin or both, such as "
                             "3x3, +0+1 or 3x3+0+1", gf_shown(length), text);
    return gf_draft_check_size(d, e);
}

static enum gf_status read_rows(struct gf_draft *d, const char *text, const char *end,
                                struct gf_error *e)
{
    for (;;) {
        const char *stop = memchr(text, ';', (size_t)(end - text));
        uint64_t width;
        d->line++;
        GF_TRY(gf_draft_numbers(d, text, stop != NULL ? stop : end, &width, e));
        if (width == 0)
            return gf_draft_fail(d, e, "no taps in it; rows are separated by ';', planes by ';;'");
        GF_TRY(gf_draft_end_row(d, width, e));
        if (stop == NULL)
            return gf_draft_end_plane(d, e);
        text = stop + 1;
        if (text < end && *text == ';') {
            GF_TRY(gf_draft_end_plane(d, e));
            text++;
        }
    }
}

static enum gf_status read_divisor(struct gf_draft *d, const char *text, const char *end,
                                   struct gf_error *e)
{
    struct gf_mask_number number;
    enum gf_mask_fault fault;
    while (text < end && gf_is_blank(*text))
        text++;
    while (end > text && gf_is_blank(end[-1]))
        end--;
    fault = gf_mask_number(text, (size_t)(end - text), false, &number);
    if (fault != GF_FAULT_NONE)
        return gf_draft_fail(d, e, "'%.*s' after '/' %s; the divisor is one number at the end",
                             gf_shown((size_t)(end - text)), text, gf_mask_fault_words(fault));
    d->divisor = number.numerator;
    return gf_draft_check_divisor(d, e);
}

static enum gf_status read_inline(struct gf_draft *d, const char *text, struct gf_error *e)
{
    const char *end = text + strlen(text), *colon = strchr(text, ':'), *slash;
    d->line = 1;
    GF_TRY(gf_draft_check_text(d, text, end, e));
    if (colon != NULL) {
        while (gf_is_blank(*text))
            text++;
        GF_TRY(read_geometry(d, text, (size_t)(colon - text), e));
        text = colon + 1;
    }
    /* A '/' after a blank begins the divisor, one inside a number makes a fraction. */
    slash = strchr(text, '/');
    while (slash != NULL && slash > text && !gf_is_blank(slash[-1]))
        slash = strchr(slash + 1, '/');
    d->line = 0;
    GF_TRY(read_rows(d, text, slash != NULL ? slash : end, e));
    if (slash != NULL)
        return read_divisor(d, slash + 1, end, e);
    /* "1,2,1;2,4,2;1,2,1/16" most likely means a divisor. */
    if (d->count > 1 && d->fraction_count == 1 && d->ends_in_fraction)
        return gf_draft_fail(d, e, "the last tap alone is a fraction; write ' / N' with a blank "
                             "before it for a divisor, or the tap as a decimal number");
    return GF_OK;
}

enum gf_status gf_mask_parse_inline(struct gf_mask *mask, const char *text, struct gf_error *e)
{
    struct gf_draft d = {.divisor = 1.0, .size = {1, 1, 1}};
    enum gf_status status;
    memset(mask, 0, sizeof *mask);
    status = read_inline(&d, text, e);
    if (status == GF_OK)
        status = gf_draft_settle(&d, mask, "inline", e);
    gf_free(d.number);
    return status;
}
