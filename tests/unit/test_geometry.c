#include "geometry.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* A scan whose x leads to the left, y to the head and z to the front, in a tilted machine. */
static const struct gf_geometry tilted = {
    .known = true, .space = GF_SPACE_RAS, .origin = {100, -20, 3},
    .step = {{-3, 0, 4}, {1.2, 0, 0.9}, {0, 2, 0}}};

static void lengths(void **state)
{
    struct gf_meta m = {.geometry = tilted};

    (void)state;
    m.geometry.known = false;
    assert_true(gf_geometry_settle(&m));
    assert_true(m.geometry.known);
    assert_true(m.spacing[0] == 5 && fabs(m.spacing[1] - 1.5) < 1e-15 && m.spacing[2] == 2);
    /* Squares that overflow or vanish. */
    m.geometry.step[0][0] = 3e200;
    m.geometry.step[0][2] = 4e200;
    m.geometry.step[2][1] = -5e-300;
    assert_true(gf_geometry_settle(&m));
    assert_true(fabs(m.spacing[0] / 5e200 - 1) < 1e-15 && m.spacing[2] == 5e-300);
    /* Along an axis the length is the very number. */
    m.geometry.step[2][1] = -0.1;
    assert_true(gf_geometry_settle(&m));
    assert_true(m.spacing[2] == 0.1);
}

static void nothing_known(void **state)
{
    static const struct gf_geometry nothing;
    const double bad[] = {NAN, INFINITY, -INFINITY};

    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (int where = 0; where < 2; where++) {
            struct gf_meta m = {.spacing = {1, 1, 1}, .geometry = tilted};
            *(where ? &m.geometry.origin[i] : &m.geometry.step[1][i]) = bad[i];
            assert_false(gf_geometry_settle(&m));
            assert_true(m.spacing[0] == 0 && m.spacing[1] == 0 && m.spacing[2] == 0);
            assert_memory_equal(&m.geometry, &nothing, sizeof nothing);
        }
    struct gf_meta m = {.geometry = tilted};
    memset(m.geometry.step[2], 0, sizeof m.geometry.step[2]);
    assert_false(gf_geometry_settle(&m));
    assert_memory_equal(&m.geometry, &nothing, sizeof nothing);
    m.geometry = tilted;
    m.geometry.step[0][0] = m.geometry.step[0][1] = 1.7e308; /* finite, the length is not */
    assert_false(gf_geometry_settle(&m));
}

static void plain(void **state)
{
    struct gf_meta m = {.spacing = {0.5, 0, 3}};
    struct gf_geometry g = gf_geometry_plain(&m);

    (void)state;
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            assert_true(g.step[a][b] == (a != b ? 0 : a == 0 ? 0.5 : a == 1 ? 1 : 3));
    assert_true(g.origin[0] == 0 && g.origin[1] == 0 && g.origin[2] == 0);
    assert_int_equal(g.space, GF_SPACE_UNKNOWN);
    assert_true(gf_geometry_plain_axes(&g));
    g.step[0][1] = 0.4e-6; /* single precision */
    assert_true(gf_geometry_plain_axes(&g));
    g.step[0][1] = 0.6e-6;
    assert_false(gf_geometry_plain_axes(&g));
    g.step[0][1] = 0;
    g.step[2][2] = -3;
    assert_false(gf_geometry_plain_axes(&g));
    assert_false(gf_geometry_plain_axes(&tilted));
}

static void flips(void **state)
{
    struct gf_geometry g = tilted;

    (void)state;
    gf_geometry_flip(&g);
    assert_true(g.origin[0] == -100 && g.origin[1] == 20 && g.origin[2] == 3);
    assert_true(g.step[0][0] == 3 && g.step[0][2] == 4 && g.step[1][0] == -1.2 &&
                g.step[2][1] == -2);
    assert_false(signbit(g.step[0][1]));
    gf_geometry_flip(&g);
    assert_memory_equal(g.origin, tilted.origin, sizeof g.origin);
    assert_memory_equal(g.step, tilted.step, sizeof g.step);
}

static void moves_and_scales(void **state)
{
    struct gf_geometry g = tilted;

    (void)state;
    gf_geometry_crop(&g, (const double[]){2, 10, 5});
    /* (100,-20,3) + 2 (-3,0,4) + 10 (1.2,0,.9) + 5 (0,2,0) */
    assert_true(fabs(g.origin[0] - 106) < 1e-12 && g.origin[1] == -10 &&
                fabs(g.origin[2] - 20) < 1e-12);
    gf_geometry_scale(&g, (const double[]){10, 0, 0.25});
    assert_true(fabs(g.step[0][0] + 6) < 1e-14 && fabs(g.step[0][2] - 8) < 1e-14);
    assert_memory_equal(g.step[1], tilted.step[1], sizeof g.step[1]);
    assert_true(g.step[2][1] == 0.25);
    assert_true(fabs(g.origin[0] - 106) < 1e-12);
}

static void orientations(void **state)
{
    struct gf_geometry g = tilted;
    char code[4];

    (void)state;
    gf_geometry_orientation(&g, code); /* x mostly up, so y has what is left, the right */
    assert_string_equal(code, "SRA");
    g = (struct gf_geometry){.known = true, .space = GF_SPACE_RAS,
                             .step = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    gf_geometry_orientation(&g, code);
    assert_string_equal(code, "RAS");
    gf_geometry_flip(&g);
    gf_geometry_orientation(&g, code);
    assert_string_equal(code, "LPS");
    g = (struct gf_geometry){.known = true, .space = GF_SPACE_RAS,
                             .step = {{0, 0, -1}, {0, -2, 0}, {3, 0, 0}}};
    gf_geometry_orientation(&g, code);
    assert_string_equal(code, "IPR");
    /* Two axes that lead to the same side: the second gets what is left. */
    g = (struct gf_geometry){.known = true, .space = GF_SPACE_RAS,
                             .step = {{8, 1, 0}, {9, 1, 0}, {0, 0, 1}}};
    gf_geometry_orientation(&g, code);
    assert_string_equal(code, "ARS");
    g.space = GF_SPACE_UNKNOWN;
    gf_geometry_orientation(&g, code);
    assert_string_equal(code, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths),
        cmocka_unit_test(nothing_known),
        cmocka_unit_test(plain),
        cmocka_unit_test(flips),
        cmocka_unit_test(moves_and_scales),
        cmocka_unit_test(orientations),
    };

    return cmocka_run_group_tests_name("geometry", tests, NULL, NULL);
}
