/* Sequences of samples against a plain loop: boxes, masks, channels, pages; and the rows of files
 * read twice, kept and not kept. */
#include "stats/sequence.h"

#include "alloc.h"
#include "util.h"

#include "tiff_make.h"

static uint32_t seed = 5;

static uint32_t below(uint32_t limit) { return next_random(&seed) % limit; }

/* ---- files ---- */

static char mask_path[sizeof test_path + 8];

static void save_as(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    fclose(f);
}

static struct gf_rows *open_rows(const char *path, const struct gf_raw_spec *raw)
{
    struct gf_read_options options = {.raw = {.given = false}};
    struct gf_rows *rows;
    struct gf_error e = {""};
    if (raw)
        options.raw = *raw;
    if (gf_rows_open(&rows, path, &options, &e) != GF_OK)
        fail_msg("%s", e.text);
    return rows;
}

static struct gf_raw_spec raw_of(uint64_t width, uint64_t height, uint64_t depth, enum gf_type type,
                                 uint32_t channels)
{
    return (struct gf_raw_spec){.given = true, .width = width, .height = height, .depth = depth,
                                .type = type, .channels = channels};
}

/* ---- what comes out ---- */

struct taken {
    uint16_t *samples;
    uint64_t count, room;
    bool last;                  /* a call that was no multiple of leaves has come */
};

static enum gf_status take(void *state, const void *samples, uint64_t count, struct gf_error *e)
{
    struct taken *t = state;
    (void)e;
    assert_false(t->last);
    t->last = count % GF_LEAF != 0;
    assert_true(t->count + count <= t->room);
    memcpy(t->samples + t->count, samples, count * sizeof *t->samples);
    t->count += count;
    return GF_OK;
}

static unsigned pulls;          /* that came */

/* Pieces of any length, the last one first. */
static enum gf_status take_anywhere(void *state, const struct gf_supply *from, uint64_t count,
                                    struct gf_error *e)
{
    struct taken *t = state;
    pulls++;
    assert_int_equal(count, t->room);
    for (uint64_t n; t->count < count; t->count += n) {
        n = 1 + below((uint32_t)(count - t->count));
        GF_TRY(from->read(from->of, count - t->count - n, n,
                          t->samples + (count - t->count - n), e));
    }
    return GF_OK;
}

/* The plain loop: samples and places of what is in the sequence. */
struct found {
    uint16_t *samples;
    struct gf_place *places;
    uint64_t count;
};

static void look(struct found *f, const uint16_t *data, const uint64_t size[3], uint32_t channels,
                 const struct gf_box *box, const uint8_t *mask, bool mask_is_plane, int64_t channel)
{
    f->count = 0;
    for (uint64_t z = 0; z < size[2]; z++)
        for (uint64_t y = 0; y < size[1]; y++)
            for (uint64_t x = 0; x < size[0]; x++)
                for (uint32_t c = 0; c < channels; c++) {
                    const uint64_t at[3] = {x, y, z};
                    uint64_t pixel = (z * size[1] + y) * size[0] + x;
                    bool in = channel < 0 || (uint64_t)channel == c;
                    for (int a = 0; a < 3; a++)
                        in = in && at[a] >= box->origin[a] && at[a] - box->origin[a] < box->size[a];
                    if (mask)
                        in = in && mask[mask_is_plane ? pixel % (size[0] * size[1]) : pixel];
                    if (!in)
                        continue;
                    f->places[f->count] = (struct gf_place){x, y, z, c, 0};
                    f->samples[f->count++] = data[pixel * channels + c];
                }
}

static void compare_samples(const struct gf_sequence *s, const struct found *f, bool pull)
{
    struct taken t = {.samples = malloc(f->count * sizeof *t.samples + 2), .room = f->count};
    const struct gf_sink sink = {.feed = take, .pull = pull ? take_anywhere : NULL, .state = &t};
    struct gf_error e = {""};
    if (gf_sequence_run(s, &sink, 1, &e) != GF_OK)
        fail_msg("%s", e.text);
    assert_int_equal(t.count, f->count);
    assert_true(f->count == 0 || memcmp(t.samples, f->samples, f->count * sizeof *t.samples) == 0);
    free(t.samples);
}

/* `side_by_side`: the samples are that in a file which can be read at any place. */
static void compare(const struct gf_sequence *s, const struct found *f, bool side_by_side)
{
    const unsigned before = pulls;
    struct gf_place place;
    struct gf_error e = {""};
    if (gf_sequence_check(s, &e) != GF_OK)
        fail_msg("%s", e.text);
    compare_samples(s, f, false);
    compare_samples(s, f, true);
    assert_int_equal(pulls - before, side_by_side);
    for (unsigned i = 0; i < 5 && f->count > 0; i++) {
        uint64_t at = i == 0 ? 0 : i == 1 ? f->count - 1 : below((uint32_t)f->count);
        assert_int_equal(gf_sequence_place(s, at, &place, &e), GF_OK);
        assert_memory_equal(&place, &f->places[at], sizeof place);
    }
    assert_int_equal(gf_sequence_place(s, f->count, &place, &e), GF_EINPUT);
}

