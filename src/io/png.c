/* Reads PNG. The chunks are walked first (sizes, metadata, the end of the file), so that
 * a file that cannot be whole is refused before anything is decoded; libpng then decodes
 * the samples and checks every CRC and the Adler-32 on the way. */
#include "../alloc.h"
#include "../message.h"
#include "../util.h"
#include "format.h"
#include "png_chunks.h"
#include "png_write.h"

#include <png.h>
#include <setjmp.h>
#include <string.h>
#include <zlib.h>

#define BUFFER_BYTES (256u << 10)
#define DEFLATE_RATIO 1032 /* no deflate stream grows more than this many times */
#define MAX_CHUNK 0x7fffffffu

struct png {
    struct gf_reader *reader;
    uint8_t *buffer;            /* file bytes [buffer_at, buffer_at + buffer_size) */
    uint64_t buffer_at;
    size_t buffer_size;

    /* From the walk over the chunks. */
    uint32_t width, height;
    uint8_t bit_depth, color_type, interlace;
    uint64_t idat_bytes;
    struct gf_meta meta;
    uint64_t meta_room;         /* bytes that the metadata may still take */
    bool meta_full;             /* said so */

    /* Decoding. */
    png_structp libpng;
    png_infop info;
    uint64_t file_at;           /* where libpng reads next */
    uint64_t next_row;
    uint8_t *whole;             /* an interlaced image is decoded in one piece */
    size_t row_bytes;           /* a row as libpng gives it: palette indices are bytes */
    uint8_t palette[256][4];    /* RGBA */
    unsigned colors;            /* entries of the palette; 0 when there is none */
    unsigned palette_channels;  /* 3, or 4 with transparency */
    uint8_t *indices;           /* one row of a palette image */
    bool warned;                /* a second pass over the file does not warn again */

    /* The libpng call in progress. */
    enum gf_status status;
    struct gf_error *error;
    void *rows;
    uint64_t row_count;
};

/* ---- file bytes ---- */

/* `size` (at most BUFFER_BYTES) bytes at `offset` through the buffer. */
static enum gf_status peek(struct png *p, uint64_t offset, size_t size, const uint8_t **bytes,
                           struct gf_error *e)
{
    if (offset < p->buffer_at || offset + size > p->buffer_at + p->buffer_size) {
        p->buffer_at = offset;
        p->buffer_size = 0;
        GF_TRY(gf_in_read_some(p->reader->in, p->buffer, BUFFER_BYTES, offset, &p->buffer_size,
                               e));
        if (p->buffer_size < size)
            return gf_fail(e, GF_EINPUT, "%s: truncated after %llu bytes; a PNG ends with an "
                           "IEND chunk", p->reader->name,
                           (unsigned long long)(offset + p->buffer_size));
    }
    *bytes = p->buffer + (offset - p->buffer_at);
    return GF_OK;
}

/* ---- the walk over the chunks ---- */

static enum gf_status take_header(struct png *p, const uint8_t *ihdr, struct gf_error *e)
{
    p->width = gf_png_u32(ihdr);
    p->height = gf_png_u32(ihdr + 4);
    p->bit_depth = ihdr[8];
    p->color_type = ihdr[9];
    p->interlace = ihdr[12];
    if (p->width == 0 || p->height == 0 || p->width > MAX_CHUNK || p->height > MAX_CHUNK)
        return gf_fail(e, GF_EINPUT, "%s: the header says %lux%lu pixels; each side must be 1 to "
                       "2147483647", p->reader->name, (unsigned long)p->width,
                       (unsigned long)p->height);
    return GF_OK;
}

