#include "cli.h"

#include "alloc.h"
#include "help.h"
#include "info.h"
#include "io/raw.h"
#include "job.h"
#include "masks_run.h"
#include "text.h"
#include "util.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ALL GF_ALL
#define BLUR GF_BLUR
#define FILTERS GF_FILTERS
#define FILES GF_FILES
#define READERS GF_READERS
#define MASKS GF_MASKS
#define INFO GF_INFO
const struct gf_option gf_options[GF_OPTION_COUNT] = {
#define OPTION(id, letter, name, argument, commands, section, help) \
    {letter, name, argument, commands, section, help},
#include "options.def"
#undef OPTION
};
#undef ALL
#undef BLUR
#undef FILTERS
#undef FILES
#undef READERS
#undef MASKS
#undef INFO

const struct gf_command gf_commands[] = {
    {"blur", GF_BLUR, "-k NAME|--sigma S|--fwhm W [OPTION]... IN OUT",
     "smooth with a named kernel or a Gaussian",
     "Smooths pictures (2D) and volumes (3D). The output keeps the sample type and everything the\n"
     "file says about itself. Named kernels of integer images are exact, rounded once.",
     "gpufilt blur -k gauss5 in.png out.png\n"
     "gpufilt blur --sigma 1.5 --border wrap in.tif out.tif\n"
     "gpufilt blur -k box3 -o smooth/ a.png b.png c.png\n",
     gf_job_run},
    {"correlate", GF_CORRELATE, "-k MASK [OPTION]... IN OUT", "apply any mask as it is written",
     "out[z,y,x] is the sum of mask[k,j,i] * in[z-cz+k, y-cy+j, x-cx+i]: scipy.ndimage.correlate, and\n"
     "what OpenCV and libvips call convolution. The centre of n taps is tap n/2 unless the mask has an\n"
     "origin. A mask whose weights do not sum to more than 0 (a derivative) gives a signed type.",
     "gpufilt correlate -k sobel-x in.png gradient.tif\n"
     "gpufilt correlate -k '0,-1,0; -1,5,-1; 0,-1,0' in.png sharp.png\n",
     gf_job_run},
    {"convolve", GF_CONVOLVE, "-k MASK [OPTION]... IN OUT", "apply any mask turned round",
     "Like correlate, with the mask turned round along every axis first: scipy.ndimage.convolve.",
     "gpufilt convolve -k @psf.mask in.tif out.tif\n",
     gf_job_run},
    {"convert", GF_CONVERT, "[OPTION]... IN OUT", "change format, sample type or size; no filter",
     "Values are kept, never rescaled: what does not fit the type is rounded, saturated and counted.",
     "gpufilt convert photo.jpg photo.png\n"
     "gpufilt convert --roi 100,50+256x200 in.tif part.tif\n"
     "gpufilt convert -t f32 in.png out.tif\n",
     gf_job_run},
    {"info", GF_INFO, "[OPTION]... FILE...", "what a file holds, from its header",
     "Prints size, sample type, colour, voxel size and metadata of every image of a file.",
     "gpufilt info in.tif\n"
     "gpufilt info --json in.tif\n",
     gf_info_run},
    {"masks", GF_MASKS, "list | show MASK | make gauss|box|log [OPTION]...",
     "list, show or make masks",
     "`masks show` takes whatever -k takes. `masks make` prints a mask in the format of\n"
     "gpufilt-mask(5).",
     "gpufilt masks list\n"
     "gpufilt masks show gauss5\n"
     "gpufilt masks make gauss --sigma 2 > g2.mask\n",
     gf_masks_run},
    {"help", GF_HELP, "[COMMAND|border|types|formats|status]", "help on a command or a topic",
     "Without an operand: the commands.", "gpufilt help border\n", gf_help_run},
    {0},
};

