/* JPEG, BMP, TGA, PSD and Radiance HDR, all read through stb_image: one table row each for
 * what differs. The file is taken whole into memory, checked, described from its header,
 * and decoded when the first row is asked for. */
#include "../alloc.h"
#include "../util.h"
#include "exif.h"
#include "format.h"
#include "jpeg.h"
#include "stb_decode.h"

#include <string.h>

struct picture;

struct kind {
    enum gf_stb_kind stb;
    const char *name;
    unsigned ratio;   /* no file of this kind decodes to more bytes than this times its own */
    unsigned work;    /* bytes the decoder takes for a byte of samples */
    /* Checks what stb_image does not, and fills p->stb, p->meta, p->orientation. */
    enum gf_status (*inspect)(struct picture *p, struct gf_error *e);
};

struct picture {
    const struct gf_reader *reader;
    const struct kind *kind;
    struct gf_stb stb;
    uint8_t *file;
    void *samples;
    int orientation;        /* how the samples are stored; 1 is upright */
    struct gf_image shape;  /* upright, without meta */
    struct gf_meta meta;
};

static uint32_t le16(const uint8_t *p) { return (uint32_t)p[1] << 8 | p[0]; }
static uint32_t be16(const uint8_t *p) { return (uint32_t)p[0] << 8 | p[1]; }
static uint32_t le32(const uint8_t *p) { return le16(p + 2) << 16 | le16(p); }
static uint32_t be32(const uint8_t *p) { return be16(p) << 16 | be16(p + 2); }

/* ---- signs of each kind ---- */

static bool probe_jpeg(const uint8_t *head, size_t size)
{
    return size >= 3 && head[0] == 0xff && head[1] == 0xd8 && head[2] == 0xff;
}

static bool probe_psd(const uint8_t *head, size_t size)
{
    return size >= 6 && memcmp(head, "8BPS\0\1", 6) == 0;
}

static bool probe_hdr(const uint8_t *head, size_t size)
{
    return (size >= 11 && memcmp(head, "#?RADIANCE\n", 11) == 0) ||
           (size >= 7 && memcmp(head, "#?RGBE\n", 7) == 0);
}

static bool probe_bmp(const uint8_t *head, size_t size)
{
    static const uint8_t header_sizes[] = {12, 16, 40, 52, 56, 64, 108, 124};
    if (size < 18 || memcmp(head, "BM", 2) != 0 || head[15] || head[16] || head[17])
        return false;
    return memchr(header_sizes, head[14], sizeof header_sizes) != NULL;
}

/* TGA has no sign at its start: every field of the header must make sense. */
static bool probe_tga(const uint8_t *head, size_t size)
{
    const unsigned type = size >= 18 ? head[2] : 0;
    const bool indexed = type == 1 || type == 9, gray = type == 3 || type == 11;
    const bool color = type == 2 || type == 10;
    unsigned bits;
    if (!(indexed || gray || color) || head[1] != indexed || (head[17] & 0xc0) != 0)
        return false;
    if (le16(head + 12) == 0 || le16(head + 14) == 0)
        return false;
    if (!indexed && (le16(head + 3) != 0 || le16(head + 5) != 0))
        return false;
    if (indexed && (le16(head + 5) == 0 || (head[7] != 15 && head[7] != 16 && head[7] != 24 &&
                                            head[7] != 32)))
        return false;
    bits = head[16];
    return bits == 8 ? !color : bits == 16 || (color && (bits == 15 || bits == 24 || bits == 32));
}

/* ---- checks of each kind ---- */

static enum gf_status bad_header(const struct picture *p, struct gf_error *e)
{
    if (p->stb.no_memory)
        return gf_fail(e, GF_EMEMORY, "%s: out of memory; set a higher --max-memory",
                       p->reader->name);
    return gf_fail(e, GF_EINPUT, "%s: damaged or truncated %s header", p->reader->name,
                   p->kind->name);
}

static enum gf_status unsupported(const struct picture *p, const char *what, struct gf_error *e)
{
    return gf_fail(e, GF_EFEATURE, "%s: %s with %s cannot be read; convert it to PNG first",
                   p->reader->name, p->kind->name, what);
}

static enum gf_status inspect_jpeg(struct picture *p, struct gf_error *e)
{
    struct gf_jpeg jpeg;
    GF_TRY(gf_jpeg_scan(&jpeg, &p->meta, p->file, p->stb.size, p->reader->name, e));
    p->stb.width = (int)jpeg.width;
    p->stb.height = (int)jpeg.height;
    p->stb.channels = (int)jpeg.components;
    p->orientation = jpeg.orientation;
    if (gf_orientation_swaps(p->orientation)) {
        double x = p->meta.resolution[0];
        p->meta.resolution[0] = p->meta.resolution[1];
        p->meta.resolution[1] = x;
    }
    /* The samples are turned, so nobody may turn them again. */
    gf_exif_set_upright(p->meta.exif.data, p->meta.exif.size);
    return GF_OK;
}

