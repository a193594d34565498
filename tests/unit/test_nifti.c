/* Where NIfTI says that voxels are, and headers that are kept. Numbers beside which there is
 * "nibabel" were printed by nibabel 5.4. */
#include "io_test.h"

#include "geometry.h"
#include "io/nifti_space.h"

#include <math.h>

static struct gf_nifti_header made(int version, bool big)
{
    struct gf_nifti_header h;
    gf_nifti_clear(&h, version);
    h.big = big;
    gf_nifti_set_int(&h, GF_NIFTI_SIZE, 0, version == 1 ? 348 : 540);
    gf_nifti_set_int(&h, GF_NIFTI_DIM, 0, 3);
    for (int i = 1; i < 8; i++)
        gf_nifti_set_int(&h, GF_NIFTI_DIM, i, i < 4 ? 3 + i : 1);
    for (int i = 0; i < 8; i++)
        gf_nifti_set_real(&h, GF_NIFTI_PIXDIM, i, 1);
    return h;
}

static void put_reals(struct gf_nifti_header *h, enum gf_nifti_field field, int first,
                      const double *values, int count)
{
    for (int i = 0; i < count; i++)
        gf_nifti_set_real(h, field, first + i, values[i]);
}

/* step[axis][direction] and origin against the rows of a matrix. */
static void check_rows(const struct gf_geometry *g, const double rows[12], double nearly)
{
    for (int b = 0; b < 3; b++)
        for (int a = 0; a < 4; a++) {
            double found = a < 3 ? g->step[a][b] : g->origin[b];
            if (!(fabs(found - rows[4 * b + a]) <= nearly))
                fail_msg("row %d, column %d: %.17g instead of %.17g", b, a, found,
                         rows[4 * b + a]);
        }
}

/* nibabel: h['quatern_b'] = ..., h.get_best_affine() of a Nifti1Header. */
static const struct {
    double quatern[3], pixdim[4], rows[12];
} quaternions[] = {
    {{0.1, -0.2, 0.3}, {-1, 1.5, 2.0, 2.5},
     {1.1099999749660487, -1.1928342604719482, 0.7773618505128826, -90.5,
      0.7746256917776824, 1.599999970197677, 0.7636809457455381, 126.0,
      0.6464171201424961, 0.13094473037038656, -2.2499999925494194, -72.0}},
    {{0, 0, 1}, {1, 2, 2, 2}, {-2, 0, 0, -90.5, 0, -2, 0, 126, 0, 0, 2, -72}},
    {{0.5, 0.5, 0.5}, {1, 0.7, 0.8, 0.9},
     {0, 0, 0.8999999761581421, -90.5, 0.699999988079071, 0, 0, 126,
      0, 0.800000011920929, 0, -72}},
    {{0.70710678, -0.70710678, 0}, {-1, 1, 2, 3},
     {0, -2, 0, -90.5, -1, 0, 0, 126, 0, 0, 3, -72}},
};

static void from_quaternions(void **state)
{
    static const double offset[] = {-90.5, 126, -72};
    (void)state;
    for (size_t i = 0; i < GF_COUNT(quaternions); i++)
        for (int big = 0; big < 2; big++) {
            struct gf_nifti_header h = made(1, big);
            struct gf_meta m = {.spacing = {0}};
            put_reals(&h, GF_NIFTI_QUATERN, 0, quaternions[i].quatern, 3);
            put_reals(&h, GF_NIFTI_PIXDIM, 0, quaternions[i].pixdim, 4);
            put_reals(&h, GF_NIFTI_QOFFSET, 0, offset, 3);
            gf_nifti_set_int(&h, GF_NIFTI_QFORM, 0, 1);
            gf_nifti_get_space(&h, &m);
            assert_true(m.geometry.known && m.geometry.space == GF_SPACE_RAS);
            check_rows(&m.geometry, quaternions[i].rows, 2e-7);
        }
}

