/* Damaged TIFFs: every truncation and every bit turned round, and memory that runs out. */
#include "tiff_make.h"

#include <tiffio.h>
#include <zlib.h>

static uint8_t seed_file[1 << 16], good[1 << 12];
static size_t seed_size, good_size;
static size_t packed_at, packed_size; /* the compressed samples in the seed */

static void keep_seed(void)
{
    int fd = open(test_path, O_RDONLY);
    ssize_t got = read(fd, seed_file, sizeof seed_file);
    struct picture p;
    TIFF *t;

    close(fd);
    assert_true(got > 0);
    seed_size = (size_t)got;
    must_read(&p, 0, 3);
    good_size = (size_t)gf_image_bytes(&p.image);
    assert_true(good_size <= sizeof good);
    memcpy(good, p.rows, good_size);
    picture_free(&p);
    t = TIFFOpen(test_path, "r");
    packed_at = (size_t)TIFFGetStrileOffset(t, 0);
    packed_size = (size_t)TIFFGetStrileByteCount(t, 0);
    TIFFClose(t);
}

/* A small gray image in one strip by our own writer. */
static void make_seed(const char *compression, bool tiled, bool big)
{
    struct picture p = {.image = {.width = 11, .height = 7, .depth = 1, .channels = 1,
                                  .type = GF_U16, .color = GF_GRAY, .alpha = -1}};
    uint32_t random = 3;

    p.rows = malloc(11 * 7 * 2);
    for (int i = 0; i < 11 * 7 * 2; i++)
        p.rows[i] = i % 2 ? 1 : (uint8_t)(i + next_random(&random) % 3);
    p.image.meta.tiff = (struct gf_tiff_layout){.known = true, .compression = COMPRESSION_NONE,
                                                .planar = 1, .rows_per_strip = 7, .bigtiff = big,
                                                .tile_width = tiled ? 16 : 0,
                                                .tile_height = tiled ? 16 : 0, .photometric = 1};
    must_write(&p, 1, 7, compression);
    keep_seed();
    picture_free(&p);
}

static bool same(const struct picture *p)
{
    return gf_image_bytes(&p->image) == good_size && p->image.type == GF_U16 &&
           p->image.width == 11 && memcmp(p->rows, good, good_size) == 0;
}

static const char *const codings[] = {"none", "lzw", "deflate", "packbits", "zstd"};

static void truncations(void **state)
{
    (void)state;
    gf_message_set_verbosity(GF_QUIET);
    for (int kind = 0; kind < 20; kind++) {
        make_seed(codings[kind / 4], kind & 1, kind & 2);
        for (size_t size = 0; size < seed_size; size++) {
            struct picture p;
            struct gf_error e = {{0}};
            uint64_t images;
            enum gf_status status;
            save(seed_file, size);
            status = read_picture(&p, 0, 3, false, &images, &e);
            if (status != GF_EINPUT)
                fail_msg("%s cut to %zu of %zu bytes: status %d %s", codings[kind / 4], size,
                         seed_size, status, e.text);
            assert_true(e.text[0] != 0);
            assert_int_equal(gf_memory_used(), 0);
        }
    }
    gf_message_set_verbosity(GF_NORMAL);
}

static void flipped_bits(void **state)
{
    (void)state;
    gf_message_set_verbosity(GF_QUIET);
    for (int kind = 0; kind < 20; kind++) {
        size_t wrong = 0;
        make_seed(codings[kind / 4], kind & 1, kind & 2);
        for (size_t bit = 0; bit < 8 * seed_size; bit++) {
            struct picture p;
            struct gf_error e = {{0}};
            uint64_t images;
            enum gf_status status;
            bool in_samples = bit / 8 >= packed_at && bit / 8 < packed_at + packed_size;
            seed_file[bit / 8] ^= (uint8_t)(1 << bit % 8);
            save(seed_file, seed_size);
            seed_file[bit / 8] ^= (uint8_t)(1 << bit % 8);
            status = read_picture(&p, 0, 3, false, &images, &e);
            if (status == GF_OK) {
                /* Only deflate has a checksum. */
                if (in_samples && strcmp(codings[kind / 4], "deflate") == 0 && !same(&p))
                    fail_msg("deflate: bit %zu of byte %zu of the stream: wrong samples", bit % 8,
                             bit / 8 - packed_at);
                wrong += in_samples && !same(&p);
                picture_free(&p);
            } else {
                assert_true(e.text[0] != 0);
            }
            assert_int_equal(gf_memory_used(), 0);
        }
        if (kind < 4) /* every bit counts */
            assert_int_equal(wrong, 8 * 11 * 7 * 2);
    }
    gf_message_set_verbosity(GF_NORMAL);
}

