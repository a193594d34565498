#include "masks_command.h"

#include "alloc.h"
#include "mask.h"
#include "output.h"
#include "util.h"

#include <stdio.h>
#include <string.h>

/* More taps than this are not shown one by one. */
#define MOST_SHOWN_TAPS 4096u

/* ---- list ---- */

static void print_size(char text[40], const struct gf_mask *mask)
{
    int length = snprintf(text, 40, "%ux%u", (unsigned)mask->size[0], (unsigned)mask->size[1]);
    if (mask->size[2] > 1)
        snprintf(text + length, (size_t)(40 - length), "x%u", (unsigned)mask->size[2]);
}

static enum gf_status list_row(const struct gf_mask_row *row, struct gf_buffer *out,
                               struct gf_error *e)
{
    static const char *const kinds[] = {"2D 3D", "", "2D", "3D"};
    struct gf_mask mask;
    char size[40], number[GF_NUMBER_TEXT];
    GF_TRY(gf_mask_named(&mask, row->name, row->dimensions == 3 ? 3 : 2, e));
    print_size(size, &mask);
    gf_buffer_printf(out, "%-10s %-7s %-6s %3s %-9s %s\n", row->name, size, kinds[row->dimensions],
                     gf_format_double(number, gf_mask_sum(&mask)), mask.separable ? "yes" : "no",
                     row->summary);
    gf_mask_free(&mask);
    return GF_OK;
}

enum gf_status gf_masks_list(struct gf_buffer *out, struct gf_error *e)
{
    const struct gf_mask_row *row;
    gf_buffer_printf(out, "%-10s %-7s %-6s %3s %-9s %s\n", "NAME", "SIZE", "FORMS", "SUM",
                     "SEPARABLE", "WHAT IT IS");
    for (unsigned i = 0; (row = gf_mask_row(i)) != NULL; i++)
        GF_TRY(list_row(row, out, e));
    return gf_buffer_status(out, "the list of masks", e);
}

/* ---- show ---- */

/* Ten digits are enough to look at; `masks make` prints all of them. */
static int format_tap(char text[GF_NUMBER_TEXT], double tap)
{
    return snprintf(text, GF_NUMBER_TEXT, "%.10g", tap);
}

static int widest_tap(const struct gf_mask *mask)
{
    char text[GF_NUMBER_TEXT];
    int width = 0;
    for (uint64_t i = 0; i < gf_mask_count(mask); i++) {
        int length = format_tap(text, mask->taps[i]);
        width = length > width ? length : width;
    }
    return width;
}

static void show_taps(const struct gf_mask *mask, struct gf_buffer *out)
{
    char text[GF_NUMBER_TEXT];
    int width = widest_tap(mask);
    for (uint32_t k = 0; k < mask->size[2]; k++) {
        gf_buffer_text(out, "\n");
        if (mask->size[2] > 1)
            gf_buffer_printf(out, "plane %u\n", (unsigned)k);
        for (uint32_t j = 0; j < mask->size[1]; j++) {
            for (uint32_t i = 0; i < mask->size[0]; i++) {
                format_tap(text, gf_mask_tap(mask, i, j, k));
                gf_buffer_printf(out, "  %*s", width, text);
            }
            gf_buffer_text(out, "\n");
        }
    }
}

static void show_factors(const struct gf_mask *mask, struct gf_buffer *out)
{
    char text[GF_NUMBER_TEXT];
    gf_buffer_printf(out, "separable  %s\n", mask->separable ? "yes" : "no");
    for (int a = 0; a < 3 && mask->separable; a++) {
        if (a == 2 && mask->size[2] == 1)
            break;
        gf_buffer_printf(out, "  %c       ", "xyz"[a]);
        for (uint32_t i = 0; i < mask->size[a]; i++) {
            format_tap(text, mask->factor[a][i]);
            gf_buffer_printf(out, " %s", text);
        }
        gf_buffer_text(out, "\n");
    }
}