/* nibabel: set_qform(rows, 1, strip_shears=True) of a Nifti2Header, which has doubles. */
static const struct {
    double rows[12], pixdim[4], quatern[3];
} affines[] = {
    {{-3, 0, 0, 100, 0, 0.8, 1.5, -20, 0, -0.6, 2, 3}, {-1, 3, 1, 2.5},
     {0, -0.9486832980505138, 0.3162277660168379}},
    {{1, 0.2, 0.05, -90.25, -0.1, 0.9, 0.3, 126, 0.02, -0.25, 2.5, -72.125},
     {1, 1.005186549850325, 0.95524865872714, 2.5184320518926055},
     {-0.09690356584221006, 0.00013651438451800502, -0.07884287541410658}},
    {{-2, 0, 0, 90, 0, -2, 0, 126, 0, 0, 2, -72}, {1, 2, 2, 2}, {0, 0, 1}},
    {{0, 1.5, 0, 1, 1.5, 0, 0, 2, 0, 0, -4, 3}, {1, 1.5, 1.5, 4},
     {0.7071067811865475, 0.7071067811865475, 0}},
    {{0, 0, 1.2, -5, 0.7, 0, 0, 6, 0, 0.9, 0, -7}, {1, 0.7, 0.9, 1.2}, {0.5, 0.5, 0.5}},
    {{0.5, 0, 0, 0, 0, 0.25, 0, 0, 0, 0, 3, 0}, {1, 0.5, 0.25, 3}, {0, 0, 0}},
};

static struct gf_meta meta_of(const double rows[12])
{
    struct gf_meta m = {.geometry.space = GF_SPACE_RAS};
    for (int b = 0; b < 3; b++) {
        for (int a = 0; a < 3; a++)
            m.geometry.step[a][b] = rows[4 * b + a];
        m.geometry.origin[b] = rows[4 * b + 3];
    }
    assert_true(gf_geometry_settle(&m));
    return m;
}

static void to_quaternions(void **state)
{
    (void)state;
    for (size_t i = 0; i < GF_COUNT(affines); i++)
        for (int version = 1; version <= 2; version++) {
            struct gf_nifti_header h = made(version, version == 1);
            struct gf_meta m = meta_of(affines[i].rows);
            const double nearly = version == 1 ? 1e-7 : 1e-14;
            gf_nifti_set_space(&h, &m);
            assert_int_equal(gf_nifti_int(&h, GF_NIFTI_QFORM, 0), 1);
            assert_int_equal(gf_nifti_int(&h, GF_NIFTI_SFORM, 0), 1);
            assert_int_equal(gf_nifti_int(&h, GF_NIFTI_UNITS, 0), 2);
            for (int k = 0; k < 4; k++)
                assert_true(fabs(gf_nifti_real(&h, GF_NIFTI_PIXDIM, k) - affines[i].pixdim[k]) <=
                            2 * nearly);
            for (int k = 0; k < 3; k++) {
                /* Half a turn one way is half a turn the other way. */
                const double sign = i == 0 ? -1 : 1, q = gf_nifti_real(&h, GF_NIFTI_QUATERN, k);
                if (!(fabs(sign * q - affines[i].quatern[k]) <= nearly))
                    fail_msg("affine %zu, NIfTI-%d: quaternion part %d is %.17g, not %.17g", i,
                             version, k, q, affines[i].quatern[k]);
            }
            for (int k = 0; k < 12; k++)
                assert_true(fabs(gf_nifti_real(&h, GF_NIFTI_SROW, k) - affines[i].rows[k]) <=
                            100 * nearly);
            for (int k = 0; k < 3; k++)
                assert_true(fabs(gf_nifti_real(&h, GF_NIFTI_QOFFSET, k) -
                                 affines[i].rows[4 * k + 3]) <= 100 * nearly);
            m.geometry.space = GF_SPACE_UNKNOWN;
            gf_nifti_set_space(&h, &m);
            assert_int_equal(gf_nifti_int(&h, GF_NIFTI_SFORM, 0), 2);
        }
}

