#include "explain.h"

#include "border.h"
#include "util.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Longest list of taps printed whole. */
#define TAPS_SHOWN 65

static const char *arith_text(const struct gf_plan *plan)
{
    switch (plan->arith) {
    case GF_EXACT:
        return "exact: 32-bit integer sums, divided and rounded once";
    case GF_FLOAT:
        return "float: fused multiply-adds in single precision, in the order of the taps";
    default:
        return "double: fused multiply-adds in double precision, in the order of the taps";
    }
}

static double planned_tap(const struct gf_plan *plan, const void *taps, uint64_t i)
{
    switch (plan->arith) {
    case GF_EXACT:
        return ((const int32_t *)taps)[i];
    case GF_FLOAT:
        return ((const float *)taps)[i];
    default:
        return ((const double *)taps)[i];
    }
}

static void print_taps(struct gf_buffer *t, const struct gf_plan *plan, const void *taps,
                       uint32_t count)
{
    char number[GF_NUMBER_TEXT];
    for (uint32_t i = 0; i < count; i++) {
        if (count > TAPS_SHOWN && i == TAPS_SHOWN / 2) {
            gf_buffer_printf(t, " ... (%u more)", count - TAPS_SHOWN + 1);
            i = count - TAPS_SHOWN / 2 - 1;
            continue;
        }
        double tap = planned_tap(plan, taps, i);
        if (plan->arith == GF_FLOAT)
            snprintf(number, sizeof number, "%.9g", tap);
        else
            gf_format_double(number, tap);
        gf_buffer_printf(t, " %s", number);
    }
    gf_buffer_text(t, "\n");
}

double gf_explain_sigma(const struct gf_plan *plan, int axis)
{
    double sum = 0, mean = 0, square = 0;
    if (!plan->separable)
        return NAN;
    for (uint32_t i = 0; i < plan->size[axis]; i++) {
        double tap = planned_tap(plan, plan->factor[axis], i);
        if (tap < 0)
            return NAN;
        sum += tap;
        mean += tap * i;
        square += tap * i * i;
    }
    mean /= sum;
    return sqrt(fmax(0, square / sum - mean * mean));
}

static void explain_mask(struct gf_buffer *t, const struct gf_request *r,
                         const struct gf_mask *mask, const struct gf_plan *plan)
{
    char number[GF_NUMBER_TEXT];
    gf_buffer_text(t, "mask         ");
    gf_buffer_escaped(t, mask->name, strlen(mask->name));
    gf_buffer_printf(t, ", %u", mask->size[0]);
    gf_buffer_printf(t, "x%u", mask->size[1]);
    if (mask->size[2] > 1)
        gf_buffer_printf(t, "x%u", mask->size[2]);
    gf_buffer_printf(t, " taps, origin %u,%u", mask->origin[0], mask->origin[1]);
    if (mask->size[2] > 1)
        gf_buffer_printf(t, ",%u", mask->origin[2]);
    gf_buffer_printf(t, ", %s\n", r->command->bit == GF_CONVOLVE ? "turned round (convolution)"
                                                                 : "as written (correlation)");
    if (plan->arith == GF_EXACT)
        gf_buffer_printf(t, "divisor      %lld\n", (long long)plan->divisor);
    gf_buffer_printf(t, "sum          %s\n", gf_format_double(number, plan->gain));
    gf_buffer_printf(t, "separable    %s\n",
                     plan->separable ? "yes: a pass along each axis" : "no: all taps at once");
    if (plan->separable) {
        for (int a = 0; a < (mask->size[2] > 1 ? 3 : 2); a++) {
            gf_buffer_printf(t, "taps %c      ", "xyz"[a]);
            print_taps(t, plan, plan->factor[a], plan->size[a]);
        }
        for (int a = 0; a < 3; a++) {
            double sigma = gf_explain_sigma(plan, a);
            if (plan->size[a] == 1 || isnan(sigma))
                continue;
            snprintf(number, sizeof number, "%.6g", sigma);
            gf_buffer_printf(t, "sigma %c      %s px realised", "xyz"[a], number);
            if (mask->sigma[a] > 0) {
                snprintf(number, sizeof number, "%.6g", mask->sigma[a]);
                gf_buffer_printf(t, ", %s asked for; cut at %g sigma", number, r->truncate);
            }
            gf_buffer_text(t, "\n");
        }
        return;
    }
    for (uint64_t row = 0; row < (uint64_t)plan->size[1] * plan->size[2]; row++) {
        if (row == 33) {
            gf_buffer_text(t, "             ...\n");
            break;
        }
        gf_buffer_text(t, row ? "            " : "taps        ");
        print_taps(t, plan,
                   (const char *)plan->taps +
                       row * plan->size[0] * (plan->arith == GF_DOUBLE ? 8 : 4),
                   plan->size[0]);
    }
}

