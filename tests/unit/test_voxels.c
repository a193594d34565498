/* Samples behind a header or in a file of their own: checks of sizes, byte orders, conversion,
 * headers, files that headers name; gzip written in parallel; and a pair of files of which neither
 * appears without the other, whatever fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "alloc.h"
#include "folder.h"
#include "io/raw.h"
#include "io/sys.h"
#include "io/voxels.h"
#include "message.h"
#include "util.h"

#include <errno.h>
#include <zlib.h>

#define MOST ((size_t)4 << 20)

static uint8_t samples[MOST], back[MOST], content[MOST];

static void fill_samples(void)
{
    uint32_t seed = 7;
    for (size_t i = 0; i < MOST; i++) {
        seed = seed * 1103515245u + 12345u;
        samples[i] = (uint8_t)(seed >> 29);
    }
}

/* What a gzip file holds, by zlib alone; -1 when it is not one whole member. */
static ssize_t gunzip(const uint8_t *data, size_t size, uint8_t *to, size_t room)
{
    z_stream z = {0};
    ssize_t got;
    assert_int_equal(inflateInit2(&z, 16 + MAX_WBITS), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)data;
    z.avail_in = (uInt)size;
    z.next_out = to;
    z.avail_out = (uInt)room;
    got = inflate(&z, Z_FINISH) == Z_STREAM_END && z.avail_in == 0 ? (ssize_t)(room - z.avail_out)
                                                                  : -1;
    inflateEnd(&z);
    return got;
}

static size_t gzip(uint8_t *to, const void *data, size_t size)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)data;
    z.avail_in = (uInt)size;
    z.next_out = to;
    z.avail_out = (uInt)MOST;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return MOST - z.avail_out;
}

/* ---- a format for the test: "TEST", a letter, then samples ---- */

static bool make_detached, make_swapped;
static enum gf_coding make_coding;
static struct gf_voxels shape;  /* what test_open hands over, without its file */
static const char *shape_data;  /* of this name */

static enum gf_status test_open(struct gf_reader *r, struct gf_error *e)
{
    struct gf_voxels v = shape;
    char head[5];
    GF_TRY(gf_voxels_header(r, head, sizeof head, 0, e));
    assert_memory_equal(head, "TEST!", 5);
    if (shape_data)
        GF_TRY(gf_voxels_beside(r, shape_data, &v.data, e));
    return gf_voxels_open(r, &v, e);
}

static enum gf_status test_accepts(const struct gf_image *image, uint64_t images, const char *name,
                                   struct gf_error *e)
{
    (void)image, (void)images, (void)name, (void)e;
    return GF_OK;
}

static bool test_second(const char *path, const struct gf_write_options *options, char *name,
                        size_t room)
{
    (void)options;
    return make_detached && gf_voxels_data_name(path, "dat", name, room);
}

static enum gf_status test_begin(struct gf_writer *w, struct gf_error *e)
{
    char name[100];
    const struct gf_voxels_out out = {
        .header = "TEST!", .header_size = 5, .swap = make_swapped,
        .detached = test_second(w->name, NULL, name, sizeof name), .data_name = name,
        .coding = w->gzipped ? GF_GZIP : make_coding, .whole = w->gzipped};
    return gf_voxels_begin(w, &out, e);
}

static const struct gf_format test_format = {
    .name = "test", .extensions = "test", .gzip = true,
    .open = test_open, .select = gf_voxels_select, .read_rows = gf_voxels_read_rows,
    .read_samples = gf_voxels_read_samples, .finish = gf_voxels_finish, .close = gf_voxels_close,
    .accepts = test_accepts, .create = gf_voxels_create, .begin = test_begin,
    .write_rows = gf_voxels_write_rows, .complete = gf_voxels_complete,
    .discard = gf_voxels_discard, .second_file = test_second,
};

static struct gf_image make_image(uint64_t width, uint64_t height, uint64_t depth,
                                  enum gf_type type)
{
    return (struct gf_image){.width = width, .height = height, .depth = depth, .channels = 1,
                             .type = type, .color = GF_GRAY, .alpha = -1, .volume = depth > 1};
}

