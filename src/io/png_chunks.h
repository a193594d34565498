/* The chunks of a PNG that are not samples: to and from struct gf_meta. */
#ifndef GPUFILT_SRC_IO_PNG_CHUNKS_H
#define GPUFILT_SRC_IO_PNG_CHUNKS_H

#include "../image.h"

/* The bytes that every PNG starts with. */
extern const uint8_t gf_png_signature[8];

/* All metadata of a file, and what they inflate to, may have this many bytes; more is not
 * carried over: a file of some MiB could fill the memory. An ICC profile has a few MiB at
 * most. */
#define GF_PNG_META_BYTES (UINT32_C(64) << 20)

/* True for the chunks that gf_png_take_chunk understands. */
bool gf_png_is_meta(const uint8_t type[4]);
/* Adds what a chunk says to `meta`. What it inflates to may have *room bytes and is taken off
 * them. A chunk whose content makes no sense, or too much, is left out with a warning that
 * names the file `name`; only GF_EMEMORY is returned. */
enum gf_status gf_png_take_chunk(struct gf_meta *meta, const uint8_t type[4], const uint8_t *data,
                                 size_t size, uint64_t *room, const char *name,
                                 struct gf_error *e);

typedef enum gf_status gf_png_put(void *context, const char *type, const void *data, size_t size,
                                  struct gf_error *e);
/* Hands the chunks for the image's metadata to `put`, in an order that may stand
 * between IHDR and IDAT. `name` is the output in warnings. */
enum gf_status gf_png_put_meta(const struct gf_image *image, const char *name, gf_png_put *put,
                               void *context, struct gf_error *e);

/* zlib's memory functions on the counted allocator. */
void *gf_zlib_alloc(void *opaque, unsigned items, unsigned size);
void gf_zlib_free(void *opaque, void *block);

/* Numbers as PNG has them: most significant byte first. */
static inline uint32_t gf_png_u32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline void gf_png_set_u32(uint8_t *p, uint32_t value)
{
    p[0] = (uint8_t)(value >> 24);
    p[1] = (uint8_t)(value >> 16);
    p[2] = (uint8_t)(value >> 8);
    p[3] = (uint8_t)value;
}

#endif
