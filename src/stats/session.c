#include "session.h"

#include "../message.h"
#include "../output.h"
#include "../processors.h"
#include "plot.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* 0: there is none. */
static unsigned terminal_width(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* auto is the CPU: samples come from a file, and reading that takes longer than measuring them. A
 * filter's output is measured where --device says that it is made. */
static void choose_device(struct gf_stats_session *s)
{
    const struct gf_request *r = s->request;
    s->how = (struct gf_measuring){.measurer = &gf_measurer_cpu, .gpu = r->gpu,
                                   .gpu_memory = r->gpu_memory,
                                   .threads = r->jobs ? r->jobs : gf_processors()};
    for (size_t i = 0; gf_measurers[i]; i++)
        if (strcmp(gf_measurers[i]->name, r->device) == 0)
            s->how.measurer = gf_measurers[i];
}

static enum gf_status check_plot_file(const char *path, size_t files, struct gf_error *e)
{
    if (files > 1)
        return gf_fail(e, GF_EUSAGE, "--plot=%s: a picture is of one histogram, and there are %zu "
                       "files; name one", path, files);
    return gf_plot_check(path, e);
}

/* "--plot hist.png in.png" means a picture to most, and would measure one. */
static enum gf_status check_plot_bars(const struct gf_request *r, struct gf_error *e)
{
    const char *first = r->operand_count > 1 ? r->operands[0] : NULL;
    if (first && gf_plot_check(first, e) == GF_OK && access(first, F_OK) != 0)
        return gf_fail(e, GF_EUSAGE, "%s: there is no such input; for a picture of the histogram "
                       "say --plot=%s", first, first);
    return GF_OK;
}

enum gf_status gf_stats_session_begin(struct gf_stats_session *s, const struct gf_request *request,
                                      struct gf_error *e)
{
    const struct gf_stats_options *o = &request->stats;
    memset(s, 0, sizeof *s);
    s->request = request;
    s->options = o;
    GF_TRY(gf_columns_parse(o, &s->columns, e));
    if (o->assertion)
        GF_TRY(gf_assert_parse(&s->assertion, o->assertion, &s->columns, e));
    if (o->plot_file)
        GF_TRY(check_plot_file(o->plot_file, request->operand_count, e));
    else if (o->plot)
        GF_TRY(check_plot_bars(request, e));
    if (o->labels && o->per != GF_PER_FILE)
        return gf_fail(e, GF_EUSAGE, "--labels and --per exclude each other; give one");
    GF_TRY(gf_report_check(&s->columns, o, e));
    choose_device(s);
    gf_report_begin(&s->report, &s->columns, o, terminal_width(), &s->text);
    return GF_OK;
}

struct gf_stats gf_stats_new(const char *file)
{
    return (struct gf_stats){.file = file, .page = GF_NO_PART, .channel = GF_NO_PART,
                             .slice = GF_NO_PART, .label = GF_NO_PART};
}

/* ---- the rows of a file ---- */

void gf_stats_session_file(struct gf_stats_session *s)
{
    s->mark = gf_report_mark(&s->report);
    s->mark_no = s->no.size;
}

enum gf_status gf_stats_session_file_end(struct gf_stats_session *s, enum gf_status status,
                                         struct gf_error *e)
{
    if (status == GF_OK && s->options->plot_file)
        status = gf_plot_file(s->options->plot_file, &s->pictured, &s->request->out, e);
    gf_stats_free(&s->pictured);
    if (status != GF_OK) {
        gf_report_rewind(&s->report, &s->mark);
        s->no.size = s->mark_no;
    }
    return status;
}

/* The picture is of the only row there is, and drawn when the file has been read to its end. */
static enum gf_status keep_pictured(struct gf_stats_session *s, struct gf_stats *stats,
                                    struct gf_error *e)
{
    if (!s->options->plot_file)
        return GF_OK;
    if (s->report.rows > 1)
        return gf_fail(e, GF_EUSAGE, "--plot=%s: a picture is of one histogram, and there are "
                       "several rows; choose one part of the file", s->options->plot_file);
    s->pictured = *stats;
    stats->histogram.count = NULL;
    return GF_OK;
}

static void check_assertion(struct gf_stats_session *s, const struct gf_stats *stats)
{
    struct gf_error no;
    if (s->options->assertion && gf_assert_check(&s->assertion, stats, &no) != GF_OK)
        gf_buffer_append(&s->no, no.text, strlen(no.text) + 1);
}

enum gf_status gf_stats_session_row(struct gf_stats_session *s, const struct gf_source *source,
                                    struct gf_stats *stats, struct gf_error *e)
{
    enum gf_status status = gf_collect(source, s->options, &s->columns, &s->how, stats, e);
    if (status == GF_OK) {
        gf_report_row(&s->report, stats);
        check_assertion(s, stats);
        status = keep_pictured(s, stats, e);
    }
    gf_stats_free(stats);
    return status;
}

/* ---- the end ---- */

/* All messages but the last are printed; that is the error. */
static enum gf_status say_no(const struct gf_stats_session *s, struct gf_error *e)
{
    const char *text = s->no.data;
    GF_TRY(gf_buffer_status(&s->no, "the rows for which --assert does not hold", e));
    if (s->no.size == 0)
        return GF_OK;
    for (; text + strlen(text) + 1 < s->no.data + s->no.size; text += strlen(text) + 1)
        gf_print_error("%s", text);
    return gf_fail(e, GF_NO, "%s", text);
}

enum gf_status gf_stats_session_end(struct gf_stats_session *s, bool to_stderr,
                                    struct gf_error *e)
{
    enum gf_status status = gf_report_end(&s->report, e);
    if (status == GF_OK)
        status = gf_output_text(&s->text, to_stderr, e);
    if (status == GF_OK)
        status = say_no(s, e);
    gf_buffer_free(&s->text);
    gf_buffer_free(&s->no);
    return status;
}

void gf_stats_session_drop(struct gf_stats_session *s)
{
    (void)gf_report_end(&s->report, NULL);
    gf_buffer_free(&s->text);
    gf_buffer_free(&s->no);
}