/* Writes `images` images out of `samples`, one behind the other, in bands. */
static enum gf_status save(const char *path, const struct gf_format *format,
                           const struct gf_image *image, uint64_t images,
                           const struct gf_write_options *options,
                           const struct gf_out_options *out_options, struct gf_error *e)
{
    struct gf_writer *w = NULL;
    const uint64_t rows = image->height * image->depth;
    const size_t row = gf_row_bytes(image);
    enum gf_status status;
    e->text[0] = '\0';
    status = gf_writer_open(&w, path, format, images, images * gf_image_bytes(image), options,
                            out_options, e);
    for (uint64_t i = 0; i < images && status == GF_OK; i++) {
        status = gf_writer_begin(w, image, e);
        for (uint64_t y = 0; y < rows && status == GF_OK; y += 37)
            status = gf_writer_rows(w, samples + (i * rows + y) * row, gf_min(37, rows - y), e);
        if (status == GF_OK)
            status = gf_writer_end(w, e);
    }
    if (status == GF_OK)
        status = gf_writer_commit(&w, e);
    gf_writer_abort(&w);
    if ((status == GF_OK) != (e->text[0] == '\0'))
        fail_msg("status %d with '%s'", (int)status, e->text);
    return status;
}

/* Reads image `index` of a file of the test's format into `back`. */
static enum gf_status load(const char *path, uint64_t index, uint64_t band, struct gf_error *e)
{
    struct gf_reader r = {.format = &test_format};
    struct gf_image image = {0};
    enum gf_status status = gf_in_open(&r.in, path, e);
    uint64_t rows = 0;
    if (status == GF_OK) {
        uint8_t head[2];
        r.name = gf_in_name(r.in);
        assert_int_equal(gf_in_read(r.in, head, 2, 0, NULL), GF_OK);
        r.gzipped = head[0] == 0x1f && head[1] == 0x8b;
        status = test_open(&r, e);
    }
    if (status == GF_OK)
        status = gf_voxels_select(&r, index, &image, e);
    rows = image.height * image.depth;
    for (uint64_t y = 0; y < rows && status == GF_OK; y += band)
        status = gf_voxels_read_rows(&r, y, gf_min(band, rows - y),
                                     back + y * gf_row_bytes(&image), e);
    if (status == GF_OK)
        status = gf_voxels_finish(&r, e);
    gf_meta_free(&image.meta);
    gf_voxels_close(&r);
    gf_in_close(&r.in);
    return status;
}

static void expect_words(const struct gf_error *e, const char *words)
{
    if (!strstr(e->text, words))
        fail_msg("'%s' is not in: %s", words, e->text);
}

/* ---- reading ---- */

static void swapping(void **state)
{
    uint16_t two[] = {0x0102, 0xfffe};
    uint32_t four[] = {0x01020304, 0xfffefdfc};
    uint64_t eight[] = {0x0102030405060708};
    uint8_t one[] = {1, 2};
    (void)state;
    gf_swap_samples(one, 2, 1);
    gf_swap_samples(two, 2, 2);
    gf_swap_samples(four, 2, 4);
    gf_swap_samples(eight, 1, 8);
    assert_memory_equal(one, "\1\2", 2);
    assert_int_equal(two[0], 0x0201);
    assert_int_equal(two[1], 0xfeff);
    assert_int_equal(four[0], 0x04030201);
    assert_int_equal(four[1], 0xfcfdfeff);
    assert_true(eight[0] == 0x0807060504030201);
}

