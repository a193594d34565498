/* The PNG reader against files made here, where the right samples are known; the writer
 * against the reader; and both against damage and lack of memory. */
#include "io_test.h"

#include <zlib.h>

#define MOST (1u << 20)

/* ---- PNG files made by other code than the program's ---- */

struct bytes {
    uint8_t *data;
    size_t size;
};

static void add(struct bytes *b, const void *data, size_t size)
{
    assert_true(b->size + size <= MOST);
    if (size > 0)
        memcpy(b->data + b->size, data, size);
    b->size += size;
}

static void add_u32(struct bytes *b, uint32_t value)
{
    uint8_t four[4] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8),
                       (uint8_t)value};
    add(b, four, 4);
}

static void add_chunk(struct bytes *b, const char *type, const void *data, size_t size)
{
    size_t start;
    add_u32(b, (uint32_t)size);
    start = b->size;
    add(b, type, 4);
    add(b, data, size);
    add_u32(b, (uint32_t)crc32(0, b->data + start, (uInt)(b->size - start)));
}

/* A PNG to be made: `values` are width * height * stored channels. */
struct recipe {
    uint32_t width, height;
    unsigned depth, color, interlace;
    const uint16_t *values;
    const uint8_t *palette, *trns;
    size_t palette_size, trns_size;
};

static unsigned stored_channels(unsigned color)
{
    static const unsigned channels[7] = {1, 0, 3, 1, 2, 0, 4};
    return channels[color];
}

static uint8_t predict(unsigned filter, uint8_t a, uint8_t b, uint8_t c)
{
    int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
    uint8_t paeth = pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
    uint8_t all[5] = {0, a, b, (uint8_t)((a + b) / 2), paeth};
    return all[filter];
}

/* Packs and filters the pixels x0 + i*dx, y0 + j*dy; each row with another filter. */
static void add_pass(struct bytes *raw, const struct recipe *r, uint32_t x0, uint32_t y0,
                     uint32_t dx, uint32_t dy)
{
    const unsigned channels = stored_channels(r->color);
    uint8_t row[1024], before[1024] = {0};
    unsigned filter = 0;
    if (x0 >= r->width)
        return;
    for (uint32_t y = y0; y < r->height; y += dy, filter = (filter + 1) % 5) {
        size_t bits = 0, step = r->depth * channels / 8 ? r->depth * channels / 8 : 1, size;
        memset(row, 0, sizeof row);
        for (uint32_t x = x0; x < r->width; x += dx)
            for (unsigned c = 0; c < channels; c++, bits += r->depth) {
                unsigned v = r->values[((size_t)y * r->width + x) * channels + c];
                if (r->depth == 16) {
                    row[bits / 8] = (uint8_t)(v >> 8);
                    row[bits / 8 + 1] = (uint8_t)v;
                } else {
                    row[bits / 8] |= (uint8_t)(v << (8 - r->depth - bits % 8));
                }
            }
        size = (bits + 7) / 8;
        add(raw, &(uint8_t){(uint8_t)filter}, 1);
        for (size_t i = 0; i < size; i++) {
            uint8_t a = i < step ? 0 : row[i - step], c = i < step ? 0 : before[i - step];
            add(raw, &(uint8_t){(uint8_t)(row[i] - predict(filter, a, before[i], c))}, 1);
        }
        memcpy(before, row, sizeof row);
    }
}