static void show(const struct gf_mask *mask, struct gf_buffer *out)
{
    char text[GF_NUMBER_TEXT], size[40];
    const struct gf_mask_row *row;
    gf_buffer_text(out, "name       ");
    gf_buffer_escaped(out, mask->name, strlen(mask->name));
    gf_buffer_text(out, "\n");
    for (unsigned i = 0; (row = gf_mask_row(i)) != NULL; i++)
        if (strcmp(row->name, mask->name) == 0)
            gf_buffer_printf(out, "           %s\n", row->summary);
    print_size(size, mask);
    gf_buffer_printf(out, "size       %s\n", size);
    gf_buffer_printf(out, "origin     %u,%u", (unsigned)mask->origin[0], (unsigned)mask->origin[1]);
    if (mask->size[2] > 1)
        gf_buffer_printf(out, ",%u", (unsigned)mask->origin[2]);
    gf_buffer_printf(out, "\ntaps       %s\n", mask->integer ? "integers" : "real numbers");
    gf_buffer_printf(out, "divisor    %s\n", gf_format_double(text, mask->divisor));
    gf_buffer_printf(out, "sum        %s\n", gf_format_double(text, gf_mask_sum(mask)));
    show_factors(mask, out);
    if (mask->taps != NULL && gf_mask_count(mask) <= MOST_SHOWN_TAPS)
        show_taps(mask, out);
}

enum gf_status gf_masks_show(const char *spec, int dimensions, struct gf_buffer *out,
                             struct gf_error *e)
{
    struct gf_mask mask;
    enum gf_status status = gf_mask_find(&mask, spec, dimensions == 3 ? 3 : 2, e);
    if (status == GF_EUSAGE && dimensions == 0 && gf_mask_find(&mask, spec, 3, NULL) == GF_OK)
        status = GF_OK;
    GF_TRY(status);
    show(&mask, out);
    gf_mask_free(&mask);
    return gf_buffer_status(out, "the text of a mask", e);
}

/* ---- make ---- */

static enum gf_status need_sigma(const char *kind, const double sigma[3], int dimensions,
                                 struct gf_error *e)
{
    for (int a = 0; a < dimensions; a++)
        if (!(sigma[a] == 0))
            return GF_OK;
    return gf_fail(e, GF_EUSAGE, "masks make %s: needed a standard deviation; add --sigma S", kind);
}

static enum gf_status make_gauss(struct gf_mask *mask, const double sigma[3],
                                 const uint32_t size[3], double truncate, int dimensions,
                                 struct gf_error *e)
{
    (void)size;
    GF_TRY(need_sigma("gauss", sigma, dimensions, e));
    return gf_mask_gaussian(mask, sigma, dimensions, truncate, e);
}

static enum gf_status make_log(struct gf_mask *mask, const double sigma[3], const uint32_t size[3],
                               double truncate, int dimensions, struct gf_error *e)
{
    (void)size;
    GF_TRY(need_sigma("log", sigma, dimensions, e));
    return gf_mask_log(mask, sigma, dimensions, truncate, e);
}

static enum gf_status make_box(struct gf_mask *mask, const double sigma[3], const uint32_t size[3],
                               double truncate, int dimensions, struct gf_error *e)
{
    uint32_t taps[3] = {size[0], 1, 1};
    (void)sigma;
    (void)truncate;
    if (size[0] == 0)
        return gf_fail(e, GF_EUSAGE, "masks make box: needed the number of taps; add --size N");
    for (int a = 1; a < dimensions; a++)
        taps[a] = size[a];
    return gf_mask_box(mask, "box", taps, e);
}

static const struct {
    const char *name;
    enum gf_status (*make)(struct gf_mask *mask, const double sigma[3], const uint32_t size[3],
                           double truncate, int dimensions, struct gf_error *e);
    bool smooths;       /* takes sigma and truncate */
} makers[] = {
    {"gauss", make_gauss, true},
    {"log", make_log, true},
    {"box", make_box, false},
};

/* How it was made, so that the file can be made again. */
static void print_command(const char *kind, bool smooths, const double sigma[3],
                          const struct gf_mask *mask, double truncate, int dimensions,
                          struct gf_buffer *out)
{
    char number[GF_NUMBER_TEXT];
    gf_buffer_printf(out, "# gpufilt masks make %s %s ", kind, smooths ? "--sigma" : "--size");
    for (int a = 0; a < dimensions; a++)
        gf_buffer_printf(out, "%s%s", a > 0 ? "," : "",
                         gf_format_double(number, smooths ? sigma[a] : mask->size[a]));
    if (smooths)
        gf_buffer_printf(out, " --truncate %s", gf_format_double(number, truncate));
    gf_buffer_text(out, dimensions == 3 ? " --3d\n" : "\n");
}

