#include "alloc.h"
#include "image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static enum gf_status check(uint64_t w, uint64_t h, uint64_t d, uint32_t channels,
                            enum gf_type type, struct gf_error *e)
{
    struct gf_image image = {.width = w, .height = h, .depth = d, .channels = channels,
                             .type = type, .alpha = -1};

    return gf_image_check(&image, "x.tif", e);
}

static void sizes(void **state)
{
    struct gf_error e;
    const uint64_t two32 = UINT64_C(1) << 32;

    (void)state;
    assert_int_equal(check(1, 1, 1, 1, GF_U8, &e), GF_OK);
    assert_int_equal(check(0, 1, 1, 1, GF_U8, &e), GF_EINPUT);
    assert_int_equal(check(1, 0, 1, 1, GF_U8, &e), GF_EINPUT);
    assert_int_equal(check(1, 1, 0, 1, GF_U8, &e), GF_EINPUT);
    assert_int_equal(check(1, 1, 1, 0, GF_U8, &e), GF_EINPUT);
    assert_non_null(strstr(e.text, "x.tif"));
    assert_int_equal(check(INT64_MAX, 1, 1, 1, GF_U8, &e), GF_OK);
    assert_int_equal(check(UINT64_C(1) << 63, 1, 1, 1, GF_U8, &e), GF_EINPUT);
    /* Products that wrap to something small, or to 0, in 64 bits. */
    assert_int_equal(check(two32, two32, 1, 1, GF_U8, &e), GF_EINPUT);
    assert_int_equal(check(two32, two32 / 2, 1, 1, GF_U8, &e), GF_EINPUT);
    assert_int_equal(check(two32, two32 / 4, 1, 1, GF_U8, &e), GF_OK);
    assert_int_equal(check(two32, two32 / 4, 1, 1, GF_U16, &e), GF_EINPUT);
    assert_int_equal(check(two32, two32 / 4, 1, 2, GF_U8, &e), GF_EINPUT);
    assert_int_equal(check(two32, two32 / 4, 2, 1, GF_U8, &e), GF_EINPUT);
    assert_int_equal(check(UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT32_MAX, GF_F64, &e), GF_EINPUT);
    assert_non_null(strstr(e.text, "18446744073709551615"));
    assert_int_equal(check(3, 1, 1, UINT32_MAX, GF_F64, &e), GF_OK);
}

static void fill(struct gf_meta *meta)
{
    char key[20];

    memset(meta, 0, sizeof *meta);
    meta->spacing[2] = 2.5;
    meta->has_gamma = true;
    meta->gamma = 45455;
    assert_int_equal(gf_blob_set(&meta->icc, "profile", 7, NULL), GF_OK);
    assert_int_equal(gf_blob_set(&meta->exif, "e", 1, NULL), GF_OK);
    assert_int_equal(gf_blob_set(&meta->xmp, "xmp!", 4, NULL), GF_OK);
    meta->native_format = "nrrd";
    assert_int_equal(gf_blob_set(&meta->native, "own", 3, NULL), GF_OK);
    meta->geometry = (struct gf_geometry){
        .known = true, .origin = {1, 2, 3}, .step = {{0.5, 0, 0}, {0, 0, -2}, {0, 2.5, 0}}};
    meta->description = gf_alloc(6, 1);
    strcpy(meta->description, "hello");
    for (int i = 0; i < 9; i++) {
        snprintf(key, sizeof key, "key%d", i);
        assert_int_equal(gf_meta_add_text(meta, key, "value", NULL), GF_OK);
    }
}

static void copies(void **state)
{
    struct gf_meta a, b;

    (void)state;
    fill(&a);
    assert_int_equal(gf_meta_copy(&b, &a, NULL), GF_OK);
    /* Deep: the copy survives the original. */
    memset(a.icc.data, 'x', 7);
    memset(a.native.data, 'x', 3);
    gf_meta_free(&a);
    assert_null(a.icc.data);
    assert_int_equal(a.text_count, 0);
    assert_memory_equal(b.icc.data, "profile", 7);
    assert_int_equal(b.icc.size, 7);
    assert_int_equal(b.exif.size, 1);
    assert_memory_equal(b.xmp.data, "xmp!", 4);
    assert_string_equal(b.description, "hello");
    assert_int_equal(b.text_count, 9);
    assert_string_equal(b.texts[8].key, "key8");
    assert_string_equal(b.texts[8].value, "value");
    assert_true(b.spacing[2] == 2.5 && b.has_gamma && b.gamma == 45455);
    assert_string_equal(b.native_format, "nrrd");
    assert_int_equal(b.native.size, 3);
    assert_memory_equal(b.native.data, "own", 3);
    assert_true(b.geometry.known && b.geometry.origin[2] == 3 && b.geometry.step[1][2] == -2);
    /* Replacing a blob releases the old one; its own bytes may be the source. */
    assert_int_equal(gf_blob_set(&b.icc, b.icc.data + 3, 4, NULL), GF_OK);
    assert_memory_equal(b.icc.data, "file", 4);
    gf_meta_free(&b);
    gf_meta_free(&b);
    assert_int_equal(gf_memory_used(), 0);
}

static void copies_without_memory(void **state)
{
    struct gf_meta a, b;
    struct gf_error e;
    uint64_t at, used;

    (void)state;
    fill(&a);
    used = gf_memory_used();
    for (int sticky = 0; sticky <= 1; sticky++)
        for (at = 1;; at++) {
            static const struct gf_meta nothing;
            enum gf_status status;

            gf_alloc_fail_at(at, sticky);
            status = gf_meta_copy(&b, &a, &e);
            if (gf_alloc_calls() < at) {
                assert_int_equal(status, GF_OK);
                assert_true(at > 20);
                gf_meta_free(&b);
                break;
            }
            assert_int_equal(status, GF_EMEMORY);
            assert_memory_equal(&b, &nothing, sizeof b);
            assert_int_equal(gf_memory_used(), used);
        }
    /* Adding fails: what was there stays. */
    gf_alloc_fail_at(1, 1);
    assert_int_equal(gf_meta_add_text(&a, "k", "v", &e), GF_EMEMORY);
    assert_int_equal(gf_blob_set(&a.icc, "n", 1, &e), GF_EMEMORY);
    gf_alloc_fail_at(0, 0);
    assert_int_equal(a.text_count, 9);
    assert_memory_equal(a.icc.data, "profile", 7);
    gf_meta_free(&a);
    assert_int_equal(gf_memory_used(), 0);
}

/* A spacing that was given makes the steps longer or shorter, in their directions. */
static void overrides_spacing(void **state)
{
    const double spacing[3] = {0, 4, 5};
    struct gf_meta m;

    (void)state;
    fill(&m);
    m.resolution[0] = m.resolution[1] = 300;
    gf_meta_override_spacing(&m, spacing);
    assert_true(m.spacing[0] == 0 && m.spacing[1] == 4 && m.spacing[2] == 5);
    assert_true(m.resolution[0] == 0);
    assert_true(m.geometry.step[0][0] == 0.5 && m.geometry.step[1][2] == -4 &&
                m.geometry.step[2][1] == 5 && m.geometry.origin[0] == 1);
    m.geometry.known = false;
    gf_meta_override_spacing(&m, (const double[]){7, 7, 7});
    assert_true(m.geometry.step[0][0] == 0.5);
    gf_meta_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(copies),
        cmocka_unit_test(overrides_spacing),
        cmocka_unit_test(copies_without_memory),
    };

    return cmocka_run_group_tests_name("image", tests, NULL, NULL);
}
