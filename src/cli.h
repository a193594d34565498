/* The command line: one table of commands, one of options (options.def), and the parser
 * that turns argv into a request. It opens no files. */
#ifndef GPUFILT_SRC_CLI_H
#define GPUFILT_SRC_CLI_H

#include "bench/bench.h"
#include "border.h"
#include "io/format.h"
#include "stats/stats.h"
#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gf_command_bit {
    GF_BLUR = 1 << 0,
    GF_CORRELATE = 1 << 1,
    GF_CONVOLVE = 1 << 2,
    GF_CONVERT = 1 << 3,
    GF_INFO = 1 << 4,
    GF_MASKS = 1 << 5,
    GF_HELP = 1 << 6,
    GF_DEVICES = 1 << 7,
    GF_SELFTEST = 1 << 8,
    GF_STATS = 1 << 9,
    GF_BENCH = 1 << 10,
    GF_FILTERS = GF_BLUR | GF_CORRELATE | GF_CONVOLVE,
    GF_FILES = GF_FILTERS | GF_CONVERT, /* read files and write files */
    GF_READERS = GF_FILES | GF_INFO | GF_STATS, /* read files */
    GF_ALL = GF_READERS | GF_MASKS | GF_HELP | GF_DEVICES | GF_SELFTEST | GF_BENCH
};

enum gf_option_id {
#define OPTION(id, ...) GF_OPTION_##id,
#include "options.def"
#undef OPTION
    GF_OPTION_COUNT
};

struct gf_option {
    char letter;           /* 0: none */
    const char *name;      /* without dashes */
    const char *argument;  /* NULL: takes none; "[=WORD]": may be left out, and is joined by = */
    unsigned commands;     /* bits */
    const char *section;
    const char *help;
};

extern const struct gf_option gf_options[GF_OPTION_COUNT];

/* A length in pixels or, when `physical`, in mm. */
struct gf_length {
    double value;
    bool physical;
};

enum gf_on_clip { GF_CLIP_WARN, GF_CLIP_ERROR, GF_CLIP_IGNORE };

struct gf_request {
    const struct gf_command *command;
    const char **operands;         /* point into argv; the array is owned */
    size_t operand_count;

    const char *kernel;
    struct gf_length sigma[3];     /* --sigma, or --fwhm turned into sigma */
    unsigned sigma_count;          /* 0: not given, else 1..3 */
    double truncate;
    enum gf_border border;
    bool border_constant;          /* by that name, which --fill goes with */
    double fill;
    bool alpha_independent;
    int dimensions;                /* 2, 3, or 0: the data decide */
    bool roi_given;
    uint64_t roi_origin[3], roi_size[3];
    unsigned roi_axes;             /* 2 or 3 */

    bool type_given;
    enum gf_type type;
    enum gf_on_clip on_clip;
    const char *output, *suffix;
    const struct gf_format *format;
    struct gf_write_options write;
    struct gf_out_options out;
    struct gf_read_options read;
    double spacing[3];             /* mm; 0: not given */

    const char *device;            /* "auto" or a backend's name */
    const char *device_word;       /* as it was given: "cuda:1" */
    unsigned gpu;                  /* its index */
    unsigned jobs;                 /* 0: all cores */
    uint64_t max_memory;           /* 0: default */
    uint64_t gpu_memory;           /* 0: default */
    bool packed;                   /* --layout packed */
    bool explain, dry_run, json;
    bool quiet, verbose, help, version;

    uint32_t mask_size[3];         /* masks make --size; 0: not given */
    unsigned mask_size_count;      /* 0: not given, else 1..3 */
    struct gf_stats_options stats;
    bool stats_wanted;             /* --stats of a filter */
    struct gf_bench_options bench;
    bool seen[GF_OPTION_COUNT];    /* the option was given */
};

struct gf_command {
    const char *name;
    enum gf_command_bit bit;
    const char *synopsis;          /* after "gpufilt NAME" */
    const char *summary;           /* one line */
    const char *description;       /* paragraphs for --help */
    const char *examples;          /* shell lines for --help */
    enum gf_status (*run)(const struct gf_request *request, struct gf_error *e);
};

/* NULL-terminated by a row without a name. */
extern const struct gf_command gf_commands[];
/* The command of this name, or NULL. */
const struct gf_command *gf_command_by_name(const char *name);

/* Parses; GF_EUSAGE with one line otherwise. With --help or --version nothing else is checked. */
enum gf_status gf_cli_parse(struct gf_request *request, int argc, char **argv, struct gf_error *e);
void gf_request_free(struct gf_request *request);

#endif
