/* PBM, PGM, PPM, PAM and PFM: literal files with their samples, and what is written. */
#include "io_test.h"

#include <float.h>
#include <math.h>

/* A text literal as file bytes, zeros within included. */
#define FILE_BYTES(text) (const uint8_t *)(text), sizeof(text) - 1

static void check_bytes(const uint8_t *file, size_t size, uint64_t width, uint64_t height,
                        uint32_t channels, const uint8_t *want)
{
    struct loaded l;
    if (load_bytes(file, size, &l) != GF_OK)
        fail_msg("%s", l.error.text);
    assert_int_equal(l.image.width, width);
    assert_int_equal(l.image.height, height);
    assert_int_equal(l.image.channels, channels);
    assert_int_equal(l.image.type, GF_U8);
    assert_memory_equal(l.samples, want, width * height * channels);
    unload(&l);
}

static void check_words(const uint8_t *file, size_t size, uint64_t width, uint64_t height,
                        const uint16_t *want)
{
    struct loaded l;
    if (load_bytes(file, size, &l) != GF_OK)
        fail_msg("%s", l.error.text);
    assert_int_equal(l.image.type, GF_U16);
    assert_memory_equal(l.samples, want, width * height * l.image.channels * 2);
    unload(&l);
}

static void check_status(const uint8_t *file, size_t size, enum gf_status want)
{
    struct loaded l;
    enum gf_status status = load_bytes(file, size, &l);
    if (status != want)
        fail_msg("status %d, not %d, for a file of %zu bytes: %.20s", (int)status, (int)want, size,
                 (const char *)file);
    unload(&l);
}

static void literal_files(void **state)
{
    (void)state;
    /* Bits: 1 is black; with and without spaces between them; rows end on whole bytes. */
    check_bytes(FILE_BYTES("P1\n# a comment\n3 2\n101\n0 1 0\n"), 3, 2, 1,
                (const uint8_t[]){0, 255, 0, 255, 0, 255});
    check_bytes(FILE_BYTES("P4 9 2\n\x80\x80\x01\x00"), 9, 2, 1,
                (const uint8_t[]){0, 255, 255, 255, 255, 255, 255, 255, 0,
                                  255, 255, 255, 255, 255, 255, 255, 0, 255});
    check_bytes(FILE_BYTES("P2 2 2 # width\n15\n0 15\n7\t8"), 2, 2, 1,
                (const uint8_t[]){0, 15, 7, 8});
    check_bytes(FILE_BYTES("P3\n1 2\n255\n1 2 3\n254 255 0\n"), 1, 2, 3,
                (const uint8_t[]){1, 2, 3, 254, 255, 0});
    check_bytes(FILE_BYTES("P5 3 1 255\n\0\x7f\xff"), 3, 1, 1, (const uint8_t[]){0, 127, 255});
    check_bytes(FILE_BYTES("P6#c\n1#c\n1\n#c\n100\n\1\2\x64"), 1, 1, 3,
                (const uint8_t[]){1, 2, 100});
    /* A byte of white space right after the header is the header's; the next is data. */
    check_bytes(FILE_BYTES("P5 2 1 255\n\n "), 2, 1, 1, (const uint8_t[]){10, 32});
    check_words(FILE_BYTES("P5 2 1 65535\n\x01\x00\x00\x01"), 2, 1, (const uint16_t[]){256, 1});
    check_words(FILE_BYTES("P5 2 1 256\n\x01\x00\x00\x01"), 2, 1, (const uint16_t[]){256, 1});
    check_words(FILE_BYTES("P2 2 1 4095\n4095 17\n"), 2, 1, (const uint16_t[]){4095, 17});
    check_words(FILE_BYTES("P3 1 1 65535\n65535 0 1\n"), 1, 1, (const uint16_t[]){65535, 0, 1});
}

