/* Writing TIFFs: round trips of every type, layout and coding, what is kept, what is refused;
 * and reading what libtiff itself compressed. */
#include "io/tiff.h"
#include "tiff_make.h"

#include <math.h>
#include <tiffio.h>

static uint32_t seed = 5;

/* Noise with runs in it, any bits (infinities and NaN too). */
static void fill(struct picture *p)
{
    uint64_t size = gf_image_bytes(&p->image);

    p->rows = malloc(size > 0 ? size : 1);
    for (uint64_t i = 0; i < size; i++)
        p->rows[i] = i / 16 % 3 == 0 ? 7 : (uint8_t)next_random(&seed);
}

static struct picture make(enum gf_type type, uint32_t channels, uint64_t w, uint64_t h, uint64_t d)
{
    struct picture p = {.image = {.width = w, .height = h, .depth = d, .channels = channels,
                                  .type = type, .alpha = -1}};

    p.image.color = channels == 1 ? GF_GRAY : channels == 3 ? GF_RGB : GF_OTHER;
    fill(&p);
    return p;
}

static void same_samples(const struct picture *a, const struct picture *b)
{
    assert_int_equal(a->image.width, b->image.width);
    assert_int_equal(a->image.height, b->image.height);
    assert_int_equal(a->image.depth, b->image.depth);
    assert_int_equal(a->image.channels, b->image.channels);
    assert_int_equal(a->image.type, b->image.type);
    assert_int_equal(a->image.color, b->image.color);
    assert_memory_equal(a->rows, b->rows, gf_image_bytes(&a->image));
}

static void round_trips(void **state)
{
    static const uint16_t codings[] = {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_PACKBITS,
                                       COMPRESSION_ADOBE_DEFLATE, COMPRESSION_DEFLATE,
                                       COMPRESSION_ZSTD, COMPRESSION_LZMA};
    unsigned turn = 0;

    (void)state;
    for (int type = 0; type < GF_TYPE_COUNT; type++)
        for (uint32_t channels = 1; channels <= 5; channels++)
            for (size_t c = 0; c < sizeof codings / sizeof *codings; c++)
                for (int layout = 0; layout < 8; layout++, turn++) {
                    /* Its encoder takes 100 MB each time. */
                    if (codings[c] == COMPRESSION_LZMA && layout != (int)channels)
                        continue;
                    struct picture p = make((enum gf_type)type, channels, 1 + turn % 37,
                                            1 + turn % 23, 1), q;
                    struct gf_tiff_layout *t = &p.image.meta.tiff;
                    *t = (struct gf_tiff_layout){
                        .known = true, .compression = codings[c], .predictor = (uint16_t)(turn % 4),
                        .planar = layout & 1 ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG,
                        .tile_width = layout & 2 ? 16 : 0, .tile_height = layout & 2 ? 32 : 0,
                        .rows_per_strip = 1 + turn % 9, .big_endian = layout & 4,
                        .bigtiff = turn % 2, .photometric = 1, .orientation = 1 + turn % 8};
                    must_write(&p, 1, 1 + turn % 7, NULL);
                    must_read(&q, 0, 1 + turn % 5);
                    if (memcmp(p.rows, q.rows, gf_image_bytes(&p.image)) != 0)
                        fail_msg("%s x %u, compression %u, predictor %u, layout %d",
                                 gf_type_name(p.image.type), channels, codings[c], t->predictor,
                                 layout);
                    same_samples(&p, &q);
                    if (codings[c] == COMPRESSION_DEFLATE)
                        t->compression = COMPRESSION_ADOBE_DEFLATE;
                    assert_int_equal(q.image.meta.tiff.compression, t->compression);
                    assert_int_equal(q.image.meta.tiff.big_endian,
                                     q.image.meta.tiff.predictor != 3 && t->big_endian);
                    assert_int_equal(q.image.meta.tiff.bigtiff, t->bigtiff);
                    assert_int_equal(q.image.meta.tiff.tile_width, t->tile_width);
                    assert_int_equal(q.image.meta.tiff.tile_height, t->tile_height);
                    assert_int_equal(q.image.meta.tiff.orientation, t->orientation);
                    if (channels > 1)
                        assert_int_equal(q.image.meta.tiff.planar, t->planar);
                    picture_free(&p);
                    picture_free(&q);
                }
    assert_int_equal(gf_memory_used(), 0);
}

