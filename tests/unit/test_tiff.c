/* Reading TIFFs whose every byte the test wrote itself. */
#include "tiff_make.h"

#include <math.h>
#include <zlib.h>

static struct file file;

/* ---- integers of every width ---- */

static uint64_t expected(uint64_t v, unsigned bits, bool is_signed, bool inverted)
{
    uint64_t max = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;

    if (is_signed) { /* as a number of 64 bits */
        if (bits < 64 && v >> (bits - 1))
            v |= ~max;
        return inverted ? 0 - v - 1 : v;
    }
    if (inverted)
        v = max - v;
    if (bits < 8) /* nearest; there are no ties */
        v = (uint64_t)floor((double)v * 255.0 / (double)max + 0.5);
    return v;
}

static void check_samples(const struct picture *p, const uint64_t *value, unsigned bits,
                          bool is_signed, bool inverted)
{
    const uint8_t *at = p->rows;

    for (size_t i = 0; i < p->image.width * p->image.height * p->image.channels; i++) {
        bool turned = inverted && i % p->image.channels == 0;
        uint64_t want = expected(value[i], bits, is_signed, turned);
        uint64_t got = 0;
        if (p->image.type == GF_F64) {
            double d;
            memcpy(&d, at, 8);
            got = is_signed ? (uint64_t)(int64_t)d : (uint64_t)d;
        } else if (p->image.type == GF_U8 || p->image.type == GF_I8) {
            got = is_signed ? (uint64_t)(int64_t)(int8_t)*at : *at;
        } else if (p->image.type == GF_U16 || p->image.type == GF_I16) {
            uint16_t v;
            memcpy(&v, at, 2);
            got = is_signed ? (uint64_t)(int64_t)(int16_t)v : v;
        } else {
            uint32_t v;
            memcpy(&v, at, 4);
            got = is_signed ? (uint64_t)(int64_t)(int32_t)v : v;
        }
        if (got != want)
            fail_msg("%u bits, sample %zu of %ux%ux%u: %llx, not %llx", bits, i,
                     (unsigned)p->image.width, (unsigned)p->image.height, p->image.channels,
                     (unsigned long long)got, (unsigned long long)want);
        at += gf_type_bytes(p->image.type);
    }
}

static enum gf_type integer_type(unsigned bits, bool is_signed)
{
    if (bits <= 8)
        return is_signed ? GF_I8 : GF_U8;
    if (bits <= 16)
        return is_signed ? GF_I16 : GF_U16;
    if (bits <= 32)
        return is_signed ? GF_I32 : GF_U32;
    return GF_F64;
}

static void one_layout(unsigned bits, bool is_signed, unsigned width, unsigned samples,
                       bool planar, unsigned tile, unsigned rows_per_strip, bool inverted,
                       uint32_t *random)
{
    static uint64_t value[17 * 5 * 3];
    uint64_t max = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    struct page page = {.width = width, .height = 5, .samples = samples, .bits = bits,
                        .format = is_signed ? 2 : 1, .planar = planar, .tile = tile,
                        .rows_per_strip = rows_per_strip, .value = value,
                        .photometric = samples == 3 ? 2 : inverted ? 0 : 1};
    struct picture p;

    for (size_t i = 0; i < (size_t)width * 5 * samples; i++) {
        uint64_t v = (uint64_t)next_random(random) << 40 ^ (uint64_t)next_random(random) << 20 ^
                     next_random(random);
        if (bits == 64) /* 53 bits, anywhere */
            v = is_signed ? (v >> 12) << (v % 11) : (v >> 11) << (v % 12);
        if (v % 5 == 0)
            v = v % 3 == 0 ? (bits == 64 ? 0 : max) : 0;
        value[i] = v & max;
        if (bits == 64 && inverted) /* what is exact must be exact after max - v as well */
            value[i] = is_signed ? value[i] % 1000 : ~value[i];
    }
    for (int order = 0; order < 4; order++) {
        start_file(&file, order & 1, order & 2);
        add_page(&file, &page, first_link(&file));
        save(file.data, file.size);
        must_read(&p, 0, order == 3 ? 2 : order == 1 ? 1 : 100);
        assert_int_equal(p.image.width, width);
        assert_int_equal(p.image.height, 5);
        assert_int_equal(p.image.depth, 1);
        assert_int_equal(p.image.channels, samples);
        assert_int_equal(p.image.type, integer_type(bits, is_signed));
        assert_int_equal(p.image.color, samples == 3 ? GF_RGB : GF_GRAY);
        check_samples(&p, value, bits, is_signed, inverted && samples == 1);
        picture_free(&p);
    }
}