static void pam_files(void **state)
{
    struct loaded l;
    (void)state;
    check_bytes(FILE_BYTES("P7\nWIDTH 2\nHEIGHT 1\nDEPTH 2\nMAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\n"
                           "ENDHDR\n\1\2\3\4"), 2, 1, 2, (const uint8_t[]){1, 2, 3, 4});
    check_bytes(FILE_BYTES("P7\n#c\nTUPLTYPE BLACKANDWHITE\nMAXVAL 1\nDEPTH 1\nHEIGHT 1\nWIDTH 2\n"
                           "ENDHDR\n\0\1"), 2, 1, 1, (const uint8_t[]){0, 255});
    assert_int_equal(load_bytes(FILE_BYTES("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE "
                                           "RGB_ALPHA\nENDHDR\n\1\2\3\4"), &l), GF_OK);
    assert_int_equal(l.image.alpha, 3);
    assert_int_equal(l.image.color, GF_RGB);
    unload(&l);
    assert_int_equal(load_bytes(FILE_BYTES("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 5\nMAXVAL 255\nENDHDR\n"
                                           "\1\2\3\4\5"), &l), GF_OK);
    assert_int_equal(l.image.channels, 5);
    assert_int_equal(l.image.color, GF_OTHER);
    unload(&l);
    check_status(FILE_BYTES("P7\nWIDTH 1\nHEIGHT 1\nMAXVAL 255\nENDHDR\n\1"), GF_EINPUT);
}

static void several_images(void **state)
{
    static const uint8_t file[] = "P5 2 1 255\n\1\2P6 1 1 255\n\3\4\5\nP4 1 1\n\x80\n";
    struct loaded l;
    (void)state;
    put_file(scratch("in"), file, sizeof file - 1);
    assert_int_equal(load(scratch("in"), 1, &l), GF_OK);
    assert_int_equal(l.images, 3);
    assert_int_equal(l.image.channels, 3);
    assert_memory_equal(l.samples, "\3\4\5", 3);
    unload(&l);
    assert_int_equal(load(scratch("in"), 2, &l), GF_OK);
    assert_int_equal(l.samples[0], 0);
    unload(&l);
    assert_int_equal(load(scratch("in"), 0, &l), GF_OK);
    assert_memory_equal(l.samples, "\1\2", 2);
    unload(&l);
    check_status(FILE_BYTES("P5 2 1 255\n\1\2rubbish"), GF_EINPUT);
    check_status(FILE_BYTES("P5 2 1 255\n\1\2P5 2 1 255\n\1"), GF_EINPUT);
}

static void wrong_files(void **state)
{
    (void)state;
    check_status(FILE_BYTES("P5 1 1 100\n\x65"), GF_EINPUT);          /* above the maximum */
    check_status(FILE_BYTES("P5 1 1 256\n\x01\x01"), GF_EINPUT);
    check_status(FILE_BYTES("P2 1 1 100\n101\n"), GF_EINPUT);
    check_status(FILE_BYTES("P1 1 1\n2\n"), GF_EINPUT);
    check_status(FILE_BYTES("P5 0 1 255\n"), GF_EINPUT);
    check_status(FILE_BYTES("P5 1 1 0\n\1"), GF_EINPUT);
    check_status(FILE_BYTES("P5 1 1 65536\n\1\1"), GF_EINPUT);
    check_status(FILE_BYTES("P5 -1 1 255\n\1"), GF_EINPUT);
    check_status(FILE_BYTES("P5 x\n\1"), GF_EINPUT);
    check_status(FILE_BYTES("P5 1 1 255x\1"), GF_EINPUT);
    check_status(FILE_BYTES("P2 1 1 255\n1 2\n"), GF_EINPUT);         /* one too many */
    check_status(FILE_BYTES("P2 2 1 255\n1 x\n"), GF_EINPUT);
    check_status(FILE_BYTES("P5 9999999999999 9999999999999 255\n\1"), GF_EINPUT);
    check_status(FILE_BYTES("P5 99999999999999999999 1 255\n\1"), GF_EINPUT);
    check_status(FILE_BYTES("P3 100000 100000 255\n1 2 3"), GF_EINPUT);
    check_status(FILE_BYTES("PF\n1 1\n0\n\0\0\0\0\0\0\0\0\0\0\0\0"), GF_EINPUT);
    check_status(FILE_BYTES("Pf\n1 1\nnan\n\0\0\0\0"), GF_EINPUT);
    check_status(FILE_BYTES("Pf\n1 1\n-1.0x\n\0\0\0\0"), GF_EINPUT);
}