static void widths(void **state)
{
    (void)state;
    for (uint64_t w = 1; w <= 17; w++)
        for (uint64_t h = 1; h <= 17; h++) {
            struct picture p = make(GF_U16, 3, w, h, 1), q;
            must_write(&p, 1, 4, NULL);
            must_read(&q, 0, 3);
            same_samples(&p, &q);
            assert_int_equal(q.image.meta.tiff.compression, COMPRESSION_NONE);
            picture_free(&p);
            picture_free(&q);
        }
}

static void pages(void **state)
{
    struct picture p[5], q;

    (void)state;
    for (unsigned i = 0; i < 5; i++)
        p[i] = make((enum gf_type)i, 1 + i % 4, 3 + i, 9 - i, 1);
    for (int coding = 0; coding < 3; coding++) {
        must_write(p, 5, 2, coding == 0 ? NULL : coding == 1 ? "lzw" : "deflate");
        for (unsigned i = 0; i < 5; i++) {
            must_read(&q, i, 4);
            same_samples(&p[i], &q);
            picture_free(&q);
        }
    }
    for (unsigned i = 0; i < 5; i++)
        picture_free(&p[i]);
}

/* A volume stays one, with its voxel size, also when it had no description. */
static void volumes(void **state)
{
    (void)state;
    for (int known = 0; known < 2; known++)
        for (uint32_t channels = 1; channels <= 4; channels++) {
            struct picture p = make(GF_F32, channels, 5, 4, 6), q;
            if (known) {
                p.image.meta.spacing[0] = 0.25;
                p.image.meta.spacing[1] = 0.5;
                p.image.meta.spacing[2] = 1.7;
            }
            must_write(&p, 1, 3, channels % 2 ? "lzw" : NULL);
            must_read(&q, 0, 5);
            same_samples(&p, &q);
            assert_true(q.image.volume);
            for (int i = 0; i < 3; i++)
                assert_true(fabs(q.image.meta.spacing[i] - p.image.meta.spacing[i]) < 1e-7);
            picture_free(&p);
            /* The same with another voxel size and fewer planes. */
            q.image.meta.spacing[2] = 3;
            q.image.depth = 4;
            must_write(&q, 1, 3, NULL);
            must_read(&p, 0, 5);
            same_samples(&q, &p);
            assert_true(fabs(p.image.meta.spacing[2] - 3) < 1e-12);
            picture_free(&p);
            picture_free(&q);
        }
}

static void metadata(void **state)
{
    static const char *const keys[] = {"Title", "Author", "Copyright", "Software", "Creation Time",
                                       "Make", "Model"};
    static const char *const values[] = {"A title", "J. D\xc3\xb6rr", "(c) nobody", "none",
                                         "2024:01:31 12:00:00", "Maker", "Model 1"};
    struct picture p = make(GF_U8, 3, 4, 4, 1), q;
    struct gf_meta *m = &p.image.meta;

    (void)state;
    assert_int_equal(gf_blob_set(&m->icc, "not really a profile", 20, NULL), GF_OK);
    assert_int_equal(gf_blob_set(&m->xmp, "<x:xmpmeta/>", 12, NULL), GF_OK);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(gf_meta_add_text(m, keys[i], values[i], NULL), GF_OK);
    m->description = gf_alloc(32, 1);
    strcpy(m->description, "two lines\nof text");
    for (int unit = 0; unit < 4; unit++) {
        m->resolution[0] = 100;
        m->resolution[1] = 300.5;
        m->resolution_unit = unit;
        must_write(&p, 1, 4, NULL);
        must_read(&q, 0, 4);
        assert_string_equal(q.image.meta.description, m->description);
        assert_int_equal(q.image.meta.icc.size, 20);
        assert_memory_equal(q.image.meta.icc.data, m->icc.data, 20);
        assert_int_equal(q.image.meta.xmp.size, 12);
        assert_int_equal(q.image.meta.text_count, 7);
        for (size_t i = 0; i < 7; i++) {
            assert_string_equal(q.image.meta.texts[i].key, keys[i]);
            assert_string_equal(q.image.meta.texts[i].value, values[i]);
        }
        assert_int_equal(q.image.meta.resolution_unit, unit == 1 ? 3 : unit);
        assert_true(fabs(q.image.meta.resolution[0] - (unit == 1 ? 1 : 100)) < 1e-6);
        assert_true(fabs(q.image.meta.resolution[1] - (unit == 1 ? 3.005 : 300.5)) < 1e-4);
        /* A resolution is no voxel size. */
        assert_true(q.image.meta.spacing[0] == 0);
        picture_free(&q);
    }
    picture_free(&p);
}

