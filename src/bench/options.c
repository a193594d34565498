#include "options.h"

#include "../picture.h"
#include "../text.h"
#include "../util.h"

#include <string.h>

#define MOST_SAMPLES (UINT64_C(1) << 48)
#define MOST_AXIS (UINT64_C(1) << 24)
#define MOST_REPEATS 100000
#define REPEATS 20
#define SAME_RUNS 20

/* ---- values ---- */

static bool power(uint64_t base, uint64_t exponent, uint64_t *value)
{
    *value = 1;
    for (; exponent > 0; exponent--)
        if (!gf_mul(*value, base, value))
            return false;
    return true;
}

/* "100000000", "2^27", "1e8", "128Mi". Without the i a letter would mean 1000 to some and 1024 to
 * others. */
static bool parse_samples(const char *text, uint64_t *value)
{
    static const char *const units[] = {"Ki", "Mi", "Gi", "Ti"};
    uint64_t number, exponent, factor;
    if (!gf_take_u64(&text, &number))
        return false;
    *value = number;
    if (*text == '^')
        return gf_parse_u64(text + 1, &exponent) && exponent < 64 &&
               power(number, exponent, value);
    if (*text == 'e' || *text == 'E')
        return gf_parse_u64(text + 1, &exponent) && exponent < 64 &&
               power(10, exponent, &factor) && gf_mul(number, factor, value);
    for (unsigned i = 0; i < GF_COUNT(units); i++)
        if (strcmp(text, units[i]) == 0)
            return gf_mul(number, UINT64_C(1) << 10 * (i + 1), value);
    return *text == '\0';
}

static enum gf_status take_number(struct gf_bench_options *o, const char *value, struct gf_error *e)
{
    uint64_t n;
    if (!parse_samples(value, &n) || n < 1 || n > MOST_SAMPLES)
        return gf_fail(e, GF_EUSAGE, "--number '%s': expected a number of samples from 1 to 2^48, "
                       "such as 100000000, 2^27, 1e8 or 128Mi", value);
    o->n = n;
    return GF_OK;
}

static enum gf_status take_size(struct gf_bench_options *o, const char *value, struct gf_error *e)
{
    const char *s = value;
    uint64_t size[3] = {1, 1, 1};
    unsigned axes = 0;
    uint64_t samples = 1;
    bool fine = true;
    while (fine && axes < 3 && (axes == 0 || *s++ == 'x')) {
        fine = gf_take_u64(&s, &size[axes]) && size[axes] >= 1 && size[axes] <= MOST_AXIS &&
               gf_mul(samples, size[axes], &samples) && samples <= INT64_MAX;
        axes++;
        if (*s == '\0')
            break;
    }
    if (!fine || axes < 2 || *s != '\0')
        return gf_fail(e, GF_EUSAGE, "--size '%s': expected WxH or WxHxD, each from 1 to %llu, for "
                       "example 4096x4096", value, (unsigned long long)MOST_AXIS);
    memcpy(o->size, size, sizeof size);
    o->axes = axes;
    return GF_OK;
}

static enum gf_status take_taps(struct gf_bench_options *o, const char *value, struct gf_error *e)
{
    uint64_t taps;
    if (!gf_parse_u64(value, &taps) || taps < 3 || taps > 9 || taps % 2 == 0)
        return gf_fail(e, GF_EUSAGE, "--taps '%s': expected 3, 5, 7 or, in 2D, 9", value);
    o->taps = (uint32_t)taps;
    return GF_OK;
}

static enum gf_status take_plot(struct gf_bench_options *o, const char *value, struct gf_error *e)
{
    if (gf_picture_kind(value) == GF_PICTURE_NONE)
        return gf_fail(e, GF_EUSAGE, "--plot '%s': the picture of the steps is an .svg or a .png "
                       "file", value);
    o->plot = value;
    return GF_OK;
}

