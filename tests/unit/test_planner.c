/* The planner: arithmetic, output types, geometry, alpha, memory and every refusal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "alloc.h"
#include "filter.h"
#include "planner.h"
#include "util.h"

#include <stdio.h>
#include <string.h>

static struct gf_image image_of(enum gf_type type, uint64_t w, uint64_t h, uint64_t d,
                                uint32_t channels)
{
    struct gf_image image = {.width = w, .height = h, .depth = d, .channels = channels,
                             .type = type, .color = channels >= 3 ? GF_RGB : GF_GRAY,
                             .alpha = channels == 2 || channels == 4 ? (int)channels - 1 : -1,
                             .volume = d > 1};
    return image;
}

/* The output cannot hold colour that is stored multiplied by alpha. */
static bool divide_alpha;

/* Parses a command line and plans its filter over the image. */
static enum gf_status plan_line(const char *line, const struct gf_image *image,
                                struct gf_plan *plan, struct gf_error *e)
{
    static char copy[512];
    char *argv[32];
    int argc = 0;
    struct gf_request r;
    struct gf_kernel kernel = {0};
    struct gf_mask own = {0};
    const struct gf_mask *mask;
    enum gf_status status;
    snprintf(copy, sizeof copy, "gpufilt %s in out", line);
    for (char *word = strtok(copy, " "); word && argc < 31; word = strtok(NULL, " "))
        argv[argc++] = word;
    memset(plan, 0, sizeof *plan);
    e->text[0] = '\0';
    status = gf_cli_parse(&r, argc, argv, e);
    if (status == GF_OK)
        status = gf_kernel_load(&kernel, &r, e);
    if (status == GF_OK)
        status = gf_filter_mask(&r, &kernel, image, "in", &own, &mask, e);
    if (status == GF_OK)
        status = gf_plan_make(plan, &r, mask, image, divide_alpha, "in", e);
    gf_mask_free(&own);
    gf_kernel_free(&kernel);
    gf_request_free(&r);
    return status;
}

static void decides_arithmetic_and_type(void **state)
{
    static const struct {
        const char *line;
        enum gf_type in;
        enum gf_arith arith;
        enum gf_type out;
    } rows[] = {
        {"blur -k gauss5", GF_U8, GF_EXACT, GF_U8},
        {"blur -k gauss9", GF_U16, GF_FLOAT, GF_U16},   /* 65536 * 65535 passes 2^31 */
        {"blur -k gauss7", GF_U16, GF_EXACT, GF_U16},   /* 4096 * 65535 does not */
        {"blur -k box31", GF_I16, GF_EXACT, GF_I16},    /* 961 * 32768 */
        {"blur --sigma 1", GF_U8, GF_FLOAT, GF_U8},
        {"blur -k gauss3", GF_F32, GF_FLOAT, GF_F32},
        {"blur -k gauss3", GF_F16, GF_FLOAT, GF_F16},
        {"blur -k gauss3", GF_F64, GF_DOUBLE, GF_F64},
        {"blur -k gauss3", GF_U32, GF_DOUBLE, GF_U32},
        {"blur -k gauss3", GF_I32, GF_DOUBLE, GF_I32},
        {"correlate -k sobel-x", GF_U8, GF_EXACT, GF_I16},
        {"correlate -k sobel-x", GF_U16, GF_EXACT, GF_I32},
        {"correlate -k sobel-x", GF_F32, GF_FLOAT, GF_F32},
        {"correlate -k laplace", GF_U32, GF_DOUBLE, GF_I32},
        {"correlate -k 300,-300", GF_U8, GF_EXACT, GF_I32}, /* 600 * 255 passes i16 */
        {"correlate -k sharpen", GF_U8, GF_EXACT, GF_U8},
        {"correlate -k 0.5,0.25", GF_U8, GF_FLOAT, GF_U8},
        {"correlate -k 1,1 -b constant --fill 0.5", GF_U8, GF_FLOAT, GF_U8},
        {"correlate -k 1,1 -b constant --fill -7", GF_U8, GF_EXACT, GF_U8},
        {"correlate -k 1,1 -b constant --fill 2147483647", GF_U8, GF_FLOAT, GF_U8},
        {"convert -t f64", GF_U16, GF_EXACT, GF_F64},
        {"convert", GF_F32, GF_FLOAT, GF_F32},
    };
    (void)state;
    for (size_t i = 0; i < GF_COUNT(rows); i++) {
        struct gf_image image = image_of(rows[i].in, 40, 30, 1, 1);
        struct gf_plan plan;
        struct gf_error e;
        if (plan_line(rows[i].line, &image, &plan, &e) != GF_OK)
            fail_msg("%s: %s", rows[i].line, e.text);
        if (plan.arith != rows[i].arith || plan.out.type != rows[i].out)
            fail_msg("%s on %s: arithmetic %d, type %s", rows[i].line, gf_type_name(rows[i].in),
                     (int)plan.arith, gf_type_name(plan.out.type));
        gf_plan_free(&plan);
    }
}

