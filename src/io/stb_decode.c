/* This file is compiled with flags of its own (src/CMakeLists.txt): without the undefined
 * behaviour sanitizer, because stb_image shifts into sign bits and adds 0 to null pointers
 * by design, and with automatic variables initialised, because a damaged palette makes it
 * read some that it never wrote. */
#include "stb_decode.h"

#include "../alloc.h"

#include <string.h>

/* Not restored: the compiler counts unused functions at the end of the file. */
#pragma GCC diagnostic ignored "-Wunused-function"

static _Thread_local bool no_memory;

/* Zeroed, so that damaged data never show what was in memory before. */
static void *take(uint64_t size)
{
    void *block = gf_alloc_zero(size, 1);
    no_memory = no_memory || !block;
    return block;
}

static inline void *regrow(void *block, uint64_t size)
{
    void *larger = gf_realloc(block, size, 1);
    no_memory = no_memory || !larger;
    return larger;
}

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#define STBI_NO_PNG
#define STBI_NO_GIF
#define STBI_NO_PIC
#define STBI_NO_PNM
#define STBI_MAX_DIMENSIONS (1 << 30)
#define STBI_ASSERT(condition) ((void)(condition)) /* never ends the program */
#define STBI_MALLOC(size) take(size)
#define STBI_REALLOC_SIZED(block, old_size, size) regrow(block, size)
#define STBI_FREE(block) gf_free(block)
#include <stb/stb_image.h>

/* The end of the memory: stb_image would make up zeros there without a word. The Radiance
 * decoder loops for ever over zeros; line feeds end each of its loops. */
static int read_past_end(void *user, char *data, int size)
{
    struct gf_stb *s = user;
    s->past_end = true;
    if (s->kind != GF_STB_HDR)
        return 0;
    memset(data, '\n', (size_t)size);
    return size;
}

static void skip_past_end(void *user, int size)
{
    struct gf_stb *s = user;
    s->past_end = s->past_end || size > 0;
}

static int at_end(void *user)
{
    (void)user;
    return 1;
}

/* A context over memory whose end is noticed: what stb_image does for callbacks, with the
 * whole file as the first buffer. */
static void begin(stbi__context *c, struct gf_stb *s)
{
    stbi__start_mem(c, s->data, (int)s->size);
    c->io.read = read_past_end;
    c->io.skip = skip_past_end;
    c->io.eof = at_end;
    c->io_user_data = s;
    c->read_from_callbacks = 1;
    c->buflen = sizeof c->buffer_start;
}

bool gf_stb_info(struct gf_stb *s)
{
    int (*const info[])(stbi__context *, int *, int *, int *) = {
        [GF_STB_JPEG] = stbi__jpeg_info, [GF_STB_BMP] = stbi__bmp_info,
        [GF_STB_TGA] = stbi__tga_info,   [GF_STB_PSD] = stbi__psd_info,
        [GF_STB_PSD16] = stbi__psd_info, [GF_STB_HDR] = stbi__hdr_info,
    };
    stbi__context c;
    bool known;
    no_memory = false;
    s->past_end = false;
    begin(&c, s);
    known = info[s->kind](&c, &s->width, &s->height, &s->channels) != 0;
    s->no_memory = no_memory;
    /* A BMP that is stored from the top down says so by a negative height. */
    if (known && s->kind == GF_STB_BMP && s->height < 0 && s->height != INT32_MIN)
        s->height = -s->height;
    return known && !s->past_end && s->width > 0 && s->height > 0 && s->channels > 0;
}

void *gf_stb_load(struct gf_stb *s)
{
    const int want = s->channels;
    stbi__result_info result = {.bits_per_channel = 8, .channel_order = STBI_ORDER_RGB};
    stbi__context c;
    void *samples = NULL;

    no_memory = false;
    s->past_end = false;
    stbi__g_failure_reason = NULL;
    begin(&c, s);
    switch (s->kind) {
    case GF_STB_JPEG:
        samples = stbi__jpeg_load(&c, &s->width, &s->height, &s->channels, want, &result);
        break;
    case GF_STB_BMP:
        samples = stbi__bmp_load(&c, &s->width, &s->height, &s->channels, want, &result);
        break;
    case GF_STB_TGA:
        samples = stbi__tga_load(&c, &s->width, &s->height, &s->channels, want, &result);
        break;
    case GF_STB_PSD:
    case GF_STB_PSD16:
        samples = stbi__psd_load(&c, &s->width, &s->height, &s->channels, want, &result,
                                 s->kind == GF_STB_PSD16 ? 16 : 8);
        break;
    case GF_STB_HDR:
        samples = stbi__hdr_load(&c, &s->width, &s->height, &s->channels, want, &result);
        break;
    }
    s->channels = want;
    s->no_memory = no_memory;
    s->reason = stbi__g_failure_reason ? stbi__g_failure_reason : "unknown damage";
    return samples;
}