static void integers(void **state)
{
    static const unsigned widths[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17};
    static const unsigned depths[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 16, 17, 20, 24,
                                      31, 32, 64};
    static const unsigned strips[] = {1, 2, 5, 95318, UINT32_MAX};
    uint32_t random = 1;
    unsigned turn = 0;

    (void)state;
    for (size_t d = 0; d < sizeof depths / sizeof *depths; d++)
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
            for (unsigned samples = 1; samples <= 3; samples += 2)
                for (int planar = 0; planar < 2; planar++)
                    for (int inverted = 0; inverted < 2; inverted++, turn++)
                        one_layout(depths[d], depths[d] > 1 && turn % 3 == 0, widths[w], samples,
                                   planar, turn % 2 ? 16 : 0, strips[turn / 2 % 5],
                                   inverted && samples == 1, &random);
    assert_int_equal(gf_memory_used(), 0);
}

static void integers_beyond_f64(void **state)
{
    static const uint64_t value[] = {1, (UINT64_C(1) << 53) + 1, 3};
    struct page page = {.width = 3, .height = 1, .samples = 1, .bits = 64, .format = 1,
                        .photometric = 1, .rows_per_strip = 1, .value = value};
    struct picture p;
    struct gf_error e;
    uint64_t images;

    (void)state;
    start_file(&file, false, false);
    add_page(&file, &page, first_link(&file));
    save(file.data, file.size);
    assert_int_equal(read_picture(&p, 0, 1, false, &images, &e), GF_EFEATURE);
    assert_non_null(strstr(e.text, "column 1, row 0"));
}

/* ---- floating point ---- */

static void floats(void **state)
{
    /* 24-bit: 1 sign, 7 exponent (bias 63), 16 mantissa */
    static const uint64_t value16[] = {0x3c00, 0xbc00, 0x0001, 0x7c00, 0x7bff};
    static const uint64_t value24[] = {0x3f0000, 0xbf8000, 0x000001, 0x7f0000, 0x7effff};
    static const float want24[] = {1.0f, -1.5f, 0x1p-78f, INFINITY, 0x1.ffffp63f};
    static const uint64_t value32[] = {0x3f800000, 0x41cccccd, 1, 0x7f800000, 0xc3c66666};
    static const uint64_t value64[] = {0x3ff0000000000000, 0xbff8000000000000, 1,
                                       0x7ff0000000000000, 0x7fefffffffffffff};
    static const unsigned bits[] = {16, 24, 32, 64};
    static const enum gf_type types[] = {GF_F16, GF_F32, GF_F32, GF_F64};
    const uint64_t *values[] = {value16, value24, value32, value64};

    (void)state;
    for (int i = 0; i < 4; i++)
        for (int variant = 0; variant < 16; variant++) {
            struct page page = {.width = 5, .height = 1, .samples = 1, .bits = bits[i], .format = 3,
                                .photometric = variant & 4 ? 0 : 1, .tile = variant & 8 ? 16 : 0,
                                .rows_per_strip = 1, .value = values[i]};
            struct picture p;
            start_file(&file, variant & 1, variant & 2);
            add_page(&file, &page, first_link(&file));
            save(file.data, file.size);
            must_read(&p, 0, 1);
            assert_int_equal(p.image.type, types[i]);
            /* Min-is-white is never inverted here, the tag is kept instead. */
            assert_int_equal(p.image.meta.tiff.photometric, page.photometric);
            for (int k = 0; k < 5; k++) {
                uint64_t got = 0;
                if (bits[i] == 24) {
                    assert_memory_equal(p.rows + 4 * k, &want24[k], 4);
                } else {
                    memcpy(&got, p.rows + bits[i] / 8 * (unsigned)k, bits[i] / 8);
                    assert_true(got == values[i][k]);
                }
            }
            picture_free(&p);
        }
}