/* A stream that goes on behind what the strip needs, with a wrong checksum: libtiff alone
 * takes it for good. */
static void deflate_of_more(void **state)
{
    static struct file file;
    static const uint64_t none[1];
    uint8_t row[100], strip[256];

    (void)state;
    for (int i = 0; i < 100; i++)
        row[i] = (uint8_t)(i * 7);
    for (int damaged = 0; damaged < 2; damaged++) {
        for (unsigned more = 0; more < 20; more++) {
            uLongf size = sizeof strip;
            struct page page = {.width = 10, .height = 4, .samples = 1, .bits = 8, .format = 1,
                                .photometric = 1, .rows_per_strip = 4, .compression = 8,
                                .value = none, .strip = strip};
            struct picture p;
            struct gf_error e;
            uint64_t images;
            enum gf_status status;
            assert_int_equal(compress2(strip, &size, row, 40 + more, 6), Z_OK);
            page.strip_size = size;
            if (damaged)
                strip[size - 1] ^= 1;
            start_file(&file, false, false);
            add_page(&file, &page, first_link(&file));
            save(file.data, file.size);
            status = read_picture(&p, 0, 4, false, &images, &e);
            assert_int_equal(status, damaged || more > 0 ? GF_EINPUT : GF_OK);
            if (status == GF_OK)
                picture_free(&p);
        }
    }
}

static void fax_that_ends_early(void **state)
{
    static uint8_t data[1 << 12];
    size_t size, ended = 0;
    TIFF *t = TIFFOpen(test_path, "w");
    int fd;

    (void)state;
    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, 40);
    TIFFSetField(t, TIFFTAG_IMAGELENGTH, 30);
    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, 1);
    TIFFSetField(t, TIFFTAG_PHOTOMETRIC, 0);
    TIFFSetField(t, TIFFTAG_COMPRESSION, COMPRESSION_CCITTFAX4);
    TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, 30);
    for (unsigned y = 0; y < 30; y++) {
        uint8_t row[5] = {0xf0, (uint8_t)y, 0x0f, (uint8_t)(y * 9), 0x33};
        TIFFWriteScanline(t, row, y, 0);
    }
    TIFFClose(t);
    fd = open(test_path, O_RDONLY);
    size = (size_t)read(fd, data, sizeof data);
    close(fd);
    t = TIFFOpen(test_path, "r");
    packed_at = (size_t)TIFFGetStrileOffset(t, 0);
    packed_size = (size_t)TIFFGetStrileByteCount(t, 0);
    TIFFClose(t);
    /* The strip's end replaced by the code that ends a page, at each byte. */
    for (size_t at = packed_at; at + 3 < packed_at + packed_size; at++) {
        uint8_t copy[sizeof data];
        struct picture p;
        struct gf_error e;
        uint64_t images;
        memcpy(copy, data, size);
        memset(copy + at, 0, packed_at + packed_size - at);
        copy[at + 1] = 0x10;
        copy[at + 2] = 0x01;
        save(copy, size);
        if (read_picture(&p, 0, 7, false, &images, &e) == GF_OK)
            picture_free(&p);
        else
            ended++;
    }
    assert_int_equal(ended, packed_size - 3);
    /* A page that ends as it should, but after 30 rows of the 31 the tags promise. */
    for (size_t at = 0; at + 12 < size; at++)
        if (data[at + 1] == 1 && (data[at] == 1 || data[at] == 22) && data[at + 8] == 30)
            data[at + 8] = 31;
    save(data, size);
    {
        struct picture p;
        struct gf_error e;
        uint64_t images;
        assert_int_equal(read_picture(&p, 0, 7, false, &images, &e), GF_EINPUT);
    }
}

