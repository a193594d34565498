/* The only module that prints to standard error. Control characters and bytes that are
 * not valid UTF-8 are escaped; the locale plays no part. Thread-safe. */
#ifndef GPUFILT_SRC_MESSAGE_H
#define GPUFILT_SRC_MESSAGE_H

enum gf_verbosity { GF_QUIET = -1, GF_NORMAL = 0, GF_VERBOSE = 1 };

void gf_message_set_verbosity(enum gf_verbosity v);

/* "gpufilt: TEXT\n", always printed. Does not touch the exit status. */
void gf_print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* "gpufilt: warning: TEXT\n", unless quiet. */
void gf_print_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* "gpufilt: TEXT\n", only when verbose. */
void gf_print_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