/* What is in one plane has no rotation, and is kept as the sform. */
static void flat_axes(void **state)
{
    static const double rows[] = {1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0};
    struct gf_nifti_header h = made(1, false);
    struct gf_meta m = meta_of(rows);
    (void)state;
    gf_nifti_set_space(&h, &m);
    assert_int_equal(gf_nifti_int(&h, GF_NIFTI_QFORM, 0), 0);
    assert_int_equal(gf_nifti_int(&h, GF_NIFTI_SFORM, 0), 1);
}

static void which_form(void **state)
{
    static const double rows[] = {3, 0, 0, 1, 0, 4, 0, 2, 0, 0, 5, 3};
    static const double sizes[] = {1, -6, 7, 0};
    struct gf_nifti_header h = made(1, true);
    struct gf_meta m = {.spacing = {0}};
    const struct gf_meta nothing = m;

    (void)state;
    put_reals(&h, GF_NIFTI_SROW, 0, rows, 12);
    put_reals(&h, GF_NIFTI_PIXDIM, 0, sizes, 4);
    gf_nifti_get_space(&h, &m);
    assert_true(!m.geometry.known && m.spacing[0] == 6 && m.spacing[1] == 7 && m.spacing[2] == 0);
    gf_nifti_set_int(&h, GF_NIFTI_QFORM, 0, 2);
    gf_nifti_get_space(&h, &m); /* of an axis without a length */
    assert_false(m.geometry.known);
    gf_nifti_set_int(&h, GF_NIFTI_DIM, 3, 1); /* but of one voxel it needs none */
    gf_nifti_get_space(&h, &m);
    assert_true(m.geometry.known && m.spacing[0] == 6 && m.spacing[2] == 1);
    gf_nifti_set_int(&h, GF_NIFTI_SFORM, 0, 4);
    m = nothing;
    gf_nifti_get_space(&h, &m);
    check_rows(&m.geometry, rows, 0);
    assert_true(m.spacing[0] == 3 && m.spacing[1] == 4 && m.spacing[2] == 5);
    gf_nifti_set_int(&h, GF_NIFTI_UNITS, 0, 8 | 3);
    gf_nifti_get_space(&h, &m);
    assert_true(fabs(m.spacing[2] - 0.005) < 1e-18 && fabs(m.geometry.origin[2] - 0.003) < 1e-18);
    gf_nifti_set_int(&h, GF_NIFTI_UNITS, 0, 8 | 1);
    gf_nifti_get_space(&h, &m);
    assert_true(m.spacing[2] == 5000);
    gf_nifti_set_int(&h, GF_NIFTI_UNITS, 0, 0);
    gf_nifti_get_space(&h, &m);
    assert_true(m.spacing[2] == 5);
    gf_nifti_set_real(&h, GF_NIFTI_SROW, 3, NAN); /* the sform cannot be, the qform can */
    gf_nifti_get_space(&h, &m);
    assert_true(m.geometry.known && m.spacing[0] == 6);
    gf_nifti_set_int(&h, GF_NIFTI_SFORM, 0, -1);
    gf_nifti_set_real(&h, GF_NIFTI_QUATERN, 1, INFINITY);
    gf_nifti_set_real(&h, GF_NIFTI_PIXDIM, 2, NAN);
    gf_nifti_get_space(&h, &m);
    assert_true(!m.geometry.known && m.spacing[0] == 6 && m.spacing[1] == 0);
}

/* A header with both forms, which are not of the same space. */
static struct gf_nifti_header two_forms(void)
{
    struct gf_nifti_header h = made(2, false);
    put_reals(&h, GF_NIFTI_QUATERN, 0, quaternions[2].quatern, 3);
    put_reals(&h, GF_NIFTI_PIXDIM, 0, (const double[]){-1, 2, 3, 4}, 4);
    put_reals(&h, GF_NIFTI_QOFFSET, 0, (const double[]){10, 20, 30}, 3);
    put_reals(&h, GF_NIFTI_SROW, 0, affines[1].rows, 12);
    gf_nifti_set_int(&h, GF_NIFTI_QFORM, 0, 1);
    gf_nifti_set_int(&h, GF_NIFTI_SFORM, 0, 4);
    gf_nifti_set_int(&h, GF_NIFTI_UNITS, 0, 2 | 8);
    return h;
}