static void print_shape(struct gf_buffer *t, const struct gf_image *image)
{
    gf_buffer_printf(t, "%llux%llu", (unsigned long long)image->width,
                     (unsigned long long)image->height);
    if (image->depth > 1)
        gf_buffer_printf(t, "x%llu", (unsigned long long)image->depth);
    gf_buffer_printf(t, ", %u channel%s, %s", image->channels, image->channels == 1 ? "" : "s",
                     gf_type_name(image->type));
}

void gf_explain(struct gf_buffer *t, const struct gf_request *r, const struct gf_mask *mask,
                const struct gf_plan *plan, const struct gf_image *image,
                const struct gf_reader *reader, const char *out_path,
                const struct gf_format *out_format)
{
    char number[GF_NUMBER_TEXT];
    bool volume = plan->dimensions == 3;
    gf_buffer_text(t, "input        ");
    gf_buffer_escaped(t, reader->name, strlen(reader->name));
    gf_buffer_printf(t, ": %s, ", reader->format->name);
    print_shape(t, image);
    if (reader->images > 1)
        gf_buffer_printf(t, ", the first of %llu images, all of which are done",
                         (unsigned long long)reader->images);
    gf_buffer_text(t, "\noutput       ");
    if (out_path) {
        const char *shown = strcmp(out_path, "-") == 0 ? "standard output" : out_path;
        gf_buffer_escaped(t, shown, strlen(shown));
        gf_buffer_printf(t, ": %s, ", out_format->name);
    } else {
        gf_buffer_text(t, "(none named): ");
    }
    print_shape(t, &plan->out);
    if (r->command->bit == GF_CONVERT) {
        gf_buffer_text(t, "\nfilter       none: values are kept\n");
    } else {
        gf_buffer_printf(t, "\nfilter       %s in %dD%s\n", r->command->name, plan->dimensions,
                         !volume && image->depth > 1 ? ", slice by slice"
                         : !volume && reader->images > 1
                             ? ", every image by itself; --3d takes them as one volume" : "");
        explain_mask(t, r, mask, plan);
        gf_buffer_printf(t, "border       %s: %s", gf_border_row(plan->border)->name,
                         gf_border_row(plan->border)->picture);
        if (plan->border == GF_BORDER_CONSTANT)
            gf_buffer_printf(t, " with 0 = %s", gf_format_double(number, plan->fill));
        gf_buffer_printf(t, "\narithmetic   %s\n", arith_text(plan));
    }
    gf_buffer_printf(t, "rounding     %s\n",
                     gf_type_row(plan->out.type)->is_float
                         ? "to the sample type"
                         : "to nearest, ties to even; saturated and counted");
    if (image->alpha >= 0)
        gf_buffer_printf(t, "alpha        %s\n",
                         plan->alpha_multiply ? "colour is filtered multiplied by alpha"
                         : plan->alpha_divide ? "colour is divided by alpha for the output"
                         : plan->alpha_keep ? "kept as it is, colour filtered by itself"
                         : "a channel like another");
    gf_buffer_printf(t, "slabs        %llu %s at a time of %llu\n", (unsigned long long)plan->slab,
                     volume ? "planes" : "rows",
                     (unsigned long long)(volume ? plan->out.depth : plan->out.height));
}

void gf_explain_device(struct gf_buffer *t, const struct gf_engine *engine,
                       const struct gf_choice *choice, const struct gf_plan *plan)
{
    char number[GF_NUMBER_TEXT];
    bool on_gpu = gf_is_gpu(choice->backend);
    gf_buffer_printf(t, "memory       %s of samples on the host, ",
                     gf_format_bytes(number, plan->host_bytes));
    if (!on_gpu)
        gf_buffer_text(t, "nothing on a device\n");
    else if (plan->gpu_memory)
        gf_buffer_printf(t, "at most %s on the device\n",
                         gf_format_bytes(number, plan->gpu_memory));
    else
        gf_buffer_text(t, "as much as pays on the device, of what is free there\n");
    if (on_gpu)
        gf_buffer_printf(t, "layout       %s\n", plan->packed ? "packed: row after row"
                                                : "pitched: rows begin at aligned addresses");
    gf_buffer_text(t, "device       ");
    gf_engine_describe(t, engine, choice, plan);
    gf_buffer_text(t, "\n");
}