/* Codings that would lose samples give way; predictors fit the new type. */
static void codings_that_do_not_fit(void **state)
{
    static const uint16_t lossy[] = {COMPRESSION_JPEG, COMPRESSION_OJPEG, COMPRESSION_WEBP,
                                     COMPRESSION_CCITTFAX4, COMPRESSION_CCITTFAX3, 12345};
    struct picture q;

    (void)state;
    gf_message_set_verbosity(GF_QUIET);
    for (int type = 0; type < GF_TYPE_COUNT; type++) {
        struct picture p = make((enum gf_type)type, 3, 20, 20, 1);
        p.image.meta.tiff = (struct gf_tiff_layout){.known = true, .planar = 1,
                                                    .rows_per_strip = 5, .photometric = 2};
        for (size_t i = 0; i < sizeof lossy / sizeof *lossy; i++) {
            p.image.meta.tiff.compression = lossy[i];
            must_write(&p, 1, 20, NULL);
            must_read(&q, 0, 20);
            same_samples(&p, &q);
            assert_int_equal(q.image.meta.tiff.compression, COMPRESSION_ADOBE_DEFLATE);
            picture_free(&q);
        }
        p.image.meta.tiff.compression = COMPRESSION_LZW;
        p.image.meta.tiff.predictor = 3;
        must_write(&p, 1, 20, NULL);
        must_read(&q, 0, 20);
        same_samples(&p, &q);
        assert_int_equal(q.image.meta.tiff.predictor, gf_type_row(p.image.type)->is_float ? 3 : 2);
        picture_free(&q);
        picture_free(&p);
    }
    gf_message_set_verbosity(GF_NORMAL);
}

static void options(void **state)
{
    static const char *const names[] = {"none", "lzw", "deflate", "packbits", "zstd", "lzma"};
    static const uint16_t codes[] = {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE,
                                     COMPRESSION_PACKBITS, COMPRESSION_ZSTD, COMPRESSION_LZMA};
    static const char *const unknown[] = {"lwz", "", "jpeg", "webp", "zip", "none lzw", "LZW"};
    struct picture p = make(GF_U8, 3, 40, 40, 1), q;
    char all[64] = "";
    struct gf_error e;

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(gf_tiff_compression_known(names[i]), TIFFIsCODECConfigured(codes[i]));
        if (!TIFFIsCODECConfigured(codes[i]))
            continue;
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", *all ? " " : "", names[i]);
        must_write(&p, 1, 40, names[i]);
        must_read(&q, 0, 40);
        assert_int_equal(q.image.meta.tiff.compression, codes[i]);
        same_samples(&p, &q);
        picture_free(&q);
    }
    assert_string_equal(gf_tiff_compression_names(), all);
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        assert_false(gf_tiff_compression_known(unknown[i]));
        assert_int_equal(write_pictures(&p, 1, 40, unknown[i], &e), GF_EUSAGE);
        assert_non_null(strstr(e.text, all));
    }
    picture_free(&p);
}