/* Plain or deflated, the samples alone or all, one image or two, with the other byte order. */
static void round_trips(void **state)
{
    const struct gf_image image = make_image(61, 40, 30, GF_U16);
    const size_t bytes = (size_t)gf_image_bytes(&image);
    struct gf_error e = {""};
    (void)state;
    for (unsigned k = 0; k < 32; k++) {
        const bool whole = k & 1, detached = k & 2, swapped = k & 4;
        const unsigned images = k & 8 ? 2 : 1;
        const char *path = whole ? "v.test.gz" : "v.test";
        if (whole && detached)
            continue;
        make_coding = k & 16 ? GF_GZIP : GF_PLAIN;
        make_detached = detached;
        make_swapped = swapped;
        if (save(path, &test_format, &image, images, NULL, &(struct gf_out_options){0}, &e) !=
            GF_OK)
            fail_msg("%u: %s", k, e.text);
        shape = (struct gf_voxels){.image = image, .images = images, .swap = swapped,
                                   .offset = detached ? 0 : 5, .whole = whole,
                                   .coding = whole ? GF_GZIP : make_coding};
        shape_data = detached ? "v.dat" : NULL;
        for (unsigned i = images; i-- > 0;) {
            if (load(path, i, 1 + k * 7, &e) != GF_OK)
                fail_msg("%u: %s", k, e.text);
            assert_memory_equal(back, samples + i * bytes, bytes);
        }
        /* The samples are where they should be, and in that byte order. */
        if (!whole && make_coding == GF_PLAIN) {
            assert_int_equal(get(detached ? "v.dat" : path, content, MOST),
                             images * bytes + shape.offset);
            memcpy(back, content + shape.offset, bytes);
            if (swapped)
                gf_swap_samples(back, bytes / 2, 2);
            assert_memory_equal(back, samples, bytes);
        }
        if (detached)
            assert_file(path, "TEST!");
        unlink(path);
        unlink("v.dat");
    }
    make_coding = GF_PLAIN;
    make_detached = make_swapped = false;
    shape_data = NULL;
    assert_int_equal(entries("."), 0);
    assert_int_equal(gf_memory_used(), 0);
}

static void to_float(const struct gf_voxels *v, const void *stored, void *made, uint64_t count)
{
    const int16_t *from = stored;
    float *to = made;
    for (uint64_t i = 0; i < count; i++)
        to[i] = (float)(from[i] * v->scale[0] + v->scale[1]);
}

static void conversion(void **state)
{
    const struct gf_image image = make_image(301, 200, 3, GF_F32);
    const uint64_t count = 301 * 200 * 3;
    struct gf_error e = {""};
    (void)state;
    memcpy(content, "TEST!", 5);
    memcpy(content + 5, samples, count * 2);
    put("in", content, 5 + count * 2);
    shape = (struct gf_voxels){.image = image, .images = 1, .offset = 5, .stored_type = GF_I16,
                               .scale = {0.5, -3}, .convert = to_float, .swap = true};
    for (uint64_t band = 1; band <= 600; band = band * 5 + 3) {
        if (load("in", 0, band, &e) != GF_OK)
            fail_msg("%s", e.text);
        for (uint64_t i = 0; i < count; i++) {
            int16_t stored = (int16_t)(samples[2 * i] << 8 | samples[2 * i + 1]);
            float got;
            memcpy(&got, back + 4 * i, 4);
            assert_true(got == stored * 0.5f - 3);
        }
    }
    /* A file one byte too short, and one too long. */
    put("in", content, 4 + count * 2);
    assert_int_equal(load("in", 0, 10, &e), GF_EINPUT);
    expect_words(&e, "it is truncated");
    put("in", content, 6 + count * 2);
    assert_int_equal(load("in", 0, 10, &e), GF_EINPUT);
    expect_words(&e, "what follows them is unknown");
    shape.more = true;
    assert_int_equal(load("in", 0, 10, &e), GF_OK);
    unlink("in");
}

