/* JPEG, BMP, TGA, PSD and HDR: files made here, with known samples, whole and damaged. */
#include "io_test.h"

#include "io/exif.h"

#include <math.h>

struct bytes {
    uint8_t data[8192];
    size_t size;
};

static void add(struct bytes *b, const void *data, size_t size)
{
    assert_true(b->size + size <= sizeof b->data);
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

static void add8(struct bytes *b, unsigned value) { add(b, &(uint8_t){(uint8_t)value}, 1); }

static void add_le(struct bytes *b, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        add8(b, (unsigned)(value >> 8 * i & 255));
}

static void add_be(struct bytes *b, uint64_t value, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--)
        add8(b, (unsigned)(value >> 8 * i & 255));
}

static void check_file(const struct bytes *b, uint64_t width, uint64_t height, uint32_t channels,
                       enum gf_type type, const void *want)
{
    struct loaded l;
    if (load_bytes(b->data, b->size, &l) != GF_OK)
        fail_msg("%s", l.error.text);
    assert_int_equal(l.image.width, width);
    assert_int_equal(l.image.height, height);
    assert_int_equal(l.image.channels, channels);
    assert_int_equal(l.image.type, type);
    assert_memory_equal(l.samples, want, gf_image_bytes(&l.image));
    unload(&l);
    check_truncations(b->data, b->size);
    check_read_memory(b->data, b->size);
}

static void check_status(const struct bytes *b, enum gf_status want)
{
    struct loaded l;
    enum gf_status status = load_bytes(b->data, b->size, &l);
    unload(&l);
    assert_int_equal(status, want);
}