static void truncated_anywhere(void **state)
{
    static const struct {
        const uint8_t *data;
        size_t size;
    } files[] = {
        {FILE_BYTES("P4 9 2\n\x80\x80\x01\x00")},
        {FILE_BYTES("P5 3 2 255\n\1\2\3\4\5\6")},
        {FILE_BYTES("P6\n# c\n1 2\n65535\n\1\2\3\4\5\6\1\2\3\4\5\6")},
        {FILE_BYTES("P7\nWIDTH 2\nHEIGHT 1\nDEPTH 2\nMAXVAL 9\nENDHDR\n\1\2\3\4")},
        {FILE_BYTES("Pf\n2 1\n-1\n\0\0\x80\x3f\0\0\0\0")},
        {FILE_BYTES("P1\n3 2\n101 010")},
        {FILE_BYTES("P2 2 2\n15\n0 15\n7 8")},
        {FILE_BYTES("P3 1 1 255 0 15 7")},
    };
    (void)state;
    for (size_t i = 0; i < GF_COUNT(files); i++) {
        check_truncations(files[i].data, files[i].size);
        check_read_memory(files[i].data, files[i].size);
    }
}

static void pfm_files(void **state)
{
    static const uint8_t little[] = "Pf\n1 2\n-1.0\n\0\0\x80\x3f\0\0\0\xc0";
    static const uint8_t big[] = "Pf 1 2 2.5\n\x3f\x80\0\0\xc0\0\0\0";
    static const float want[] = {-2, 1}; /* rows go from the bottom up */
    struct loaded l;
    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(load_bytes(i ? big : little, (i ? sizeof big : sizeof little) - 1, &l),
                         GF_OK);
        assert_int_equal(l.image.type, GF_F32);
        assert_int_equal(l.image.height, 2);
        assert_memory_equal(l.samples, want, sizeof want);
        unload(&l);
    }
}

/* Every kind of image through each name it may have. */
static void written_and_read(void **state)
{
    static const struct {
        const char *name;
        uint32_t channels;
        enum gf_type type;
    } cases[] = {
        {"out.pgm", 1, GF_U8},  {"out.pgm", 1, GF_U16}, {"out.ppm", 3, GF_U8},
        {"out.ppm", 3, GF_U16}, {"out.pnm", 1, GF_U8},  {"out.pnm", 3, GF_U16},
        {"out.pam", 1, GF_U8},  {"out.pam", 2, GF_U16}, {"out.pam", 3, GF_U8},
        {"out.pam", 4, GF_U8},  {"out.pam", 4, GF_U16}, {"out.pfm", 1, GF_F32},
        {"out.pfm", 3, GF_F32},
    };
    static float values[17 * 9 * 4];
    static uint8_t samples[sizeof values];
    struct gf_error e = {{0}};
    uint32_t seed = 9;
    (void)state;
    for (size_t i = 0; i < GF_COUNT(values); i++)
        values[i] = (float)(next_random(&seed) >> 8) / 1000 - 5000;
    values[0] = NAN;
    values[1] = -INFINITY;
    values[2] = FLT_MIN / 4;
    for (size_t i = 0; i < GF_COUNT(cases); i++)
        for (uint64_t width = 1; width <= 17; width++) {
            struct gf_image image = make_image(width, 1 + width % 9, cases[i].channels,
                                               cases[i].type);
            struct loaded l;
            for (size_t k = 0; k < sizeof samples; k++)
                samples[k] = (uint8_t)(next_random(&seed) >> 8);
            if (cases[i].type == GF_F32)
                memcpy(samples, values, sizeof values);
            assert_int_equal(save(scratch(cases[i].name), &image, samples, -1, 1, &e), GF_OK);
            assert_int_equal(load(scratch(cases[i].name), 0, &l), GF_OK);
            assert_int_equal(l.image.width, image.width);
            assert_int_equal(l.image.height, image.height);
            assert_int_equal(l.image.channels, image.channels);
            assert_int_equal(l.image.type, image.type);
            assert_int_equal(l.image.color, image.color);
            assert_int_equal(l.image.alpha, image.alpha);
            assert_memory_equal(l.samples, samples, gf_image_bytes(&image));
            unload(&l);
            if (width == 5)
                check_write_memory(scratch(cases[i].name), &image, samples, 1);
        }
}

