#include "help.h"

#include "border.h"
#include "output.h"
#include "stats/columns.h"

#include <stdio.h>
#include <string.h>

#define HELP_COLUMN 30
#define HELP_WIDTH 100

/* Appends words wrapped to HELP_WIDTH, every line after the first indented to `column`. */
static void wrap(struct gf_buffer *t, const char *text, int column, int position)
{
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (position > column && position + length > HELP_WIDTH) {
            gf_buffer_printf(t, "\n%*s", column, "");
            position = column;
        }
        gf_buffer_append(t, text, (size_t)length);
        text += length;
        position += length;
        if (*text == ' ') {
            text++;
            if (position + 1 + (int)strcspn(text, " ") <= HELP_WIDTH) {
                gf_buffer_text(t, " ");
                position++;
            } else {
                position = HELP_WIDTH;
            }
        }
    }
    gf_buffer_text(t, "\n");
}

static void option_line(struct gf_buffer *t, const struct gf_option *o)
{
    size_t start = t->size;
    int length;
    if (o->letter)
        gf_buffer_printf(t, "  -%c, --%s", o->letter, o->name);
    else
        gf_buffer_printf(t, "      --%s", o->name);
    if (o->argument)
        gf_buffer_printf(t, "%s%s", *o->argument == '[' ? "" : " ", o->argument);
    length = (int)(t->size - start);
    if (length > HELP_COLUMN - 2)
        gf_buffer_printf(t, "\n%*s", HELP_COLUMN, "");
    else
        gf_buffer_printf(t, "%*s", HELP_COLUMN - length, "");
    wrap(t, o->help, HELP_COLUMN, HELP_COLUMN);
}

/* The next option of the commands from `i` on, in `section` unless that is "". */
static unsigned next_option(unsigned i, unsigned commands, const char *section)
{
    while (i < GF_OPTION_COUNT && (!(gf_options[i].commands & commands) ||
                                   (*section && strcmp(gf_options[i].section, section) != 0)))
        i++;
    return i;
}

/* The options of some commands, by section; sections and options in the order of the table, which
 * may come back to a section. */
static void option_sections(struct gf_buffer *t, unsigned commands)
{
    for (unsigned i = next_option(0, commands, ""); i < GF_OPTION_COUNT;
         i = next_option(i + 1, commands, "")) {
        const char *section = gf_options[i].section;
        if (next_option(0, commands, section) != i)
            continue;
        gf_buffer_printf(t, "\n%s:\n", section);
        for (unsigned k = i; k < GF_OPTION_COUNT; k = next_option(k + 1, commands, section))
            option_line(t, &gf_options[k]);
    }
}

static void exit_statuses(struct gf_buffer *t)
{
    gf_buffer_text(t,
        "  0  all good\n"
        "  1  the answer is no: --on-clip error, stats --assert,\n"
        "     selftest found a difference, or bench a wrong answer\n"
        "  2  usage error\n"
        "  3  input missing, truncated or corrupt\n"
        "  4  output could not be written or closed\n"
        "  5  type or feature this format or filter cannot do\n"
        "  6  out of memory, or beyond --max-memory\n"
        "  7  the GPU that was asked for cannot be used\n"
        "  8  several inputs: some failed, the others are done\n"
        "  128+n  ended by signal n\n");
}

enum gf_status gf_help_program(struct gf_error *e)
{
    struct gf_buffer t = {0};
    gf_buffer_text(&t,
        "gpufilt filters and measures images and volumes.\n\n"
        "Usage: gpufilt COMMAND [OPTION]... IN OUT\n"
        "       gpufilt COMMAND [OPTION]... -o DIR IN...\n"
        "       gpufilt stats [OPTION]... FILE...\n\n"
        "Commands:\n");
    for (const struct gf_command *c = gf_commands; c->name; c++)
        gf_buffer_printf(&t, "  %-12s %s\n", c->name, c->summary);
    gf_buffer_text(&t,
        "\nExamples:\n"
        "  gpufilt blur -k gauss5 in.png out.png\n"
        "  gpufilt blur --sigma 1.5 in.tif out.tif\n"
        "  gpufilt correlate -k sobel-x in.png gradient.tif\n"
        "  gpufilt blur -k gauss5 --explain in.png\n"
        "  gpufilt stats -p 1,99 in.png\n\n"
        "Outside the image the nearest sample counts (--border clamp). '-' is standard input or\n"
        "output. 'gpufilt COMMAND --help' lists the options; 'gpufilt help border', 'types',\n"
        "'formats', 'statistics' and 'status' show what there is to choose from.\n");
    return gf_output_text(&t, false, e);
}