static void choose_box(struct gf_sequence *s, const uint64_t size[3])
{
    s->roi_axes = below(3) ? 1 + below(2) + 1 : 0;
    for (unsigned a = 0; a < s->roi_axes; a++) {
        s->box.origin[a] = below((uint32_t)size[a]);
        s->box.size[a] = 1 + below((uint32_t)(size[a] - s->box.origin[a]));
    }
    /* Of whole rows, often. */
    if (below(2)) {
        s->box.origin[0] = 0;
        s->box.size[0] = size[0];
    }
}

/* A raw volume, with a mask or without, of all or one of its channels and planes. */
static void random_volume(void)
{
    const uint64_t size[3] = {1 + below(300), 1 + below(60), 1 + below(5)};
    const uint32_t channels = 1 + below(3);
    const uint64_t pixels = size[0] * size[1] * size[2], n = pixels * channels;
    uint16_t *data = malloc(n * sizeof *data);
    uint8_t *mask = malloc(pixels);
    struct found f = {malloc(n * sizeof *f.samples), malloc(n * sizeof *f.places), 0};
    const bool plane = below(2), masked = below(2);
    const struct gf_raw_spec raw = raw_of(size[0], size[1], size[2], GF_U16, channels),
                             mask_raw = raw_of(size[0], size[1], plane ? 1 : size[2], GF_U8, 1);
    struct gf_sequence s = {.images = 1, .channel = below(2) ? -1 : (int64_t)below(channels)};
    struct gf_box box;
    for (uint64_t i = 0; i < n; i++)
        data[i] = (uint16_t)next_random(&seed);
    for (uint64_t i = 0; i < pixels; i++)
        mask[i] = (uint8_t)(below(3) ? 0 : 9);
    save_as(test_path, data, n * sizeof *data);
    save_as(mask_path, mask, plane ? size[0] * size[1] : pixels);
    s.rows = open_rows(test_path, &raw);
    s.mask = masked ? open_rows(mask_path, &mask_raw) : NULL;
    choose_box(&s, size);
    s.one_plane = below(2);
    s.plane = s.one_plane ? below((uint32_t)(s.roi_axes == 3 ? s.box.size[2] : size[2])) : 0;
    box = gf_sequence_box(&s, 0);
    look(&f, data, size, channels, &box, masked ? mask : NULL, plane, s.channel);
    compare(&s, &f, !masked && (s.channel < 0 || channels == 1) && box.size[0] == size[0] &&
                    (box.size[1] == size[1] || box.size[2] == 1));
    gf_rows_close(&s.mask);
    gf_rows_close(&s.rows);
    free(data);
    free(mask);
    free(f.samples);
    free(f.places);
}

static void volumes(void **state)
{
    (void)state;
    for (int i = 0; i < 300; i++)
        random_volume();
    assert_true(pulls > 20);
}

/* ---- pages ---- */

/* Two pages of different sizes, deflated so that rows come in order alone. */
static void make_pages(uint16_t *first, uint16_t *second)
{
    struct picture p[2] = {{.image = {.width = 3000, .height = 200, .depth = 1, .channels = 1,
                                      .type = GF_U16, .alpha = -1}},
                           {.image = {.width = 70, .height = 90, .depth = 1, .channels = 1,
                                      .type = GF_U16, .alpha = -1}}};
    for (unsigned i = 0; i < 600000; i++)
        first[i] = (uint16_t)next_random(&seed);
    for (unsigned i = 0; i < 6300; i++)
        second[i] = (uint16_t)next_random(&seed);
    p[0].rows = (uint8_t *)first;
    p[1].rows = (uint8_t *)second;
    must_write(p, 2, 10, "deflate");
}

static void pages(void **state)
{
    static uint16_t data[606300];
    static struct gf_place places[606300];
    struct found f = {data, places, 606300};
    struct gf_sequence s = {.images = 2, .channel = -1};
    (void)state;
    make_pages(data, data + 600000);
    for (unsigned i = 0; i < 606300; i++)
        places[i] = i < 600000 ? (struct gf_place){i % 3000, i / 3000, 0, 0, 0}
                              : (struct gf_place){(i - 600000) % 70, (i - 600000) / 70, 0, 0, 1};
    s.rows = open_rows(test_path, NULL);
    assert_int_equal(gf_rows_images(s.rows), 2);
    compare(&s, &f, false);
    /* Again, from the start; and the second page alone. */
    compare(&s, &f, false);
    s.first_image = s.images = 1;
    compare(&s, &(struct found){data + 600000, places + 600000, 6300}, false);
    gf_rows_close(&s.rows);
}

/* ---- rows ---- */

