#include "session.h"

#include "../message.h"
#include "../output.h"
#include "../processors.h"
#include "plot.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static unsigned terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
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
    if (o->plot || o->plot_file)
        s->columns.need_histogram = true;
    if (o->plot_file)
        GF_TRY(gf_plot_check(o->plot_file, e));
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

/* The picture is of the only row there is. */
static enum gf_status draw(const struct gf_stats_session *s, const struct gf_stats *stats,
                           struct gf_error *e)
{
    if (!s->options->plot_file)
        return GF_OK;
    if (s->rows > 1)
        return gf_fail(e, GF_EUSAGE, "--plot=%s: a picture is of one histogram, and there are "
                       "several rows; choose one file and one part of it", s->options->plot_file);
    return gf_plot_file(s->options->plot_file, stats, &s->request->out, e);
}

static void print_no(struct gf_stats_session *s)
{
    if (s->no.text[0] != '\0')
        gf_print_error("%s", s->no.text);
    s->no.text[0] = '\0';
}

static void check_assertion(struct gf_stats_session *s, const struct gf_stats *stats)
{
    struct gf_error no;
    if (!s->options->assertion || gf_assert_check(&s->assertion, stats, &no) == GF_OK)
        return;
    print_no(s);
    s->no = no;
}

enum gf_status gf_stats_session_row(struct gf_stats_session *s, const struct gf_source *source,
                                    struct gf_stats *stats, struct gf_error *e)
{
    enum gf_status status = gf_collect(source, s->options, &s->columns, &s->how, stats, e);
    if (status == GF_OK) {
        s->rows++;
        gf_report_row(&s->report, stats);
        check_assertion(s, stats);
        status = draw(s, stats, e);
    }
    gf_stats_free(stats);
    return status;
}

enum gf_status gf_stats_session_end(struct gf_stats_session *s, bool to_stderr,
                                    struct gf_error *e)
{
    enum gf_status status = gf_report_end(&s->report, e);
    if (status != GF_OK) {
        gf_buffer_free(&s->text);
        return status;
    }
    GF_TRY(gf_output_text(&s->text, to_stderr, e));
    if (s->no.text[0] == '\0')
        return GF_OK;
    if (e)
        *e = s->no;
    return GF_NO;
}

void gf_stats_session_drop(struct gf_stats_session *s)
{
    (void)gf_report_end(&s->report, NULL);
    gf_buffer_free(&s->text);
}
