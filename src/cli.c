#include "cli.h"

#include "alloc.h"
#include "bench/command.h"
#include "bench/options.h"
#include "cli_values.h"
#include "devices_command.h"
#include "help.h"
#include "info.h"
#include "job.h"
#include "masks_command.h"
#include "selftest.h"
#include "stats/command.h"
#include "text.h"
#include "util.h"

#include <stdio.h>
#include <string.h>

#define ALL GF_ALL
#define BLUR GF_BLUR
#define FILTERS GF_FILTERS
#define FILES GF_FILES
#define READERS GF_READERS
#define MASKS GF_MASKS
#define INFO GF_INFO
#define DEVICES GF_DEVICES
#define SELFTEST GF_SELFTEST
#define STATS GF_STATS
#define BENCH GF_BENCH
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
#undef DEVICES
#undef SELFTEST
#undef STATS
#undef BENCH

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
     "out[z,y,x] is the sum of mask[k,j,i] * in[z-cz+k, y-cy+j, x-cx+i]:\n"
     "scipy.ndimage.correlate, and what OpenCV and libvips call convolution. The centre of n taps\n"
     "is tap n/2 unless the mask has an origin. A mask whose weights do not sum to more than 0\n"
     "(a derivative) gives a signed type.",
     "gpufilt correlate -k sobel-x in.png gradient.tif\n"
     "gpufilt correlate -k '0,-1,0; -1,5,-1; 0,-1,0' in.png sharp.png\n",
     gf_job_run},
    {"convolve", GF_CONVOLVE, "-k MASK [OPTION]... IN OUT", "apply any mask turned round",
     "Like correlate, with the mask turned round along every axis first: scipy.ndimage.convolve.",
     "gpufilt convolve -k @psf.mask in.tif out.tif\n",
     gf_job_run},
    {"convert", GF_CONVERT, "[OPTION]... IN OUT", "change format, sample type or size; no filter",
     "Values are kept, never rescaled: what does not fit the type is rounded, saturated and\n"
     "counted.",
     "gpufilt convert photo.jpg photo.png\n"
     "gpufilt convert --roi 100,50+256x200 in.tif part.tif\n"
     "gpufilt convert -t f32 in.png out.tif\n",
     gf_job_run},
    {"stats", GF_STATS, "[OPTION]... FILE...",
     "statistics of the samples: extremes, mean, percentiles",
     "Prints how many samples there are, their extremes and where, sum, mean, standard deviation,\n"
     "percentiles, histogram. Integers are exact; of floats sum, mean and std are within 2 ulp,\n"
     "and NaN and infinities are counted and left out. The same on every machine and device.",
     "gpufilt stats in.png\n"
     "gpufilt stats -p 1,50,99 --per channel --json in.png\n"
     "gpufilt stats --show mean,std,p99 --csv a.png b.png c.png\n"
     "gpufilt stats --assert 'p99 < 60000 && n_nan == 0' in16.tif\n"
     "gpufilt stats --plot=histogram.svg in.png\n",
     gf_stats_run},
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
    {"devices", GF_DEVICES, "[OPTION]...", "the processor, the GPUs, and why one cannot be used",
     "Starts the driver and every GPU. CUDA_VISIBLE_DEVICES chooses among them, as always.",
     "gpufilt devices\n"
     "gpufilt devices --json\n",
     gf_devices_run},
    {"selftest", GF_SELFTEST, "[OPTION]...", "compare CPU and GPUs with the plain loop",
     "Filters made-up samples with every kind of filter, on the CPU and on every GPU that can be\n"
     "used (--device: on that one), and compares each sample with the loop that defines it. Ends\n"
     "at the first difference with status 1. Takes a few seconds.",
     "gpufilt selftest\n"
     "gpufilt selftest --device cpu --json\n",
     gf_selftest_run},
    {"bench", GF_BENCH, "reduce|conv2d|conv3d|copy|all [OPTION]...",
     "the steps by which a kernel becomes fast, checked and timed",
     "Runs every step of the classic ladders as a real kernel, checks the answer, and times it\n"
     "on a GPU; without one, or with --simulate, counts what it does on a GPU in software. A\n"
     "wrong answer is status 1. gpufilt-bench(1) explains steps and columns.",
     "gpufilt bench all\n"
     "gpufilt bench reduce --simulate\n"
     "gpufilt bench conv2d --simulate --taps 7 --json\n",
     gf_bench_run},
    {"help", GF_HELP, "[COMMAND|border|types|formats|statistics|status]",
     "help on a command or a topic",
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

/* ---- words ---- */

/* Bits of the command, or all when none has been named yet. */
static unsigned command_bits(const struct gf_request *r)
{
    return r->command ? (unsigned)r->command->bit : (unsigned)GF_ALL;
}

/* The command that has an option of this name, or NULL. */
static const char *command_with(const char *name, size_t length)
{
    for (unsigned i = 0; i < GF_OPTION_COUNT; i++)
        if (strlen(gf_options[i].name) == length && memcmp(gf_options[i].name, name, length) == 0)
            for (const struct gf_command *c = gf_commands; c->name; c++)
                if (gf_options[i].commands & c->bit)
                    return c->name;
    return NULL;
}

static enum gf_status unknown_option(const struct gf_request *r, const char *word,
                                     struct gf_error *e)
{
    const char *names[GF_OPTION_COUNT], *closest, *other;
    const char *command = r->command ? r->command->name : "", *blank = r->command ? " " : "";
    char name[64];
    unsigned count = 0;
    word += strspn(word, "-");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    other = command_with(name, strlen(name));
    if (other && r->command)
        return gf_fail(e, GF_EUSAGE, "--%s: not an option of %s but of %s; try 'gpufilt %s --help'",
                       name, command, other, command);
    for (unsigned i = 0; i < GF_OPTION_COUNT; i++)
        if (gf_options[i].commands & command_bits(r))
            names[count++] = gf_options[i].name;
    closest = gf_closest(name, names, count);
    if (closest)
        return gf_fail(e, GF_EUSAGE, "--%s: unknown option, did you mean --%s? Try 'gpufilt "
                       "%s%s--help'", name, closest, command, blank);
    return gf_fail(e, GF_EUSAGE, "--%s: unknown option; try 'gpufilt %s%s--help'", name, command,
                   blank);
}

static enum gf_status unknown_letter(const struct gf_request *r, char letter, struct gf_error *e)
{
    const char *command = r->command ? r->command->name : "", *blank = r->command ? " " : "";
    for (unsigned o = 0; o < GF_OPTION_COUNT && r->command; o++)
        for (const struct gf_command *c = gf_commands; c->name; c++)
            if (gf_options[o].letter == letter && (gf_options[o].commands & (unsigned)c->bit))
                return gf_fail(e, GF_EUSAGE, "-%c: not an option of %s but of %s; try 'gpufilt %s "
                               "--help'", letter, command, c->name, command);
    return gf_fail(e, GF_EUSAGE, "-%c: unknown option; try 'gpufilt %s%s--help'", letter, command,
                   blank);
}

/* "--name", "--name=value" or "--name value"; *i is moved over a value taken. */
static enum gf_status take_long(struct gf_request *r, int argc, char **argv, int *i,
                                struct gf_error *e)
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
        else if (row->argument && *row->argument != '[' && *i + 1 < argc)
            value = argv[++*i];
        if (row->argument && *row->argument != '[' && !value)
            return gf_fail(e, GF_EUSAGE, "--%s: needs %s", row->name, row->argument);
        return gf_cli_take(r, (enum gf_option_id)o, value, e);
    }
    return unknown_option(r, argv[*i], e);
}

