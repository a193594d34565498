/* A mask in the format of gpufilt-mask(5). */
#include "alloc.h"
#include "mask_internal.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Larger separable masks are printed as their x, y and z lines. */
#define MOST_PRINTED_TAPS 4096u

static void print_row(struct gf_buffer *out, const struct gf_mask *mask, uint32_t j, uint32_t k,
                      int width)
{
    char number[GF_NUMBER_TEXT];
    for (uint32_t i = 0; i < mask->size[0]; i++)
        gf_buffer_printf(out, "%s%*s", i > 0 ? " " : "", width,
                         gf_format_double(number, gf_mask_tap(mask, i, j, k)));
    gf_buffer_text(out, "\n");
}

static int tap_width(const struct gf_mask *mask)
{
    char number[GF_NUMBER_TEXT];
    int width = 0;
    for (uint32_t k = 0; k < mask->size[2]; k++)
        for (uint32_t j = 0; j < mask->size[1]; j++)
            for (uint32_t i = 0; i < mask->size[0]; i++) {
                int length = (int)strlen(gf_format_double(number, gf_mask_tap(mask, i, j, k)));
                width = length > width ? length : width;
            }
    return width;
}

static void print_rows(struct gf_buffer *out, const struct gf_mask *mask)
{
    int width = tap_width(mask);
    for (uint32_t k = 0; k < mask->size[2]; k++) {
        if (k > 0)
            gf_buffer_text(out, "---\n");
        for (uint32_t j = 0; j < mask->size[1]; j++)
            print_row(out, mask, j, k, width);
    }
}

static void print_factors(struct gf_buffer *out, const struct gf_mask *mask)
{
    char number[GF_NUMBER_TEXT];
    for (int a = 0; a < 3; a++) {
        if (a > 0 && mask->size[a] == 1 && mask->factor[a][0] == 1.0)
            continue;
        gf_buffer_printf(out, "%c", "xyz"[a]);
        for (uint32_t i = 0; i < mask->size[a]; i++)
            gf_buffer_printf(out, " %s", gf_format_double(number, mask->factor[a][i]));
        gf_buffer_text(out, "\n");
    }
}

/* Whether the rows of taps, read back, give these factors again. */
static enum gf_status rows_suffice(const struct gf_mask *mask, bool *suffice, struct gf_error *e)
{
    struct gf_mask copy;
    enum gf_status status;
    uint64_t count = gf_mask_count(mask);
    *suffice = !mask->separable;
    if (!mask->separable || !mask->integer || count > MOST_PRINTED_TAPS || mask->taps == NULL)
        return GF_OK;
    GF_TRY(gf_mask_begin(&copy, mask->name, mask->size, true, e));
    memcpy(copy.taps, mask->taps, (size_t)count * sizeof(double));
    copy.integer = true;
    status = gf_mask_factor(&copy, e);
    *suffice = copy.separable;
    for (int a = 0; a < 3 && copy.separable; a++)
        for (uint32_t i = 0; i < mask->size[a]; i++)
            *suffice = *suffice && copy.factor[a][i] == mask->factor[a][i];
    gf_mask_free(&copy);
    return status;
}

enum gf_status gf_mask_print(const struct gf_mask *mask, char **text, struct gf_error *e)
{
    struct gf_buffer out = {0};
    char number[GF_NUMBER_TEXT];
    bool suffice, moved = false;
    bool gaussian = mask->sigma[0] > 0 || mask->sigma[1] > 0 || mask->sigma[2] > 0;
    enum gf_status status;
    *text = NULL;
    GF_TRY(rows_suffice(mask, &suffice, e));
    for (int a = 0; a < 3; a++)
        moved = moved || mask->origin[a] != mask->size[a] / 2;
    if (mask->divisor != 1.0)
        gf_buffer_printf(&out, "divisor %s\n", gf_format_double(number, mask->divisor));
    if (moved)
        gf_buffer_printf(&out, "origin %u %u %u\n", (unsigned)mask->origin[0],
                         (unsigned)mask->origin[1], (unsigned)mask->origin[2]);
    if (gaussian) {
        gf_buffer_text(&out, "sigma");
        for (int a = 0; a < 3; a++)
            gf_buffer_printf(&out, " %s", gf_format_double(number, mask->sigma[a]));
        gf_buffer_text(&out, "\n");
    }
    if (suffice && !gaussian)
        print_rows(&out, mask);
    else
        print_factors(&out, mask);
    status = gf_buffer_status(&out, "the text of a mask", e);
    if (status == GF_OK)
        *text = out.data;
    else
        gf_buffer_free(&out);
    return status;
}
