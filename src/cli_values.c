#include "cli_values.h"

#include "backend.h"
#include "bench/options.h"
#include "io/raw.h"
#include "stats/options.h"
#include "text.h"
#include "util.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What a value option expected and found, in one line. */
static enum gf_status bad_value(const struct gf_option *o, const char *value, const char *expected,
                                struct gf_error *e)
{
    return gf_fail(e, GF_EUSAGE, "--%s '%s': expected %s", o->name, value, expected);
}

/* ---- numbers and lengths ---- */

#define LENGTH_UNITS "px, nm, um, mm, cm or m"

/* One number with a unit; *bare when it has none. */
static bool parse_length(const char *text, size_t length, struct gf_length *result, bool *bare)
{
    char number[64];
    size_t digits = 0;
    double mm = 1;
    while (digits < length && strchr("+-.0123456789eE", text[digits]))
        digits++;
    if (digits == 0 || digits >= sizeof number)
        return false;
    memcpy(number, text, digits);
    number[digits] = '\0';
    if (!gf_parse_double(number, false, &result->value))
        return false;
    *bare = digits == length;
    text += digits;
    length -= digits;
    result->physical = length > 0 && (length != 2 || memcmp(text, "px", 2) != 0);
    if (result->physical && !gf_length_unit(text, length, &mm))
        return false;
    result->value *= mm;
    return isfinite(result->value);
}

/* "S[,S[,S]]" from 0, each with a unit; a unit on the last one alone counts for all. */
static enum gf_status parse_lengths(const struct gf_option *o, const char *value,
                                    struct gf_length lengths[3], unsigned *count,
                                    const char *expected, struct gf_error *e)
{
    const char *s = value, *unit;
    bool bare[3];
    unsigned n = 0;
    double mm;
    for (;; s++) {
        size_t length = strcspn(s, ",");
        if (n == 3 || !parse_length(s, length, &lengths[n], &bare[n]) || lengths[n].value < 0)
            return bad_value(o, value, expected, e);
        n++;
        s += length;
        if (*s == '\0')
            break;
    }
    *count = n;
    unit = strrchr(value, ',');
    unit = unit ? unit + 1 : value;
    unit += strspn(unit, "+-.0123456789eE");
    for (unsigned i = 0; i + 1 < n && gf_length_unit(unit, strlen(unit), &mm); i++)
        if (bare[i]) {
            lengths[i].value *= mm;
            lengths[i].physical = true;
            if (!isfinite(lengths[i].value))
                return bad_value(o, value, expected, e);
        }
    return GF_OK;
}

static enum gf_status parse_count(const struct gf_option *o, const char *value, uint64_t lowest,
                                  uint64_t highest, uint64_t *result, struct gf_error *e)
{
    if (gf_parse_u64(value, result) && *result >= lowest && *result <= highest)
        return GF_OK;
    return gf_fail(e, GF_EUSAGE, "--%s '%s': expected a whole number from %llu to %llu", o->name,
                   value, (unsigned long long)lowest, (unsigned long long)highest);
}

static enum gf_status parse_number(const struct gf_option *o, const char *value, double *result,
                                   struct gf_error *e)
{
    return gf_parse_double(value, false, result) ? GF_OK : bad_value(o, value, "a number", e);
}

/* Whole numbers set off by `separator`, from `lowest` up; stops at another character, where
 * *text is left. Returns how many, 0 for anything else. */
static unsigned parse_whole(const char **text, char separator, uint64_t lowest, uint64_t values[3])
{
    unsigned count = 0;
    for (;; ++*text) {
        char number[24];
        size_t n = strspn(*text, "0123456789");
        if (count == 3 || n == 0 || n >= sizeof number)
            return 0;
        memcpy(number, *text, n);
        number[n] = '\0';
        if (!gf_parse_u64(number, &values[count]) || values[count] > INT64_MAX ||
            values[count] < lowest)
            return 0;
        count++;
        *text += n;
        if (**text != separator)
            return count;
    }
}

static enum gf_status parse_roi(const struct gf_option *o, const char *value, struct gf_request *r,
                                struct gf_error *e)
{
    const char *s = value;
    unsigned places = parse_whole(&s, ',', 0, r->roi_origin), sizes = 0;
    if (places >= 2 && *s++ == '+')
        sizes = parse_whole(&s, 'x', 1, r->roi_size);
    if (places < 2 || sizes != places || *s != '\0')
        return bad_value(o, value, "X,Y[,Z]+WxH[xD] with as many sizes as places, for example "
                         "100,50+256x256", e);
    r->roi_given = true;
    r->roi_axes = places;
    return GF_OK;
}

