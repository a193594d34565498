/* What is told about a kernel that did wrong: one line on standard error. */
#include "machine_internal.h"
#include "control.h"
#include "race.h"
#include "site.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace simt {

struct failure failure;
static char last_line[1500];
static bool printed = true;

const char *name_of(const struct thread *t)
{
    static char buffers[4][100];
    static unsigned next;
    char *text = buffers[next++ % 4];

    snprintf(text, sizeof buffers[0], "thread (%u,%u,%u) of block (%u,%u,%u)", t->place.thread.x,
             t->place.thread.y, t->place.thread.z, t->place.block.x, t->place.block.y,
             t->place.block.z);
    return text;
}

const char *thread_of(const struct thread *t)
{
    static char buffers[4][50];
    static unsigned next;
    char *text = buffers[next++ % 4];

    snprintf(text, sizeof buffers[0], "thread (%u,%u,%u)", t->place.thread.x, t->place.thread.y,
             t->place.thread.z);
    return text;
}

void fail(cudaError_t error, const void *site, const char *format, ...)
{
    va_list list;

    fail_if_unwritten();
    failure.error = error;
    failure.site = site;
    failure.file = nullptr;
    va_start(list, format);
    vsnprintf(failure.text, sizeof failure.text, format, list);
    va_end(list);
    abandon_block();
}

void fail_at_line(const char *file, int line, const char *format, ...)
{
    va_list list;
    const char *slash = strrchr(file, '/');

    fail_if_unwritten();
    failure.error = cudaErrorLaunchFailure;
    failure.file = slash ? slash + 1 : file;
    failure.line = line;
    failure.other = nullptr;
    va_start(list, format);
    vsnprintf(failure.text, sizeof failure.text, format, list);
    va_end(list);
    abandon_block();
}

static void print_line()
{
    fprintf(stderr, "simt: %s\n", last_line);
    fflush(stderr);
}

void report(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(last_line, sizeof last_line, format, list);
    va_end(list);
    print_line();
}

void report_failure()
{
    char place[400], other[400] = "";

    if (!printed) {
        failure.other = nullptr;
        snprintf(last_line, sizeof last_line, "%s", failure.text);
        return;
    }
    if (failure.file)
        snprintf(place, sizeof place, "%s:%d", failure.file, failure.line);
    else
        site_name(place, sizeof place, failure.site);
    if (failure.other) {
        char other_place[300];
        site_name(other_place, sizeof other_place, failure.other);
        snprintf(other, sizeof other, " %s %s", failure.other_text, other_place);
        failure.other = nullptr;
    }
    snprintf(last_line, sizeof last_line, "%s: %s%s", place, failure.text, other);
    print_line();
}

const char *last_report() { return last_line; }
void clear_report() { last_line[0] = 0; }
void print_failures(bool print) { printed = print; }

}