enum gf_status gf_help_command(const struct gf_command *c, struct gf_error *e)
{
    struct gf_buffer t = {0};
    gf_buffer_printf(&t, "gpufilt %s: %s\n\nUsage: gpufilt %s %s\n\n%s\n", c->name, c->summary,
                     c->name, c->synopsis, c->description);
    option_sections(&t, c->bit);
    gf_buffer_text(&t, "\nExamples:\n");
    for (const char *s = c->examples; *s;) {
        size_t length = strcspn(s, "\n");
        gf_buffer_printf(&t, "  %.*s\n", (int)length, s);
        s += length + (s[length] == '\n');
    }
    gf_buffer_text(&t, "\nExit statuses: gpufilt help status\n");
    return gf_output_text(&t, false, e);
}

/* ---- topics ---- */

static void topic_border(struct gf_buffer *t)
{
    gf_buffer_text(t, "What stands outside the image, for a row `a b c d` extended by three:\n\n");
    for (unsigned i = 0; i < GF_BORDER_COUNT; i++) {
        const struct gf_border_row *row = gf_border_row((enum gf_border)i);
        gf_buffer_printf(t, "  %-11s %s\n", row->name, row->picture);
        if (*row->aliases)
            gf_buffer_printf(t, "  %-11s also: %s\n", "", row->aliases);
    }
    gf_buffer_text(t,
        "\nconstant takes its value from --fill. clamp is the default. 'reflect' and 'mirror'\n"
        "are refused: numpy, scipy and OpenCV mean opposite things by them. Every mode holds for\n"
        "masks larger than the image and for images of one sample.\n");
}

static void topic_types(struct gf_buffer *t)
{
    gf_buffer_text(t, "Sample types:\n\n");
    for (int i = 0; i < GF_TYPE_COUNT; i++) {
        const struct gf_type_row *row = gf_type_row((enum gf_type)i);
        gf_buffer_printf(t, "  %-4s %u byte%s %s%.17g to %.17g\n", row->name, row->bytes,
                         row->bytes == 1 ? ", " : "s,",
                         row->is_float ? "float, " : "", row->lowest, row->highest);
    }
    gf_buffer_text(t,
        "\nSmoothing keeps the type. Derivatives (weights that do not sum to more than 0) give\n"
        "i16 or i32 for integers. Rounding is to nearest, ties to even; what does not fit is\n"
        "saturated and counted; NaN becomes 0 in an integer type. Values are never rescaled; to\n"
        "bring 16 bits to 8: gpufilt correlate -k '1 / 257' -t u8 in.tif out.png\n");
}

static void topic_formats(struct gf_buffer *t)
{
    gf_buffer_text(t, "Formats; an input's is found from its content, an output's from its name or "
                      "-f:\n\n");
    for (const struct gf_format *const *f = gf_formats; *f; f++)
        gf_buffer_printf(t, "  %-5s %s%s  %s (%s)\n", (*f)->name, (*f)->open ? "r" : "-",
                         (*f)->create ? "w" : "-", (*f)->summary, (*f)->extensions);
    gf_buffer_text(t, "\nA volume of files of one plane each: 'slice_*.tif' or 'slice_%04d.png' as "
                      "input,\n'slice_%04d.png' as output.\n");
}

static void topic_stats(struct gf_buffer *t)
{
    gf_buffer_text(t, "Statistics, the names of --show and --assert:\n\n");
    for (unsigned i = 0; i < GF_COLUMN_COUNT; i++) {
        gf_buffer_printf(t, "  %-12s ", gf_column_rows[i].name);
        wrap(t, gf_column_rows[i].definition, 15, 15);
    }
    gf_buffer_text(t,
        "\nEvery sample counts, of all pages and all channels, alpha too, unless --per, --roi,\n"
        "--mask or --labels choose.\n");
}

static void topic_status(struct gf_buffer *t)
{
    gf_buffer_text(t, "Exit statuses:\n\n");
    exit_statuses(t);
}

enum gf_status gf_help_run(const struct gf_request *r, struct gf_error *e)
{
    static const struct {
        const char *name;
        void (*write)(struct gf_buffer *t);
    } topics[] = {{"border", topic_border}, {"types", topic_types}, {"formats", topic_formats},
                  {"statistics", topic_stats}, {"status", topic_status}};
    struct gf_buffer t = {0};
    const struct gf_command *command;
    if (r->operand_count == 0)
        return gf_help_program(e);
    if (r->operand_count > 1)
        return gf_fail(e, GF_EUSAGE, "help: one command or topic at a time, not %zu",
                       r->operand_count);
    command = gf_command_by_name(r->operands[0]);
    if (command)
        return gf_help_command(command, e);
    for (unsigned i = 0; i < sizeof topics / sizeof topics[0]; i++)
        if (strcmp(topics[i].name, r->operands[0]) == 0) {
            topics[i].write(&t);
            return gf_output_text(&t, false, e);
        }
    return gf_fail(e, GF_EUSAGE, "help '%s': no such command or topic; try 'gpufilt help', or the "
                   "topics border types formats statistics status", r->operands[0]);
}