/* Reads a metadata chunk, verifies its CRC and adds it to p->meta. */
static enum gf_status take_meta(struct png *p, const uint8_t type[4], uint64_t offset,
                                uint32_t length, struct gf_error *e)
{
    const char *name = p->reader->name;
    uint8_t *data = NULL;
    uint8_t kept_type[4];
    enum gf_status status;

    memcpy(kept_type, type, 4);
    if (length > GF_PNG_META_BYTES) {
        gf_print_warning("%s: a %.4s chunk of %lu bytes is left out", name, (const char *)type,
                         (unsigned long)length);
        return GF_OK;
    }
    if (length > p->meta_room) {
        if (!p->meta_full)
            gf_print_warning("%s: more than %u MiB of metadata, the rest is left out", name,
                             (unsigned)(GF_PNG_META_BYTES >> 20));
        p->meta_full = true;
        return GF_OK;
    }
    p->meta_room -= length;
    GF_TRY(gf_allocate((void **)&data, (uint64_t)length + 4, 1, "PNG metadata", e));
    status = gf_in_read(p->reader->in, data, (size_t)length + 4, offset, e);
    if (status == GF_OK) {
        uLong crc = crc32(crc32(0, kept_type, 4), data, length);
        if (crc != gf_png_u32(data + length))
            status = gf_fail(e, GF_EINPUT, "%s: damaged %.4s chunk: its checksum does not match",
                             name, (const char *)kept_type);
    }
    if (status == GF_OK)
        status = gf_png_take_chunk(&p->meta, kept_type, data, length, &p->meta_room, name, e);
    gf_free(data);
    return status;
}

/* What one chunk means for the walk. `at` is where its data starts. */
static enum gf_status take_chunk(struct png *p, const uint8_t type[4], uint64_t at,
                                 uint32_t length, bool first, struct gf_error *e)
{
    const uint8_t *data = NULL;
    if (first && memcmp(type, "CgBI", 4) == 0)
        return gf_fail(e, GF_EFEATURE, "%s: this is Apple's private variant of PNG (CgBI); convert "
                       "it with: xcrun -sdk iphoneos pngcrush -revert-iphone-optimizations",
                       p->reader->name);
    if (first != (memcmp(type, "IHDR", 4) == 0) || (first && length != 13))
        return gf_fail(e, GF_EINPUT, "%s: damaged PNG: it must start with one IHDR chunk of 13 "
                       "bytes", p->reader->name);
    if (first) {
        GF_TRY(peek(p, at, 13, &data, e));
        return take_header(p, data, e);
    }
    if (memcmp(type, "IDAT", 4) == 0)
        p->idat_bytes += length;
    else if (memcmp(type, "acTL", 4) == 0)
        gf_print_warning("%s: animated (acTL chunk); only its still picture is read",
                         p->reader->name);
    else if (gf_png_is_meta(type))
        return take_meta(p, type, at, length, e);
    return GF_OK;
}

static enum gf_status walk(struct png *p, struct gf_error *e)
{
    const char *name = p->reader->name;
    uint64_t size = gf_in_size(p->reader->in), at = sizeof gf_png_signature;
    const uint8_t *head = NULL;
    uint8_t type[4] = {0};

    for (bool first = true; memcmp(type, "IEND", 4) != 0; first = false) {
        uint32_t length;
        GF_TRY(peek(p, at, 8, &head, e));
        length = gf_png_u32(head);
        memcpy(type, head + 4, 4);
        if (length > MAX_CHUNK)
            return gf_fail(e, GF_EINPUT, "%s: damaged PNG: a chunk of %lu bytes at byte %llu",
                           name, (unsigned long)length, (unsigned long long)at);
        if (at + 12 + length > size)
            return gf_fail(e, GF_EINPUT, "%s: truncated after %llu bytes: the chunk at byte %llu "
                           "needs %llu", name, (unsigned long long)size,
                           (unsigned long long)at, (unsigned long long)(at + 12 + length));
        GF_TRY(take_chunk(p, type, at + 8, length, first, e));
        at += 12 + length;
    }
    if (at < size)
        gf_print_warning("%s: %llu bytes after the end of the PNG are ignored", name,
                         (unsigned long long)(size - at));
    return GF_OK;
}

/* Refuses a header that the compressed data cannot fill. */
static enum gf_status check_promise(const struct png *p, struct gf_error *e)
{
    static const uint8_t samples[8] = {1, 0, 3, 1, 2, 0, 4, 0};
    uint64_t row_bits = (uint64_t)p->width * samples[p->color_type & 7] * p->bit_depth;
    uint64_t needed, possible;
    if (!gf_mul(p->height, row_bits / 8 + !p->interlace, &needed))
        needed = UINT64_MAX;
    if (!gf_mul(p->idat_bytes, DEFLATE_RATIO, &possible))
        possible = UINT64_MAX;
    if (needed <= possible)
        return GF_OK;
    return gf_fail(e, GF_EINPUT, "%s: the header promises %lux%lu pixels, %llu bytes, but %llu "
                   "bytes of compressed data can hold %llu at most", p->reader->name,
                   (unsigned long)p->width, (unsigned long)p->height,
                   (unsigned long long)needed, (unsigned long long)p->idat_bytes,
                   (unsigned long long)possible);
}

