/* The text headers of PBM, PGM, PPM, PAM and PFM. */
#ifndef GPUFILT_SRC_IO_PNM_HEADER_H
#define GPUFILT_SRC_IO_PNM_HEADER_H

#include "format.h"

#define GF_PNM_HEADER_BYTES 4096 /* comments included; a longer header is refused */

/* A place in a header. */
struct gf_pnm_cursor {
    struct gf_in *in;
    const char *name;
    uint64_t offset;   /* where bytes[0] is in the file */
    size_t size, at;
    uint8_t bytes[GF_PNM_HEADER_BYTES];
};

static inline bool gf_pnm_is_space(uint8_t byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* Loads the bytes from `offset` on; at = 0. */
enum gf_status gf_pnm_fill(struct gf_pnm_cursor *c, uint64_t offset, struct gf_error *e);
/* Skips white space and comments, then takes a decimal number from 1 to `highest`. `what`
 * is its name in the message. The cursor stays right after its last digit. */
enum gf_status gf_pnm_number(struct gf_pnm_cursor *c, const char *what, uint64_t highest,
                             uint64_t *number, struct gf_error *e);
/* Skips white space and comments, then copies what stands up to the next white space;
 * false when there is none or it has no room. */
bool gf_pnm_word(struct gf_pnm_cursor *c, char *word, size_t room);
/* GF_EINPUT unless the file holds `bytes` bytes from `offset` on. */
enum gf_status gf_pnm_check_size(const struct gf_reader *r, uint64_t offset, uint64_t bytes,
                                 struct gf_error *e);

#endif