static enum gf_status inspect_bmp(struct picture *p, struct gf_error *e)
{
    const uint8_t *f = p->file;
    const bool old = p->stb.size > 14 && f[14] == 12;
    uint32_t bits, compression;
    if (p->stb.size < (old ? 26u : 54u))
        return bad_header(p, e);
    bits = le16(f + (old ? 24 : 28));
    compression = old ? 0 : le32(f + 30);
    if (compression != 0 && compression != 3)
        return unsupported(p, "compressed samples", e);
    if (f[14] != 12 && f[14] != 40 && f[14] != 56 && f[14] != 108 && f[14] != 124)
        return unsupported(p, "a header of an unusual size", e);
    if (bits != 1 && bits != 4 && bits != 8 && bits != 16 && bits != 24 && bits != 32)
        return bad_header(p, e);
    if (!gf_stb_info(&p->stb))
        return bad_header(p, e);
    if (!old && le32(f + 38) - 1u < INT32_MAX && le32(f + 42) - 1u < INT32_MAX) {
        p->meta.resolution[0] = le32(f + 38);
        p->meta.resolution[1] = le32(f + 42);
        p->meta.resolution_unit = 1;
    }
    return GF_OK;
}

static enum gf_status inspect_tga(struct picture *p, struct gf_error *e)
{
    const uint8_t *f = p->file;
    if (!probe_tga(f, p->stb.size) || !gf_stb_info(&p->stb))
        return bad_header(p, e);
    if (f[17] & 0x10)
        return unsupported(p, "rows from right to left", e);
    if (f[1] == 1 && le16(f + 3) != 0)
        return unsupported(p, "a palette that does not start at 0", e);
    return GF_OK;
}

static enum gf_status inspect_psd(struct picture *p, struct gf_error *e)
{
    const uint8_t *f = p->file;
    const size_t size = p->stb.size;
    uint64_t at = 26;
    uint32_t channels, bits;

    if (size < 26 || !probe_psd(f, size))
        return bad_header(p, e);
    channels = be16(f + 12);
    bits = be16(f + 22);
    if (be16(f + 24) != 3 || (bits != 8 && bits != 16) || channels > 16)
        return unsupported(p, "colours that are not RGB of 8 or 16 bits", e);
    /* Three sections with their lengths, then the kind of compression. */
    for (int i = 0; i < 3; i++) {
        if (at + 4 > size)
            return bad_header(p, e);
        at += 4 + (uint64_t)be32(f + at);
    }
    if (channels < 3 || at + 2 > size)
        return bad_header(p, e);
    if (be16(f + at) > 1)
        return unsupported(p, "ZIP compression", e);
    if (bits == 16 && be16(f + at) == 1)
        return unsupported(p, "16 bits in run lengths", e);
    if (be32(f + 14) == 0 || be32(f + 14) > INT32_MAX || be32(f + 18) == 0 ||
        be32(f + 18) > INT32_MAX)
        return bad_header(p, e);
    p->stb.kind = bits == 16 ? GF_STB_PSD16 : GF_STB_PSD;
    p->stb.height = (int)be32(f + 14);
    p->stb.width = (int)be32(f + 18);
    p->stb.channels = channels >= 4 ? 4 : 3;
    return GF_OK;
}

static enum gf_status inspect_hdr(struct picture *p, struct gf_error *e)
{
    if (!gf_stb_info(&p->stb))
        return p->stb.past_end || p->stb.no_memory
                   ? bad_header(p, e)
                   : unsupported(p, "a header other than 32-bit_rle_rgbe and -Y N +X M", e);
    return GF_OK;
}

static const struct kind jpeg = {GF_STB_JPEG, "JPEG", 1536, 4, inspect_jpeg};
static const struct kind bmp = {GF_STB_BMP, "BMP", 32, 1, inspect_bmp};
static const struct kind tga = {GF_STB_TGA, "TGA", 512, 1, inspect_tga};
static const struct kind psd = {GF_STB_PSD, "PSD", 256, 2, inspect_psd};
static const struct kind hdr = {GF_STB_HDR, "HDR", 256, 1, inspect_hdr};

/* ---- the reader ---- */

static void close_picture(struct gf_reader *r)
{
    struct picture *p = r->state;
    if (!p)
        return;
    gf_meta_free(&p->meta);
    gf_free(p->file);
    gf_free(p->samples);
    gf_free(p);
    r->state = NULL;
}

static void describe(struct picture *p)
{
    const bool swap = gf_orientation_swaps(p->orientation);
    struct gf_image *image = &p->shape;
    image->width = (uint64_t)(swap ? p->stb.height : p->stb.width);
    image->height = (uint64_t)(swap ? p->stb.width : p->stb.height);
    image->depth = 1;
    image->channels = (uint32_t)p->stb.channels;
    image->type = p->stb.kind == GF_STB_HDR     ? GF_F32
                  : p->stb.kind == GF_STB_PSD16 ? GF_U16
                                                : GF_U8;
    image->color = image->channels < 3 ? GF_GRAY : GF_RGB;
    image->alpha = image->channels % 2 == 0 ? (int)image->channels - 1 : -1;
}