static enum gf_status parse_size(const struct gf_option *o, const char *value, uint32_t size[3],
                                 unsigned *count, struct gf_error *e)
{
    const char *s = value;
    uint64_t values[3];
    *count = parse_whole(&s, ',', 1, values);
    for (unsigned a = 0; a < *count; a++)
        if (values[a] > 65535)
            *count = 0;
    if (*count == 0 || *s != '\0')
        return bad_value(o, value, "one to three whole numbers from 1 to 65535", e);
    for (unsigned a = 0; a < 3; a++)
        size[a] = a < *count ? (uint32_t)values[a] : *count == 1 ? (uint32_t)values[0] : 1;
    return GF_OK;
}

/* One value counts for all axes; two leave z unknown. */
static enum gf_status parse_spacing(const struct gf_option *o, const char *value,
                                    struct gf_request *r, struct gf_error *e)
{
    static const char expected[] = "one to three sizes above 0 in mm or with a unit, for example "
                                   "0.5,0.5,2 or 0.8um";
    struct gf_length s[3];
    unsigned count;
    GF_TRY(parse_lengths(o, value, s, &count, expected, e));
    for (unsigned a = 0; a < 3; a++) {
        if (a < count && (s[a].value <= 0 || (!s[a].physical && strstr(value, "px"))))
            return bad_value(o, value, expected, e);
        r->spacing[a] = a < count ? s[a].value : count == 1 ? s[0].value : 0;
    }
    return GF_OK;
}

/* ---- words ---- */

/* A value that is one of the blank-separated words of `words`: its index goes to *index. */
static enum gf_status parse_choice(const struct gf_option *o, const char *value, const char *words,
                                   unsigned *index, struct gf_error *e)
{
    *index = 0;
    for (const char *s = words;; s++) {
        size_t n = strcspn(s, " ");
        if (n == strlen(value) && memcmp(s, value, n) == 0)
            return GF_OK;
        s += n;
        if (*s == '\0')
            return bad_value(o, value, words, e);
        ++*index;
    }
}

static enum gf_status parse_type(const struct gf_option *o, const char *value,
                                 struct gf_request *r, struct gf_error *e)
{
    /* What numpy, C and other programs call them. */
    static const struct {
        const char *other, *ours;
    } names[] = {{"uint8", "u8"},   {"int8", "i8"},     {"uint16", "u16"},  {"int16", "i16"},
                 {"uint32", "u32"}, {"int32", "i32"},   {"float16", "f16"}, {"half", "f16"},
                 {"float", "f32"},  {"float32", "f32"}, {"double", "f64"},  {"float64", "f64"}};
    unsigned index;
    for (size_t i = 0; i < GF_COUNT(names); i++)
        if (strcmp(value, names[i].other) == 0)
            return gf_fail(e, GF_EUSAGE, "--%s '%s': this type is called %s here", o->name, value,
                           names[i].ours);
    GF_TRY(parse_choice(o, value, GF_TYPE_NAMES " same", &index, e));
    r->type_given = index < GF_TYPE_COUNT;
    r->type = r->type_given ? (enum gf_type)index : GF_U8;
    return GF_OK;
}

static enum gf_status parse_border(const char *value, struct gf_request *r, struct gf_error *e)
{
    const char *names[GF_BORDER_COUNT + 1] = {"constant"};
    char list[160] = "";
    const char *closest;
    for (unsigned i = 0; i < GF_BORDER_COUNT; i++) {
        const struct gf_border_row *row = gf_border_row((enum gf_border)i);
        if (strcmp(value, row->name) == 0 || gf_word_in_list(value, row->aliases)) {
            r->border = (enum gf_border)i;
            r->border_constant = strcmp(value, "constant") == 0;
            return GF_OK;
        }
        names[i + 1] = row->name;
        snprintf(list + strlen(list), sizeof list - strlen(list), " %s", row->name);
    }
    if (strcmp(value, "reflect") == 0 || strcmp(value, "mirror") == 0)
        return gf_fail(e, GF_EUSAGE,
                       "--border %s: the word has two meanings; say symmetric (%s) or reflect101 "
                       "(%s)", value, gf_border_row(GF_BORDER_SYMMETRIC)->picture,
                       gf_border_row(GF_BORDER_REFLECT101)->picture);
    closest = gf_closest(value, names, GF_COUNT(names));
    return gf_fail(e, GF_EUSAGE, "--border '%s': unknown%s%s%s known: constant%s", value,
                   closest ? ", did you mean '" : "", closest ? closest : "", closest ? "'?" : ";",
                   list);
}

