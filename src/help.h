/* Help, from the tables of commands, options, borders, formats and masks. */
#ifndef GPUFILT_SRC_HELP_H
#define GPUFILT_SRC_HELP_H

#include "cli.h"
#include "status.h"

/* The program's help on standard output. */
enum gf_status gf_help_program(struct gf_error *e);
/* `gpufilt COMMAND --help`. */
enum gf_status gf_help_command(const struct gf_command *command, struct gf_error *e);
/* `gpufilt help [COMMAND|TOPIC]`. */
enum gf_status gf_help_run(const struct gf_request *request, struct gf_error *e);
/* `gpufilt --version`: version, compiler, libraries, SIMD in use. */
enum gf_status gf_help_version(struct gf_error *e);

#endif
