/* UTF-8: the one decoder, and texts of unknown coding made UTF-8. */
#ifndef GPUFILT_SRC_UTF8_H
#define GPUFILT_SRC_UTF8_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the well-formed character at `s`, which ends with a zero byte somewhere, and the
 * character in *value; 0 when it is none (overlong, a surrogate, cut off, beyond U+10FFFF). */
size_t gf_utf8_decode(const unsigned char *s, uint32_t *value);
/* True when all of the string is UTF-8. */
bool gf_utf8_valid(const char *text);
/* *text = `size` bytes of Latin-1 as UTF-8, zero-terminated, the caller's to gf_free; a zero
 * byte ends them earlier. */
enum gf_status gf_utf8_from_latin1(const void *data, size_t size, char **text,
                                   struct gf_error *e);
/* The same for bytes of unknown coding: what is UTF-8 stays, anything else is Latin-1. */
enum gf_status gf_utf8_from_bytes(const void *data, size_t size, char **text, struct gf_error *e);

#endif