const struct gf_command *gf_command_by_name(const char *name)
{
    for (const struct gf_command *c = gf_commands; c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

/* ---- values ---- */

/* What a value option expected and found, in one line. */
static enum gf_status bad_value(const struct gf_option *o, const char *value, const char *expected,
                                struct gf_error *e)
{
    return gf_fail(e, GF_EUSAGE, "--%s '%s': expected %s", o->name, value, expected);
}

struct unit {
    const char *name;
    double mm; /* 0: pixels */
};

static const struct unit units[] = {
    {"", 0}, {"px", 0}, {"mm", 1}, {"um", 1e-3}, {"\xc2\xb5m", 1e-3}, {"nm", 1e-6}, {"cm", 10}, {"m", 1e3},
};

/* One number with a unit; false when it is neither. */
static bool parse_length(const char *text, size_t length, struct gf_length *result)
{
    char number[64];
    size_t digits = 0;
    while (digits < length && strchr("+-.0123456789eE", text[digits]))
        digits++;
    if (digits == 0 || digits >= sizeof number)
        return false;
    memcpy(number, text, digits);
    number[digits] = '\0';
    if (!gf_parse_double(number, false, &result->value) || !isfinite(result->value))
        return false;
    for (size_t u = 0; u < GF_COUNT(units); u++) {
        if (strlen(units[u].name) != length - digits ||
            memcmp(units[u].name, text + digits, length - digits) != 0)
            continue;
        result->physical = units[u].mm != 0;
        if (result->physical)
            result->value *= units[u].mm;
        return true;
    }
    return false;
}

/* "S[,S[,S]]", each with a unit; a unit on the last one alone counts for all. */
static enum gf_status parse_lengths(const struct gf_option *o, const char *value,
                                    struct gf_length lengths[3], unsigned *count,
                                    const char *expected, struct gf_error *e)
{
    const char *s = value;
    bool bare[3] = {false};
    *count = 0;
    for (;;) {
        size_t length = strcspn(s, ",");
        if (*count == 3 || !parse_length(s, length, &lengths[*count]) || lengths[*count].value < 0)
            return bad_value(o, value, expected, e);
        bare[*count] = strspn(s, "+-.0123456789eE") == length;
        ++*count;
        if (s[length] == '\0')
            break;
        s += length + 1;
    }
    for (unsigned i = 0; i + 1 < *count; i++) {
        const char *unit = strrchr(value, ',') + 1;
        if (bare[i] && !bare[*count - 1] && lengths[*count - 1].physical) {
            struct gf_length one;
            /* 1 of the last one's unit, to scale the bare number. */
            char text[32];
            snprintf(text, sizeof text, "1%s", unit + strspn(unit, "+-.0123456789eE"));
            if (parse_length(text, strlen(text), &one)) {
                lengths[i].value *= one.value;
                lengths[i].physical = true;
            }
        }
    }
    return GF_OK;
}

static enum gf_status parse_count(const struct gf_option *o, const char *value, uint64_t lowest,
                                  uint64_t highest, uint64_t *result, struct gf_error *e)
{
    if (gf_parse_u64(value, result) && *result >= lowest && *result <= highest)
        return GF_OK;
    return gf_fail(e, GF_EUSAGE, "--%s '%s': expected a whole number from %llu to %llu", o->name, value,
                   (unsigned long long)lowest, (unsigned long long)highest);
}

static enum gf_status parse_number(const struct gf_option *o, const char *value, double *result,
                                   struct gf_error *e)
{
    if (gf_parse_double(value, false, result) && isfinite(*result))
        return GF_OK;
    return bad_value(o, value, "a number", e);
}

static enum gf_status parse_type(const struct gf_option *o, const char *value,
                                 struct gf_request *r, struct gf_error *e)
{
    r->type_given = false;
    if (strcmp(value, "same") == 0)
        return GF_OK;
    for (int t = 0; t < GF_TYPE_COUNT; t++)
        if (strcmp(value, gf_type_name((enum gf_type)t)) == 0) {
            r->type_given = true;
            r->type = (enum gf_type)t;
            return GF_OK;
        }
    return bad_value(o, value, "u8 i8 u16 i16 u32 i32 f16 f32 f64 or same", e);
}

/* True when `word` is one of the blank-separated words of `list`. */
static bool word_in(const char *word, const char *list)
{
    size_t length = strlen(word);
    for (const char *s = list; *s;) {
        size_t n = strcspn(s, " ");
        if (n == length && memcmp(s, word, n) == 0)
            return true;
        s += n + (s[n] == ' ');
    }
    return false;
}

static enum gf_status parse_border(const char *value, struct gf_request *r, struct gf_error *e)
{
    static const struct {
        const char *name, *aliases, *picture;
    } rows[] = {
#define X(NAME, name, aliases, picture) {name, aliases, picture},
        GF_BORDERS(X)
#undef X
    };
    static const char *const names[] = {
#define X(NAME, name, aliases, picture) name,
        GF_BORDERS(X)
#undef X
        "constant"};
    const char *closest;
    for (unsigned i = 0; i < GF_COUNT(rows); i++)
        if (strcmp(value, rows[i].name) == 0 || word_in(value, rows[i].aliases)) {
            r->border = (enum gf_border)i;
            return GF_OK;
        }
    if (strcmp(value, "reflect") == 0 || strcmp(value, "mirror") == 0)
        return gf_fail(e, GF_EUSAGE,
                       "--border %s: the word has two meanings; say symmetric (%s) or reflect101 (%s)",
                       value, rows[GF_BORDER_SYMMETRIC].picture, rows[GF_BORDER_REFLECT101].picture);
    closest = gf_closest(value, names, GF_COUNT(names));
    return gf_fail(e, GF_EUSAGE,
                   "--border '%s': unknown%s%s%s; known: clamp zero constant wrap symmetric reflect101 valid "
                   "normalize", value, closest ? ", did you mean '" : "", closest ? closest : "",
                   closest ? "'?" : "");
}

/* X,Y[,Z]+WxH[xD] */
static enum gf_status parse_roi(const struct gf_option *o, const char *value, struct gf_request *r,
                                struct gf_error *e)
{
    static const char expected[] = "X,Y[,Z]+WxH[xD] with as many sizes as places, for example 100,50+256x256";
    const char *s = value;
    char number[24];
    unsigned places = 0, sizes = 0;
    bool size = false;
    for (;;) {
        size_t n = strspn(s, "0123456789");
        uint64_t v;
        if (n == 0 || n >= sizeof number || (size ? sizes : places) == 3)
            return bad_value(o, value, expected, e);
        memcpy(number, s, n);
        number[n] = '\0';
        if (!gf_parse_u64(number, &v) || v > INT64_MAX || (size && v == 0))
            return bad_value(o, value, expected, e);
        if (size)
            r->roi_size[sizes++] = v;
        else
            r->roi_origin[places++] = v;
        s += n;
        if (*s == '\0')
            break;
        if (!size && *s == '+')
            size = true;
        else if (*s != (size ? 'x' : ','))
            return bad_value(o, value, expected, e);
        s++;
    }
    if (!size || places < 2 || places != sizes)
        return bad_value(o, value, expected, e);
    r->roi_given = true;
    r->roi_axes = places;
    return GF_OK;
}

static enum gf_status parse_format(const char *value, struct gf_request *r, struct gf_error *e)
{
    r->format = gf_format_by_name(value);
    if (r->format && r->format->create)
        return GF_OK;
    if (r->format)
        return gf_fail(e, GF_EUSAGE, "--format %s: is only read; write png, tiff, pnm, pfm or raw", value);
    return gf_fail(e, GF_EUSAGE, "--format '%s': unknown; known: png tiff pnm pfm raw", value);
}

static enum gf_status parse_device(const char *value, struct gf_request *r, struct gf_error *e)
{
    if (strcmp(value, "auto") != 0 && strcmp(value, "cpu") != 0 && strncmp(value, "cuda", 4) != 0)
        return gf_fail(e, GF_EUSAGE, "--device '%s': unknown; known: auto cpu cuda", value);
    if (strncmp(value, "cuda", 4) == 0)
        return gf_fail(e, GF_EDEVICE, "--device %s: this gpufilt was built without CUDA; use --device cpu "
                       "or leave the option out", value);
    r->device = value;
    return GF_OK;
}

/* A value that is one of `count` words: its index goes to *index. */
static enum gf_status parse_choice(const struct gf_option *o, const char *value,
                                   const char *const words[], unsigned count, const char *expected,
                                   unsigned *index, struct gf_error *e)
{
    for (*index = 0; *index < count; ++*index)
        if (strcmp(value, words[*index]) == 0)
            return GF_OK;
    return bad_value(o, value, expected, e);
}

static enum gf_status parse_spacing(const struct gf_option *o, const char *value,
                                    struct gf_request *r, struct gf_error *e)
{
    static const char expected[] = "one to three sizes above 0 in mm or with a unit, for example "
                                   "0.5,0.5,2 or 0.8um";
    struct gf_length s[3];
    unsigned count;
    GF_TRY(parse_lengths(o, value, s, &count, expected, e));
    for (unsigned a = 0; a < 3; a++) {
        const struct gf_length *l = &s[a < count ? a : count - 1];
        if (l->value <= 0)
            return bad_value(o, value, expected, e);
        r->spacing[a] = l->value;
    }
    return GF_OK;
}

/* Takes one option into the request. `value` is NULL for options without an argument. */
static enum gf_status take_option(struct gf_request *r, enum gf_option_id id, const char *value,
                                  struct gf_error *e)
{
    static const char *const alpha_words[] = {"premultiply", "independent"};
    static const char *const clip_words[] = {"warn", "error", "ignore"};
    static const char *const sync_words[] = {"each", "none"};
    static const char lengths[] = "one to three numbers from 0, each with px, mm, um or nm, for "
                                  "example 1.5 or 1,1,0.5mm";
    const struct gf_option *o = &gf_options[id];
    uint64_t number;
    unsigned index;

    switch (id) {
    case GF_OPTION_KERNEL:
        r->kernel = value;
        return GF_OK;
    case GF_OPTION_SIGMA:
    case GF_OPTION_MASK_SIGMA:
    case GF_OPTION_FWHM:
        if (r->sigma_count)
            return gf_fail(e, GF_EUSAGE, "--%s: the width is given twice; give --sigma or --fwhm once", o->name);
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
        GF_TRY(parse_choice(o, value, alpha_words, 2, "premultiply or independent", &index, e));
        r->alpha_independent = index == 1;
        return GF_OK;
    case GF_OPTION_DIM2:
    case GF_OPTION_DIM3:
    case GF_OPTION_MASK_3D: {
        int dimensions = id == GF_OPTION_DIM2 ? 2 : 3;
        if (r->dimensions && r->dimensions != dimensions)
            return gf_fail(e, GF_EUSAGE, "--2d and --3d exclude each other");
        r->dimensions = dimensions;
        r->read.stack_pages = id == GF_OPTION_DIM3;
        return GF_OK;
    }
    case GF_OPTION_ROI:
        return parse_roi(o, value, r, e);
    case GF_OPTION_TYPE:
        return parse_type(o, value, r, e);
    case GF_OPTION_ON_CLIP:
        GF_TRY(parse_choice(o, value, clip_words, 3, "warn, error or ignore", &index, e));
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
        if (!word_in(value, "none lzw deflate packbits zstd lzma"))
            return bad_value(o, value, "none lzw deflate packbits zstd or lzma", e);
        r->write.compression = value;
        return GF_OK;
    case GF_OPTION_LEVEL:
        GF_TRY(parse_count(o, value, 0, 9, &number, e));
        r->write.level = (int)number;
        return GF_OK;
    case GF_OPTION_NO_CLOBBER:
        r->out.no_clobber = true;
        return GF_OK;
    case GF_OPTION_SYNC:
        GF_TRY(parse_choice(o, value, sync_words, 2, "each or none", &index, e));
        r->out.sync = index ? GF_SYNC_NONE : GF_SYNC_EACH;
        return GF_OK;
    case GF_OPTION_RAW:
        return gf_raw_parse(&r->read.raw, value, e);
    case GF_OPTION_SPACING:
        return parse_spacing(o, value, r, e);
    case GF_OPTION_DEVICE:
        return parse_device(value, r, e);
    case GF_OPTION_JOBS:
        GF_TRY(parse_count(o, value, 1, 1024, &number, e));
        r->jobs = (unsigned)number;
        return GF_OK;
    case GF_OPTION_MAX_MEMORY:
        if (!gf_parse_bytes(value, &r->max_memory) || r->max_memory == 0)
            return bad_value(o, value, "a size such as 512M or 2G", e);
        return GF_OK;
    case GF_OPTION_SIZE: {
        struct gf_length s[3];
        GF_TRY(parse_lengths(o, value, s, &index, "one to three whole numbers from 1 to 65535", e));
        for (unsigned a = 0; a < 3; a++) {
            double v = s[a < index ? a : index - 1].value;
            if (s[0].physical || v < 1 || v > 65535 || v != floor(v))
                return bad_value(o, value, "one to three whole numbers from 1 to 65535", e);
            r->mask_size[a] = (uint32_t)v;
        }
        return GF_OK;
    }
    case GF_OPTION_EXPLAIN:
        r->explain = true;
        return GF_OK;
    case GF_OPTION_DRY_RUN:
        r->dry_run = true;
        return GF_OK;
    case GF_OPTION_JSON:
        r->json = true;
        return GF_OK;
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
    default:
        return GF_OK;
    }
}

/* ---- words ---- */

/* Bits of the command, or all when none has been named yet. */
static unsigned command_bits(const struct gf_request *r)
{
    return r->command ? (unsigned)r->command->bit : (unsigned)GF_ALL;
}

static enum gf_status unknown_option(const struct gf_request *r, const char *word, struct gf_error *e)
{
    const char *names[GF_OPTION_COUNT];
    const char *closest, *command = r->command ? r->command->name : "";
    const char *blank = r->command ? " " : "";
    unsigned count = 0;
    for (unsigned i = 0; i < GF_OPTION_COUNT; i++)
        if (gf_options[i].commands & command_bits(r))
            names[count++] = gf_options[i].name;
    closest = gf_closest(word + strspn(word, "-"), names, count);
    if (closest)
        return gf_fail(e, GF_EUSAGE, "%s: unknown option, did you mean --%s? Try 'gpufilt %s%s--help'", word,
                       closest, command, blank);
    for (unsigned i = 0; i < GF_OPTION_COUNT && r->command; i++)
        if (strcmp(gf_options[i].name, word + strspn(word, "-")) == 0)
            return gf_fail(e, GF_EUSAGE, "%s: not an option of %s; try 'gpufilt %s --help'", word, command, command);
    return gf_fail(e, GF_EUSAGE, "%s: unknown option; try 'gpufilt %s%s--help'", word, command, blank);
}

/* "--name", "--name=value" or "--name value"; *i is moved over a value taken. */
static enum gf_status take_long(struct gf_request *r, int argc, char **argv, int *i, struct gf_error *e)
{
    const char *word = argv[*i] + 2;
    size_t length = strcspn(word, "=");
    for (unsigned o = 0; o < GF_OPTION_COUNT; o++) {
        const struct gf_option *row = &gf_options[o];
        const char *value = NULL;
        if (strlen(row->name) != length || memcmp(row->name, word, length) != 0 ||
            !(row->commands & command_bits(r)))
            continue;
        if (!row->argument && word[length] == '=')
            return gf_fail(e, GF_EUSAGE, "--%s: takes no value", row->name);
        if (row->argument && word[length] == '=')
            value = word + length + 1;
        else if (row->argument && *i + 1 < argc)
            value = argv[++*i];
        if (row->argument && !value)
            return gf_fail(e, GF_EUSAGE, "--%s: needs %s", row->name, row->argument);
        return take_option(r, (enum gf_option_id)o, value, e);
    }
    return unknown_option(r, argv[*i], e);
}

/* "-q", "-qv", "-kgauss5" or "-k gauss5". */
static enum gf_status take_short(struct gf_request *r, int argc, char **argv, int *i, struct gf_error *e)
{
    for (const char *s = argv[*i] + 1; *s; s++) {
        unsigned o = 0;
        while (o < GF_OPTION_COUNT &&
               !(gf_options[o].letter == *s && (gf_options[o].commands & command_bits(r))))
            o++;
        if (o == GF_OPTION_COUNT)
            return unknown_option(r, argv[*i], e);
        if (!gf_options[o].argument) {
            GF_TRY(take_option(r, (enum gf_option_id)o, NULL, e));
            continue;
        }
        if (s[1])
            return take_option(r, (enum gf_option_id)o, s + 1, e);
        if (*i + 1 >= argc)
            return gf_fail(e, GF_EUSAGE, "-%c: needs %s", *s, gf_options[o].argument);
        return take_option(r, (enum gf_option_id)o, argv[++*i], e);
    }
    return GF_OK;
}

static enum gf_status take_command(struct gf_request *r, const char *word, struct gf_error *e)
{
    const char *names[GF_COUNT(gf_commands)];
    const char *closest;
    unsigned count = 0;
    r->command = gf_command_by_name(word);
    if (r->command)
        return GF_OK;
    for (const struct gf_command *c = gf_commands; c->name; c++)
        names[count++] = c->name;
    closest = gf_closest(word, names, count);
    if (closest)
        return gf_fail(e, GF_EUSAGE, "'%s': unknown command, did you mean '%s'? Try 'gpufilt --help'", word, closest);
    return gf_fail(e, GF_EUSAGE, "'%s': unknown command; try 'gpufilt --help'", word);
}

/* ---- rules between options ---- */

static enum gf_status check_filter(const struct gf_request *r, struct gf_error *e)
{
    const char *name = r->command->name;
    if (r->command->bit == GF_BLUR && r->kernel && r->sigma_count)
        return gf_fail(e, GF_EUSAGE, "blur: -k and --sigma exclude each other; give one");
    if (r->command->bit == GF_BLUR && !r->kernel && !r->sigma_count)
        return gf_fail(e, GF_EUSAGE, "blur: needs -k NAME (for example gauss5), --sigma S or --fwhm W");
    if ((r->command->bit & (GF_CORRELATE | GF_CONVOLVE)) && !r->kernel)
        return gf_fail(e, GF_EUSAGE, "%s: needs -k MASK; see 'gpufilt masks list'", name);
    if (r->fill != 0 && r->border != GF_BORDER_CONSTANT)
        return gf_fail(e, GF_EUSAGE, "--fill goes with --border constant");
    return GF_OK;
}

static enum gf_status check_operands(const struct gf_request *r, struct gf_error *e)
{
    const char *name = r->command->name;
    size_t n = r->operand_count;
    if (r->command->bit & GF_FILES) {
        bool print_only = r->explain || r->dry_run;
        if (n == 0)
            return gf_fail(e, GF_EUSAGE, "%s: no input; gpufilt %s %s", name, name, r->command->synopsis);
        if (!r->output && n == 1 && !print_only)
            return gf_fail(e, GF_EUSAGE, "%s: no output after '%s'; name a file, '-' for standard output, or -o DIR",
                           name, r->operands[0]);
        if (!r->output && n > 2)
            return gf_fail(e, GF_EUSAGE, "%s: %zu operands, expected IN OUT; several inputs need -o DIR", name, n);
        if (r->suffix && !r->output)
            return gf_fail(e, GF_EUSAGE, "--suffix goes with -o DIR");
    }
    if (r->command->bit == GF_INFO && n == 0)
        return gf_fail(e, GF_EUSAGE, "info: no file; gpufilt info FILE...");
    return GF_OK;
}

enum gf_status gf_cli_parse(struct gf_request *r, int argc, char **argv, struct gf_error *e)
{
    bool only_operands = false;
    memset(r, 0, sizeof *r);
    r->border = GF_BORDER_CLAMP;
    r->truncate = 4;
    r->device = "auto";
    r->write.level = -1;
    r->operands = gf_alloc((uint64_t)argc + 1, sizeof *r->operands);
    if (!r->operands)
        return gf_fail(e, GF_EMEMORY, "out of memory");
    /* The command is found first, so that an option before it is known to be its own. */
    for (int i = 1; i < argc && !r->command; i++)
        if (argv[i][0] != '-' || argv[i][1] == '\0') {
            /* The value of an option before the command is not the command. */
            const char *before = argv[i - 1];
            if (i > 1 && before[0] == '-' && gf_command_by_name(argv[i]) == NULL)
                continue;
            GF_TRY(take_command(r, argv[i], e));
            memmove(argv + i, argv + i + 1, (size_t)(argc - i) * sizeof *argv);
            argc--;
        }
    for (int i = 1; i < argc; i++) {
        char *word = argv[i];
        if (only_operands || word[0] != '-' || word[1] == '\0')
            r->operands[r->operand_count++] = word;
        else if (strcmp(word, "--") == 0)
            only_operands = true;
        else if (word[1] == '-')
            GF_TRY(take_long(r, argc, argv, &i, e));
        else
            GF_TRY(take_short(r, argc, argv, &i, e));
    }
    if (r->help || r->version)
        return GF_OK;
    if (!r->command && r->operand_count)
        return take_command(r, r->operands[0], e);
    if (!r->command)
        return gf_fail(e, GF_EUSAGE, "no command; try 'gpufilt --help'");
    if (r->command->bit & GF_FILTERS)
        GF_TRY(check_filter(r, e));
    return check_operands(r, e);
}

void gf_request_free(struct gf_request *r)
{
    gf_free(r->operands);
    memset(r, 0, sizeof *r);
}