/* A dictionary that is larger than what it is for takes memory for nothing. */
static void dictionaries(void **state)
{
    static const struct {
        uint32_t rows, tile_width, tile_height;
        int level, wanted;
    } cases[] = {{64, 0, 0, 9, 6}, {64, 0, 0, 3, 3}, {64, 0, 0, -1, -1}, {8192, 0, 0, 9, 6},
                 {8193, 0, 0, 9, 7}, {8193, 0, 0, 6, 6}, {0, 8192, 4096, 9, 8},
                 {0, 8192, 8192, 9, 9}, {0, 8192, 8192, 8, 8}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gf_writer w = {.name = "x", .image = {.width = 1024, .height = 20000, .depth = 1,
                              .channels = 1, .type = GF_U8, .alpha = -1}};
        struct gf_tiff_coding coding;
        bool said = false;
        w.options = (struct gf_write_options){.compression = "lzma", .level = cases[i].level};
        w.image.meta.tiff = (struct gf_tiff_layout){
            .known = true, .compression = COMPRESSION_NONE, .planar = 1, .photometric = 1,
            .rows_per_strip = cases[i].rows, .tile_width = cases[i].tile_width,
            .tile_height = cases[i].tile_height};
        gf_tiff_choose_coding(&w, &coding, &said);
        assert_int_equal(coding.level, cases[i].wanted);
    }
}

static void refusals(void **state)
{
    struct gf_image image = {.width = 1, .height = 1, .depth = 1, .channels = 65535,
                             .type = GF_U8, .alpha = -1};
    struct gf_error e;

    (void)state;
    assert_int_equal(gf_format_tiff.accepts(&image, 1, "x", &e), GF_OK);
    image.channels = 65536;
    assert_int_equal(gf_format_tiff.accepts(&image, 1, "x", &e), GF_EFEATURE);
    image.channels = 1;
    image.width = UINT64_C(1) << 32;
    assert_int_equal(gf_format_tiff.accepts(&image, 1, "x", &e), GF_EFEATURE);
    image.width = 0;
    assert_int_equal(gf_format_tiff.accepts(&image, 1, "x", &e), GF_EFEATURE);
}

/* ---- files that libtiff compressed ---- */

static void write_by_libtiff(const uint8_t *samples, unsigned w, unsigned h, unsigned spp,
                             unsigned bits, unsigned format, unsigned compression,
                             unsigned predictor, unsigned planar, unsigned rows, unsigned tile,
                             unsigned photometric, const char *mode)
{
    TIFF *t = TIFFOpen(test_path, mode);
    unsigned per = planar == 2 ? 1 : spp, planes = planar == 2 ? spp : 1;
    size_t bytes = bits / 8;

    assert_non_null(t);
    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, w);
    TIFFSetField(t, TIFFTAG_IMAGELENGTH, h);
    TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, spp);
    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, bits);
    TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, format);
    TIFFSetField(t, TIFFTAG_PLANARCONFIG, planar);
    TIFFSetField(t, TIFFTAG_PHOTOMETRIC, photometric);
    TIFFSetField(t, TIFFTAG_COMPRESSION, compression);
    if (predictor > 1)
        TIFFSetField(t, TIFFTAG_PREDICTOR, predictor);
    if (compression == COMPRESSION_WEBP)
        TIFFSetField(t, TIFFTAG_WEBP_LOSSLESS, 1);
    if (photometric == PHOTOMETRIC_YCBCR) {
        TIFFSetField(t, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        TIFFSetField(t, TIFFTAG_YCBCRSUBSAMPLING, 2, 2);
    }
    if (tile) {
        TIFFSetField(t, TIFFTAG_TILEWIDTH, tile);
        TIFFSetField(t, TIFFTAG_TILELENGTH, tile);
    } else {
        TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, rows);
    }
    for (unsigned plane = 0; plane < planes; plane++)
        for (unsigned y = 0; y < h; y += tile ? tile : rows)
            for (unsigned x = 0; x < w; x += tile ? tile : w) {
                unsigned uw = tile ? tile : w, uh = tile ? tile : rows < h - y ? rows : h - y;
                uint8_t *unit = calloc((size_t)uw * uh * per, bytes);
                for (unsigned v = 0; v < uh && y + v < h; v++)
                    for (unsigned u = 0; u < uw && x + u < w; u++)
                        for (unsigned s = 0; s < per; s++) {
                            size_t from = ((size_t)(y + v) * w + x + u) * spp + plane + s;
                            memcpy(unit + (((size_t)v * uw + u) * per + s) * bytes,
                                   samples + from * bytes, bytes);
                        }
                if (tile)
                    assert_true(TIFFWriteTile(t, unit, x, y, 0, (uint16_t)plane) > 0);
                else
                    assert_true(TIFFWriteEncodedStrip(
                                    t, TIFFComputeStrip(t, y, (uint16_t)plane), unit,
                                    (tmsize_t)((size_t)uw * uh * per * bytes)) > 0);
                free(unit);
            }
    TIFFClose(t);
}