/* "-q", "-qv", "-kgauss5" or "-k gauss5". */
static enum gf_status take_short(struct gf_request *r, int argc, char **argv, int *i,
                                 struct gf_error *e)
{
    size_t length = strcspn(argv[*i] + 1, "=");
    for (unsigned o = 0; o < GF_OPTION_COUNT && length > 1; o++)
        if (strlen(gf_options[o].name) == length && (gf_options[o].commands & command_bits(r)) &&
            memcmp(gf_options[o].name, argv[*i] + 1, length) == 0)
            return gf_fail(e, GF_EUSAGE, "%s: did you mean --%s?", argv[*i], gf_options[o].name);
    for (const char *s = argv[*i] + 1; *s; s++) {
        unsigned o = 0;
        while (o < GF_OPTION_COUNT &&
               !(gf_options[o].letter == *s && (gf_options[o].commands & command_bits(r))))
            o++;
        if (o == GF_OPTION_COUNT)
            return unknown_letter(r, *s, e);
        if (!gf_options[o].argument) {
            GF_TRY(gf_cli_take(r, (enum gf_option_id)o, NULL, e));
            continue;
        }
        if (s[1])
            return gf_cli_take(r, (enum gf_option_id)o, s + 1, e);
        if (*i + 1 >= argc)
            return gf_fail(e, GF_EUSAGE, "-%c: needs %s", *s, gf_options[o].argument);
        return gf_cli_take(r, (enum gf_option_id)o, argv[++*i], e);
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
        return gf_fail(e, GF_EUSAGE, "'%s': unknown command, did you mean '%s'? Try 'gpufilt "
                       "--help'", word, closest);
    return gf_fail(e, GF_EUSAGE, "'%s': unknown command; try 'gpufilt --help'", word);
}

/* ---- rules between options ---- */

static enum gf_status check_filter(const struct gf_request *r, struct gf_error *e)
{
    const char *name = r->command->name;
    if (r->command->bit == GF_BLUR && r->kernel && r->sigma_count)
        return gf_fail(e, GF_EUSAGE, "blur: -k and --sigma exclude each other; give one");
    if (r->command->bit == GF_BLUR && !r->kernel && !r->sigma_count)
        return gf_fail(e, GF_EUSAGE, "blur: needs -k NAME (for example gauss5), --sigma S or "
                       "--fwhm W");
    if ((r->command->bit & (GF_CORRELATE | GF_CONVOLVE)) && !r->kernel)
        return gf_fail(e, GF_EUSAGE, "%s: needs -k MASK; see 'gpufilt masks list'", name);
    if (r->seen[GF_OPTION_FILL] && !r->border_constant)
        return gf_fail(e, GF_EUSAGE, "--fill goes with --border constant");
    if (r->seen[GF_OPTION_TRUNCATE] && !r->sigma_count)
        return gf_fail(e, GF_EUSAGE, "--truncate goes with --sigma or --fwhm");
    return GF_OK;
}

static enum gf_status check_operands(const struct gf_request *r, struct gf_error *e)
{
    const char *name = r->command->name;
    size_t n = r->operand_count;
    if ((r->command->bit & GF_FILES) && r->json && !r->stats_wanted)
        return gf_fail(e, GF_EUSAGE, "%s: --json goes with --stats", name);
    if (r->command->bit & GF_FILES) {
        bool print_only = r->explain || r->dry_run;
        if (n == 0)
            return gf_fail(e, GF_EUSAGE, "%s: no input; gpufilt %s %s", name, name,
                           r->command->synopsis);
        if (!r->output && n == 1 && !print_only)
            return gf_fail(e, GF_EUSAGE, "%s: no output after '%s'; name a file, '-' for standard "
                           "output, or -o DIR", name, r->operands[0]);
        if (!r->output && n > 2)
            return gf_fail(e, GF_EUSAGE, "%s: %zu operands, expected IN OUT; several inputs need "
                           "-o DIR%s", name, n, r->stats_wanted && !r->stats.show
                           ? ", names of statistics --stats=NAME" : "");
        if (r->suffix && !r->output)
            return gf_fail(e, GF_EUSAGE, "--suffix goes with -o DIR");
        if (r->output && *r->output == '\0')
            return gf_fail(e, GF_EUSAGE, "--output: the name is empty; name a file or a folder");
    }
    if ((r->command->bit & (GF_INFO | GF_STATS)) && n == 0)
        return gf_fail(e, GF_EUSAGE, "%s: no file; gpufilt %s FILE...", name, name);
    if (r->command->bit & GF_BENCH)
        return gf_bench_check(r, e);
    if ((r->command->bit & (GF_DEVICES | GF_SELFTEST)) && n > 0)
        return gf_fail(e, GF_EUSAGE, "%s: takes no operand, '%s' is one", name, r->operands[0]);
    return GF_OK;
}

enum { TAKES_NONE, TAKES_SOMETIMES, TAKES_VALUE };

/* Whether the option of this name or letter takes the word after it, in some commands or in all
 * that have it. */
static int takes_word(const char *name, char letter)
{
    unsigned rows = 0, takers = 0;
    for (unsigned o = 0; o < GF_OPTION_COUNT; o++) {
        const struct gf_option *row = &gf_options[o];
        if (name ? strcmp(name, row->name) != 0 : letter != row->letter)
            continue;
        rows++;
        takers += row->argument && *row->argument != '[';
    }
    return takers == 0 ? TAKES_NONE : takers < rows ? TAKES_SOMETIMES : TAKES_VALUE;
}

/* Whether `next` is the value of the option before it. Where that depends on the command, a
 * command or an option is not a value. */
static bool takes_next(const char *word, const char *next)
{
    int takes = TAKES_NONE;
    if (word[1] == '-')
        takes = takes_word(word + 2, 0);
    /* Bundled letters: the first that takes a value takes the rest of the word, if any. */
    for (const char *s = word + 1; word[1] != '-' && *s && takes == TAKES_NONE; s++) {
        takes = takes_word(NULL, *s);
        if (takes != TAKES_NONE && s[1] != '\0')
            return false;
    }
    return takes == TAKES_VALUE || (takes == TAKES_SOMETIMES && next && *next != '-' &&
                                    !gf_command_by_name(next));
}

/* The command is found first, so that an option before it is known to be its own. The word is
 * taken out of argv. */
static enum gf_status find_command(struct gf_request *r, int *argc, char **argv, struct gf_error *e)
{
    for (int i = 1; i < *argc; i++) {
        const char *word = argv[i];
        if (word[0] == '-' && word[1] != '\0') {
            i += takes_next(word, i + 1 < *argc ? argv[i + 1] : NULL);
            continue;
        }
        GF_TRY(take_command(r, word, e));
        memmove(argv + i, argv + i + 1, (size_t)(*argc - i) * sizeof *argv);
        --*argc;
        break;
    }
    return GF_OK;
}

enum gf_status gf_cli_parse(struct gf_request *r, int argc, char **argv, struct gf_error *e)
{
    bool only_operands = false;
    memset(r, 0, sizeof *r);
    r->border = GF_BORDER_CLAMP;
    r->truncate = 4;
    r->device = r->device_word = "auto";
    r->write.level = -1;
    r->stats.ddof = 1;
    r->operands = gf_alloc((uint64_t)argc + 1, sizeof *r->operands);
    if (!r->operands)
        return gf_fail(e, GF_EMEMORY, "out of memory");
    GF_TRY(find_command(r, &argc, argv, e));
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
