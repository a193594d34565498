/* Raw samples without a header: the notation of --raw, and sizes in file names. */
#ifndef GPUFILT_SRC_IO_RAW_H
#define GPUFILT_SRC_IO_RAW_H

#include "format.h"

/* Parses WxH[xD]:TYPE[xCHANNELS][le|be][+OFFSET], e.g. "512x512x300:u16be+1024"; sets
 * given. GF_EUSAGE says what was expected. */
enum gf_status gf_raw_parse(struct gf_raw_spec *spec, const char *text, struct gf_error *e);

/* Finds "..._WxH[xD]_TYPE[xCHANNELS][le|be]..." in the last component of a path, as in
 * ct_512x512x300_u16le.raw; the parts are set off by '_', '-' or '.'. */
bool gf_raw_spec_from_name(const char *path, struct gf_raw_spec *spec);

/* The bytes of a file that is so, not deflated; false when they do not fit in 64 bits. */
bool gf_raw_bytes(const struct gf_raw_spec *spec, uint64_t *bytes);

#endif
