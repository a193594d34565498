#include "mask_draft.h"

#include "alloc.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum gf_status gf_draft_fail(const struct gf_draft *d, struct gf_error *e, const char *format, ...)
{
    char detail[700];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    if (d->name == NULL)
        return gf_fail(e, GF_EUSAGE, "mask on the command line, row %llu: %s",
                       (unsigned long long)d->line, detail);
    return gf_fail(e, GF_EINPUT, "%s:%llu: %s", d->name, (unsigned long long)d->line, detail);
}

static enum gf_status add_number(struct gf_draft *d, const char *token, size_t length,
                                 struct gf_error *e)
{
    enum gf_mask_fault fault;
    if (d->count == GF_MASK_MAX_TAPS)
        return gf_draft_fail(d, e, "more than %u taps; a mask that large must be separable: give "
                             "its x, y and z lines", GF_MASK_MAX_TAPS);
    if (d->count == d->room) {
        uint64_t room = d->room + d->room / 2 + 64;
        void *grown = gf_realloc(d->number, room, sizeof *d->number);
        if (grown == NULL)
            return gf_fail(e, GF_EMEMORY, "%s: not enough memory for the taps; raise --max-memory",
                           d->name != NULL ? d->name : "mask on the command line");
        d->number = grown;
        d->room = room;
    }
    fault = gf_mask_number(token, length, true, &d->number[d->count]);
    if (fault != GF_FAULT_NONE)
        return gf_draft_fail(d, e, "'%.*s' %s", gf_shown(length), token,
                             gf_mask_fault_words(fault));
    d->ends_in_fraction = memchr(token, '/', length) != NULL;
    d->fraction_count += d->ends_in_fraction;
    d->count++;
    return GF_OK;
}

enum gf_status gf_draft_numbers(struct gf_draft *d, const char *text, const char *end,
                                uint64_t *found, struct gf_error *e)
{
    bool after_comma = true; /* a comma may not come next */
    *found = 0;
    while (text < end) {
        const char *token = text;
        if (gf_is_blank(*text)) {
            text++;
            continue;
        }
        if (*text == ',') {
            if (after_comma)
                return gf_draft_fail(d, e, "a ',' without a tap before it; write 0 for an empty "
                                     "tap");
            after_comma = true;
            text++;
            continue;
        }
        while (text < end && !gf_is_blank(*text) && *text != ',')
            text++;
        GF_TRY(add_number(d, token, (size_t)(text - token), e));
        after_comma = false;
        if (++*found > GF_MASK_MAX_AXIS)
            return gf_draft_fail(d, e, "more than %u taps in a row, the most a mask can have",
                                 GF_MASK_MAX_AXIS);
    }
    if (after_comma && *found > 0)
        return gf_draft_fail(d, e, "a ',' without a tap after it; write 0 for an empty tap");
    return GF_OK;
}

enum gf_status gf_draft_end_row(struct gf_draft *d, uint64_t width, struct gf_error *e)
{
    if (d->row_count > 0 && width != d->width)
        return gf_draft_fail(d, e, "this row has %llu tap%s, needed %llu as in the first row; fill "
                             "up with 0", (unsigned long long)width, width == 1 ? "" : "s",
                             (unsigned long long)d->width);
    d->width = width;
    d->row_count++;
    if (++d->plane_rows > GF_MASK_MAX_AXIS)
        return gf_draft_fail(d, e, "more than %u rows, the most a mask can have", GF_MASK_MAX_AXIS);
    return GF_OK;
}

enum gf_status gf_draft_end_plane(struct gf_draft *d, struct gf_error *e)
{
    if (d->plane_rows == 0)
        return gf_draft_fail(d, e, "the plane that ends here is empty; write its rows");
    if (d->plane_count > 0 && d->plane_rows != d->height)
        return gf_draft_fail(d, e, "the plane that ends here has %llu row%s, needed %llu as in the "
                             "first plane; fill up with rows of 0",
                             (unsigned long long)d->plane_rows, d->plane_rows == 1 ? "" : "s",
                             (unsigned long long)d->height);
    d->height = d->plane_rows;
    d->plane_rows = 0;
    d->plane_count++;
    return GF_OK;
}

enum gf_status gf_draft_check_text(const struct gf_draft *d, const char *text, const char *end,
                                   struct gf_error *e)
{
    for (; text < end; text++)
        if (((unsigned char)*text < 0x20 && *text != '\t') || *text == 0x7F)
            return gf_draft_fail(d, e, "byte 0x%02x in it; a mask is plain text",
                                 (unsigned)(unsigned char)*text);
    return GF_OK;
}

enum gf_status gf_draft_check_size(const struct gf_draft *d, struct gf_error *e)
{
    for (int a = 0; a < 3; a++)
        if (!(d->size[a] >= 1 && d->size[a] <= GF_MASK_MAX_AXIS && rint(d->size[a]) == d->size[a]))
            return gf_draft_fail(d, e, "size %g along %c; needed a whole number from 1 to %u",
                                 d->size[a], "xyz"[a], GF_MASK_MAX_AXIS);
    return GF_OK;
}