enum gf_status gf_masks_make(const char *kind, const double sigma[3], const uint32_t size[3],
                             double truncate, int dimensions, struct gf_buffer *out,
                             struct gf_error *e)
{
    const char *names[GF_COUNT(makers)], *closest;
    for (size_t i = 0; i < GF_COUNT(makers); i++) {
        struct gf_mask mask;
        char *text;
        enum gf_status status;
        names[i] = makers[i].name;
        if (strcmp(kind, makers[i].name) != 0)
            continue;
        GF_TRY(makers[i].make(&mask, sigma, size, truncate, dimensions, e));
        print_command(kind, makers[i].smooths, sigma, &mask, truncate, dimensions, out);
        status = gf_mask_print(&mask, &text, e);
        gf_mask_free(&mask);
        if (status != GF_OK)
            return status;
        gf_buffer_text(out, text);
        gf_free(text);
        return gf_buffer_status(out, "the text of a mask", e);
    }
    closest = gf_closest(kind, names, GF_COUNT(makers));
    return gf_fail(e, GF_EUSAGE, "masks make %s: unknown kind; %s%s%s", kind,
                   closest != NULL ? "did you mean '" : "there are gauss, log and box",
                   closest != NULL ? closest : "", closest != NULL ? "'?" : "");
}

/* ---- the command ---- */

/* One value counts for every axis, otherwise each has its own. */
static enum gf_status check_count(const char *option, unsigned count, int dimensions,
                                  struct gf_error *e)
{
    if (count <= 1 || count == (unsigned)dimensions)
        return GF_OK;
    return gf_fail(e, GF_EUSAGE, "masks make: %s has %u values for a mask in %dD; give one%s",
                   option, count, dimensions,
                   dimensions == 3 ? " or three, x,y,z" : " or two, x,y, or add --3d");
}

static enum gf_status make(const struct gf_request *r, const char *kind, struct gf_buffer *text,
                           struct gf_error *e)
{
    int dimensions = r->dimensions ? r->dimensions : 2;
    double sigma[3] = {0, 0, 0};
    uint32_t size[3] = {0, 0, 0};
    if (strcmp(kind, "box") == 0 && r->sigma_count)
        return gf_fail(e, GF_EUSAGE, "masks make box: takes --size, not --sigma");
    if (strcmp(kind, "box") != 0 && r->mask_size_count)
        return gf_fail(e, GF_EUSAGE, "masks make %s: takes --sigma, not --size", kind);
    GF_TRY(check_count("--sigma", r->sigma_count, dimensions, e));
    GF_TRY(check_count("--size", r->mask_size_count, dimensions, e));
    for (int a = 0; a < dimensions; a++) {
        const struct gf_length *length = &r->sigma[r->sigma_count == 1 ? 0 : a];
        if (r->sigma_count > 0 && length->physical)
            return gf_fail(e, GF_EUSAGE, "masks make: --sigma is in pixels here, a mask has no "
                           "voxel size; leave the unit out");
        sigma[a] = r->sigma_count > 0 ? length->value : 0;
        size[a] = r->mask_size[r->mask_size_count == 1 ? 0 : a];
    }
    return gf_masks_make(kind, sigma, size, r->truncate, dimensions, text, e);
}

enum gf_status gf_masks_run(const struct gf_request *r, struct gf_error *e)
{
    static const char usage[] = "gpufilt masks list | show MASK | make gauss|box|log [OPTION]...";
    struct gf_buffer text = {0};
    const char *action = r->operand_count ? r->operands[0] : "list";
    enum gf_status status;

    if (strcmp(action, "make") != 0 && (r->sigma_count || r->mask_size_count))
        return gf_fail(e, GF_EUSAGE, "masks %s: --sigma and --size go with masks make", action);
    if (strcmp(action, "list") == 0 && r->operand_count <= 1)
        status = gf_masks_list(&text, e);
    else if (strcmp(action, "show") == 0 && r->operand_count == 2)
        status = gf_masks_show(r->operands[1], r->dimensions, &text, e);
    else if (strcmp(action, "make") == 0 && r->operand_count == 2)
        status = make(r, r->operands[1], &text, e);
    else
        return gf_fail(e, GF_EUSAGE, "masks: expected %s", usage);
    if (status != GF_OK) {
        gf_buffer_free(&text);
        return status;
    }
    return gf_output_text(&text, 0, e);
}