/* Bytes of samples from most to least significant, whatever the file's order, and their
 * differences: the floating-point predictor of Adobe's third note. */
static size_t predict3(const uint64_t *value, unsigned n, unsigned bytes, uint8_t *row)
{
    for (unsigned i = 0; i < n; i++)
        for (unsigned b = 0; b < bytes; b++)
            row[b * n + i] = (uint8_t)(value[i] >> (8 * (bytes - 1 - b)));
    for (unsigned i = n * bytes - 1; i > 0; i--)
        row[i] = (uint8_t)(row[i] - row[i - 1]);
    return (size_t)n * bytes;
}

/* Differences of neighbours, in the file's byte order. */
static size_t predict2(const uint64_t *value, unsigned n, unsigned bytes, bool big_endian,
                       uint8_t *row)
{
    for (unsigned i = 0; i < n; i++) {
        uint64_t v = value[i] - (i > 0 ? value[i - 1] : 0);
        for (unsigned b = 0; b < bytes; b++)
            row[i * bytes + b] = (uint8_t)(v >> (8 * (big_endian ? bytes - 1 - b : b)));
    }
    return (size_t)n * bytes;
}

static void predictors(void **state)
{
    static const uint64_t value[4][5] = {
        {0x3c00, 0x4000, 0x4200, 0x4400, 0xffff},
        {0x3f0000, 0x400000, 0x408000, 0x410000, 0x000001},
        {0x3f800000, 0x40000000, 0x40400000, 0x40800000, 0xc3c66666},
        {0x3ff0000000000000, 0x4000000000000000, 0x4008000000000000, 0x4010000000000000, 1},
    };

    (void)state;
    for (unsigned predictor = 2; predictor <= 3; predictor++)
        for (unsigned w = 0; w < 4; w++)
            for (int big_endian = 0; big_endian < 2; big_endian++)
                for (int packed = 0; packed < 2; packed++) {
                    unsigned bytes = w == 3 ? 8 : w + 2;
                    uint8_t row[64], strip[256];
                    size_t n = predictor == 3 ? predict3(value[w], 5, bytes, row)
                                              : predict2(value[w], 5, bytes, big_endian, row);
                    uLongf size = sizeof strip;
                    struct page page = {.width = 5, .height = 1, .samples = 1, .bits = 8 * bytes,
                                        .format = 3, .photometric = 1, .rows_per_strip = 1,
                                        .predictor = predictor, .compression = 8,
                                        .value = value[w], .strip = strip};
                    struct picture p;
                    struct gf_error e;
                    uint64_t images;
                    assert_int_equal(compress2(strip, &size, row, n, packed ? 9 : 0), Z_OK);
                    page.strip_size = size;
                    start_file(&file, big_endian, false);
                    add_page(&file, &page, first_link(&file));
                    save(file.data, file.size);
                    if (predictor == 2 && bytes == 3) {
                        assert_int_equal(read_picture(&p, 0, 1, false, &images, &e), GF_EFEATURE);
                        continue;
                    }
                    must_read(&p, 0, 1);
                    for (unsigned i = 0; i < 5; i++) {
                        static const float wide[] = {1, 2, 3, 4, 0x1p-78f};
                        uint64_t got = 0;
                        if (bytes == 3) {
                            assert_memory_equal(p.rows + 4 * i, &wide[i], 4);
                            continue;
                        }
                        memcpy(&got, p.rows + i * bytes, bytes);
                        assert_true(got == value[w][i]);
                    }
                    picture_free(&p);
                }
}

/* ---- colour ---- */