enum gf_status gf_draft_check_divisor(const struct gf_draft *d, struct gf_error *e)
{
    if (d->divisor == 0)
        return gf_draft_fail(d, e, "the divisor is zero; leave it out for 1");
    return GF_OK;
}

/* ---- from the draft to the mask ---- */

/* The size that was given, if any, must be the one that was found; where planes or rows were
 * not marked, it says where they end. */
static enum gf_status settle_size(struct gf_draft *d, uint32_t size[3], struct gf_error *e)
{
    uint64_t found[3] = {d->width, d->height, d->plane_count};
    bool factors = d->factor_count[0] + d->factor_count[1] + d->factor_count[2] > 0;
    for (int a = 0; a < 3 && factors; a++)
        found[a] = gf_max(d->factor_count[a], 1);
    if (d->seen[SIZE_LINE] > 0) {
        uint64_t asked[3] = {(uint64_t)d->size[0], (uint64_t)d->size[1], (uint64_t)d->size[2]};
        bool one_plane = !factors && found[2] == 1 && found[0] == asked[0] &&
                         found[1] == asked[1] * asked[2];
        bool one_row = d->name == NULL && found[1] == 1 && found[2] == 1 &&
                       found[0] == asked[0] * asked[1] * asked[2];
        if (one_plane || one_row)
            memcpy(found, asked, sizeof found);
        d->line = d->name != NULL ? d->seen[SIZE_LINE] : 1;
        if (memcmp(found, asked, sizeof found) != 0)
            return gf_draft_fail(d, e, "size %llux%llux%llu does not match the taps, which are "
                                 "%llux%llux%llu; correct it or leave it out",
                                 (unsigned long long)asked[0], (unsigned long long)asked[1],
                                 (unsigned long long)asked[2], (unsigned long long)found[0],
                                 (unsigned long long)found[1], (unsigned long long)found[2]);
    }
    for (int a = 0; a < 3; a++)
        size[a] = (uint32_t)found[a];
    return GF_OK;
}

static enum gf_status settle_origin(struct gf_draft *d, struct gf_mask *mask, struct gf_error *e)
{
    int needed = mask->size[2] > 1 ? 3 : 2;
    if (d->seen[ORIGIN_LINE] == 0)
        return GF_OK;
    d->line = d->name != NULL ? d->seen[ORIGIN_LINE] : 1;
    if (d->origin_count < needed)
        return gf_draft_fail(d, e, "the origin has %d numbers, needed %d (x, y%s)",
                             d->origin_count, needed, needed == 3 ? ", z" : "");
    for (int a = 0; a < d->origin_count; a++) {
        if (!(d->origin[a] < mask->size[a]))
            return gf_draft_fail(d, e, "origin %.0f along %c lies outside the mask; it must be "
                                 "from 0 to %u", d->origin[a], "xyz"[a],
                                 (unsigned)(mask->size[a] - 1));
        mask->origin[a] = (uint32_t)d->origin[a];
    }
    return GF_OK;
}

/* The line that says sigma promises a Gaussian: factors that sum to 1. */
static enum gf_status settle_sigma(struct gf_draft *d, struct gf_mask *mask, struct gf_error *e)
{
    if (d->seen[SIGMA_LINE] == 0)
        return GF_OK;
    d->line = d->seen[SIGMA_LINE];
    if (!mask->separable || mask->divisor != 1.0)
        return gf_draft_fail(d, e, "sigma stands before x, y and z lines without a divisor; leave "
                             "it out");
    for (int a = 0; a < 3; a++) {
        double sum = 0.0;
        for (uint32_t i = 0; i < mask->size[a]; i++)
            sum += mask->factor[a][i];
        if (!(fabs(sum - 1.0) <= 1e-9))
            return gf_draft_fail(d, e, "the taps of a Gaussian sum to 1, but along %c to %.9g; "
                                 "leave sigma out", "xyz"[a], sum);
        mask->sigma[a] = d->sigma[a];
    }
    return GF_OK;
}

enum gf_status gf_draft_settle(struct gf_draft *d, struct gf_mask *mask, const char *name,
                               struct gf_error *e)
{
    uint32_t size[3];
    bool factors = d->factor_count[0] + d->factor_count[1] + d->factor_count[2] > 0;
    double scale, divisor = d->divisor;
    enum gf_status status;
    GF_TRY(settle_size(d, size, e));
    GF_TRY(gf_mask_begin(mask, name, size, !factors, e));
    if (factors) {
        const struct gf_mask_number *next = d->number;
        for (int a = 0; a < 3; a++) {
            mask->factor[a][0] = 1.0;
            gf_mask_scale(next, d->factor_count[a], mask->factor[a], &scale);
            divisor *= scale;
            next += d->factor_count[a];
        }
    } else {
        gf_mask_scale(d->number, d->count, mask->taps, &scale);
        divisor *= scale;
    }
    mask->divisor = divisor;
    status = settle_origin(d, mask, e);
    if (status == GF_OK)
        status = settle_sigma(d, mask, e);
    if (status != GF_OK) {
        gf_mask_free(mask);
        return status;
    }
    return gf_mask_complete(mask, e);
}