/* Float taps hold the weights: their sums tell whether the divisor went in once. */
static void shares_the_divisor_out(void **state)
{
    static const struct {
        const char *line;
        double sum; /* product of the sums of the factors */
    } rows[] = {{"blur -k gauss5", 1}, {"correlate -k 2,4,2", 8}, {"blur -k box3", 1}};
    (void)state;
    for (size_t i = 0; i < GF_COUNT(rows); i++) {
        struct gf_image image = image_of(GF_F64, 9, 9, 1, 1);
        struct gf_plan plan;
        struct gf_error e;
        double product = 1;
        assert_int_equal(plan_line(rows[i].line, &image, &plan, &e), GF_OK);
        assert_true(plan.separable);
        for (int a = 0; a < 3; a++) {
            double sum = 0;
            for (uint32_t t = 0; t < plan.size[a]; t++)
                sum += ((const double *)plan.factor[a])[t];
            product *= sum;
        }
        assert_true(product - rows[i].sum <= 1e-15 && rows[i].sum - product <= 1e-15);
        gf_plan_free(&plan);
    }
}

static void chooses_the_dimension(void **state)
{
    static const struct {
        const char *line;
        uint64_t depth;
        int dimensions;
    } rows[] = {{"blur -k gauss3", 1, 2}, {"blur -k gauss3", 5, 3}, {"blur -k gauss3 --2d", 5, 2},
                {"blur -k gauss3 --3d", 1, 3}, {"correlate -k 1,2,1", 5, 2}};
    (void)state;
    for (size_t i = 0; i < GF_COUNT(rows); i++) {
        struct gf_image image = image_of(GF_U8, 9, 9, rows[i].depth, 1);
        struct gf_plan plan;
        struct gf_error e;
        assert_int_equal(plan_line(rows[i].line, &image, &plan, &e), GF_OK);
        assert_int_equal(plan.dimensions, rows[i].dimensions);
        gf_plan_free(&plan);
    }
}

static void shrinks_and_crops(void **state)
{
    struct gf_image image = image_of(GF_U8, 20, 10, 6, 1);
    struct gf_plan plan;
    struct gf_error e;
    (void)state;
    assert_int_equal(plan_line("blur -k gauss5 -b valid", &image, &plan, &e), GF_OK);
    assert_int_equal(plan.out.width, 16);
    assert_int_equal(plan.out.height, 6);
    assert_int_equal(plan.out.depth, 2);
    assert_int_equal(plan.shift[2], 2);
    gf_plan_free(&plan);
    assert_int_equal(plan_line("blur -k gauss5 --roi 3,4,5+10x2x1", &image, &plan, &e), GF_OK);
    assert_int_equal(plan.out.width, 10);
    assert_int_equal(plan.out.depth, 1);
    assert_int_equal(plan.shift[0], 3);
    gf_plan_free(&plan);
}

static void handles_alpha(void **state)
{
    static const struct {
        const char *line;
        bool associated, multiply, divide, keep;
    } rows[] = {
        {"blur -k gauss5", false, true, true, false},
        {"blur -k gauss5 --alpha independent", false, false, false, false},
        {"blur -k gauss5", true, false, false, false},
        {"correlate -k sobel-x", false, false, false, true},
        {"convert", false, false, false, false},
    };
    (void)state;
    for (size_t i = 0; i < GF_COUNT(rows); i++) {
        struct gf_image image = image_of(GF_U8, 9, 9, 1, 4);
        struct gf_plan plan;
        struct gf_error e;
        image.alpha_associated = rows[i].associated;
        assert_int_equal(plan_line(rows[i].line, &image, &plan, &e), GF_OK);
        assert_int_equal(plan.alpha_multiply, rows[i].multiply);
        assert_int_equal(plan.alpha_divide, rows[i].divide);
        assert_int_equal(plan.alpha_keep, rows[i].keep);
        gf_plan_free(&plan);
    }
}

static void divides_stored_alpha(void **state)
{
    struct gf_image image = image_of(GF_U8, 9, 9, 1, 4);
    struct gf_plan plan;
    struct gf_error e;
    (void)state;
    image.alpha_associated = true;
    divide_alpha = true;
    assert_int_equal(plan_line("convert", &image, &plan, &e), GF_OK);
    assert_true(plan.alpha_divide && !plan.alpha_multiply && plan.alpha_scale == 255);
    assert_false(plan.out.alpha_associated);
    gf_plan_free(&plan);
    assert_int_equal(plan_line("correlate -k sobel-x", &image, &plan, &e), GF_EFEATURE);
    assert_non_null(strstr(e.text, "write a .tif"));
    divide_alpha = false;
}

