/* stb_image behind one function: from a file in memory to samples on the counted
 * allocator, telling when the data were not all there. */
#ifndef GPUFILT_SRC_IO_STB_DECODE_H
#define GPUFILT_SRC_IO_STB_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gf_stb_kind { GF_STB_JPEG, GF_STB_BMP, GF_STB_TGA, GF_STB_PSD, GF_STB_PSD16, GF_STB_HDR };

struct gf_stb {
    enum gf_stb_kind kind;
    const uint8_t *data;
    size_t size;          /* below 2^31 */
    int width, height, channels;
    bool past_end;        /* the decoder asked for more bytes than there are */
    bool no_memory;
    const char *reason;   /* of a failure, in stb_image's words */
};

/* Sets width, height and channels from the header; false when it makes no sense. */
bool gf_stb_info(struct gf_stb *s);
/* Decodes into s->channels channels: bytes; uint16_t for PSD16; float for HDR. The caller
 * frees it with gf_free. NULL on failure. */
void *gf_stb_load(struct gf_stb *s);

#endif