static void read_twice(bool keep, uint64_t room)
{
    static uint16_t data[606300], row[3000];
    const uint64_t before = gf_memory_limit();
    struct gf_rows *rows;
    struct gf_error e = {""};
    make_pages(data, data + 600000);
    rows = open_rows(test_path, NULL);
    gf_memory_set_limit(gf_memory_used() + room);
    if (keep)
        gf_rows_keep(rows);
    for (unsigned round = 0; round < 3; round++)
        for (unsigned y = round; y < 200; y += 7) {
            unsigned at = round == 1 ? 199 - y : y;
            if (gf_rows_read(rows, 0, at, 1, row, &e) != GF_OK)
                fail_msg("%s", e.text);
            assert_memory_equal(row, data + 3000 * at, sizeof row);
            if (at < 90) {
                assert_int_equal(gf_rows_read(rows, 1, at, 1, row, &e), GF_OK);
                assert_memory_equal(row, data + 600000 + 70 * at, 140);
            }
        }
    assert_int_equal(gf_rows_verify(rows, &e), GF_OK);
    gf_rows_close(&rows);
    gf_memory_set_limit(before);
    assert_null(rows);
    assert_int_equal(gf_memory_used(), 0);
}

/* A PNG has no way back but a new start. */
static void png_again(bool keep, uint64_t room)
{
    static uint16_t data[600000], row[3000];
    const uint64_t before = gf_memory_limit();
    const struct gf_image image = {.width = 3000, .height = 200, .depth = 1, .channels = 1,
                                   .type = GF_U16, .alpha = -1};
    const struct gf_write_options options = {.level = -1};
    const struct gf_out_options out = {.sync = GF_SYNC_NONE};
    struct gf_writer *w;
    struct gf_rows *rows;
    struct gf_error e = {""};
    for (unsigned i = 0; i < 600000; i++)
        data[i] = (uint16_t)(i * i % 977);
    assert_int_equal(gf_writer_open(&w, test_path, &gf_format_png, 1, sizeof data, &options, &out,
                                    &e), GF_OK);
    assert_int_equal(gf_writer_begin(w, &image, &e), GF_OK);
    assert_int_equal(gf_writer_rows(w, data, 200, &e), GF_OK);
    assert_int_equal(gf_writer_end(w, &e), GF_OK);
    assert_int_equal(gf_writer_commit(&w, &e), GF_OK);
    rows = open_rows(test_path, NULL);
    gf_memory_set_limit(gf_memory_used() + room);
    if (keep)
        gf_rows_keep(rows);
    for (unsigned round = 0; round < 3; round++)
        for (unsigned y = 10 * round; y < 200; y += 7) {
            if (gf_rows_read(rows, 0, y, 1, row, &e) != GF_OK)
                fail_msg("%s", e.text);
            assert_memory_equal(row, data + 3000 * y, sizeof row);
        }
    assert_int_equal(gf_rows_verify(rows, &e), GF_OK);
    gf_rows_close(&rows);
    gf_memory_set_limit(before);
    assert_int_equal(gf_memory_used(), 0);
}

static void rows_again(void **state)
{
    (void)state;
    read_twice(false, UINT64_C(1) << 30);
    read_twice(true, UINT64_C(1) << 30);
    png_again(false, UINT64_C(1) << 30);
    png_again(true, UINT64_C(1) << 30);
    png_again(true, 2000000);
    /* Too small to keep 1.2 MB. */
    read_twice(true, 2000000);
}

/* ---- refusals ---- */

static void refusals(void **state)
{
    const struct gf_raw_spec raw = raw_of(4, 3, 2, GF_U16, 1), other = raw_of(3, 4, 2, GF_U16, 1);
    struct gf_sequence s = {.images = 1, .channel = -1, .roi_axes = 2};
    struct gf_error e = {""};
    uint16_t data[24] = {0};
    (void)state;
    save_as(test_path, data, sizeof data);
    s.rows = open_rows(test_path, &raw);
    s.box = (struct gf_box){{1, 1, 0}, {3, 3, 0}};
    assert_int_equal(gf_sequence_check(&s, &e), GF_EUSAGE);
    assert_non_null(strstr(e.text, "along y"));
    s.box = (struct gf_box){{UINT64_MAX, 1, 0}, {2, 1, 0}};
    assert_int_equal(gf_sequence_check(&s, &e), GF_EUSAGE);
    s.roi_axes = 0;
    assert_int_equal(gf_sequence_check(&s, &e), GF_OK);
    s.mask = open_rows(test_path, &other);
    assert_int_equal(gf_sequence_check(&s, &e), GF_EFEATURE);
    gf_rows_close(&s.mask);
    gf_rows_close(&s.rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(volumes),
        cmocka_unit_test(pages),
        cmocka_unit_test(rows_again),
        cmocka_unit_test(refusals),
    };
    int failed;
    test_path_make();
    snprintf(mask_path, sizeof mask_path, "%s.mask", test_path);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(test_path);
    unlink(mask_path);
    return failed;
}
