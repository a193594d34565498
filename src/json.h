/* Members of JSON objects, strict (RFC 8259): into a buffer that ends in "{" or in the member
 * before. */
#ifndef GPUFILT_SRC_JSON_H
#define GPUFILT_SRC_JSON_H

#include "text.h"

/* A name and its colon, after a comma where it is not the object's first. */
void gf_json_key(struct gf_buffer *t, const char *name);
void gf_json_count(struct gf_buffer *t, const char *name, uint64_t value);
/* The digits that read back as the same double; null for NaN and infinities. */
void gf_json_real(struct gf_buffer *t, const char *name, double value);
/* null for NULL. */
void gf_json_text(struct gf_buffer *t, const char *name, const char *value);
void gf_json_bool(struct gf_buffer *t, const char *name, bool value);

#endif