static void kept(void **state)
{
    struct gf_nifti_header h = two_forms(), old = h;
    struct gf_meta m = {.spacing = {0}};
    (void)state;
    gf_nifti_get_space(&h, &m);
    gf_nifti_move_space(&h, &m);
    assert_memory_equal(&h, &old, sizeof h);
}

static void moved(void **state)
{
    /* Both forms by 2, 1, 3 voxels. The quaternion (1 1 1 1)/2 takes x to y, y to z and z to x;
     * with pixdim 2, 3, 4 and the last one turned round: 10 - 3 * 4, 20 + 2 * 2, 30 + 1 * 3. */
    static const double offset[] = {-2, 24, 33};
    struct gf_nifti_header h = two_forms();
    const struct gf_nifti_header old = h;
    struct gf_meta m = {.spacing = {0}};

    (void)state;
    gf_nifti_get_space(&h, &m);
    gf_geometry_crop(&m.geometry, (const double[]){2, 1, 3});
    gf_nifti_move_space(&h, &m);
    for (int b = 0; b < 3; b++) {
        const double *row = affines[1].rows + 4 * b;
        assert_true(fabs(gf_nifti_real(&h, GF_NIFTI_QOFFSET, b) - offset[b]) < 1e-12);
        assert_true(fabs(gf_nifti_real(&h, GF_NIFTI_SROW, 4 * b + 3) -
                         (row[3] + 2 * row[0] + row[1] + 3 * row[2])) < 1e-12);
        gf_nifti_set_real(&h, GF_NIFTI_QOFFSET, b, gf_nifti_real(&old, GF_NIFTI_QOFFSET, b));
        gf_nifti_set_real(&h, GF_NIFTI_SROW, 4 * b + 3, row[3]);
    }
    assert_memory_equal(&h, &old, sizeof h); /* and nothing else */
}

static void scaled(void **state)
{
    struct gf_nifti_header h = two_forms();
    struct gf_meta m = {.spacing = {0}};
    double spacing[3], size[3];

    (void)state;
    gf_nifti_get_space(&h, &m);
    for (int a = 0; a < 3; a++) {
        size[a] = m.spacing[a];
        spacing[a] = a == 1 ? 0 : 0.25;
    }
    gf_geometry_scale(&m.geometry, spacing);
    assert_true(gf_geometry_settle(&m));
    gf_nifti_move_space(&h, &m);
    assert_int_equal(gf_nifti_int(&h, GF_NIFTI_SFORM, 0), 4);
    for (int a = 0; a < 3; a++) {
        const double k = a == 1 ? 1 : 0.25 / size[a];
        assert_true(fabs(gf_nifti_real(&h, GF_NIFTI_PIXDIM, a + 1) - k * (a + 2)) < 1e-12);
        for (int b = 0; b < 3; b++)
            assert_true(fabs(gf_nifti_real(&h, GF_NIFTI_SROW, 4 * b + a) -
                             k * affines[1].rows[4 * b + a]) < 1e-12);
    }
    assert_true(gf_nifti_real(&h, GF_NIFTI_QOFFSET, 2) == 30);
    /* A spacing alone, in the header's unit. */
    h = made(1, false);
    gf_nifti_set_int(&h, GF_NIFTI_UNITS, 0, 3);
    m = (struct gf_meta){.spacing = {0}};
    gf_nifti_get_space(&h, &m);
    assert_true(fabs(m.spacing[1] - 0.001) < 1e-18);
    m.spacing[1] = 0.5;
    gf_nifti_move_space(&h, &m);
    assert_true(gf_nifti_real(&h, GF_NIFTI_PIXDIM, 1) == 1 &&
                gf_nifti_real(&h, GF_NIFTI_PIXDIM, 2) == 500);
}