/* The sizes that the tags promise against what the file and the memory can hold. */
static void liars(void **state)
{
    static struct file file;
    static const uint64_t none[1];
    static const uint8_t strip[16];
    static const struct {
        unsigned width, height, samples, bits, compression;
        enum gf_status status;
    } rows[] = {
        {4000000000u, 4000000000u, 1, 8, 1, GF_EINPUT},
        {4000000000u, 4000000000u, 60, 64, 1, GF_EINPUT},
        {100000, 100000, 3, 16, 1, GF_EINPUT},
        {100000, 100000, 1, 8, 8, GF_EINPUT},
        {100000, 100000, 1, 8, 5, GF_EINPUT},
        {100000, 100000, 1, 8, 32773, GF_EINPUT},
        {60000, 60000, 1, 8, 50000, GF_EMEMORY},
        {60000, 60000, 1, 8, 34925, GF_EMEMORY},
        {0, 5, 1, 8, 1, GF_EINPUT},
        {5, 0, 1, 8, 1, GF_EINPUT},
        {5, 5, 1, 33, 1, GF_EFEATURE},
        {5, 5, 1, 8, 4242, GF_EFEATURE},
        {5, 5, 1, 1, 32771, GF_EFEATURE},
    };

    (void)state;
    gf_memory_set_limit(64u << 20);
    gf_message_set_verbosity(GF_QUIET);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct page page = {.width = rows[i].width, .height = rows[i].height,
                            .samples = rows[i].samples, .bits = rows[i].bits, .format = 1,
                            .photometric = 1, .rows_per_strip = UINT32_MAX,
                            .compression = rows[i].compression, .value = none, .strip = strip,
                            .strip_size = sizeof strip};
        struct picture p;
        struct gf_error e;
        uint64_t images;
        enum gf_status status;
        if (rows[i].height == 0)
            page.rows_per_strip = 1;
        if (!TIFFIsCODECConfigured((uint16_t)rows[i].compression) && rows[i].compression > 33000)
            continue;
        start_file(&file, false, false);
        {
            /* add_page divides by the rows: the size is put in afterwards. */
            unsigned width = page.width, height = page.height;
            page.width = page.height = 1;
            add_page(&file, &page, first_link(&file));
            for (size_t at = 0; at + 12 < file.size; at++) {
                if (memcmp(file.data + at, "\0\1\4\0\1\0\0\0", 8) == 0)
                    put_at(&file, at + 8, width, 4);
                if (memcmp(file.data + at, "\1\1\4\0\1\0\0\0", 8) == 0)
                    put_at(&file, at + 8, height, 4);
            }
        }
        save(file.data, file.size);
        status = read_picture(&p, 0, 1, false, &images, &e);
        if (status != rows[i].status)
            fail_msg("row %zu: status %d, not %d: %s", i, status, rows[i].status, e.text);
        assert_int_equal(gf_memory_used(), 0);
        assert_true(gf_memory_peak() < 64u << 20);
    }
    gf_memory_set_limit(UINT64_MAX);
    gf_message_set_verbosity(GF_NORMAL);
}

/* The n-th allocation fails, for every n, once and for good. */
static void memory_runs_out(void **state)
{
    struct picture p = {.image = {.width = 40, .height = 20, .depth = 3, .channels = 4,
                                  .type = GF_F32, .color = GF_OTHER, .alpha = -1}};

    (void)state;
    p.rows = calloc(1, (size_t)gf_image_bytes(&p.image));
    for (int layout = 0; layout < 8; layout++) {
        p.image.meta.tiff = (struct gf_tiff_layout){
            .known = true, .compression = layout & 1 ? COMPRESSION_ADOBE_DEFLATE : COMPRESSION_LZW,
            .planar = layout & 2 ? 2 : 1, .tile_width = layout & 4 ? 16 : 0, .predictor = 3,
            .tile_height = layout & 4 ? 16 : 0, .rows_per_strip = 6, .photometric = 1,
            .pages_per_plane = layout == 3 ? 2 : 1};
        for (int sticky = 0; sticky < 2; sticky++) {
            for (uint64_t n = 1;; n++) {
                struct gf_error e = {{0}};
                enum gf_status status;
                uint64_t used = gf_memory_used();
                gf_alloc_fail_at(n, sticky);
                status = write_pictures(&p, 1, 7, NULL, &e);
                bool reached = gf_alloc_calls() >= n;
                gf_alloc_fail_at(0, 0);
                assert_int_equal(gf_memory_used(), used);
                if (!reached) {
                    assert_int_equal(status, GF_OK);
                    break;
                }
                if (status == GF_OK) /* some parts can do without */
                    continue;
                assert_int_equal(status, GF_EMEMORY);
                assert_true(e.text[0] != 0);
            }
            for (uint64_t n = 1;; n++) {
                struct picture q;
                struct gf_error e = {{0}};
                uint64_t images, used = gf_memory_used();
                enum gf_status status;
                gf_alloc_fail_at(n, sticky);
                status = read_picture(&q, 0, 7, false, &images, &e);
                bool reached = gf_alloc_calls() >= n;
                gf_alloc_fail_at(0, 0);
                if (!reached) {
                    assert_int_equal(status, GF_OK);
                    picture_free(&q);
                    break;
                }
                assert_int_equal(status, GF_EMEMORY);
                assert_true(e.text[0] != 0);
                assert_int_equal(gf_memory_used(), used);
            }
        }
    }
    picture_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truncations),
        cmocka_unit_test(flipped_bits),
        cmocka_unit_test(deflate_of_more),
        cmocka_unit_test(fax_that_ends_early),
        cmocka_unit_test(liars),
        cmocka_unit_test(memory_runs_out),
    };
    int failed;

    test_path_make();
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(test_path);
    return failed;
}