static void palettes(void **state)
{
    static uint64_t map[3 * 256], value[9 * 2];
    uint32_t random = 7;

    (void)state;
    for (unsigned bits = 1; bits <= 8; bits++)
        for (int variant = 0; variant < 8; variant++) {
            bool bytes = variant & 4; /* entries of 8 bits in place of 16 */
            unsigned n = 1u << bits;
            struct page page = {.width = 9, .height = 2, .samples = 1, .bits = bits, .format = 1,
                                .photometric = 3, .tile = variant & 1 ? 16 : 0, .rows_per_strip = 1,
                                .palette = map, .value = value};
            struct picture p;
            for (unsigned i = 0; i < 3 * n; i++)
                map[i] = next_random(&random) & (bytes ? 0xff : 0xffff);
            if (!bytes)
                map[n] = 0xfedc;
            for (unsigned i = 0; i < 18; i++)
                value[i] = next_random(&random) % n;
            start_file(&file, variant & 2, false);
            add_page(&file, &page, first_link(&file));
            save(file.data, file.size);
            must_read(&p, 0, 2);
            assert_int_equal(p.image.channels, 3);
            assert_int_equal(p.image.color, GF_RGB);
            assert_int_equal(p.image.type, GF_U8);
            for (unsigned i = 0; i < 18; i++)
                for (unsigned k = 0; k < 3; k++)
                    assert_int_equal(p.rows[3 * i + k],
                                     map[k * n + value[i]] >> (bytes ? 0 : 8));
            picture_free(&p);
        }
}

static void extra_samples(void **state)
{
    static const struct {
        unsigned photometric, samples, extra_count;
        uint64_t extra[2];
        enum gf_color color;
        int alpha;
        bool associated;
    } rows[] = {
        {1, 1, 0, {0, 0}, GF_GRAY, -1, false},  {1, 2, 1, {2, 0}, GF_GRAY, 1, false},
        {1, 2, 1, {0, 0}, GF_OTHER, -1, false}, {2, 3, 0, {0, 0}, GF_RGB, -1, false},
        {2, 4, 1, {1, 0}, GF_RGB, 3, true},     {2, 4, 1, {2, 0}, GF_RGB, 3, false},
        {2, 4, 1, {0, 0}, GF_OTHER, -1, false}, {2, 4, 0, {0, 0}, GF_OTHER, -1, false},
        {2, 5, 2, {0, 2}, GF_OTHER, 4, false},  {5, 4, 0, {0, 0}, GF_CMYK, -1, false},
        {5, 5, 1, {1, 0}, GF_CMYK, 4, true},    {1, 5, 2, {0, 0}, GF_OTHER, -1, false},
    };
    uint64_t value[3 * 5];

    (void)state;
    for (size_t i = 0; i < 15; i++)
        value[i] = 10 * i;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int planar = 0; planar < 2; planar++) {
            struct page page = {.width = 3, .height = 1, .samples = rows[i].samples, .bits = 8,
                                .format = 1, .photometric = rows[i].photometric, .planar = planar,
                                .rows_per_strip = 1, .extra_count = rows[i].extra_count,
                                .extra = rows[i].extra, .value = value};
            struct picture p;
            start_file(&file, false, false);
            add_page(&file, &page, first_link(&file));
            save(file.data, file.size);
            for (int pass = 0; pass < 2; pass++) { /* the second time from our own file */
                must_read(&p, 0, 1);
                assert_int_equal(p.image.color, rows[i].color);
                assert_int_equal(p.image.alpha, rows[i].alpha);
                assert_int_equal(p.image.alpha_associated, rows[i].associated);
                assert_int_equal(p.image.channels, rows[i].samples);
                assert_int_equal(p.image.meta.tiff.photometric, rows[i].photometric);
                check_samples(&p, value, 8, false, false);
                if (pass == 0)
                    must_write(&p, 1, 1, NULL);
                picture_free(&p);
            }
        }
}

/* ---- odd but readable ---- */