/* Turned in another way than voxels could be: both forms are of that. */
static void replaced(void **state)
{
    struct gf_nifti_header h = two_forms();
    struct gf_meta m = meta_of(affines[0].rows), back = {.spacing = {0}};
    (void)state;
    gf_nifti_move_space(&h, &m);
    gf_nifti_get_space(&h, &back);
    check_rows(&back.geometry, affines[0].rows, 1e-12);
    gf_nifti_set_int(&h, GF_NIFTI_SFORM, 0, 0);
    gf_nifti_get_space(&h, &back);
    check_rows(&back.geometry, affines[0].rows, 1e-12);
    assert_int_equal(gf_nifti_int(&h, GF_NIFTI_UNITS, 0), 2 | 8);
}

/* Every byte of NIfTI-1 that is a field has its place in NIfTI-2. */
static void widened(void **state)
{
    struct gf_nifti_header h = made(1, true), wide;
    uint8_t *text;
    size_t size;

    (void)state;
    put_reals(&h, GF_NIFTI_SROW, 0, affines[0].rows, 12);
    put_reals(&h, GF_NIFTI_INTENT_P, 0, (const double[]){1, -2, 3}, 3);
    gf_nifti_set_int(&h, GF_NIFTI_DIM, 7, -5);
    gf_nifti_set_int(&h, GF_NIFTI_SLICE_CODE, 0, 200);
    gf_nifti_set_int(&h, GF_NIFTI_INTENT_CODE, 0, 1007);
    text = gf_nifti_bytes(&h, GF_NIFTI_DESCRIP, &size);
    memset(text, 'x', size);
    wide = h;
    gf_nifti_widen(&wide);
    assert_int_equal(wide.version, 2);
    assert_memory_equal(wide.bytes, "\0\0\2\x1cn+2\0\r\n\x1a\n", 12);
    for (int i = 0; i < 12; i++)
        assert_true(gf_nifti_real(&wide, GF_NIFTI_SROW, i) ==
                    gf_nifti_real(&h, GF_NIFTI_SROW, i));
    assert_true(gf_nifti_real(&wide, GF_NIFTI_INTENT_P, 1) == -2);
    assert_int_equal(gf_nifti_int(&wide, GF_NIFTI_DIM, 7), -5);
    assert_int_equal(gf_nifti_int(&wide, GF_NIFTI_SLICE_CODE, 0), 200);
    assert_int_equal(gf_nifti_int(&wide, GF_NIFTI_INTENT_CODE, 0), 1007);
    text = gf_nifti_bytes(&wide, GF_NIFTI_DESCRIP, &size);
    assert_int_equal(text[79], 'x');
    assert_int_equal(text[80], 0);
}

/* ---- whole files ---- */

/* A file of 5 x 4 samples with an extension, by its bytes. */
static size_t small_file(uint8_t bytes[512])
{
    memset(bytes, 0, 512);
    bytes[0] = 0x5c, bytes[1] = 1;                     /* 348 */
    bytes[40] = 2, bytes[42] = 5, bytes[44] = 4;
    bytes[70] = 2, bytes[72] = 8;                      /* uint8 */
    memcpy(bytes + 108, "\0\0\xc0\x43", 4);            /* 384 as a float */
    memcpy(bytes + 148, "by hand", 7);
    memcpy(bytes + 344, "n+1", 4);
    bytes[348] = 1;
    memcpy(bytes + 352, "\x20\0\0\0\6\0\0\0a comment, kept", 23);
    for (int i = 0; i < 20; i++)
        bytes[384 + i] = (uint8_t)(7 * i);
    return 404;
}

static void damaged(void **state)
{
    uint8_t bytes[512];
    size_t size = small_file(bytes);
    (void)state;
    check_truncations(bytes, size);
    check_read_memory(bytes, size);
}