static void codings_of_libtiff(void **state)
{
    static const unsigned codings[] = {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_PACKBITS,
                                       COMPRESSION_DEFLATE, COMPRESSION_ADOBE_DEFLATE,
                                       COMPRESSION_ZSTD, COMPRESSION_LZMA, COMPRESSION_LERC};
    static const struct {
        unsigned bits, format;
    } types[] = {{8, 1}, {16, 1}, {16, 2}, {32, 1}, {32, 3}, {64, 3}, {16, 3}};
    static const char *const modes[] = {"wl", "wb", "wl8", "wb8"};
    unsigned turn = 0;

    (void)state;
    for (size_t c = 0; c < sizeof codings / sizeof *codings; c++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++)
            for (unsigned predictor = 1; predictor <= 3; predictor++)
                for (unsigned planar = 1; planar <= 2; planar++)
                    for (unsigned shape = 0; shape < 4; shape++, turn++) {
                        static const unsigned rows[] = {1, 2, 6, 0};
                        static uint8_t samples[19 * 6 * 3 * 8];
                        struct picture p;
                        bool takes = codings[c] != COMPRESSION_NONE &&
                                     codings[c] != COMPRESSION_PACKBITS &&
                                     codings[c] != COMPRESSION_LERC;
                        if (!TIFFIsCODECConfigured((uint16_t)codings[c]) ||
                            (codings[c] == COMPRESSION_LZMA && shape != t % 4) ||
                            (predictor > 1 && !takes) || (predictor == 3 && types[t].format != 3) ||
                            (codings[c] == COMPRESSION_LERC && types[t].bits == 16 &&
                             types[t].format == 3))
                            continue;
                        /* libtiff writes predictor 3 in big-endian files the wrong way round. */
                        if (predictor == 3 && modes[turn % 4][1] == 'b')
                            continue;
                        for (size_t i = 0; i < sizeof samples; i++)
                            samples[i] = i % 7 == 0 ? 0 : (uint8_t)next_random(&seed);
                        if (codings[c] == COMPRESSION_LERC && types[t].format == 3)
                            memset(samples, 0x3f, sizeof samples); /* no NaN there */
                        write_by_libtiff(samples, 19, 6, 3, types[t].bits, types[t].format,
                                         codings[c], predictor, planar, rows[shape],
                                         shape == 3 ? 16 : 0, PHOTOMETRIC_RGB, modes[turn % 4]);
                        must_read(&p, 0, 1 + turn % 7);
                        assert_int_equal(gf_type_bytes(p.image.type) * 8, types[t].bits);
                        if (memcmp(p.rows, samples, 19 * 6 * 3 * types[t].bits / 8) != 0)
                            fail_msg("compression %u, %u bits, format %u, predictor %u, planar %u, "
                                     "shape %u, %s", codings[c], types[t].bits, types[t].format,
                                     predictor, planar, shape, modes[turn % 4]);
                        picture_free(&p);
                    }
    assert_int_equal(gf_memory_used(), 0);
}