static void add_samples(struct bytes *png, const struct recipe *r, size_t chunk)
{
    static const uint32_t passes[7][4] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                                          {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
    struct bytes raw = {malloc(MOST), 0};
    uLongf size = compressBound(MOST);
    uint8_t *packed = malloc(size);
    assert_true(raw.data && packed);
    if (r->interlace)
        for (int i = 0; i < 7; i++)
            add_pass(&raw, r, passes[i][0], passes[i][1], passes[i][2], passes[i][3]);
    else
        add_pass(&raw, r, 0, 0, 1, 1);
    assert_int_equal(compress2(packed, &size, raw.data, raw.size, 6), Z_OK);
    for (size_t at = 0; at < size; at += chunk)
        add_chunk(png, "IDAT", packed + at, gf_min(chunk, size - at));
    free(packed);
    free(raw.data);
}

static void begin_png(struct bytes *png, const struct recipe *r)
{
    uint8_t rest[5] = {(uint8_t)r->depth, (uint8_t)r->color, 0, 0, (uint8_t)r->interlace};
    struct bytes header = {(uint8_t[13]){0}, 0};
    png->data = malloc(MOST);
    assert_non_null(png->data);
    png->size = 0;
    add(png, "\x89PNG\r\n\x1a\n", 8);
    add_u32(&header, r->width);
    add_u32(&header, r->height);
    add(&header, rest, 5);
    add_chunk(png, "IHDR", header.data, 13);
}

static struct bytes make_png(const struct recipe *r, size_t chunk)
{
    struct bytes png;
    begin_png(&png, r);
    if (r->palette_size)
        add_chunk(&png, "PLTE", r->palette, r->palette_size);
    if (r->trns_size)
        add_chunk(&png, "tRNS", r->trns, r->trns_size);
    add_samples(&png, r, chunk);
    add_chunk(&png, "IEND", NULL, 0);
    return png;
}

/* ---- what a reader must make of it ---- */

/* Sample `c` of a pixel with the stored values `v`, after expansion. */
static unsigned expected(const struct recipe *r, const uint16_t *v, unsigned c)
{
    static const unsigned scale[17] = {[1] = 255, [2] = 85, [4] = 17, [8] = 1, [16] = 1};
    const unsigned channels = stored_channels(r->color), top = r->depth == 16 ? 65535 : 255;
    bool transparent = r->trns_size > 0;
    if (r->color == 3) {
        if (c < 3)
            return r->palette[3 * v[0] + c];
        return v[0] < r->trns_size ? r->trns[v[0]] : 255;
    }
    if (c < channels)
        return v[c] * scale[r->depth];
    for (unsigned i = 0; i < channels; i++)
        transparent = transparent && v[i] == r->trns[2 * i] * 256u + r->trns[2 * i + 1];
    return transparent ? 0 : top;
}

static void check_samples(const struct recipe *r, const struct loaded *l)
{
    const unsigned channels = (r->color == 3 ? 3 : stored_channels(r->color)) +
                              (r->trns_size > 0);
    const unsigned stored = stored_channels(r->color);
    assert_int_equal(l->image.width, r->width);
    assert_int_equal(l->image.height, r->height);
    assert_int_equal(l->image.channels, channels);
    assert_int_equal(l->image.type, r->depth == 16 ? GF_U16 : GF_U8);
    assert_int_equal(l->image.color, channels < 3 ? GF_GRAY : GF_RGB);
    assert_int_equal(l->image.alpha, channels % 2 ? -1 : (int)channels - 1);
    for (size_t i = 0; i < (size_t)r->width * r->height; i++)
        for (unsigned c = 0; c < channels; c++) {
            size_t at = i * channels + c;
            unsigned want = expected(r, r->values + i * stored, c), got = l->samples[at];
            if (r->depth == 16) {
                uint16_t wide;
                memcpy(&wide, l->samples + 2 * at, 2);
                got = wide;
            }
            if (got != want)
                fail_msg("color %u depth %u interlace %u, %ux%u: sample %zu is %u, not %u",
                         r->color, r->depth, r->interlace, r->width, r->height, at, got, want);
        }
}

static const struct {
    unsigned color, depth;
} kinds[] = {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {2, 8}, {2, 16}, {3, 1},
             {3, 2}, {3, 4}, {3, 8}, {4, 8}, {4, 16}, {6, 8}, {6, 16}};

/* Fills in a recipe of a kind with random values, palette and transparency. */
static struct recipe make_recipe(size_t kind, uint32_t width, uint32_t height, bool trns,
                                 uint16_t *values, uint8_t *palette, uint8_t *alpha)
{
    struct recipe r = {.width = width, .height = height, .depth = kinds[kind].depth,
                       .color = kinds[kind].color, .values = values};
    const unsigned channels = stored_channels(r.color);
    uint32_t seed = width * 977 + height * 31 + (uint32_t)kind + 1;
    for (size_t i = 0; i < (size_t)width * height * channels; i++)
        values[i] = (uint16_t)(next_random(&seed) >> 8 & ((1u << r.depth) - 1));
    for (size_t i = 0; i < 768; i++)
        palette[i] = (uint8_t)(next_random(&seed) >> 8);
    if (r.color == 3) {
        r.palette = palette;
        r.palette_size = (size_t)3 << r.depth;
    }
    if (trns && r.color == 3) {
        r.trns_size = r.depth == 1 ? 1 : ((size_t)1 << r.depth) - 1;
        for (size_t i = 0; i < r.trns_size; i++)
            alpha[i] = (uint8_t)(next_random(&seed) >> 8);
    } else if (trns && r.color < 3) {
        /* The first pixel is the transparent one, so that there is one. */
        r.trns_size = 2 * channels;
        for (unsigned c = 0; c < channels; c++) {
            alpha[2 * c] = (uint8_t)(values[c] >> 8);
            alpha[2 * c + 1] = (uint8_t)values[c];
        }
    }
    r.trns = r.trns_size ? alpha : NULL;
    return r;
}

static void every_kind_and_size(void **state)
{
    static const uint32_t heights[] = {1, 2, 5, 9};
    uint16_t values[17 * 17 * 4];
    uint8_t palette[768], alpha[256];
    (void)state;
    for (size_t kind = 0; kind < GF_COUNT(kinds); kind++)
        for (uint32_t width = 1; width <= 17; width++)
            for (size_t h = 0; h < GF_COUNT(heights); h++)
                for (unsigned variant = 0; variant < 4; variant++) {
                    struct recipe r = make_recipe(kind, width, heights[h], variant & 1, values,
                                                  palette, alpha);
                    struct bytes png;
                    struct loaded l;
                    r.interlace = variant >> 1;
                    png = make_png(&r, 7 + width);
                    if (load_bytes(png.data, png.size, &l) != GF_OK)
                        fail_msg("%s", l.error.text);
                    check_samples(&r, &l);
                    unload(&l);
                    free(png.data);
                }
}

/* Transparency is compared in the stored depth, in both bytes of 16 bits. */
static void transparency_depth(void **state)
{
    static const uint16_t wide[] = {0x0100, 0x0001}, narrow[] = {1, 2};
    static const uint8_t one[] = {0, 1};
    struct recipe r = {.width = 2, .height = 1, .depth = 16, .values = wide, .trns = one,
                       .trns_size = 2};
    static const uint16_t want16[] = {0x0100, 65535, 1, 0};
    static const uint8_t want2[] = {85, 0, 170, 255};
    struct bytes png = make_png(&r, 100);
    struct loaded l;
    (void)state;
    assert_int_equal(load_bytes(png.data, png.size, &l), GF_OK);
    assert_memory_equal(l.samples, want16, sizeof want16);
    unload(&l);
    free(png.data);
    r.depth = 2;
    r.values = narrow;
    png = make_png(&r, 100);
    assert_int_equal(load_bytes(png.data, png.size, &l), GF_OK);
    assert_memory_equal(l.samples, want2, sizeof want2);
    unload(&l);
    free(png.data);
}

/* ---- damage ---- */

/* Small files of different kinds, with metadata in some. */
static struct bytes make_seed(unsigned which)
{
    static const size_t of[] = {0, 3, 5, 9, 10, 14};
    uint16_t values[17 * 17 * 4];
    uint8_t palette[768], alpha[256];
    struct recipe r = make_recipe(of[which], 5 + which, 4, which % 2, values, palette, alpha);
    r.interlace = which >= 4;
    if (which == 2) {
        struct bytes png;
        begin_png(&png, &r);
        add_chunk(&png, "pHYs", "\0\0\x0b\x13\0\0\x0b\x13\1", 9);
        add_samples(&png, &r, 30);
        add_chunk(&png, "tEXt", "Title\0A seed", 12);
        add_chunk(&png, "IEND", NULL, 0);
        return png;
    }
    return make_png(&r, which == 3 ? 16 : 1000);
}

static void truncated_anywhere(void **state)
{
    (void)state;
    for (unsigned which = 0; which < 6; which++) {
        struct bytes png = make_seed(which);
        check_truncations(png.data, png.size);
        free(png.data);
    }
}

/* A file with any one bit flipped gives an error or the same samples. */
static void every_bit_flip(void **state)
{
    (void)state;
    for (unsigned which = 0; which < 6; which++) {
        struct bytes png = make_seed(which);
        struct loaded whole, l;
        assert_int_equal(load_bytes(png.data, png.size, &whole), GF_OK);
        for (size_t bit = 0; bit < 8 * png.size; bit++) {
            png.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
            if (load_bytes(png.data, png.size, &l) == GF_OK) {
                assert_int_equal(l.image.type, whole.image.type);
                assert_int_equal(l.image.channels, whole.image.channels);
                assert_int_equal(gf_image_bytes(&l.image), gf_image_bytes(&whole.image));
                assert_memory_equal(l.samples, whole.samples, gf_image_bytes(&whole.image));
            }
            unload(&l);
            png.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        unload(&whole);
        free(png.data);
    }
}

/* One file with the compressed bytes given, 4x2 of 8 bits: gray, or indices of a palette that
 * makes gray of them. */
static enum gf_status load_stream(bool palette, const uint8_t *stream, size_t size,
                                  struct loaded *l)
{
    uint8_t colors[768];
    struct recipe r = {.width = 4, .height = 2, .depth = 8, .color = palette ? 3 : 0};
    struct bytes png;
    enum gf_status status;
    for (size_t i = 0; i < sizeof colors; i++)
        colors[i] = (uint8_t)(i / 3);
    begin_png(&png, &r);
    if (palette)
        add_chunk(&png, "PLTE", colors, sizeof colors);
    add_chunk(&png, "IDAT", stream, size);
    add_chunk(&png, "IEND", NULL, 0);
    status = load_bytes(png.data, png.size, l);
    free(png.data);
    return status;
}

/* Right CRCs around compressed data that are too short, too long or fail their Adler-32. */
static void wrong_streams(void **state)
{
    static const uint8_t raw[15] = {0, 1, 2, 3, 4, 0, 5, 6, 7, 8, 0, 9, 9, 9, 9};
    (void)state;
    for (size_t n = 1; n <= 6; n++) {
        const bool palette = n > 3;
        const size_t rows = palette ? n - 3 : n, channels = palette ? 3 : 1;
        uint8_t stream[64];
        uLongf size = sizeof stream;
        struct loaded l;
        assert_int_equal(compress2(stream, &size, raw, 5 * rows, 0), Z_OK);
        assert_int_equal(load_stream(palette, stream, size, &l), rows == 2 ? GF_OK : GF_EINPUT);
        if (rows == 2)
            for (size_t i = 0; i < 8 * channels; i++)
                assert_int_equal(l.samples[i], 1 + i / channels);
        unload(&l);
        stream[size - 1] ^= 1;
        assert_int_equal(load_stream(palette, stream, size, &l), GF_EINPUT);
        unload(&l);
        /* Bytes after a whole stream are harmless. */
        stream[size - 1] ^= 1;
        memset(stream + size, 0, 4);
        assert_int_equal(load_stream(palette, stream, size + 4, &l),
                         rows == 2 ? GF_OK : GF_EINPUT);
        unload(&l);
    }
}

/* Headers that promise what the data cannot hold are refused without taking memory. */
static void false_promises(void **state)
{
    static const struct {
        uint32_t width, height;
        unsigned depth, color;
    } headers[] = {{60000, 60000, 8, 6}, {2147483647, 2147483647, 16, 6}, {65535, 65535, 16, 6},
                   {1, 2147483647, 1, 0}, {2147483647, 1, 8, 2}, {0, 5, 8, 0}, {5, 0, 8, 0}};
    (void)state;
    for (size_t i = 0; i < GF_COUNT(headers); i++) {
        struct recipe r = {.width = headers[i].width, .height = headers[i].height,
                           .depth = headers[i].depth, .color = headers[i].color};
        uint64_t before = gf_memory_peak();
        struct bytes png;
        struct loaded l;
        begin_png(&png, &r);
        add_chunk(&png, "IDAT", "\x78\x01\x03\0\0\0\0\1", 8);
        add_chunk(&png, "IEND", NULL, 0);
        assert_int_equal(load_bytes(png.data, png.size, &l), GF_EINPUT);
        unload(&l);
        free(png.data);
        assert_true(gf_memory_peak() <= gf_max(before, 1 << 20));
    }
}

/* Compressed texts that become more than 64 MiB together: the rest is left out. */
static void metadata_bomb(void **state)
{
    const uint64_t used = gf_memory_used();
    struct recipe r = {.width = 1, .height = 1, .depth = 8};
    const uLong long_text = 40 << 20;
    uLongf size = compressBound(long_text);
    uint8_t *text = calloc(long_text, 1), *data = malloc(size + 9), stream[16];
    uLongf stream_size = sizeof stream;
    struct bytes png;
    struct loaded l;
    (void)state;

    assert_true(text && data);
    memset(text, 'x', long_text);
    memcpy(data, "Comment\0", 9);
    assert_int_equal(compress2(data + 9, &size, text, long_text, 1), Z_OK);
    begin_png(&png, &r);
    for (int i = 0; i < 4; i++)
        add_chunk(&png, "zTXt", data, size + 9);
    assert_int_equal(compress2(stream, &stream_size, (const uint8_t *)"\0\7", 2, 1), Z_OK);
    add_chunk(&png, "IDAT", stream, stream_size);
    add_chunk(&png, "IEND", NULL, 0);
    assert_int_equal(load_bytes(png.data, png.size, &l), GF_OK);
    assert_int_equal(l.image.meta.text_count, 1);
    assert_int_equal(strlen(l.image.meta.texts[0].value), long_text);
    assert_int_equal(l.samples[0], 7);
    unload(&l);
    assert_int_equal(gf_memory_used(), used);
    free(png.data);
    free(data);
    free(text);
}

static void selected_twice(void **state)
{
    struct bytes png = make_seed(1);
    struct gf_error e = {{0}};
    struct gf_reader *r;
    struct gf_image image;
    uint8_t first[64], second[64];
    (void)state;
    put_file(scratch("in"), png.data, png.size);
    assert_int_equal(gf_reader_open(&r, scratch("in"), NULL, &e), GF_OK);
    for (int pass = 0; pass < 2; pass++) {
        assert_int_equal(gf_reader_select(r, 0, &image, &e), GF_OK);
        assert_true(gf_image_bytes(&image) <= sizeof first);
        assert_int_equal(gf_reader_rows(r, 0, pass ? image.height : 2, pass ? second : first, &e),
                         GF_OK);
        gf_meta_free(&image.meta);
    }
    assert_memory_equal(first, second, 2 * gf_row_bytes(&image));
    assert_int_equal(gf_reader_finish(r, &e), GF_OK);
    gf_reader_close(&r);
    free(png.data);
}

/* ---- writing ---- */

static const int levels[] = {-1, 0, 1, 3, 6, 9};

static void written_and_read(void **state)
{
    static uint8_t samples[17 * 9 * 8];
    struct gf_error e = {{0}};
    uint32_t seed = 5;
    (void)state;
    for (int type = 0; type < 2; type++)
        for (uint32_t channels = 1; channels <= 4; channels++)
            for (uint64_t width = 1; width <= 17; width++) {
                struct gf_image image = make_image(width, 1 + width % 9, channels,
                                                   type ? GF_U16 : GF_U8);
                struct loaded l;
                for (size_t i = 0; i < sizeof samples; i++)
                    samples[i] = (uint8_t)(next_random(&seed) >> 8);
                for (size_t i = 0; i < GF_COUNT(levels); i++) {
                    assert_int_equal(save(scratch("out.png"), &image, samples, levels[i], 1, &e),
                                     GF_OK);
                    assert_int_equal(load(scratch("out.png"), 0, &l), GF_OK);
                    assert_int_equal(l.image.width, image.width);
                    assert_int_equal(l.image.height, image.height);
                    assert_int_equal(l.image.channels, channels);
                    assert_int_equal(l.image.type, image.type);
                    assert_int_equal(l.image.alpha, image.alpha);
                    assert_memory_equal(l.samples, samples, gf_image_bytes(&image));
                    unload(&l);
                }
            }
}

/* Several blocks of compression: the same bytes for any number of threads. */
static void threads_do_not_show(void **state)
{
    const struct gf_image image = make_image(401, 700, 3, GF_U8);
    const size_t bytes = (size_t)gf_image_bytes(&image);
    uint8_t *samples = malloc(bytes);
    struct gf_error e = {{0}};
    uint32_t seed = 3;
    (void)state;
    assert_non_null(samples);
    for (size_t i = 0; i < bytes; i++)
        samples[i] = (uint8_t)(i / 40 + (next_random(&seed) >> 8) % 5 * (i / 200000 % 2));
    for (size_t i = 0; i < GF_COUNT(levels); i++) {
        uint8_t *one, *other;
        size_t one_size, other_size;
        struct loaded l;
        assert_int_equal(save(scratch("out.png"), &image, samples, levels[i], 1, &e), GF_OK);
        one = get_file(scratch("out.png"), &one_size);
        for (unsigned threads = 2; threads <= 5; threads++) {
            assert_int_equal(save(scratch("out2.png"), &image, samples, levels[i], threads, &e),
                             GF_OK);
            other = get_file(scratch("out2.png"), &other_size);
            assert_int_equal(other_size, one_size);
            assert_memory_equal(other, one, one_size);
            free(other);
        }
        free(one);
        assert_int_equal(load(scratch("out2.png"), 0, &l), GF_OK);
        assert_memory_equal(l.samples, samples, bytes);
        unload(&l);
    }
    free(samples);
}

static void fill_meta(struct gf_meta *meta)
{
    static const uint32_t chroma[8] = {31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000};
    uint8_t icc[200] = {0};
    memcpy(icc + 16, "RGB ", 4);
    memset(meta, 0, sizeof *meta);
    meta->resolution[0] = 2835;
    meta->resolution[1] = 5670;
    meta->resolution_unit = 1;
    meta->has_gamma = meta->has_chroma = meta->has_srgb = true;
    meta->gamma = 45455;
    meta->srgb_intent = 2;
    memcpy(meta->chroma, chroma, sizeof chroma);
    assert_int_equal(gf_blob_set(&meta->icc, icc, sizeof icc, NULL), GF_OK);
    assert_int_equal(gf_blob_set(&meta->exif, "II*\0\x08\0\0\0\0\0\0\0\0\0", 14, NULL), GF_OK);
    assert_int_equal(gf_blob_set(&meta->xmp, "<x:xmpmeta/>", 12, NULL), GF_OK);
    assert_int_equal(gf_meta_add_text(meta, "Title", "caf\xc3\xa9", NULL), GF_OK);
    assert_int_equal(gf_meta_add_text(meta, "Comment", "\xe2\x88\x91 sum", NULL), GF_OK);
}

static void check_meta(const struct gf_meta *got, const struct gf_meta *want)
{
    assert_true(got->resolution[0] == want->resolution[0]);
    assert_true(got->resolution[1] == want->resolution[1]);
    assert_int_equal(got->resolution_unit, want->resolution_unit);
    assert_true(got->has_gamma && got->has_chroma);
    assert_int_equal(got->gamma, want->gamma);
    assert_memory_equal(got->chroma, want->chroma, sizeof want->chroma);
    assert_int_equal(got->icc.size, want->icc.size);
    assert_memory_equal(got->icc.data, want->icc.data, want->icc.size);
    assert_int_equal(got->exif.size, want->exif.size);
    assert_memory_equal(got->exif.data, want->exif.data, want->exif.size);
    assert_int_equal(got->xmp.size, want->xmp.size);
    assert_memory_equal(got->xmp.data, want->xmp.data, want->xmp.size);
    assert_int_equal(got->text_count, want->text_count);
    for (size_t i = 0; i < want->text_count; i++) {
        assert_string_equal(got->texts[i].key, want->texts[i].key);
        assert_string_equal(got->texts[i].value, want->texts[i].value);
    }
}

static void metadata_survive(void **state)
{
    static const uint8_t samples[2 * 2 * 3];
    struct gf_image image = make_image(2, 2, 3, GF_U8);
    struct gf_error e = {{0}};
    struct loaded l;
    (void)state;
    fill_meta(&image.meta);
    assert_int_equal(save(scratch("out.png"), &image, samples, -1, 1, &e), GF_OK);
    assert_int_equal(load(scratch("out.png"), 0, &l), GF_OK);
    check_meta(&l.image.meta, &image.meta);
    assert_false(l.image.meta.has_srgb); /* the profile says it */
    unload(&l);
    /* Without a profile it is sRGB; inches become metres. */
    gf_meta_free(&image.meta);
    image.meta.has_srgb = true;
    image.meta.srgb_intent = 2;
    image.meta.resolution[0] = image.meta.resolution[1] = 300;
    image.meta.resolution_unit = 2;
    assert_int_equal(save(scratch("out.png"), &image, samples, -1, 1, &e), GF_OK);
    assert_int_equal(load(scratch("out.png"), 0, &l), GF_OK);
    assert_true(l.image.meta.has_srgb && l.image.meta.srgb_intent == 2);
    assert_true(l.image.meta.resolution[0] == 11811 && l.image.meta.resolution_unit == 1);
    unload(&l);
}

/* Text as the three chunks have it, before and after the samples; Latin-1 becomes UTF-8. */
static void texts_of_every_form(void **state)
{
    struct recipe r = {.width = 1, .height = 1, .depth = 8, .values = (uint16_t[]){7}};
    uint8_t packed[64] = "Note";
    uLongf size = sizeof packed - 6;
    struct bytes png;
    struct loaded l;
    (void)state;
    assert_int_equal(compress2(packed + 6, &size, (const uint8_t *)"na\xefve", 5, 9), Z_OK);
    begin_png(&png, &r);
    add_chunk(&png, "tEXt", "Author\0\xa9 R\xe9my", 13);
    add_chunk(&png, "iTXt", "Title\0\0\0de\0Titel\0\xc3\xa9", 17);
    /* iTXt that is no UTF-8 is taken as Latin-1. */
    add_chunk(&png, "iTXt", "Source\0\0\0\0\0\xe9\xed\xa0\x80", 15);
    add_samples(&png, &r, 100);
    add_chunk(&png, "zTXt", packed, size + 6);
    add_chunk(&png, "IEND", NULL, 0);
    assert_int_equal(load_bytes(png.data, png.size, &l), GF_OK);
    assert_int_equal(l.image.meta.text_count, 4);
    assert_string_equal(l.image.meta.texts[0].value, "\xc2\xa9 R\xc3\xa9my");
    assert_string_equal(l.image.meta.texts[1].key, "Title");
    assert_string_equal(l.image.meta.texts[2].value, "\xc3\xa9\xc3\xad\xc2\xa0\xc2\x80");
    assert_string_equal(l.image.meta.texts[3].value, "na\xc3\xafve");
    unload(&l);
    free(png.data);
}

static void refusals(void **state)
{
    struct gf_image image = make_image(4, 4, 1, GF_F32);
    struct gf_error e;
    (void)state;
    assert_int_equal(gf_format_png.accepts(&image, 1, "out.png", &e), GF_EFEATURE);
    assert_non_null(strstr(e.text, "-t u16"));
    image = make_image(4, 4, 2, GF_U8);
    assert_int_equal(gf_format_png.accepts(&image, 1, "out.png", &e), GF_OK);
    assert_int_equal(gf_format_png.accepts(&image, 2, "out.png", &e), GF_EFEATURE);
    image.alpha_associated = true;
    assert_int_equal(gf_format_png.accepts(&image, 1, "out.png", &e), GF_EFEATURE);
    image = make_image(4, 4, 2, GF_U8);
    image.color = GF_OTHER;
    image.alpha = -1;
    assert_int_equal(gf_format_png.accepts(&image, 1, "out.png", &e), GF_EFEATURE);
    image = make_image(4, 4, 4, GF_U8);
    image.color = GF_CMYK;
    image.alpha = -1;
    assert_int_equal(gf_format_png.accepts(&image, 1, "out.png", &e), GF_EFEATURE);
    image = make_image(4, 4, 3, GF_U8);
    image.depth = 2;
    assert_int_equal(gf_format_png.accepts(&image, 1, "out.png", &e), GF_EFEATURE);
    image = make_image((uint64_t)1 << 31, 4, 1, GF_U8);
    assert_int_equal(gf_format_png.accepts(&image, 1, "out.png", &e), GF_EFEATURE);
}

/* ---- lack of memory ---- */

static void memory_fails_in_turn(void **state)
{
    const struct gf_image small = make_image(300, 600, 3, GF_U8);
    struct gf_image image = make_image(5, 5, 3, GF_U8);
    uint8_t *samples = calloc(1, (size_t)gf_image_bytes(&small));
    struct bytes png;
    struct gf_error e = {{0}};
    size_t size;
    uint8_t *written;
    (void)state;
    assert_non_null(samples);
    for (unsigned which = 0; which < 6; which++) {
        png = make_seed(which);
        check_read_memory(png.data, png.size);
        free(png.data);
    }
    fill_meta(&image.meta);
    check_write_memory(scratch("out.png"), &image, samples, 1);
    check_write_memory(scratch("out.png"), &small, samples, 3);
    assert_int_equal(save(scratch("out.png"), &image, samples, -1, 1, &e), GF_OK);
    written = get_file(scratch("out.png"), &size);
    check_read_memory(written, size);
    free(written);
    free(samples);
    gf_meta_free(&image.meta);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_and_size), cmocka_unit_test(transparency_depth),
        cmocka_unit_test(truncated_anywhere),  cmocka_unit_test(every_bit_flip),
        cmocka_unit_test(wrong_streams),       cmocka_unit_test(false_promises),
        cmocka_unit_test(metadata_bomb),
        cmocka_unit_test(selected_twice),      cmocka_unit_test(written_and_read),
        cmocka_unit_test(threads_do_not_show), cmocka_unit_test(metadata_survive),
        cmocka_unit_test(texts_of_every_form), cmocka_unit_test(refusals),
        cmocka_unit_test(memory_fails_in_turn),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