enum gf_status gf_bench_take(struct gf_request *r, enum gf_option_id id, const char *value,
                             struct gf_error *e)
{
    struct gf_bench_options *o = &r->bench;
    uint64_t number;
    switch (id) {
    case GF_OPTION_NUMBER: return take_number(o, value, e);
    case GF_OPTION_BENCH_SIZE: return take_size(o, value, e);
    case GF_OPTION_TAPS: return take_taps(o, value, e);
    case GF_OPTION_VALID: o->valid = true; return GF_OK;
    case GF_OPTION_STRESS: o->stress = true; return GF_OK;
    case GF_OPTION_SIMULATE: o->simulate = true; return GF_OK;
    case GF_OPTION_GPU: return gf_gpu_find(&o->gpu, value, e);
    case GF_OPTION_BENCH_PLOT: return take_plot(o, value, e);
    case GF_OPTION_REPEAT:
        if (!gf_parse_u64(value, &number) || number < 1 || number > MOST_REPEATS)
            return gf_fail(e, GF_EUSAGE, "--repeat '%s': expected a whole number from 1 to %d",
                           value, MOST_REPEATS);
        o->repeats = (unsigned)number;
        return GF_OK;
    default: return GF_OK;
    }
}

/* ---- rules ---- */

static const char names[] = "reduce, conv2d, conv3d, copy or all";

bool gf_bench_ladders(const struct gf_request *r, bool wanted[GF_LADDERS])
{
    bool all = false;
    memset(wanted, 0, GF_LADDERS * sizeof *wanted);
    for (size_t i = 0; i < r->operand_count; i++)
        for (unsigned l = 0; l < GF_LADDERS; l++) {
            all = all || strcmp(r->operands[i], "all") == 0;
            wanted[l] = wanted[l] || all || strcmp(r->operands[i], gf_ladder_names[l]) == 0;
        }
    return all;
}

static enum gf_status check_operands(const struct gf_request *r, struct gf_error *e)
{
    const char *known[GF_LADDERS + 1] = {"all"};
    if (r->operand_count == 0)
        return gf_fail(e, GF_EUSAGE, "bench: which ladder? %s", names);
    for (unsigned l = 0; l < GF_LADDERS; l++)
        known[l + 1] = gf_ladder_names[l];
    for (size_t i = 0; i < r->operand_count; i++) {
        const char *word = r->operands[i], *closest;
        unsigned k = 0;
        while (k < GF_COUNT(known) && strcmp(known[k], word) != 0)
            k++;
        if (k < GF_COUNT(known))
            continue;
        closest = gf_closest(word, known, GF_COUNT(known));
        return gf_fail(e, GF_EUSAGE, "bench '%s': no such ladder%s%s%s; expected %s", word,
                       closest ? ", did you mean '" : "", closest ? closest : "",
                       closest ? "'?" : "", names);
    }
    return GF_OK;
}

/* An option of ladders none of which is asked for would be without effect. */
static enum gf_status check_work(const struct gf_request *r, const bool wanted[GF_LADDERS],
                                 struct gf_error *e)
{
    const struct gf_bench_options *o = &r->bench;
    const bool two = wanted[GF_CONV2D], three = wanted[GF_CONV3D];
    if (o->n && !wanted[GF_REDUCE] && !wanted[GF_COPY])
        return gf_fail(e, GF_EUSAGE, "--number goes with reduce and copy; the size of a "
                       "convolution is --size");
    if ((o->axes || o->taps) && !two && !three)
        return gf_fail(e, GF_EUSAGE, "--%s goes with conv2d and conv3d", o->axes ? "size" : "taps");
    if (o->axes == 2 && !two)
        return gf_fail(e, GF_EUSAGE, "--size: conv3d needs three sizes, for example 512x512x512");
    if (o->axes == 3 && !three)
        return gf_fail(e, GF_EUSAGE, "--size: conv2d needs two sizes, for example 8192x8192");
    if (o->taps == 9 && three)
        return gf_fail(e, GF_EUSAGE, "--taps 9: conv3d has 3, 5 or 7 taps along each axis");
    if (o->valid && !three)
        return gf_fail(e, GF_EUSAGE, "--valid goes with conv3d");
    for (unsigned a = 0; o->valid && o->axes == 3 && a < 3; a++)
        if (o->size[a] < (o->taps ? o->taps : 5))
            return gf_fail(e, GF_EUSAGE, "--valid: nothing is left of %llu samples under %u taps",
                           (unsigned long long)o->size[a], o->taps ? o->taps : 5);
    return GF_OK;
}