/* ---- libpng ---- */

static void on_error(png_structp libpng, png_const_charp message)
{
    struct png *p = png_get_error_ptr(libpng);
    if (p->status == GF_OK)
        p->status = gf_fail(p->error, GF_EINPUT, "%s: damaged PNG: %s", p->reader->name, message);
    png_longjmp(libpng, 1);
}

static void on_warning(png_structp libpng, png_const_charp message)
{
    struct png *p = png_get_error_ptr(libpng);
    /* What libpng finds wrong with the image data after the last row, a false Adler-32
     * above all, is only a warning there. Bytes after the end of the compressed stream
     * are harmless: the samples are whole and verified. */
    if (strncmp(message, "IDAT", 4) == 0 && !strstr(message, "Extra compressed data")) {
        if (p->status == GF_OK)
            p->status = gf_fail(p->error, GF_EINPUT, "%s: damaged PNG: %s", p->reader->name,
                                message);
    } else if (!p->warned) {
        gf_print_note("%s: %s", p->reader->name, message);
    }
}

static png_voidp on_alloc(png_structp libpng, png_alloc_size_t size)
{
    struct png *p = png_get_mem_ptr(libpng);
    void *block = NULL;
    enum gf_status status = gf_allocate(&block, size, 1, "decoding PNG", p->error);
    if (status != GF_OK && p->status == GF_OK)
        p->status = status;
    return block;
}

static void on_free(png_structp libpng, png_voidp block)
{
    (void)libpng;
    gf_free(block);
}

static void on_read(png_structp libpng, png_bytep to, size_t size)
{
    struct png *p = png_get_io_ptr(libpng);
    while (size > 0) {
        size_t part = (size_t)gf_min(size, BUFFER_BYTES);
        uint64_t buffer_end = p->buffer_at + p->buffer_size;
        const uint8_t *bytes = NULL;
        /* Use up what is in the buffer before it is filled again. */
        if (p->file_at >= p->buffer_at && p->file_at < buffer_end)
            part = (size_t)gf_min(part, buffer_end - p->file_at);
        else
            part = (size_t)gf_min(part, gf_max(1, gf_in_size(p->reader->in) - p->file_at));
        enum gf_status status = peek(p, p->file_at, part, &bytes, p->error);
        if (status != GF_OK) {
            p->status = status;
            png_longjmp(libpng, 1);
        }
        memcpy(to, bytes, part);
        to += part;
        size -= part;
        p->file_at += part;
    }
}

/* Runs `step`, which calls libpng. Nothing that the jump could spoil is in registers:
 * all state is behind `p`. */
static enum gf_status guarded(struct png *p, void (*step)(struct png *p), struct gf_error *e)
{
    p->status = GF_OK;
    p->error = e;
    if (setjmp(png_jmpbuf(p->libpng)) == 0)
        step(p);
    return p->status;
}

static void stop(struct png *p)
{
    if (p->libpng)
        png_destroy_read_struct(&p->libpng, &p->info, NULL);
    p->libpng = NULL;
    p->info = NULL;
    gf_free(p->whole);
    gf_free(p->indices);
    p->whole = p->indices = NULL;
    p->next_row = 0;
}

/* The palette is applied here: libpng takes an index beyond it for black. */
static void take_palette(struct png *p)
{
    png_colorp colors;
    png_bytep alpha = NULL;
    int count = 0, alphas = 0;
    png_get_PLTE(p->libpng, p->info, &colors, &count);
    if (png_get_tRNS(p->libpng, p->info, &alpha, &alphas, NULL) == 0)
        alphas = 0;
    p->colors = (unsigned)count;
    p->palette_channels = alphas > 0 ? 4 : 3;
    for (int i = 0; i < count; i++) {
        p->palette[i][0] = colors[i].red;
        p->palette[i][1] = colors[i].green;
        p->palette[i][2] = colors[i].blue;
        p->palette[i][3] = i < alphas ? alpha[i] : 255;
    }
}