/* No flipped bit may crash it; these formats have no checksums to find it by. */
static void check_flips(const struct bytes *b)
{
    struct bytes copy = *b;
    for (size_t bit = 0; bit < 8 * copy.size; bit++) {
        struct loaded l;
        copy.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        (void)load_bytes(copy.data, copy.size, &l);
        unload(&l);
        copy.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

/* ---- JPEG: flat blocks, coded by DC coefficients alone ---- */

struct coder {
    struct bytes *b;
    uint32_t bits;
    int count;
};

static void put_bits(struct coder *c, unsigned value, int count)
{
    c->bits = c->bits << count | value;
    c->count += count;
    while (c->count >= 8) {
        unsigned byte = c->bits >> (c->count - 8) & 255;
        add8(c->b, byte);
        if (byte == 255)
            add8(c->b, 0);
        c->count -= 8;
    }
}

static void flush_bits(struct coder *c)
{
    if (c->count > 0)
        put_bits(c, (1u << (8 - c->count)) - 1, 8 - c->count);
}

static void put_block(struct coder *c, int *before, int value)
{
    int difference = value - *before, size = 0;
    while (abs(difference) >> size)
        size++;
    put_bits(c, (unsigned)size, 4); /* code `size` of 4 bits */
    if (size > 0)
        put_bits(c, (unsigned)(difference < 0 ? difference + (1 << size) - 1 : difference), size);
    put_bits(c, 0, 1); /* end of block */
    *before = value;
}

struct jpeg_recipe {
    unsigned width, height, components, restart;
    int orientation;      /* 0: no EXIF */
    bool big_endian;
    bool skip_restarts;   /* damage: say restarts and have none */
    const uint8_t *values; /* components of each block */
    const char *comment;  /* NULL: none */
};

static void add_exif(struct bytes *b, const struct jpeg_recipe *r)
{
    void (*put)(struct bytes *, uint64_t, int) = r->big_endian ? add_be : add_le;
    add_be(b, 0xffe1, 2);
    add_be(b, 2 + 6 + 8 + 2 + 12 + 4, 2);
    add(b, "Exif\0", 6);
    add(b, r->big_endian ? "MM" : "II", 2);
    put(b, 42, 2);
    put(b, 8, 4);
    put(b, 1, 2);
    put(b, 0x112, 2);
    put(b, 3, 2);
    put(b, 1, 4);
    put(b, (uint32_t)r->orientation, 2);
    put(b, 0, 2);
    put(b, 0, 4);
}

static struct bytes make_jpeg(const struct jpeg_recipe *r)
{
    static const uint8_t ids[] = {'R', 'G', 'B', 'K'};
    struct bytes b = {.size = 0};
    struct coder c = {.b = &b};
    int before[4] = {0};
    unsigned blocks = (r->width + 7) / 8 * ((r->height + 7) / 8);
    add_be(&b, 0xffd8, 2);
    add(&b, "\xff\xe0\0\x10JFIF\0\1\2\1\0\x48\0\x90\0\0", 18); /* 72x144 dpi */
    if (r->orientation)
        add_exif(&b, r);
    if (r->comment) {
        add(&b, "\xff\xfe", 2);
        add_be(&b, 2 + strlen(r->comment), 2);
        add(&b, r->comment, strlen(r->comment));
    }
    add(&b, "\xff\xdb\0\x43\0", 5);
    for (int i = 0; i < 64; i++)
        add8(&b, 8); /* so that a DC coefficient is the value itself */
    add(&b, "\xff\xc0", 2);
    add_be(&b, 8 + 3 * r->components, 2);
    add8(&b, 8);
    add_be(&b, r->height, 2);
    add_be(&b, r->width, 2);
    add8(&b, r->components);
    for (unsigned i = 0; i < r->components; i++) {
        add8(&b, ids[i]);
        add8(&b, 0x11);
        add8(&b, 0);
    }
    add(&b, "\xff\xc4\0\x1f\0\0\0\0\xc\0\0\0\0\0\0\0\0\0\0\0\0\0\1\2\3\4\5\6\7\x8\x9\xa\xb", 33);
    add(&b, "\xff\xc4\0\x14\x10\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22);
    if (r->restart) {
        add(&b, "\xff\xdd\0\4", 4);
        add_be(&b, r->restart, 2);
    }
    add(&b, "\xff\xda", 2);
    add_be(&b, 6 + 2 * r->components, 2);
    add8(&b, r->components);
    for (unsigned i = 0; i < r->components; i++) {
        add8(&b, ids[i]);
        add8(&b, 0);
    }
    add(&b, "\0\x3f\0", 3);
    for (unsigned i = 0; i < blocks; i++) {
        if (r->restart && i > 0 && i % r->restart == 0 && !r->skip_restarts) {
            flush_bits(&c);
            add_be(&b, 0xffd0 + (i / r->restart - 1) % 8, 2);
            memset(before, 0, sizeof before);
        }
        for (unsigned k = 0; k < r->components; k++)
            put_block(&c, &before[k], r->values[i * r->components + k] - 128);
    }
    flush_bits(&c);
    add_be(&b, 0xffd9, 2);
    return b;
}

/* Where EXIF says that the stored first row and column are shown; the stored pixel that
 * comes to the upright place (u, v) of a picture stored w x h. By the words of the standard,
 * one by one. */
static void stored_place(int orientation, unsigned w, unsigned h, unsigned u, unsigned v,
                         unsigned *x, unsigned *y)
{
    switch (orientation) {
    case 1: *x = u, *y = v; break;                 /* row 0 top, column 0 left */
    case 2: *x = w - 1 - u, *y = v; break;         /* top, right */
    case 3: *x = w - 1 - u, *y = h - 1 - v; break; /* bottom, right */
    case 4: *x = u, *y = h - 1 - v; break;         /* bottom, left */
    case 5: *x = v, *y = u; break;                 /* left, top */
    case 6: *x = v, *y = h - 1 - u; break;         /* right, top */
    case 7: *x = w - 1 - v, *y = h - 1 - u; break; /* right, bottom */
    default: *x = w - 1 - v, *y = u; break;        /* left, bottom */
    }
}

static void jpeg_orientations(void **state)
{
    static const uint8_t values[18] = {1,   60, 200, 30,  90, 120, 255, 0,  7,
                                       128, 44, 250, 110, 5,  77,  31,  99, 160};
    const unsigned w = 21, h = 12;
    (void)state;
    for (unsigned components = 1; components <= 3; components += 2)
        for (int orientation = 0; orientation <= 8; orientation++) {
            struct jpeg_recipe r = {.width = w, .height = h, .components = components,
                                    .orientation = orientation, .values = values,
                                    .big_endian = orientation % 2, .restart = components == 3};
            struct bytes b = make_jpeg(&r);
            const bool swap = orientation >= 5;
            const unsigned width = swap ? h : w, height = swap ? w : h;
            uint8_t want[21 * 12 * 3];
            struct loaded l;
            for (unsigned v = 0; v < height; v++)
                for (unsigned u = 0; u < width; u++)
                    for (unsigned c = 0; c < components; c++) {
                        unsigned x, y;
                        stored_place(orientation ? orientation : 1, w, h, u, v, &x, &y);
                        want[(v * width + u) * components + c] =
                            values[(y / 8 * 3 + x / 8) * components + c];
                    }
            if (load_bytes(b.data, b.size, &l) != GF_OK)
                fail_msg("%s", l.error.text);
            assert_int_equal(l.image.width, width);
            assert_int_equal(l.image.height, height);
            assert_int_equal(l.image.channels, components);
            assert_memory_equal(l.samples, want, (size_t)width * height * components);
            assert_true(l.image.meta.resolution[swap] == 72);
            assert_true(l.image.meta.resolution[!swap] == 144);
            assert_int_equal(l.image.meta.resolution_unit, 2);
            if (orientation)
                assert_int_equal(gf_exif_orientation(l.image.meta.exif.data,
                                                     l.image.meta.exif.size), 1);
            unload(&l);
        }
}

/* A comment is bytes of unknown coding. */
static void jpeg_comments(void **state)
{
    static const uint8_t values[1] = {7};
    static const char *const comments[][2] = {
        {"plain", "plain"}, {"caf\xe9", "caf\xc3\xa9"}, {"caf\xc3\xa9", "caf\xc3\xa9"},
        {"\xed\xa0\x80", "\xc3\xad\xc2\xa0\xc2\x80"}, {"\xc0\xaf", "\xc3\x80\xc2\xaf"}};
    (void)state;
    for (size_t i = 0; i < GF_COUNT(comments); i++) {
        struct jpeg_recipe r = {.width = 8, .height = 8, .components = 1, .values = values,
                                .comment = comments[i][0]};
        struct bytes b = make_jpeg(&r);
        struct loaded l;
        assert_int_equal(load_bytes(b.data, b.size, &l), GF_OK);
        assert_int_equal(l.image.meta.text_count, 1);
        assert_string_equal(l.image.meta.texts[0].key, "Comment");
        assert_string_equal(l.image.meta.texts[0].value, comments[i][1]);
        unload(&l);
    }
}

/* Scans of some bytes would keep the decoder busy with the whole picture each. */
static void jpeg_of_many_scans(void **state)
{
    static const uint8_t values[1] = {7};
    struct jpeg_recipe r = {.width = 8, .height = 8, .components = 1, .values = values};
    struct bytes b = make_jpeg(&r);
    size_t scan = 0, size = b.size, bytes;
    uint8_t *data;
    (void)state;
    while (b.data[scan] != 0xff || b.data[scan + 1] != 0xda)
        scan++;
    bytes = size - 2 - scan;
    data = malloc(size + 500 * bytes);
    assert_non_null(data);
    memcpy(data, b.data, size);
    for (int scans = 1; scans <= 501; scans++) {
        struct loaded l;
        if (scans == 2 || scans >= 500) {
            memcpy(data + size - 2, "\xff\xd9", 2);
            assert_int_equal(load_bytes(data, size, &l), scans > 500 ? GF_EFEATURE : GF_OK);
            unload(&l);
        }
        memcpy(data + size - 2, b.data + scan, scans <= 500 ? bytes : 0);
        size += bytes;
    }
    free(data);
}

static void jpeg_damage(void **state)
{
    static const uint8_t values[16] = {1, 60, 200, 30, 90, 120, 255, 0, 7, 9, 4, 1, 77, 2, 5, 3};
    struct jpeg_recipe r = {.width = 16, .height = 9, .components = 3, .orientation = 6,
                            .restart = 2, .values = values};
    struct bytes b = make_jpeg(&r);
    (void)state;
    check_truncations(b.data, b.size);
    check_read_memory(b.data, b.size);
    check_flips(&b);
    r.skip_restarts = true;
    b = make_jpeg(&r);
    check_status(&b, GF_EINPUT);
    r.skip_restarts = false;
    r.components = 4;
    b = make_jpeg(&r);
    check_status(&b, GF_EFEATURE); /* CMYK */
    r.components = 1;
    r.width = r.height = 16;
    b = make_jpeg(&r);
    /* 65535x65535 in so few bytes cannot be. */
    for (size_t i = 0; i + 9 < b.size; i++)
        if (b.data[i] == 0xff && b.data[i + 1] == 0xc0)
            memset(b.data + i + 5, 0xff, 4);
    check_status(&b, GF_EINPUT);
}

/* ---- BMP ---- */

static struct bytes bmp_head(int width, int height, unsigned bits, unsigned colors)
{
    struct bytes b = {.size = 0};
    add(&b, "BM", 2);
    add_le(&b, 0, 8);
    add_le(&b, 54 + 4 * colors, 4);
    add_le(&b, 40, 4);
    add_le(&b, (uint32_t)width, 4);
    add_le(&b, (uint32_t)height, 4);
    add_le(&b, 1, 2);
    add_le(&b, bits, 2);
    add_le(&b, 0, 8);
    add_le(&b, 2835, 4);
    add_le(&b, 2835, 4);
    add_le(&b, colors, 8);
    return b;
}

static void bmp_files(void **state)
{
    static const uint8_t rgb[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    struct bytes b = bmp_head(2, 2, 24, 0);
    (void)state;
    add(&b, "\x9\x8\x7\xc\xb\xa\0\0\3\2\1\6\5\4\0\0", 16); /* bottom row first, padded */
    check_file(&b, 2, 2, 3, GF_U8, rgb);
    check_flips(&b);
    b = bmp_head(2, -2, 24, 0); /* top row first */
    add(&b, "\3\2\1\6\5\4\0\0\x9\x8\x7\xc\xb\xa\0\0", 16);
    check_file(&b, 2, 2, 3, GF_U8, rgb);
    b = bmp_head(4, 1, 8, 4); /* palette */
    add(&b, "\3\2\1\0\6\5\4\0\x9\x8\x7\0\xc\xb\xa\0\0\1\2\3", 20);
    check_file(&b, 4, 1, 3, GF_U8, rgb);
    check_flips(&b);
    b.data[30] = 1; /* run lengths */
    check_status(&b, GF_EFEATURE);
}

/* ---- TGA ---- */

static struct bytes tga_head(unsigned type, unsigned width, unsigned height, unsigned bits,
                             unsigned flags)
{
    struct bytes b = {.size = 0};
    add8(&b, 0);
    add8(&b, 0);
    add8(&b, type);
    add_le(&b, 0, 4);
    add_le(&b, 0, 1);
    add_le(&b, 0, 4);
    add_le(&b, width, 2);
    add_le(&b, height, 2);
    add8(&b, bits);
    add8(&b, flags);
    return b;
}

static void tga_files(void **state)
{
    static const uint8_t rgb[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    static const uint8_t runs[] = {1, 2, 3, 1, 2, 3, 1, 2, 3, 4, 5, 6};
    struct bytes b = tga_head(2, 2, 2, 24, 0);
    (void)state;
    add(&b, "\x9\x8\x7\xc\xb\xa\3\2\1\6\5\4", 12); /* bottom row first */
    check_file(&b, 2, 2, 3, GF_U8, rgb);
    b = tga_head(2, 2, 2, 24, 0x20);
    add(&b, "\3\2\1\6\5\4\x9\x8\x7\xc\xb\xa", 12);
    check_file(&b, 2, 2, 3, GF_U8, rgb);
    b = tga_head(10, 4, 1, 24, 0x20);
    add(&b, "\x82\3\2\1\0\6\5\4", 8); /* three times, then once */
    check_file(&b, 4, 1, 3, GF_U8, runs);
    check_flips(&b);
    b = tga_head(3, 3, 1, 8, 0x20);
    add(&b, "\1\2\3", 3);
    check_file(&b, 3, 1, 1, GF_U8, rgb);
    b.data[17] |= 0x10; /* right to left */
    check_status(&b, GF_EFEATURE);
}

/* ---- PSD ---- */

static struct bytes psd_head(unsigned channels, unsigned width, unsigned height, unsigned bits,
                             unsigned mode, unsigned compression)
{
    struct bytes b = {.size = 0};
    add(&b, "8BPS\0\1\0\0\0\0\0\0", 12);
    add_be(&b, channels, 2);
    add_be(&b, height, 4);
    add_be(&b, width, 4);
    add_be(&b, bits, 2);
    add_be(&b, mode, 2);
    add_be(&b, 0, 4);
    add_be(&b, 2, 4);
    add_be(&b, 0, 2); /* a section of two bytes */
    add_be(&b, 0, 4);
    add_be(&b, compression, 2);
    return b;
}

static void psd_files(void **state)
{
    static const uint8_t rgb[] = {1, 2, 3, 4, 5, 6};
    static const uint8_t runs[] = {9, 9, 1, 9, 9, 2, 9, 9, 3};
    static const uint16_t wide[] = {0x102, 0x304, 0x506};
    struct bytes b = psd_head(3, 2, 1, 8, 3, 0);
    (void)state;
    add(&b, "\1\4\2\5\3\6", 6); /* channel by channel */
    check_file(&b, 2, 1, 3, GF_U8, rgb);
    check_flips(&b);
    b = psd_head(3, 1, 1, 16, 3, 0);
    add(&b, "\1\2\3\4\5\6", 6);
    check_file(&b, 1, 1, 3, GF_U16, wide);
    b = psd_head(3, 3, 1, 8, 3, 1);
    add(&b, "\0\2\0\2\0\4\xfe\x9\xfe\x9\2\1\2\3", 14);
    check_file(&b, 3, 1, 3, GF_U8, runs);
    check_flips(&b);
    b = psd_head(3, 1, 1, 16, 3, 1);
    add(&b, "\0\0\0\0\0\0", 6);
    check_status(&b, GF_EFEATURE);
    b = psd_head(4, 1, 1, 8, 4, 0); /* CMYK */
    add(&b, "\1\2\3\4", 4);
    check_status(&b, GF_EFEATURE);
}

/* ---- Radiance HDR ---- */

static void hdr_files(void **state)
{
    static const char head[] = "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n";
    static const float flat[] = {1, 0.5f, 0.25f, 0, 0, 0};
    struct bytes b = {.size = 0};
    float want[24];
    (void)state;
    add(&b, head, sizeof head - 1);
    add(&b, "-Y 1 +X 2\n", 10);
    add(&b, "\x80\x40\x20\x81\0\0\0\0", 8);
    check_file(&b, 2, 1, 3, GF_F32, flat);
    b.size = 0;
    add(&b, head, sizeof head - 1);
    add(&b, "-Y 1 +X 8\n", 10);
    add(&b, "\2\2\0\x8", 4);
    add(&b, "\x88\x80\x88\x40\x84\x20\4\x10\x10\x10\x10\x88\x81", 13); /* runs and one dump */
    for (int i = 0; i < 8; i++) {
        want[3 * i] = 1;
        want[3 * i + 1] = 0.5f;
        want[3 * i + 2] = i < 4 ? 0.25f : 0.125f;
    }
    check_file(&b, 8, 1, 3, GF_F32, want);
    check_flips(&b);
}

static void exif_damage(void **state)
{
    static const uint8_t good[] = "II*\0\x08\0\0\0\2\0\x12\1\3\0\1\0\0\0\6\0\0\0"
                                  "\x1a\1\5\0\1\0\0\0\x26\0\0\0\0\0\0\0\x48\0\0\0\1\0\0\0";
    uint8_t copy[sizeof good - 1];
    (void)state;
    assert_int_equal(gf_exif_orientation(good, sizeof copy), 6);
    for (size_t size = 0; size <= sizeof copy; size++)
        for (size_t bit = 0; bit < 8 * size; bit++) {
            /* Exactly as long as it says, so that a sanitizer sees a step beyond. */
            uint8_t *data = malloc(size);
            double resolution[2];
            int unit, orientation;
            assert_non_null(data);
            memcpy(data, good, size);
            data[bit / 8] ^= (uint8_t)(1u << bit % 8);
            orientation = gf_exif_orientation(data, size);
            assert_in_range(orientation, 1, 8);
            (void)gf_exif_resolution(data, size, resolution, &unit);
            gf_exif_set_upright(data, size);
            assert_int_equal(gf_exif_orientation(data, size), 1);
            free(data);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jpeg_orientations), cmocka_unit_test(jpeg_comments),
        cmocka_unit_test(jpeg_of_many_scans), cmocka_unit_test(jpeg_damage),
        cmocka_unit_test(bmp_files),         cmocka_unit_test(tga_files),
        cmocka_unit_test(psd_files),         cmocka_unit_test(hdr_files),
        cmocka_unit_test(exif_damage),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