/* Refuses what the file cannot fill and what the memory cannot hold. */
static enum gf_status check_promise(const struct picture *p, struct gf_error *e)
{
    const char *name = p->reader->name;
    uint64_t bytes, possible = (uint64_t)p->stb.size * p->kind->ratio;
    GF_TRY(gf_image_check(&p->shape, name, e));
    bytes = gf_image_bytes(&p->shape);
    if (bytes > possible)
        return gf_fail(e, GF_EINPUT, "%s: the header promises %dx%d pixels, %llu bytes, but a %s "
                       "of %llu bytes can hold %llu at most", name, p->stb.width, p->stb.height,
                       (unsigned long long)bytes, p->kind->name,
                       (unsigned long long)p->stb.size, (unsigned long long)possible);
    if (bytes > INT32_MAX)
        return gf_fail(e, GF_EFEATURE, "%s: a %s of %dx%d pixels is too large to be read, 2 GiB of "
                       "samples is the limit; convert it to TIFF", name, p->kind->name,
                       p->stb.width, p->stb.height);
    return gf_memory_check(bytes * p->kind->work, "decoding", e);
}

static enum gf_status open_picture(struct gf_reader *r, const struct kind *kind,
                                   struct gf_error *e)
{
    struct picture *p;
    uint64_t size = gf_in_size(r->in);
    void *block = NULL;

    if (size > INT32_MAX)
        return gf_fail(e, GF_EFEATURE, "%s: a %s of more than 2 GiB cannot be read", r->name,
                       kind->name);
    GF_TRY(gf_allocate(&block, 1, sizeof *p, "reading a picture", e));
    p = r->state = memset(block, 0, sizeof *p);
    p->reader = r;
    p->kind = kind;
    p->orientation = 1;
    r->images = 1;
    r->random_access = true;
    block = NULL;
    GF_TRY(gf_allocate(&block, size, 1, "a compressed picture", e));
    p->file = block;
    GF_TRY(gf_in_read(r->in, p->file, (size_t)size, 0, e));
    p->stb = (struct gf_stb){.kind = kind->stb, .data = p->file, .size = (size_t)size};
    GF_TRY(kind->inspect(p, e));
    describe(p);
    return check_promise(p, e);
}

static enum gf_status select_picture(struct gf_reader *r, uint64_t index, struct gf_image *image,
                                     struct gf_error *e)
{
    const struct picture *p = r->state;
    (void)index;
    *image = p->shape;
    return gf_meta_copy(&image->meta, &p->meta, e);
}

static enum gf_status decode(struct picture *p, struct gf_error *e)
{
    const char *name = p->reader->name;
    const int width = p->stb.width, height = p->stb.height;

    p->samples = gf_stb_load(&p->stb);
    if (p->stb.no_memory)
        return gf_fail(e, GF_EMEMORY, "%s: out of memory for decoding; set a higher --max-memory",
                       name);
    if (p->stb.past_end)
        return gf_fail(e, GF_EINPUT, "%s: truncated after %llu bytes: the %s data go on beyond "
                       "the end of the file", name, (unsigned long long)p->stb.size,
                       p->kind->name);
    if (!p->samples || p->stb.width != width || p->stb.height != height)
        return gf_fail(e, GF_EINPUT, "%s: damaged %s: %s", name, p->kind->name, p->stb.reason);
    gf_free(p->file);
    p->file = NULL;
    return GF_OK;
}

static enum gf_status read_picture(struct gf_reader *r, uint64_t first, uint64_t count, void *rows,
                                   struct gf_error *e)
{
    struct picture *p = r->state;
    const size_t row_bytes = gf_row_bytes(&p->shape);
    if (!p->samples || p->file) /* samples of a failed decoding count for nothing */
        GF_TRY(decode(p, e));
    if (p->orientation == 1)
        memcpy(rows, (const uint8_t *)p->samples + first * row_bytes, (size_t)(count * row_bytes));
    else
        gf_turn_upright(rows, p->samples, (uint64_t)p->stb.width, (uint64_t)p->stb.height,
                        p->shape.channels * gf_type_bytes(p->shape.type), p->orientation, first,
                        count);
    return GF_OK;
}

#define OPEN(kind)                                                              \
    static enum gf_status open_##kind(struct gf_reader *r, struct gf_error *e)  \
    {                                                                           \
        return open_picture(r, &kind, e);                                       \
    }
OPEN(jpeg)
OPEN(bmp)
OPEN(tga)
OPEN(psd)
OPEN(hdr)

#define FORMAT(kind, words, text)                                                  \
    const struct gf_format gf_format_##kind = {                                    \
        .name = #kind, .extensions = words, .summary = text, .probe = probe_##kind, \
        .open = open_##kind, .select = select_picture, .read_rows = read_picture,  \
        .close = close_picture,                                                    \
    };
FORMAT(jpeg, "jpg jpeg jpe jfif", "JPEG: 8 bits, gray and RGB, turned upright by its EXIF")
FORMAT(bmp, "bmp dib", "BMP: uncompressed")
FORMAT(tga, "tga tpic", "TGA")
FORMAT(psd, "psd", "PSD: the merged picture, RGB of 8 and 16 bits")
FORMAT(hdr, "hdr pic rgbe", "Radiance HDR, as float32")
