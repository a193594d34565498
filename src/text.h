/* Numbers to text and back, suggestions for misspelt names, and a growing string. Nothing
 * here depends on the locale, because the program never calls setlocale(): strtod() and
 * printf() then use the point, whatever LC_NUMERIC says. */
#ifndef GPUFILT_SRC_TEXT_H
#define GPUFILT_SRC_TEXT_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- parsing: the whole string must be the number; no blanks; *value is only set on true ---- */

/* Unlike isdigit(), the same in every locale and for negative chars. */
static inline bool gf_is_digit(char c) { return c >= '0' && c <= '9'; }

/* Decimal digits at *text, which is moved past them; false, and nothing moved, when there are
 * none or the number does not fit. More may follow. */
bool gf_take_u64(const char **text, uint64_t *value);
/* Decimal digits only. */
bool gf_parse_u64(const char *text, uint64_t *value);
/* Decimal, with or without exponent; not hexadecimal. What is too large for a double is
 * refused. With `special` also [+-]inf and nan, in any case. */
bool gf_parse_double(const char *text, bool special, double *value);
/* "4096", "512M", "1.5GiB": K, M, G, T, P (or KiB, ...) count by 1024, KB, MB, ... by 1000,
 * in any case; a fraction needs a unit and is rounded down to whole bytes. */
bool gf_parse_bytes(const char *text, uint64_t *value);

/* The unit of length of `size` bytes at `name` ("mm", "um", "inch") in mm; false when it is
 * none. Micro may be written with either of Unicode's two signs. */
bool gf_length_unit(const char *name, size_t size, double *mm);
/* True when `word` is one of the words of `list`, which have blanks between them. */
bool gf_word_in_list(const char *word, const char *list);

/* ---- formatting; each returns its buffer ---- */

#define GF_NUMBER_TEXT 32

/* The shortest of 15, 16 or 17 digits that reads back as the same double. */
const char *gf_format_double(char buffer[GF_NUMBER_TEXT], double value);
/* For people: "917 bytes", "1.5 GiB". */
const char *gf_format_bytes(char buffer[GF_NUMBER_TEXT], uint64_t bytes);
/* Replaces the end of a string that was cut with "...", not splitting a UTF-8 character. */
void gf_cut_short(char *text);

/* ---- showing foreign bytes ---- */

/* Bytes of the character at `s` when it is well-formed UTF-8 that is safe to show, else 0.
 * Unsafe are the control characters and those that turn the direction of writing, with which
 * a name could disguise the rest of the line. */
size_t gf_printable(const unsigned char *s);
/* Appends `text` with everything that is not printable as \xNN and returns the end; `to` has
 * room for four bytes for each of its bytes, and no zero is put there. */
char *gf_escape(char *to, const char *text);

/* ---- suggestions ---- */

/* Insertions, deletions, replacements and swaps of neighbours from one to the other, upper
 * and lower case being equal; SIZE_MAX when one is longer than 63 bytes. */
size_t gf_edit_distance(const char *a, const char *b);
/* The candidate nearest to `name`, the first of equals; NULL when more than a third of the
 * letters (but at least one) would have to change. */
const char *gf_closest(const char *name, const char *const *candidates, size_t count);

/* ---- a growing string ---- */

/* Start with {0}. `data` is NULL or zero-terminated after `size` bytes. When memory runs out
 * `failed` is set and everything later does nothing, so it need be looked at only once. */
struct gf_buffer {
    char *data;
    size_t size, room;
    bool failed;
};

void gf_buffer_append(struct gf_buffer *b, const void *data, size_t size);
void gf_buffer_text(struct gf_buffer *b, const char *text);
void gf_buffer_printf(struct gf_buffer *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Appends the first `length` bytes of `text` as gf_escape shows them. */
void gf_buffer_escaped(struct gf_buffer *b, const char *text, size_t length);
/* Appends a JSON string, quotes included: what is not printable UTF-8 is escaped or, byte by byte,
 * replaced by U+FFFD. */
void gf_buffer_json(struct gf_buffer *b, const char *text);
/* GF_EMEMORY when it failed; `what` is in the message. */
enum gf_status gf_buffer_status(const struct gf_buffer *b, const char *what, struct gf_error *e);
/* Releases and leaves {0}. */
void gf_buffer_free(struct gf_buffer *b);

#endif