enum gf_status gf_bench_check(const struct gf_request *r, struct gf_error *e)
{
    const struct gf_bench_options *o = &r->bench;
    bool wanted[GF_LADDERS], all;
    GF_TRY(check_operands(r, e));
    all = gf_bench_ladders(r, wanted);
    if (strcmp(r->device, "auto") != 0 && strcmp(r->device, "cuda") != 0)
        return gf_fail(e, GF_EUSAGE, "bench: --device '%s': expected cuda or cuda:N; without a GPU "
                       "say --simulate", r->device_word);
    if (o->simulate && strcmp(r->device, "cuda") == 0)
        return gf_fail(e, GF_EUSAGE, "bench: --simulate and --device exclude each other; give one");
    if (o->simulate && o->repeats)
        return gf_fail(e, GF_EUSAGE, "bench: --repeat is of timed runs, and --simulate counts");
    if (o->gpu && !o->simulate && !all)
        return gf_fail(e, GF_EUSAGE, "--gpu goes with --simulate");
    return check_work(r, wanted, e);
}

/* ---- the work ---- */

static struct gf_ladder_work make_work(const struct gf_bench_options *o, enum gf_ladder ladder,
                                       uint64_t n, uint64_t width2, uint64_t width3)
{
    const bool three = ladder == GF_CONV3D;
    const uint64_t width = three ? width3 : width2;
    struct gf_ladder_work w = {.ladder = ladder, .stress = o->stress};
    if (ladder == GF_REDUCE || ladder == GF_COPY) {
        w.n = n;
        return w;
    }
    w.taps = o->taps ? o->taps : 5;
    w.valid = o->valid && three;
    for (unsigned a = 0; a < 3; a++)
        w.size[a] = a < 2 || three ? width : 1;
    return w;
}

static bool is_given(const struct gf_bench_options *o, enum gf_ladder ladder)
{
    if (ladder == GF_CONV2D || ladder == GF_CONV3D)
        return o->axes == (ladder == GF_CONV2D ? 2 : 3);
    return o->n > 0;
}

static void take_given(const struct gf_bench_options *o, struct gf_ladder_work *w)
{
    if (!is_given(o, w->ladder))
        return;
    w->n = w->n ? o->n : 0;
    for (unsigned a = 0; a < 3 && w->n == 0; a++)
        w->size[a] = o->size[a];
}

struct gf_ladder_work gf_bench_work(const struct gf_bench_options *o, enum gf_ladder ladder,
                                    uint64_t memory)
{
    uint64_t n = UINT64_C(1) << 27, width2 = 8192, width3 = 512;
    struct gf_ladder_work w;
    /* Input, output, what is between them and room to spare: four times the samples. */
    while (memory && n > 1 && 4 * 4 * n > memory)
        n /= 2;
    while (memory && width2 > 64 && 4 * 4 * width2 * width2 > memory)
        width2 /= 2;
    while (memory && width3 > 16 && 4 * 4 * width3 * width3 * width3 > memory)
        width3 /= 2;
    w = make_work(o, ladder, n, width2, width3);
    take_given(o, &w);
    w.repeats = o->repeats ? o->repeats : REPEATS;
    w.same_runs = SAME_RUNS;
    return w;
}

struct gf_ladder_work gf_bench_simulated(const struct gf_bench_options *o, enum gf_ladder ladder)
{
    const struct gf_ladder_work usual = make_work(o, ladder, 1 << 16, 128, 32);
    struct gf_ladder_work w = usual;
    take_given(o, &w);
    if (!o->simulate) {
        w.n = gf_min(w.n, usual.n);
        for (unsigned a = 0; a < 3; a++)
            w.size[a] = gf_min(w.size[a], usual.size[a]);
    }
    w.same_runs = 1;
    return w;
}