/* One row of indices to samples; GF_EINPUT for an index the palette does not have. */
static enum gf_status apply_palette(const struct png *p, const uint8_t *indices, uint8_t *to,
                                    struct gf_error *e)
{
    for (uint32_t x = 0; x < p->width; x++, to += p->palette_channels) {
        if (indices[x] >= p->colors)
            return gf_fail(e, GF_EINPUT, "%s: damaged PNG: a sample names color %u of a palette "
                           "of %u", p->reader->name, indices[x], p->colors);
        memcpy(to, p->palette[indices[x]], p->palette_channels);
    }
    return GF_OK;
}

static size_t sample_row_bytes(const struct png *p)
{
    return p->colors ? (size_t)p->width * p->palette_channels : p->row_bytes;
}

static void read_head(struct png *p)
{
    png_structp png = p->libpng;
    png_set_read_fn(png, p, on_read);
    /* The CRC of every chunk counts, of those that are skipped too. */
    png_set_crc_action(png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
    png_set_user_limits(png, MAX_CHUNK, MAX_CHUNK);
    png_set_chunk_malloc_max(png, GF_PNG_META_BYTES);
    /* Metadata were read in the walk. tRNS is not among what this skips. */
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_read_info(png, p->info);
    p->colors = 0;
    if (p->color_type == PNG_COLOR_TYPE_PALETTE) {
        take_palette(p);
        png_set_packing(png);
    } else {
        png_set_expand(png);
    }
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (p->bit_depth == 16)
        png_set_swap(png);
#endif
    if (p->interlace)
        (void)png_set_interlace_handling(png);
    png_read_update_info(png, p->info);
    p->row_bytes = png_get_rowbytes(png, p->info);
}

static enum gf_status start(struct png *p, struct gf_error *e)
{
    stop(p);
    p->status = GF_OK;
    p->error = e;
    p->file_at = 0;
    p->libpng = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, p, on_error, on_warning, p,
                                         on_alloc, on_free);
    if (p->libpng)
        p->info = png_create_info_struct(p->libpng);
    if (!p->info)
        return gf_fail(e, GF_EMEMORY, "%s: out of memory; set a higher --max-memory",
                       p->reader->name);
    return guarded(p, read_head, e);
}

static void decode_whole(struct png *p)
{
    for (int pass = 0; pass < PNG_INTERLACE_ADAM7_PASSES; pass++)
        for (uint32_t y = 0; y < p->height; y++)
            png_read_row(p->libpng, p->whole + y * p->row_bytes, NULL);
}

static void decode_rows(struct png *p)
{
    uint8_t *row = p->rows;
    for (uint64_t i = 0; i < p->row_count && p->status == GF_OK; i++) {
        png_read_row(p->libpng, p->colors ? p->indices : row, NULL);
        p->next_row++;
        /* With the last row libpng may have found a false checksum: that stays. */
        if (row && p->colors && p->status == GF_OK)
            p->status = apply_palette(p, p->indices, row, p->error);
        if (row)
            row += sample_row_bytes(p);
    }
}

static void decode_end(struct png *p)
{
    png_read_end(p->libpng, NULL);
}

/* ---- the format ---- */

static bool probe(const uint8_t *head, size_t size)
{
    return size >= sizeof gf_png_signature &&
           memcmp(head, gf_png_signature, sizeof gf_png_signature) == 0;
}

static void close_png(struct gf_reader *r)
{
    struct png *p = r->state;
    if (!p)
        return;
    stop(p);
    gf_meta_free(&p->meta);
    gf_free(p->buffer);
    gf_free(p);
    r->state = NULL;
}

static enum gf_status open_png(struct gf_reader *r, struct gf_error *e)
{
    struct png *p;
    void *block = NULL;
    const uint8_t *head = NULL;

    GF_TRY(gf_allocate(&block, 1, sizeof *p, "reading PNG", e));
    memset(block, 0, sizeof *p);
    p = r->state = block;
    p->reader = r;
    p->meta_room = GF_PNG_META_BYTES;
    r->images = 1;
    block = NULL;
    GF_TRY(gf_allocate(&block, BUFFER_BYTES, 1, "reading PNG", e));
    p->buffer = block;
    GF_TRY(peek(p, 0, sizeof gf_png_signature, &head, e));
    if (!probe(head, sizeof gf_png_signature))
        return gf_fail(e, GF_EINPUT, "%s: not a PNG, or one that was damaged by a transfer in text "
                       "mode", r->name);
    GF_TRY(walk(p, e));
    return check_promise(p, e);
}

