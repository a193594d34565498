/* The list of steps, and the only place that decides the exit status. */
#include "alloc.h"
#include "cli.h"
#include "help.h"
#include "io/file.h"
#include "io/spread.h"
#include "message.h"
#include "signals.h"

#include <fcntl.h>
#include <unistd.h>

/* A descriptor below 3 that is closed would be taken by the first file opened, and messages
 * or results would be written into it. */
static void keep_standard_descriptors(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

static uint64_t half_of_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 2 : UINT64_MAX;
}

static enum gf_status run(const struct gf_request *request, struct gf_error *e)
{
    if (request->version)
        return gf_help_version(e);
    if (request->help)
        return request->command ? gf_help_command(request->command, e) : gf_help_program(e);
    gf_message_set_verbosity(request->quiet ? GF_QUIET : request->verbose ? GF_VERBOSE : GF_NORMAL);
    if (request->jobs)
        gf_spread_limit(request->jobs);
    gf_memory_set_limit(request->max_memory ? request->max_memory : half_of_memory());
    return request->command->run(request, e);
}

int main(int argc, char **argv)
{
    struct gf_request request;
    struct gf_error error = {""};
    enum gf_status status;

    keep_standard_descriptors();
    gf_signals_install();
    status = gf_cli_parse(&request, argc, argv, &error);
    if (status == GF_OK)
        status = run(&request, &error);
    gf_request_free(&request);
    if (status == GF_ESIGNAL)
        gf_signal_raise();
    if (status != GF_OK)
        gf_print_error("%s", error.text);
    return (int)status;
}