static enum gf_status parse_format(const char *value, struct gf_request *r, struct gf_error *e)
{
    char list[160];
    r->format = gf_format_by_name(value);
    r->write.gzip = gf_name_gzipped(value);
    if (r->format && r->format->create)
        return GF_OK;
    return gf_fail(e, GF_EUSAGE, "--format '%s': %s; known: %s", value,
                   r->format ? "is only read" : "unknown", gf_format_names(list, sizeof list));
}

/* "cuda:1": a backend that has devices, and which. Only builds for tests have simt. */
static enum gf_status parse_device(const struct gf_option *o, const char *value,
                                   struct gf_request *r, struct gf_error *e)
{
    static const char *const names[] = {"auto", "cpu", "cuda", "simt"};
    size_t length = strcspn(value, ":");
    uint64_t index = 0;
    for (unsigned i = 0; i < GF_COUNT(names); i++) {
        if (strlen(names[i]) != length || memcmp(names[i], value, length) != 0 ||
            (i > 0 && !gf_backend_by_name(names[i])))
            continue;
        if (value[length] == ':' &&
            (i < 2 || !gf_parse_u64(value + length + 1, &index) || index > INT32_MAX))
            break;
        r->device = names[i];
        r->device_word = value;
        r->gpu = (unsigned)index;
        return GF_OK;
    }
    return bad_value(o, value, "auto, cpu, cuda or cuda:N", e);
}

static enum gf_status parse_memory(const struct gf_option *o, const char *value, uint64_t *bytes,
                                   struct gf_error *e)
{
    return gf_parse_bytes(value, bytes) && *bytes > 0
               ? GF_OK : bad_value(o, value, "a size such as 512M or 2G", e);
}

static enum gf_status parse_compression(const struct gf_option *o, const char *value,
                                        struct gf_request *r, struct gf_error *e)
{
    char list[160];
    if (!gf_word_in_list(value, gf_compression_names(list, sizeof list)))
        return bad_value(o, value, list, e);
    r->write.compression = value;
    return GF_OK;
}

enum gf_status gf_cli_take(struct gf_request *r, enum gf_option_id id, const char *value,
                           struct gf_error *e)
{
    static const char lengths[] = "one to three numbers from 0, each with " LENGTH_UNITS
                                  ", for example 1.5 or 1,1,0.5mm";
    const struct gf_option *o = &gf_options[id];
    uint64_t number;
    unsigned index;