/* Headers that promise what no file of this size holds, told before memory is asked for. */
static void promises(void **state)
{
    static const struct {
        uint64_t width, height, depth, images, offset;
        const char *words;
    } rows[] = {
        {1000, 1000, 1000, 1, 5, "cannot hold"},
        {UINT64_MAX, 2, 2, 1, 5, ""},
        {UINT64_C(1) << 31, UINT64_C(1) << 31, 1, 1, 5, ""},
        {UINT64_C(1) << 30, UINT64_C(1) << 30, 1, UINT64_C(1) << 40, 5, "more bytes than any"},
        {10, 10, 10, 0, 5, "or none"},
        {0, 10, 10, 1, 5, ""},
        {10, 10, 10, 1, UINT64_MAX - 5, "more bytes than any"},
    };
    static uint8_t packed[MOST];
    struct gf_error e;
    size_t size;
    (void)state;
    memcpy(content, "TEST!", 5);
    memset(content + 5, 0, 2000);
    for (int coding = 0; coding < 2; coding++) {
        size = coding ? gzip(packed, content, 2005) : 2005;
        put("in", coding ? packed : content, size);
        for (size_t i = 0; i < GF_COUNT(rows); i++) {
            gf_alloc_fail_at(0, 0);
            shape = (struct gf_voxels){
                .image = make_image(rows[i].width, rows[i].height, rows[i].depth, GF_U16),
                .images = rows[i].images, .offset = rows[i].offset, .whole = coding,
                .coding = coding ? GF_GZIP : GF_PLAIN};
            e.text[0] = '\0';
            assert_int_equal(load("in", 0, 1, &e), GF_EINPUT);
            expect_words(&e, i == 0 && !coding ? "truncated" : rows[i].words);
            assert_true(gf_memory_peak() < (UINT64_C(16) << 20));
        }
        /* Just what a byte can become, and what these do become. */
        shape = (struct gf_voxels){.image = make_image(10, 10, 10, GF_U16), .images = 1,
                                   .offset = 5, .whole = coding,
                                   .coding = coding ? GF_GZIP : GF_PLAIN};
        assert_int_equal(load("in", 0, 1, &e), GF_OK);
    }
    /* One byte more than they are said to become. */
    shape.offset = 4;
    assert_int_equal(load("in", 0, 1, &e), GF_EINPUT);
    expect_words(&e, "more than the 2004 bytes");
    shape.more = true;
    assert_int_equal(load("in", 0, 1, &e), GF_OK);
    shape.more = false;
    shape.offset = 5;
    /* Deflated data said to be longer than the file. */
    shape.whole = false;
    shape.stored = size + 1;
    memcpy(content, "TEST!", 5);
    memcpy(content + 5, packed, size);
    put("in", content, size + 5);
    shape.skip = 5;
    assert_int_equal(load("in", 0, 1, &e), GF_EINPUT);
    expect_words(&e, "truncated");
    shape.stored = size;
    assert_int_equal(load("in", 0, 1, &e), GF_OK);
    unlink("in");
    shape = (struct gf_voxels){0};
}

static void files_beside(void **state)
{
    struct gf_reader r = {.name = "sub/head"};
    struct gf_in *in;
    struct gf_error e;
    char path[4200], here[200];
    (void)state;
    assert_int_equal(mkdir("sub", 0700), 0);
    put_text("sub/head", "TEST!");
    put_text("sub/-", "minus");
    put_text("sub/data", "beside");
    put_text("data", "not this");
    put_text("-", "a file");
    assert_int_equal(mkfifo("sub/pipe", 0600), 0);
    assert_int_equal(gf_in_open(&r.in, "sub/head", NULL), GF_OK);

    assert_int_equal(gf_voxels_beside(&r, "data", &in, &e), GF_OK);
    assert_string_equal(gf_in_name(in), "sub/data");
    gf_in_close(&in);
    assert_int_equal(gf_voxels_beside(&r, "-", &in, &e), GF_OK);
    assert_int_equal(gf_in_size(in), 5);
    gf_in_close(&in);
    assert_non_null(getcwd(here, sizeof here));
    snprintf(path, sizeof path, "%s/data", here);
    assert_int_equal(gf_voxels_beside(&r, path, &in, &e), GF_OK);
    assert_int_equal(gf_in_size(in), 8);
    gf_in_close(&in);
    r.name = "head";
    assert_int_equal(gf_voxels_beside(&r, "-", &in, &e), GF_OK);
    assert_int_equal(gf_in_size(in), 6);
    gf_in_close(&in);
    r.name = "sub/head";

    assert_int_equal(gf_voxels_beside(&r, "gone", &in, &e), GF_EINPUT);
    expect_words(&e, "sub/head: its samples are in another file: sub/gone: cannot be opened");
    assert_int_equal(gf_voxels_beside(&r, "", &in, &e), GF_EINPUT);
    expect_words(&e, "empty");
    assert_int_equal(gf_voxels_beside(&r, ".", &in, &e), GF_EINPUT);
    expect_words(&e, "no plain file");
    assert_int_equal(gf_voxels_beside(&r, "pipe", &in, &e), GF_EINPUT);
    expect_words(&e, "no plain file");
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    assert_int_equal(gf_voxels_beside(&r, path, &in, &e), GF_EINPUT);
    expect_words(&e, "too long");
    assert_null(in);
    gf_in_close(&r.in);
    assert_int_equal(system("rm -r sub data ./-"), 0);
}

/* ---- writing ---- */