static void refuses(void **state)
{
    static const struct {
        const char *line, *says;
        enum gf_status status;
        uint64_t depth;
    } rows[] = {
        {"blur -k gauss5 -b valid", "valid needs at least 5", GF_EFEATURE, 1},
        {"blur -k sobel", "correlate -k sobel", GF_EUSAGE, 1},
        {"blur --sigma 1mm", "--spacing", GF_EFEATURE, 1},
        {"blur --sigma 1,2,3", "give one, or 2", GF_EUSAGE, 1},
        {"blur --sigma 1,2", "give one, or 3", GF_EUSAGE, 9},
        {"correlate -k sharpen -b normalize", "taps below 0", GF_EUSAGE, 1},
        {"convert --roi 2,2+3x3", "--roi asks for 3 from 2 along x", GF_EFEATURE, 1},
    };
    (void)state;
    for (size_t i = 0; i < GF_COUNT(rows); i++) {
        struct gf_image image = image_of(GF_U8, 4, 9, rows[i].depth, 1);
        struct gf_plan plan;
        struct gf_error e;
        enum gf_status status = plan_line(rows[i].line, &image, &plan, &e);
        if (status != rows[i].status || !strstr(e.text, rows[i].says))
            fail_msg("%s: status %d, '%s', expected '%s'", rows[i].line, (int)status, e.text,
                     rows[i].says);
    }
}

static void obeys_the_memory_limit(void **state)
{
    struct gf_image image = image_of(GF_U8, 1u << 20, 1u << 12, 1, 1);
    struct gf_plan plan;
    struct gf_error e;
    uint64_t before;
    (void)state;
    gf_memory_set_limit(UINT64_MAX);
    assert_int_equal(plan_line("blur -k gauss3", &image, &plan, &e), GF_OK);
    before = plan.slab;
    gf_plan_free(&plan);
    gf_memory_set_limit(gf_memory_used() + (36u << 20));
    assert_int_equal(plan_line("blur -k gauss3", &image, &plan, &e), GF_OK);
    assert_true(plan.slab < before && plan.host_bytes <= 18u << 20);
    gf_plan_free(&plan);
    gf_memory_set_limit(gf_memory_used() + (2u << 20));
    assert_int_equal(plan_line("blur -k gauss3", &image, &plan, &e), GF_EMEMORY);
    assert_non_null(strstr(e.text, "--max-memory"));
    gf_memory_set_limit(UINT64_MAX);
}

/* Larger slabs, two of each also for one thread, and never more than the limit. */
static void plans_for_a_gpu(void **state)
{
    struct gf_image image = image_of(GF_U16, 512, 512, 2048, 1);
    const struct gf_request r = {.gpu = 3, .gpu_memory = 12345, .packed = true};
    struct gf_plan plan;
    struct gf_error e;
    uint64_t before;
    (void)state;
    gf_memory_set_limit(UINT64_MAX);
    assert_int_equal(plan_line("blur -k gauss3 -j 1", &image, &plan, &e), GF_OK);
    assert_int_equal(plan.buffers, 1);
    before = plan.slab;
    assert_int_equal(gf_plan_for_gpu(&plan, &r, "in", &e), GF_OK);
    assert_true(plan.slab > before && plan.buffers == 2 && plan.threads == 1);
    assert_true(plan.gpu == 3 && plan.gpu_memory == 12345 && plan.packed);
    before = plan.host_bytes;
    gf_memory_set_limit(gf_memory_used() + before / 4);
    assert_int_equal(gf_plan_for_gpu(&plan, &r, "in", &e), GF_OK);
    assert_true(plan.host_bytes <= before / 4);
    gf_memory_set_limit(gf_memory_used() + (1u << 20));
    assert_int_equal(gf_plan_for_gpu(&plan, &r, "in", &e), GF_EMEMORY);
    assert_non_null(strstr(e.text, "--max-memory"));
    assert_null(plan.factor[0]);
    gf_memory_set_limit(UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decides_arithmetic_and_type), cmocka_unit_test(shares_the_divisor_out),
        cmocka_unit_test(chooses_the_dimension),       cmocka_unit_test(shrinks_and_crops),
        cmocka_unit_test(handles_alpha),               cmocka_unit_test(divides_stored_alpha),
        cmocka_unit_test(refuses),
        cmocka_unit_test(obeys_the_memory_limit),      cmocka_unit_test(plans_for_a_gpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