static void fax(void **state)
{
    static const unsigned codings[] = {COMPRESSION_CCITTRLE, COMPRESSION_CCITTFAX3,
                                       COMPRESSION_CCITTFAX4, COMPRESSION_LZW, COMPRESSION_NONE};

    (void)state;
    for (size_t c = 0; c < sizeof codings / sizeof *codings; c++)
        for (unsigned w = 1; w <= 33; w++)
            for (unsigned white = 0; white < 2; white++)
                for (unsigned content = 0; content < 12; content++) {
                    TIFF *t = TIFFOpen(test_path, w % 2 ? "wb" : "wl");
                    /* Rows of the very pattern that the reader looks for are samples too. */
                    uint8_t bytes[3][5];
                    struct picture p;
                    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, w);
                    TIFFSetField(t, TIFFTAG_IMAGELENGTH, 3);
                    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, 1);
                    TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, 1);
                    TIFFSetField(t, TIFFTAG_PHOTOMETRIC, white ? 0 : 1);
                    TIFFSetField(t, TIFFTAG_COMPRESSION, codings[c]);
                    TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, 3);
                    for (unsigned y = 0; y < 3; y++) {
                        for (unsigned i = 0; i < 5; i++)
                            bytes[y][i] = content > 1 ? (uint8_t)next_random(&seed)
                                                      : content == 1 ? 0xa5 : 0x5a;
                        uint8_t copy[5];
                        memcpy(copy, bytes[y], 5);
                        assert_int_equal(TIFFWriteScanline(t, copy, y, 0), 1);
                    }
                    TIFFClose(t);
                    must_read(&p, 0, 2);
                    for (unsigned y = 0; y < 3; y++)
                        for (unsigned x = 0; x < w; x++) {
                            unsigned bit = bytes[y][x / 8] >> (7 - x % 8) & 1;
                            assert_int_equal(p.rows[y * w + x], (bit ^ white) * 255);
                        }
                    picture_free(&p);
                }
}

/* JPEG loses, but not much: a smooth picture comes back within a few steps, as RGB. */
static void jpeg(void **state)
{
    static uint8_t samples[45 * 33 * 3];

    (void)state;
    for (unsigned y = 0; y < 33; y++)
        for (unsigned x = 0; x < 45; x++) {
            uint8_t *at = samples + (y * 45 + x) * 3;
            at[0] = (uint8_t)(60 + 3 * x);
            at[1] = (uint8_t)(200 - 4 * y);
            at[2] = (uint8_t)(40 + 2 * x + y);
        }
    for (unsigned tile = 0; tile <= 16; tile += 16) {
        struct picture p;
        write_by_libtiff(samples, 45, 33, 3, 8, 1, COMPRESSION_JPEG, 1, 1, 16, tile,
                         PHOTOMETRIC_YCBCR, "w");
        must_read(&p, 0, 5);
        assert_int_equal(p.image.color, GF_RGB);
        for (unsigned y = 0; y < 32; y++)
            for (unsigned x = 0; x < 44; x++)
                for (unsigned k = 0; k < 3; k++) {
                    size_t at = (y * 45 + x) * 3 + k;
                    assert_true(abs(p.rows[at] - samples[at]) <= 40);
                }
        picture_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips),
        cmocka_unit_test(widths),
        cmocka_unit_test(pages),
        cmocka_unit_test(volumes),
        cmocka_unit_test(metadata),
        cmocka_unit_test(codings_that_do_not_fit),
        cmocka_unit_test(options),
        cmocka_unit_test(dictionaries),
        cmocka_unit_test(refusals),
        cmocka_unit_test(codings_of_libtiff),
        cmocka_unit_test(fax),
        cmocka_unit_test(jpeg),
    };
    int failed;

    test_path_make();
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(test_path);
    return failed;
}