static void byte_counts_of_zero(void **state)
{
    static const uint64_t value[] = {9, 8, 7, 6, 5, 4};
    struct page page = {.width = 2, .height = 3, .samples = 1, .bits = 8, .format = 1,
                        .photometric = 1, .rows_per_strip = 1, .zero_counts = true, .value = value};
    struct picture p;

    (void)state;
    for (page.rows_per_strip = 1; page.rows_per_strip <= 3; page.rows_per_strip++) {
        start_file(&file, false, false);
        add_page(&file, &page, first_link(&file));
        save(file.data, file.size);
        must_read(&p, 0, 2);
        check_samples(&p, value, 8, false, false);
        picture_free(&p);
    }
}

/* ---- chains of pages ---- */

static void pages_of_all_sizes(void **state)
{
    static uint64_t value[25];
    struct page page = {.samples = 1, .bits = 8, .format = 1, .photometric = 1,
                        .rows_per_strip = 1, .value = value};
    struct picture p;
    struct gf_error e;
    uint64_t images;
    size_t link;

    (void)state;
    for (int i = 0; i < 25; i++)
        value[i] = (uint64_t)(3 * i);
    for (int big = 0; big < 2; big++) {
        start_file(&file, false, big);
        link = first_link(&file);
        for (unsigned i = 1; i <= 5; i++) {
            page.width = page.height = i;
            page.kind = i == 3 ? 1 : 0; /* a reduced image */
            link = add_page(&file, &page, link);
        }
        save(file.data, file.size);
        gf_message_set_verbosity(GF_QUIET);
        for (unsigned i = 0; i < 4; i++) {
            assert_int_equal(read_picture(&p, i, 1, false, &images, &e), GF_OK);
            assert_int_equal(images, 4);
            assert_int_equal(p.image.width, i < 2 ? i + 1 : i + 2);
            check_samples(&p, value, 8, false, false);
            picture_free(&p);
        }
        assert_int_equal(read_picture(&p, 0, 1, true, &images, &e), GF_EFEATURE);
        gf_message_set_verbosity(GF_NORMAL);
    }
}

static void circles(void **state)
{
    static const uint64_t value[] = {1};
    struct page page = {.width = 1, .height = 1, .samples = 1, .bits = 8, .format = 1,
                        .photometric = 1, .rows_per_strip = 1, .value = value};
    struct picture p;
    struct gf_error e;
    uint64_t images;

    (void)state;
    for (unsigned pages = 1; pages <= 20; pages++)
        for (unsigned back = 0; back < pages; back++) {
            size_t link, ifd[20];
            start_file(&file, true, false);
            link = first_link(&file);
            for (unsigned i = 0; i < pages; i++) {
                size_t from = link;
                link = add_page(&file, &page, link);
                ifd[i] = (size_t)file.data[from] << 24 | (size_t)file.data[from + 1] << 16 |
                         (size_t)file.data[from + 2] << 8 | file.data[from + 3];
            }
            put_at(&file, link, ifd[back], 4);
            save(file.data, file.size);
            assert_int_equal(read_picture(&p, 0, 1, false, &images, &e), GF_EINPUT);
            assert_non_null(strstr(e.text, "circle"));
        }
}

/* ---- volumes ---- */