    if (id == GF_OPTION_KERNEL && r->kernel)
        return gf_fail(e, GF_EUSAGE, "--%s: given twice", o->name);
    r->seen[id] = true;
    switch (id) {
    case GF_OPTION_KERNEL:
        r->kernel = value;
        return GF_OK;
    case GF_OPTION_SIGMA:
    case GF_OPTION_MASK_SIGMA:
    case GF_OPTION_FWHM:
        if (r->sigma_count)
            return gf_fail(e, GF_EUSAGE, "--sigma and --fwhm exclude each other; give one");
        GF_TRY(parse_lengths(o, value, r->sigma, &r->sigma_count, lengths, e));
        if (id == GF_OPTION_FWHM)
            for (unsigned i = 0; i < r->sigma_count; i++)
                r->sigma[i].value /= 2.3548200450309493; /* 2 sqrt(2 ln 2) */
        return GF_OK;
    case GF_OPTION_TRUNCATE:
    case GF_OPTION_MASK_TRUNCATE:
        GF_TRY(parse_number(o, value, &r->truncate, e));
        return r->truncate > 0 && r->truncate <= 1000
                   ? GF_OK : bad_value(o, value, "a number above 0, at most 1000", e);
    case GF_OPTION_BORDER:
        return parse_border(value, r, e);
    case GF_OPTION_FILL:
        return parse_number(o, value, &r->fill, e);
    case GF_OPTION_ALPHA:
        GF_TRY(parse_choice(o, value, "premultiply independent", &index, e));
        r->alpha_independent = index == 1;
        return GF_OK;
    case GF_OPTION_DIM2:
    case GF_OPTION_DIM3:
    case GF_OPTION_MASK_2D:
    case GF_OPTION_MASK_3D: {
        int dimensions = id == GF_OPTION_DIM2 || id == GF_OPTION_MASK_2D ? 2 : 3;
        if (r->dimensions && r->dimensions != dimensions)
            return gf_fail(e, GF_EUSAGE, "--2d and --3d exclude each other");
        r->dimensions = dimensions;
        r->read.stack_pages = dimensions == 3;
        return GF_OK;
    }
    case GF_OPTION_ROI:
    case GF_OPTION_STATS_ROI:
        return parse_roi(o, value, r, e);
    case GF_OPTION_TYPE:
        return parse_type(o, value, r, e);
    case GF_OPTION_ON_CLIP:
        GF_TRY(parse_choice(o, value, "warn error ignore", &index, e));
        r->on_clip = (enum gf_on_clip)index;
        return GF_OK;
    case GF_OPTION_OUTPUT:
        r->output = value;
        return GF_OK;
    case GF_OPTION_SUFFIX:
        if (strchr(value, '/'))
            return bad_value(o, value, "a piece of a name without '/'", e);
        r->suffix = value;
        return GF_OK;
    case GF_OPTION_FORMAT:
        return parse_format(value, r, e);
    case GF_OPTION_COMPRESSION:
        return parse_compression(o, value, r, e);
    case GF_OPTION_LEVEL:
        GF_TRY(parse_count(o, value, 0, 9, &number, e));
        r->write.level = (int)number;
        return GF_OK;
    case GF_OPTION_NO_CLOBBER:
        r->out.no_clobber = true;
        return GF_OK;
    case GF_OPTION_SYNC:
        GF_TRY(parse_choice(o, value, "each none", &index, e));
        r->out.sync = index ? GF_SYNC_NONE : GF_SYNC_EACH;
        return GF_OK;
    case GF_OPTION_RAW:
        return gf_raw_parse(&r->read.raw, value, e);
    case GF_OPTION_SPACING:
        return parse_spacing(o, value, r, e);
    case GF_OPTION_DEVICE:
    case GF_OPTION_BENCH_DEVICE:
        return parse_device(o, value, r, e);
    case GF_OPTION_JOBS:
        GF_TRY(parse_count(o, value, 1, 1024, &number, e));
        r->jobs = (unsigned)number;
        return GF_OK;
    case GF_OPTION_MAX_MEMORY:
        return parse_memory(o, value, &r->max_memory, e);
    case GF_OPTION_GPU_MEMORY:
        return parse_memory(o, value, &r->gpu_memory, e);
    case GF_OPTION_LAYOUT:
        GF_TRY(parse_choice(o, value, "pitched packed", &index, e));
        r->packed = index == 1;
        return GF_OK;
    case GF_OPTION_SIZE:
        return parse_size(o, value, r->mask_size, &r->mask_size_count, e);
    case GF_OPTION_EXPLAIN:
        r->explain = true;
        return GF_OK;
    case GF_OPTION_DRY_RUN:
        r->dry_run = true;
        return GF_OK;
    case GF_OPTION_JSON:
        r->json = true;
        return gf_stats_take(r, id, NULL, e);
    case GF_OPTION_QUIET:
        r->quiet = true;
        return GF_OK;
    case GF_OPTION_VERBOSE:
        r->verbose = true;
        return GF_OK;
    case GF_OPTION_HELP:
        r->help = true;
        return GF_OK;
    case GF_OPTION_VERSION:
        r->version = true;
        return GF_OK;
    case GF_OPTION_NUMBER:
    case GF_OPTION_BENCH_SIZE:
    case GF_OPTION_TAPS:
    case GF_OPTION_VALID:
    case GF_OPTION_STRESS:
    case GF_OPTION_REPEAT:
    case GF_OPTION_SIMULATE:
    case GF_OPTION_GPU:
    case GF_OPTION_BENCH_PLOT:
        return gf_bench_take(r, id, value, e);
    default:
        return gf_stats_take(r, id, value, e);
    }
}