static void written_bytes(void **state)
{
    struct gf_image image = make_image(2, 1, 1, GF_U16);
    struct gf_error e = {{0}};
    uint8_t *file;
    size_t size;
    (void)state;
    assert_int_equal(save(scratch("out.pgm"), &image, (const uint16_t[]){0x1234, 5}, -1, 1, &e),
                     GF_OK);
    file = get_file(scratch("out.pgm"), &size);
    assert_int_equal(size, 17);
    assert_memory_equal(file, "P5\n2 1\n65535\n\x12\x34\0\5", 17);
    free(file);
    image = make_image(1, 2, 1, GF_F32);
    assert_int_equal(save(scratch("out.pfm"), &image, (const float[]){-2, 1}, -1, 1, &e), GF_OK);
    file = get_file(scratch("out.pfm"), &size);
    assert_int_equal(size, 20);
    assert_memory_equal(file, "Pf\n1 2\n-1.0\n\0\0\x80\x3f\0\0\0\xc0", 20);
    free(file);
}

static void refusals(void **state)
{
    static const struct {
        const char *name;
        uint32_t channels;
        enum gf_type type;
        uint64_t depth;
        const char *remedy;
    } cases[] = {
        {"x.pbm", 1, GF_U8, 1, ".pgm"},  {"x.pgm", 3, GF_U8, 1, ".ppm"},
        {"x.ppm", 1, GF_U8, 1, ".pgm"},  {"x.pnm", 4, GF_U8, 1, ".pam"},
        {"x.pnm", 2, GF_U16, 1, ".pam"}, {"x.pnm", 1, GF_F32, 1, ".pfm"},
        {"x.pnm", 1, GF_I16, 1, ".tif"}, {"x.pgm", 1, GF_U8, 5, ".tif"},
        {"x.pfm", 1, GF_U8, 1, "-t f32"}, {"x.pfm", 4, GF_F32, 1, ".tif"},
        {"x.pfm", 1, GF_F32, 2, ".tif"},
    };
    (void)state;
    for (size_t i = 0; i < GF_COUNT(cases); i++) {
        struct gf_image image = make_image(3, 3, cases[i].channels, cases[i].type);
        struct gf_error e = {{0}};
        image.depth = cases[i].depth;
        assert_int_equal(gf_format_by_path(cases[i].name)->accepts(&image, 1, cases[i].name, &e),
                         GF_EFEATURE);
        if (!strstr(e.text, cases[i].remedy))
            fail_msg("no remedy in: %s", e.text);
    }
}

static void formats_by_name(void **state)
{
    (void)state;
    assert_ptr_equal(gf_format_by_name("png"), &gf_format_png);
    assert_ptr_equal(gf_format_by_name(".PNG"), &gf_format_png);
    assert_ptr_equal(gf_format_by_name("ppm"), &gf_format_pnm);
    assert_null(gf_format_by_name("pp"));
    assert_null(gf_format_by_name(""));
    assert_ptr_equal(gf_format_by_path("a.b/c.JPEG"), &gf_format_jpeg);
    assert_ptr_equal(gf_format_by_path("c.pfm"), &gf_format_pfm);
    assert_null(gf_format_by_path("a.png/c"));
    assert_null(gf_format_by_path("c."));
    check_status(FILE_BYTES("GIF89a..........."), GF_EFEATURE);
    check_status(FILE_BYTES("no picture at all"), GF_EINPUT);
    check_status(FILE_BYTES("x"), GF_EINPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literal_files),      cmocka_unit_test(pam_files),
        cmocka_unit_test(several_images),     cmocka_unit_test(wrong_files),
        cmocka_unit_test(truncated_anywhere), cmocka_unit_test(pfm_files),
        cmocka_unit_test(written_and_read),   cmocka_unit_test(written_bytes),
        cmocka_unit_test(refusals),           cmocka_unit_test(formats_by_name),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
