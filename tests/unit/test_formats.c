/* What all formats share: names, the count of rows, and the metadata that gets lost or not. */
#include "io_test.h"

#include "caught.h"

static void names(void **state)
{
    (void)state;
    assert_ptr_equal(gf_format_by_path("a.b/c.TiF"), &gf_format_tiff);
    assert_ptr_equal(gf_format_by_path("x.JPG"), &gf_format_jpeg);
    assert_ptr_equal(gf_format_by_name("Btf"), &gf_format_tiff);
    assert_ptr_equal(gf_format_by_name("TIFF"), &gf_format_tiff);
    assert_null(gf_format_by_path("a.tif/b"));
    assert_null(gf_format_by_path("a."));
    assert_null(gf_format_by_path("a.tif tiff"));
    assert_null(gf_format_by_path("a.extension-that-is-long"));
    assert_null(gf_format_by_name(""));
    assert_null(gf_format_by_name("tif tiff"));
}

/* One row less or more than the image has is an error, and no file appears. */
static void rows_are_counted(void **state)
{
    static const char *const outs[] = {"out.png", "out.tif", "out.pgm", "out.pfm", "out.raw"};
    static const uint8_t rows[6 * 4 * 4];

    (void)state;
    for (size_t i = 0; i < GF_COUNT(outs); i++)
        for (uint64_t count = 0; count <= 6; count++) {
            const struct gf_out_options out_options = {.sync = GF_SYNC_NONE};
            const struct gf_image image = make_image(4, 5, 1, i == 3 ? GF_F32 : GF_U8);
            struct gf_error e = {{0}};
            struct gf_writer *w;
            enum gf_status status;

            assert_int_equal(gf_writer_open(&w, scratch(outs[i]), gf_format_by_path(outs[i]), 1,
                                            gf_image_bytes(&image), NULL, &out_options, &e),
                             GF_OK);
            assert_int_equal(gf_writer_begin(w, &image, &e), GF_OK);
            status = gf_writer_rows(w, rows, count, &e);
            assert_int_equal(status, count > 5 ? GF_EOUTPUT : GF_OK);
            if (status == GF_OK) {
                status = gf_writer_end(w, &e);
                assert_int_equal(status, count == 5 ? GF_OK : GF_EOUTPUT);
            }
            if (status == GF_OK) {
                assert_int_equal(gf_writer_commit(&w, &e), GF_OK);
                assert_int_equal(unlink(scratch(outs[i])), 0);
            } else {
                char words[64];
                snprintf(words, sizeof words, "%d rows were written where 5 are needed",
                         (int)count);
                assert_non_null(strstr(e.text, words));
                assert_non_null(strstr(e.text, outs[i]));
            }
            gf_writer_abort(&w);
            assert_int_equal(access(scratch(outs[i]), F_OK), -1);
        }
    assert_int_equal(gf_memory_used(), 0);
}

/* A raw file says nothing of its images, so they are all alike. */
static void raw_shapes(void **state)
{
    static const uint8_t rows[64];
    static const struct gf_image first = {.width = 2, .height = 2, .depth = 2, .channels = 1,
                                          .type = GF_U8, .alpha = -1};
    (void)state;
    for (int what = 0; what < 6; what++) {
        const struct gf_out_options out_options = {.sync = GF_SYNC_NONE};
        struct gf_image second = first;
        struct gf_error e = {{0}};
        struct gf_writer *w;

        second.width += what == 1;
        second.height += what == 2;
        second.depth += what == 3;
        second.channels += what == 4;
        second.type = what == 5 ? GF_I8 : GF_U8;
        assert_int_equal(gf_writer_open(&w, scratch("out.raw"), &gf_format_raw, 2, 16, NULL,
                                        &out_options, &e), GF_OK);
        assert_int_equal(gf_writer_begin(w, &first, &e), GF_OK);
        assert_int_equal(gf_writer_rows(w, rows, 4, &e), GF_OK);
        assert_int_equal(gf_writer_end(w, &e), GF_OK);
        assert_int_equal(gf_writer_begin(w, &second, &e), what == 0 ? GF_OK : GF_EFEATURE);
        gf_writer_abort(&w);
    }
    assert_int_equal(gf_memory_used(), 0);
}

/* ---- metadata ---- */

static void fill(struct gf_meta *m, bool described)
{
    static const uint8_t profile[132] = "xxxxxxxxxxxxxxxxGRAY";

    assert_int_equal(gf_blob_set(&m->icc, profile, sizeof profile, NULL), GF_OK);
    assert_int_equal(gf_blob_set(&m->exif, "II*\0\x08\0\0\0\0\0\0\0\0\0", 14, NULL), GF_OK);
    assert_int_equal(gf_blob_set(&m->xmp, "<x:xmpmeta/>", 12, NULL), GF_OK);
    assert_int_equal(gf_meta_add_text(m, "Title", "a title", NULL), GF_OK);
    assert_int_equal(gf_meta_add_text(m, "Comment", "a comment", NULL), GF_OK);
    assert_int_equal(gf_meta_add_text(m, "Creation Time", "yesterday", NULL), GF_OK);
    m->resolution[0] = m->resolution[1] = 100;
    m->resolution_unit = 1;
    m->spacing[0] = m->spacing[1] = 0.5;
    m->has_gamma = true;
    m->gamma = 45455;
    if (described) {
        m->description = gf_alloc(8, 1);
        strcpy(m->description, "old");
    }
}