static void describe(const struct png *p, struct gf_image *image)
{
    image->width = p->width;
    image->height = p->height;
    image->depth = 1;
    image->channels = p->colors ? p->palette_channels : png_get_channels(p->libpng, p->info);
    image->type = p->bit_depth == 16 ? GF_U16 : GF_U8;
    image->color = image->channels < 3 ? GF_GRAY : GF_RGB;
    image->alpha = image->channels % 2 == 0 ? (int)image->channels - 1 : -1;
}

static enum gf_status select_png(struct gf_reader *r, uint64_t index, struct gf_image *image,
                                 struct gf_error *e)
{
    struct png *p = r->state;
    (void)index;
    /* The most the image may need, before libpng allocates rows. */
    *image = (struct gf_image){.width = p->width, .height = p->height, .depth = 1, .channels = 4,
                               .type = GF_U16};
    GF_TRY(gf_image_check(image, r->name, e));
    GF_TRY(gf_memory_check(2 * (uint64_t)p->width * 8, "rows of a PNG", e));
    GF_TRY(start(p, e));
    p->warned = true;
    describe(p, image);
    GF_TRY(gf_image_check(image, r->name, e));
    if (sample_row_bytes(p) != gf_row_bytes(image) || (p->colors && p->row_bytes != p->width))
        return gf_fail(e, GF_EINPUT, "%s: damaged PNG: rows of %llu bytes where %llu are needed",
                       r->name, (unsigned long long)sample_row_bytes(p),
                       (unsigned long long)gf_row_bytes(image));
    if (p->interlace)
        GF_TRY(gf_memory_check(gf_image_bytes(image), "an interlaced PNG", e));
    return gf_meta_copy(&image->meta, &p->meta, e);
}

static enum gf_status read_png(struct gf_reader *r, uint64_t first, uint64_t count, void *rows,
                               struct gf_error *e)
{
    struct png *p = r->state;
    if (p->interlace) {
        if (!p->whole) {
            void *block = NULL;
            GF_TRY(gf_allocate(&block, p->height, p->row_bytes, "an interlaced PNG", e));
            p->whole = block;
            GF_TRY(guarded(p, decode_whole, e));
        }
        for (uint64_t i = 0; i < count && p->colors; i++)
            GF_TRY(apply_palette(p, p->whole + (first + i) * p->row_bytes,
                                 (uint8_t *)rows + i * sample_row_bytes(p), e));
        if (!p->colors)
            memcpy(rows, p->whole + first * p->row_bytes, (size_t)(count * p->row_bytes));
        p->next_row = first + count;
        return GF_OK;
    }
    if (p->colors && !p->indices) {
        void *block = NULL;
        GF_TRY(gf_allocate(&block, p->width, 1, "a row of a PNG", e));
        p->indices = block;
    }
    p->rows = rows;
    p->row_count = count;
    return guarded(p, decode_rows, e);
}

static enum gf_status finish_png(struct gf_reader *r, struct gf_error *e)
{
    struct png *p = r->state;
    if (!p->libpng)
        return GF_OK;
    /* Rows nobody asked for are decoded too: the checksum is over all of them. */
    if (!p->interlace && p->next_row < p->height) {
        p->rows = NULL;
        p->row_count = p->height - p->next_row;
        GF_TRY(guarded(p, decode_rows, e));
    }
    if (p->interlace && !p->whole)
        return GF_OK;
    return guarded(p, decode_end, e);
}

const struct gf_format gf_format_png = {
    .name = "png",
    .extensions = "png apng",
    .summary = "PNG: 8 and 16 bits, gray to RGBA",
    .keeps = GF_KEEPS_ICC | GF_KEEPS_EXIF | GF_KEEPS_XMP | GF_KEEPS_TEXTS | GF_KEEPS_RESOLUTION |
             GF_KEEPS_DESCRIPTION | GF_KEEPS_GAMMA | GF_KEEPS_ORIENTATION,
    .probe = probe,
    .open = open_png,
    .select = select_png,
    .read_rows = read_png,
    .finish = finish_png,
    .close = close_png,
    .accepts = gf_png_accepts,
    .create = gf_png_create,
    .begin = gf_png_begin,
    .write_rows = gf_png_write_rows,
    .end = gf_png_end,
    .discard = gf_png_discard,
};