/* One member, the same for any number of threads, which zlib reads; without time and name. */
static void gzip_written(void **state)
{
    static uint8_t first[MOST];
    const struct gf_image image = make_image(500, 100, 30, GF_U16);
    const size_t bytes = (size_t)gf_image_bytes(&image);
    struct gf_error e;
    ssize_t size = 0;
    (void)state;
    for (int level = -1; level <= 9; level += 2)
        for (unsigned threads = 1; threads <= 7; threads += 3) {
            const struct gf_write_options options = {.level = level, .threads = threads};
            ssize_t got;
            if (save("v.raw.gz", &gf_format_raw, &image, 1, &options,
                     &(struct gf_out_options){.sync = GF_SYNC_NONE}, &e) != GF_OK)
                fail_msg("%s", e.text);
            got = get("v.raw.gz", content, MOST);
            if (threads == 1) {
                static const uint8_t head[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
                size = got;
                memcpy(first, content, (size_t)got);
                assert_memory_equal(first, head, sizeof head);
                assert_int_equal(gunzip(first, (size_t)size, back, MOST), bytes);
                assert_memory_equal(back, samples, bytes);
                assert_true(level == 0 || (size_t)size < bytes * 2 / 3);
            }
            assert_int_equal(got, size);
            assert_memory_equal(content, first, (size_t)size);
        }
    unlink("v.raw.gz");
    /* Of little, and of exactly one block. */
    for (uint64_t width = 1; width <= 1 << 17; width <<= 17) {
        const struct gf_image small = make_image(width, 1, 1, GF_U8);
        ssize_t got;
        assert_int_equal(save("v.raw.gz", &gf_format_raw, &small, 1, NULL,
                              &(struct gf_out_options){0}, &e), GF_OK);
        got = get("v.raw.gz", content, MOST);
        assert_int_equal(gunzip(content, (size_t)got, back, MOST), width);
        assert_memory_equal(back, samples, width);
    }
    unlink("v.raw.gz");
}

static void names(void **state)
{
    char name[40];
    (void)state;
    assert_ptr_equal(gf_format_by_path("a.raw.gz"), &gf_format_raw);
    assert_ptr_equal(gf_format_by_path("a.b/a.RAW.GZ"), &gf_format_raw);
    assert_ptr_equal(gf_format_by_name("raw.gz"), &gf_format_raw);
    assert_ptr_equal(gf_format_by_name(".bin.gz"), &gf_format_raw);
    assert_null(gf_format_by_path("a.png.gz"));
    assert_null(gf_format_by_path("a.gz"));
    assert_null(gf_format_by_path("raw.gz"));
    assert_null(gf_format_by_path(".gz"));
    assert_null(gf_format_by_path("a.raw.gz.gz"));
    assert_null(gf_format_by_path("x.raw/a.gz"));
    assert_null(gf_format_by_name("gz"));
    assert_null(gf_format_by_name(".gz"));
    assert_string_equal(gf_path_extension("d.x/scan.v2.raw.gz"), "raw.gz");
    assert_string_equal(gf_path_extension("scan.v2.gz"), "gz");
    assert_string_equal(gf_path_extension("d.x/scan"), "");
    assert_string_equal(gf_path_extension("a.tif"), "tif");
    assert_true(gf_voxels_data_name("a.b/c.d.mhd", "raw", name, sizeof name));
    assert_string_equal(name, "a.b/c.d.raw");
    assert_true(gf_voxels_data_name("a.b/c", "raw", name, sizeof name));
    assert_string_equal(name, "a.b/c.raw");
    assert_true(gf_voxels_data_name(".c", "raw", name, sizeof name));
    assert_string_equal(name, ".c.raw");
    assert_false(gf_voxels_data_name("a.b/c", "raw", name, 9));
    assert_true(gf_voxels_data_name("a.b/c", "raw", name, 10));
}

/* A plain file of samples that begin like gzip is not inflated; a gzip file with --raw is. */
static void raw_like_gzip(void **state)
{
    struct gf_read_options options = {0};
    struct gf_reader *r;
    struct gf_image image;
    (void)state;
    memcpy(content, samples, 60);
    memcpy(content, "\x1f\x8b\x08", 3);
    put("x_10x6_u8.bin", content, 60);
    assert_int_equal(gf_reader_open(&r, "x_10x6_u8.bin", NULL, NULL), GF_OK);
    assert_false(r->gzipped);
    assert_true(r->random_access);
    assert_int_equal(gf_reader_select(r, 0, &image, NULL), GF_OK);
    assert_int_equal(gf_reader_rows(r, 0, 6, back, NULL), GF_OK);
    assert_memory_equal(back, content, 60);
    assert_int_equal(gf_reader_finish(r, NULL), GF_OK);
    gf_reader_close(&r);
    unlink("x_10x6_u8.bin");

    put("x", back, gzip(back, content, 60));
    assert_int_equal(gf_raw_parse(&options.raw, "8x6:u8+12", NULL), GF_OK);
    assert_int_equal(gf_reader_open(&r, "x", &options, NULL), GF_OK);
    assert_true(r->gzipped);
    assert_false(r->random_access);
    assert_string_equal(r->compression, "gzip");
    assert_int_equal(gf_reader_select(r, 0, &image, NULL), GF_OK);
    assert_int_equal(gf_reader_rows(r, 0, 6, back, NULL), GF_OK);
    assert_memory_equal(back, content + 12, 48);
    assert_int_equal(gf_reader_finish(r, NULL), GF_OK);
    gf_reader_close(&r);
    unlink("x");
}

/* ---- a pair of files ---- */

#define OLD_HEAD "old header"
#define OLD_DATA "old data"

static const struct gf_image pair_image = {.width = 20, .height = 10, .depth = 3, .channels = 1,
                                           .type = GF_U8, .alpha = -1, .volume = true};

/* Which of the two are there before. */
enum { HEAD = 1, DATA = 2 };

static void prepare(unsigned before)
{
    unlink("p.test");
    unlink("p.dat");
    if (before & HEAD)
        put_text("p.test", OLD_HEAD);
    if (before & DATA)
        put_text("p.dat", OLD_DATA);
}

static bool holds(const char *path, const void *data, size_t size)
{
    ssize_t got = get(path, content, MOST);
    return data ? got == (ssize_t)size && memcmp(content, data, size) == 0 : got < 0;
}

static bool is_new(void)
{
    return holds("p.test", "TEST!", 5) && holds("p.dat", samples, 600);
}

static bool is_old(unsigned before)
{
    return holds("p.test", before & HEAD ? OLD_HEAD : NULL, sizeof OLD_HEAD - 1) &&
           holds("p.dat", before & DATA ? OLD_DATA : NULL, sizeof OLD_DATA - 1);
}

static void pair_faults(void **state)
{
    static const char *const kinds[] = {"open", "fstat", "pwrite", "fallocate", "ftruncate",
                                        "fchmod", "fsync", "linkat", "renameat", "close"};
    static const int errors[] = {EIO, ENOSPC, EINVAL, EOPNOTSUPP, EEXIST, ENOENT, EINTR, EACCES,
                                 GF_IO_SHORT};
    unsigned points = 0, fine = 0;
    struct gf_error e;
    (void)state;
    make_detached = true;
    for (unsigned before = 0; before < 4; before++)
        for (unsigned keep = 0; keep < (before ? 1 : 2); keep++)
            for (size_t k = 0; k < GF_COUNT(kinds); k++) {
                const struct gf_out_options out = {.no_clobber = keep};
                uint64_t calls;
                gf_io_fail_at(kinds[k], 0, 0, 0);
                prepare(before);
                if (save("p.test", &test_format, &pair_image, 1, NULL, &out, &e) != GF_OK)
                    fail_msg("%s", e.text);
                calls = gf_io_calls(kinds[k]);
                assert_true(is_new());
                for (uint64_t n = 1; n <= calls; n++)
                    for (size_t i = 0; i < GF_COUNT(errors) + 3; i++) {
                        enum gf_status status;
                        /* A call that is always interrupted is always begun again. */
                        const bool sticky = i >= GF_COUNT(errors);
                        const int error = errors[i % GF_COUNT(errors)];
                        bool made, untouched, last_sync;
                        prepare(before);
                        gf_io_fail_at(kinds[k], n, error, sticky);
                        status = save("p.test", &test_format, &pair_image, 1, NULL, &out, &e);
                        gf_io_fail_at(kinds[k], 0, 0, 0);
                        made = is_new();
                        untouched = is_old(before);
                        points++;
                        fine += status == GF_OK;
                        /* The very last step is to sync the folder of what is complete. */
                        last_sync = strstr(e.text, "the file is complete") && n == calls;
                        if (status == GF_OK ? !made : last_sync ? !made : !untouched)
                            fail_msg("%s:%llu:%d%s, before %u, keep %u: status %d '%s', new %d, "
                                     "old %d", kinds[k], (unsigned long long)n, error,
                                     sticky ? ":sticky" : "", before, keep, (int)status, e.text,
                                     made, untouched);
                        if (status != GF_OK && status != GF_EOUTPUT)
                            fail_msg("status %d: %s", (int)status, e.text);
                        assert_int_equal(entries("."), made ? 2 : (before & 1) + (before >> 1));
                        assert_int_equal(gf_memory_used(), 0);
                    }
            }
    fprintf(stderr, "%u points, at %u of which the pair was written\n", points, fine);
    assert_true(fine > 0 && fine < points / 2);
    prepare(0);
    make_detached = false;
}

static void pair_memory(void **state)
{
    struct gf_error e;
    uint64_t calls;
    (void)state;
    make_detached = true;
    for (int coding = GF_PLAIN; coding <= GF_ZLIB; coding++)
        for (unsigned before = 0; before < 4; before += 3) {
            make_coding = (enum gf_coding)coding;
            prepare(before);
            gf_alloc_fail_at(0, 0);
            assert_int_equal(save("p.test", &test_format, &pair_image, 1, NULL,
                                  &(struct gf_out_options){.sync = GF_SYNC_NONE}, &e), GF_OK);
            calls = gf_alloc_calls();
            for (uint64_t n = 1; n <= 2 * calls; n++) {
                enum gf_status status;
                prepare(before);
                gf_alloc_fail_at((n + 1) / 2, n % 2);
                status = save("p.test", &test_format, &pair_image, 1, NULL,
                              &(struct gf_out_options){.sync = GF_SYNC_NONE}, &e);
                gf_alloc_fail_at(0, 0);
                if (status != GF_EMEMORY || !is_old(before))
                    fail_msg("allocation %llu: status %d, %s", (unsigned long long)(n + 1) / 2,
                             (int)status, e.text);
                assert_int_equal(entries("."), (before & 1) + (before >> 1));
                assert_int_equal(gf_memory_used(), 0);
            }
        }
    make_coding = GF_PLAIN;
    make_detached = false;
    prepare(0);
}

/* --no-clobber is about both, before anything is written. */
static void pair_no_clobber(void **state)
{
    const struct gf_out_options out = {.no_clobber = true};
    struct gf_error e;
    (void)state;
    make_detached = true;
    for (unsigned before = 1; before < 4; before++) {
        prepare(before);
        assert_int_equal(save("p.test", &test_format, &pair_image, 1, NULL, &out, &e), GF_EOUTPUT);
        expect_words(&e, before & HEAD ? "p.test: exists already" : "p.dat: exists already");
        assert_true(is_old(before));
    }
    make_detached = false;
    prepare(0);
}

/* Images of other shapes have no place. */
static void other_shapes(void **state)
{
    struct gf_image image = make_image(4, 4, 1, GF_U8);
    struct gf_writer *w;
    struct gf_error e;
    (void)state;
    assert_int_equal(gf_writer_open(&w, "o.test", &test_format, 2, 36, NULL, NULL, NULL), GF_OK);
    assert_int_equal(gf_writer_begin(w, &image, NULL), GF_OK);
    assert_int_equal(gf_writer_rows(w, samples, 4, NULL), GF_OK);
    assert_int_equal(gf_writer_end(w, NULL), GF_OK);
    image.width = 5;
    assert_int_equal(gf_writer_begin(w, &image, &e), GF_EFEATURE);
    expect_words(&e, "test cannot hold images of different sizes");
    gf_writer_abort(&w);
    assert_int_equal(entries("."), 0);
}

static int enter(void **state)
{
    gf_message_set_verbosity(GF_QUIET);
    fill_samples();
    return folder_enter(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(swapping),       cmocka_unit_test(round_trips),
        cmocka_unit_test(conversion),     cmocka_unit_test(promises),
        cmocka_unit_test(files_beside),   cmocka_unit_test(gzip_written),
        cmocka_unit_test(names),          cmocka_unit_test(raw_like_gzip),
        cmocka_unit_test(pair_faults),    cmocka_unit_test(pair_memory),
        cmocka_unit_test(pair_no_clobber), cmocka_unit_test(other_shapes),
    };
    return cmocka_run_group_tests(tests, enter, folder_leave);
}