/* What the note on writing says after the file's name; "" for none. */
static const char *note(const char *path, const struct gf_image *image)
{
    static const uint8_t rows[4 * 4 * 4];
    static char text[500];
    struct gf_error e = {{0}};
    const char *printed, *start;

    gf_message_set_verbosity(GF_VERBOSE);
    catch();
    if (save(path, image, rows, -1, 1, &e) != GF_OK)
        fail_msg("%s", e.text);
    printed = caught();
    gf_message_set_verbosity(GF_QUIET);
    if (!*printed)
        return "";
    start = strstr(printed, path);
    assert_non_null(start);
    assert_ptr_equal(strchr(start, '\n')[1], 0); /* one line */
    snprintf(text, sizeof text, "%s", start + strlen(path));
    text[strcspn(text, "\n")] = '\0';
    return text;
}

static void what_is_left_out(void **state)
{
    static const struct {
        const char *out, *described, *plain;
    } cases[] = {
        {"out.png", ": left out, because png does not hold it: voxel size",
         ": left out, because png does not hold it: voxel size"},
        {"out.tif", ": left out, because tiff does not hold it: EXIF, gamma and primaries, text "
         "'Comment', text 'Creation Time'",
         ": left out, because tiff does not hold it: EXIF, gamma and primaries, text 'Creation "
         "Time'"},
        {"out.pgm", ": left out, because pnm does not hold it: colour profile, EXIF, XMP, "
         "resolution, voxel size, description, gamma and primaries, text 'Title', text "
         "'Comment', text 'Creation Time'",
         ": left out, because pnm does not hold it: colour profile, EXIF, XMP, resolution, voxel "
         "size, gamma and primaries, text 'Title', text 'Comment', text 'Creation Time'"},
    };

    (void)state;
    for (int described = 0; described < 2; described++) {
        struct gf_image image = make_image(4, 4, 1, GF_U8);
        for (size_t i = 0; i < GF_COUNT(cases); i++)
            assert_string_equal(note(scratch(cases[i].out), &image), "");
        fill(&image.meta, described);
        for (size_t i = 0; i < GF_COUNT(cases); i++)
            assert_string_equal(note(scratch(cases[i].out), &image),
                                described ? cases[i].described : cases[i].plain);
        gf_meta_free(&image.meta);
    }
    assert_int_equal(gf_memory_used(), 0);
}

static const char *text_of(const struct gf_meta *m, const char *key)
{
    for (size_t i = 0; i < m->text_count; i++)
        if (strcmp(m->texts[i].key, key) == 0)
            return m->texts[i].value;
    return "";
}

/* From PNG to TIFF and back. */
static void what_is_carried_over(void **state)
{
    static const uint8_t rows[4 * 4];

    (void)state;
    for (int described = 0; described < 2; described++) {
        struct gf_image image = make_image(4, 4, 1, GF_U8);
        const char *first = described ? "old" : "a comment";
        struct loaded png, tiff;
        struct gf_error e = {{0}};

        fill(&image.meta, described);
        assert_int_equal(save(scratch("out.png"), &image, rows, -1, 1, &e), GF_OK);
        assert_int_equal(load(scratch("out.png"), 0, &png), GF_OK);
        assert_string_equal(text_of(&png.image.meta, "Description"), described ? "old" : "");
        assert_int_equal(save(scratch("out.tif"), &png.image, rows, -1, 1, &e), GF_OK);
        assert_int_equal(load(scratch("out.tif"), 0, &tiff), GF_OK);
        assert_string_equal(tiff.image.meta.description, first);
        assert_string_equal(text_of(&tiff.image.meta, "Title"), "a title");
        assert_int_equal(tiff.image.meta.xmp.size, 12);
        assert_int_equal(tiff.image.meta.icc.size, 132);
        unload(&png);
        assert_int_equal(save(scratch("out.png"), &tiff.image, rows, -1, 1, &e), GF_OK);
        assert_int_equal(load(scratch("out.png"), 0, &png), GF_OK);
        assert_string_equal(text_of(&png.image.meta, "Description"), first);
        assert_int_equal(png.image.meta.xmp.size, 12);
        assert_memory_equal(png.image.meta.xmp.data, "<x:xmpmeta/>", 12);
        unload(&png);
        unload(&tiff);
        gf_meta_free(&image.meta);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(rows_are_counted),
        cmocka_unit_test(raw_shapes),
        cmocka_unit_test(what_is_left_out),
        cmocka_unit_test(what_is_carried_over),
    };

    return cmocka_run_group_tests_name("formats", tests, make_scratch, remove_scratch);
}