static void hyperstacks(void **state)
{
    static const char *const texts[] = {
        "ImageJ=1.53\nimages=24\nchannels=2\nslices=3\nframes=4\nhyperstack=true\nunit=um\n"
        "spacing=2.5\n",
        "<?xml version=\"1.0\"?><OME><Image><Pixels DimensionOrder=\"XYCZT\" SizeC=\"2\" "
        "SizeT=\"4\" SizeZ=\"3\" SizeX=\"3\" SizeY=\"2\" Type=\"uint8\" PhysicalSizeX=\"0.5\" "
        "PhysicalSizeY=\"600\" PhysicalSizeYUnit=\"nm\" PhysicalSizeZ=\"2.5\"/></Image></OME>",
    };

    (void)state;
    for (int kind = 0; kind < 2; kind++)
        for (int pass = 0; pass < 2; pass++) {
            static struct picture volumes[4];
            size_t link;
            if (pass == 0) {
                start_file(&file, false, false);
                link = first_link(&file);
                for (unsigned n = 0; n < 24; n++) {
                    const uint64_t value[] = {n, n + 30, n + 60, n + 90, n + 120, n + 150};
                    struct page page = {.width = 3, .height = 2, .samples = 1, .bits = 8,
                                        .format = 1, .photometric = 1, .rows_per_strip = 2,
                                        .value = value,
                                        .description = n == 0 ? texts[kind] : NULL};
                    link = add_page(&file, &page, link);
                }
                save(file.data, file.size);
            } else { /* as we wrote it */
                must_write(volumes, 4, 3, NULL);
                for (unsigned t = 0; t < 4; t++)
                    picture_free(&volumes[t]);
            }
            for (unsigned t = 0; t < 4; t++) {
                struct picture *v = &volumes[t];
                struct gf_error e;
                uint64_t images;
                assert_int_equal(read_picture(v, t, 1 + t, false, &images, &e), GF_OK);
                assert_int_equal(images, 4);
                assert_int_equal(v->image.depth, 3);
                assert_int_equal(v->image.channels, 2);
                assert_true(v->image.volume);
                assert_true(fabs(v->image.meta.spacing[2] - 0.0025) < 1e-12);
                if (kind == 1) {
                    assert_true(fabs(v->image.meta.spacing[0] - 0.0005) < 1e-12);
                    assert_true(fabs(v->image.meta.spacing[1] - 0.0006) < 1e-12);
                }
                for (unsigned z = 0; z < 3; z++)
                    for (unsigned i = 0; i < 6; i++)
                        for (unsigned c = 0; c < 2; c++)
                            assert_int_equal(v->rows[(z * 6 + i) * 2 + c],
                                             t * 6 + z * 2 + c + 30 * i);
            }
            if (pass == 1)
                for (unsigned t = 0; t < 4; t++)
                    picture_free(&volumes[t]);
        }
    assert_int_equal(gf_memory_used(), 0);
}

static void stack_of_one_directory(void **state)
{
    static const uint64_t value[] = {1, 2, 3, 4};
    struct page page = {.width = 2, .height = 2, .samples = 1, .bits = 16, .format = 1,
                        .photometric = 1, .rows_per_strip = 2, .value = value,
                        .description = "ImageJ=1.53\nimages=3\nslices=3\n"};
    struct picture p;

    (void)state;
    start_file(&file, true, false);
    /* The planes follow the first one; the directory stands behind them all. */
    add_page(&file, &page, first_link(&file));
    memmove(file.data + 8 + 24, file.data + 8 + 8, file.size - 16);
    {
        size_t moved = 16, size = file.size;
        for (unsigned i = 4; i < 12; i++)
            put_at(&file, 8 + 2 * i, i + 1, 2);
        file.size = size + moved;
        put_at(&file, 4, ((size_t)file.data[4] << 24 | (size_t)file.data[5] << 16 |
                          (size_t)file.data[6] << 8 | file.data[7]) + moved, 4);
        /* The description is the only value outside its entry that matters. */
        for (size_t at = file.data[6] * 256u + file.data[7] + 2u; at + 12 <= file.size; at += 12)
            if (file.data[at] == 1 && file.data[at + 1] == 14)
                put_at(&file, at + 8,
                       ((size_t)file.data[at + 10] << 8 | file.data[at + 11]) + moved, 4);
    }
    save(file.data, file.size);
    must_read(&p, 0, 3);
    assert_int_equal(p.image.depth, 3);
    for (uint16_t i = 0; i < 12; i++) {
        uint16_t v;
        memcpy(&v, p.rows + 2 * i, 2);
        assert_int_equal(v, i + 1);
    }
    picture_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),
        cmocka_unit_test(integers_beyond_f64),
        cmocka_unit_test(floats),
        cmocka_unit_test(predictors),
        cmocka_unit_test(palettes),
        cmocka_unit_test(extra_samples),
        cmocka_unit_test(byte_counts_of_zero),
        cmocka_unit_test(pages_of_all_sizes),
        cmocka_unit_test(circles),
        cmocka_unit_test(hyperstacks),
        cmocka_unit_test(stack_of_one_directory),
    };
    int failed;

    test_path_make();
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(test_path);
    return failed;
}