static void round_trip(void **state)
{
    uint8_t bytes[512], *written;
    size_t size = small_file(bytes), written_size;
    struct loaded l;
    struct gf_error e = {{0}};

    (void)state;
    memcpy(bytes + 112, "\0\0\x80\x3f", 4); /* a slope of 1, as it is written */
    for (int i = 6; i < 16; i += 2)
        bytes[40 + i] = 1;
    assert_int_equal(load_bytes(bytes, size, &l), GF_OK);
    assert_memory_equal(l.samples, bytes + 384, 20);
    assert_string_equal(l.image.meta.description, "by hand");
    assert_int_equal(save(scratch("out.nii"), &l.image, l.samples, -1, 1, &e), GF_OK);
    written = get_file(scratch("out.nii"), &written_size);
    assert_int_equal(written_size, size);
    assert_memory_equal(written, bytes, size);
    free(written);
    check_write_memory(scratch("out.nii"), &l.image, l.samples, 1);
    unload(&l);
}

/* One of NIfTI-2, big-endian, scaled. */
static size_t wide_file(uint8_t bytes[1024])
{
    struct gf_nifti_header h = made(2, true);
    memset(bytes, 0, 1024);
    gf_nifti_set_int(&h, GF_NIFTI_DIM, 0, 2);
    gf_nifti_set_int(&h, GF_NIFTI_DIM, 1, 5);
    gf_nifti_set_int(&h, GF_NIFTI_DIM, 2, 2);
    gf_nifti_set_int(&h, GF_NIFTI_DATATYPE, 0, 4);
    gf_nifti_set_real(&h, GF_NIFTI_SLOPE, 0, 2);
    gf_nifti_set_int(&h, GF_NIFTI_SFORM, 0, 1);
    put_reals(&h, GF_NIFTI_SROW, 0, affines[1].rows, 12);
    gf_nifti_set_real(&h, GF_NIFTI_VOX_OFFSET, 0, 576);
    memcpy(bytes, h.bytes, 540);
    memcpy(bytes + 540, "\1\0\0\0\0\0\0\x20\0\0\0\6kept", 16);
    return 576 + 20;
}

/* Any bytes at all: refused, or read and written again, and nothing worse. */
static void mutations(void **state)
{
    static const uint8_t odd[] = {0, 1, 0x7f, 0x80, 0xff, 0xfe};
    const char *asked = getenv("GPUFILT_TEST_ROUNDS");
    const long rounds = asked ? strtol(asked, NULL, 10) : 3000;
    uint32_t seed = 7;
    long read = 0;
    (void)state;
    for (long n = 0; n < rounds; n++) {
        uint8_t bytes[1024];
        const size_t size = n % 2 ? wide_file(bytes) : small_file(bytes);
        struct loaded l;
        for (uint32_t k = next_random(&seed) % 4 + 1; k > 0; k--) {
            const size_t at = next_random(&seed) % (next_random(&seed) % 2 ? size : 128);
            const uint32_t how = next_random(&seed);
            bytes[at] = how % 3 ? (uint8_t)(how >> 8) : odd[how / 3 % sizeof odd];
        }
        if (load_bytes(bytes, next_random(&seed) % 8 ? size : next_random(&seed) % size, &l) ==
            GF_OK) {
            struct gf_error e = {{0}};
            read++;
            l.image.meta.geometry.origin[0] += n % 3;
            save(scratch("out.nii"), &l.image, l.samples, -1, 1, &e);
        }
        unload(&l);
        assert_int_equal(gf_memory_used(), 0);
    }
    assert_true(read > rounds / 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_quaternions), cmocka_unit_test(to_quaternions),
        cmocka_unit_test(flat_axes),        cmocka_unit_test(which_form),
        cmocka_unit_test(kept),             cmocka_unit_test(moved),
        cmocka_unit_test(scaled),           cmocka_unit_test(replaced),
        cmocka_unit_test(widened),          cmocka_unit_test(damaged),
        cmocka_unit_test(round_trip),       cmocka_unit_test(mutations),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
