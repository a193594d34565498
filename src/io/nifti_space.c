#include "nifti_space.h"

#include "../geometry.h"

#include <math.h>
#include <string.h>

typedef double matrix[3][3]; /* [axis][direction]: the rows are the axes' vectors */

/* mm in the header's unit of length. */
static double unit_of(const struct gf_nifti_header *h)
{
    switch (gf_nifti_int(h, GF_NIFTI_UNITS, 0) & 7) {
    case 1:
        return 1000;
    case 3:
        return 0.001;
    default:
        return 1;
    }
}

static void cross(const double a[3], const double b[3], double c[3])
{
    for (int i = 0; i < 3; i++)
        c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* ---- reading ---- */

static void get_sform(const struct gf_nifti_header *h, double unit, struct gf_geometry *g)
{
    for (int b = 0; b < 3; b++) {
        for (int a = 0; a < 3; a++)
            g->step[a][b] = gf_nifti_real(h, GF_NIFTI_SROW, 4 * b + a) * unit;
        g->origin[b] = gf_nifti_real(h, GF_NIFTI_SROW, 4 * b + 3) * unit;
    }
}

static void get_qform(const struct gf_nifti_header *h, double unit, struct gf_geometry *g)
{
    double q[4], rest = 1;
    for (int i = 1; i < 4; i++) {
        q[i] = gf_nifti_real(h, GF_NIFTI_QUATERN, i - 1);
        rest -= q[i] * q[i];
    }
    /* Half a turn, but for the rounding of single precision. */
    if (rest < 1e-7) {
        const double length = sqrt(1 - rest);
        for (int i = 1; i < 4; i++)
            q[i] /= length;
        rest = 0;
    }
    q[0] = sqrt(rest);
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        double size = fabs(gf_nifti_real(h, GF_NIFTI_PIXDIM, a + 1)) * unit;
        if (size == 0 && gf_nifti_int(h, GF_NIFTI_DIM, a + 1) == 1)
            size = 1; /* of one voxel: nobody asks */
        if (a == 2 && gf_nifti_real(h, GF_NIFTI_PIXDIM, 0) < 0)
            size = -size;
        g->step[a][a] = size * (q[0] * q[0] + q[a + 1] * q[a + 1] - q[b + 1] * q[b + 1] -
                                q[c + 1] * q[c + 1]);
        g->step[a][b] = size * 2 * (q[a + 1] * q[b + 1] + q[0] * q[c + 1]);
        g->step[a][c] = size * 2 * (q[a + 1] * q[c + 1] - q[0] * q[b + 1]);
        g->origin[a] = gf_nifti_real(h, GF_NIFTI_QOFFSET, a) * unit;
    }
}

/* An axis of one voxel may have no length: it is upright on the others. */
static void erect_flat_axis(const struct gf_nifti_header *h, struct gf_geometry *g)
{
    for (int a = 0; a < 3; a++) {
        double *step = g->step[a], length;
        const bool there = a < gf_nifti_int(h, GF_NIFTI_DIM, 0);
        if (dot(step, step) != 0 || (there && gf_nifti_int(h, GF_NIFTI_DIM, a + 1) != 1))
            continue;
        cross(g->step[(a + 1) % 3], g->step[(a + 2) % 3], step);
        length = sqrt(dot(step, step));
        for (int b = 0; b < 3 && length > 0; b++)
            step[b] /= length;
    }
}

void gf_nifti_get_space(const struct gf_nifti_header *h, struct gf_meta *meta)
{
    static const struct {
        enum gf_nifti_field code;
        void (*get)(const struct gf_nifti_header *, double, struct gf_geometry *);
    } forms[] = {{GF_NIFTI_SFORM, get_sform}, {GF_NIFTI_QFORM, get_qform}};
    const double unit = unit_of(h);
    const int64_t axes = gf_nifti_int(h, GF_NIFTI_DIM, 0);

    for (int f = 0; f < 2; f++) {
        struct gf_geometry *g = &meta->geometry;
        if (gf_nifti_int(h, forms[f].code, 0) <= 0)
            continue;
        forms[f].get(h, unit, g);
        erect_flat_axis(h, g);
        g->space = GF_SPACE_RAS;
        if (gf_geometry_settle(meta))
            return;
    }
    memset(&meta->geometry, 0, sizeof meta->geometry);
    for (int a = 0; a < 3; a++) {
        const double size = fabs(gf_nifti_real(h, GF_NIFTI_PIXDIM, a + 1)) * unit;
        meta->spacing[a] = a < axes && isfinite(size) ? size : 0;
    }
}

/* ---- writing ---- */

/* The cofactors, whose product with the matrix is the determinant, which is returned. */
static double cofactors(matrix m, matrix c)
{
    for (int a = 0; a < 3; a++)
        cross(m[(a + 1) % 3], m[(a + 2) % 3], c[a]);
    return dot(m[0], c[0]);
}

/* Makes the matrix the rotation or reflection next to it, that of its polar decomposition, by
 * Newton's iteration of the mean with the inverse's transpose. False when it has no inverse. */
static bool nearest_rotation(matrix m)
{
    for (int n = 0; n < 100; n++) {
        matrix c;
        double change = 0;
        const double determinant = cofactors(m, c);
        if (!(fabs(determinant) > 1e-12))
            return false;
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) {
                const double next = (m[a][b] + c[a][b] / determinant) / 2;
                change = fmax(change, fabs(next - m[a][b]));
                m[a][b] = next;
            }
        if (change < 1e-15)
            break;
    }
    return true;
}

/* The quaternion of a rotation, from its largest part, which loses no digits; q[0] >= 0. */
static void quaternion(matrix m, double q[4])
{
    const double trace = m[0][0] + m[1][1] + m[2][2];
    int largest = -1;
    for (int a = 0; a < 3; a++)
        if (m[a][a] > (largest < 0 ? trace : m[largest][largest]))
            largest = a;
    if (largest < 0) {
        q[0] = sqrt(1 + trace) / 2;
        for (int a = 0; a < 3; a++)
            q[a + 1] = (m[(a + 1) % 3][(a + 2) % 3] - m[(a + 2) % 3][(a + 1) % 3]) / (4 * q[0]);
        return;
    }
    const int a = largest, b = (a + 1) % 3, c = (a + 2) % 3;
    q[a + 1] = sqrt(fmax(0, 1 + m[a][a] - m[b][b] - m[c][c])) / 2;
    q[b + 1] = (m[a][b] + m[b][a]) / (4 * q[a + 1]);
    q[c + 1] = (m[a][c] + m[c][a]) / (4 * q[a + 1]);
    q[0] = (m[b][c] - m[c][b]) / (4 * q[a + 1]);
    for (int i = 0; i < 4 && q[0] < 0; i++)
        q[3 - i] = 0.0 - q[3 - i];
}

static void put_sform(struct gf_nifti_header *h, const struct gf_geometry *g, double unit)
{
    for (int b = 0; b < 3; b++) {
        for (int a = 0; a < 3; a++)
            gf_nifti_set_real(h, GF_NIFTI_SROW, 4 * b + a, g->step[a][b] / unit);
        gf_nifti_set_real(h, GF_NIFTI_SROW, 4 * b + 3, g->origin[b] / unit);
    }
}

/* False when axes lie in one plane, which no rotation does. */
static bool put_qform(struct gf_nifti_header *h, const struct gf_meta *meta)
{
    matrix m, c;
    double q[4];
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            m[a][b] = meta->geometry.step[a][b] / meta->spacing[a];
    if (cofactors(m, c) < 0) {
        gf_nifti_set_real(h, GF_NIFTI_PIXDIM, 0, -1);
        for (int b = 0; b < 3; b++)
            m[2][b] = 0.0 - m[2][b];
    }
    if (!nearest_rotation(m))
        return false;
    quaternion(m, q);
    for (int i = 0; i < 3; i++) {
        gf_nifti_set_real(h, GF_NIFTI_QUATERN, i, q[i + 1]);
        gf_nifti_set_real(h, GF_NIFTI_QOFFSET, i, meta->geometry.origin[i]);
    }
    return true;
}

static void forget_forms(struct gf_nifti_header *h)
{
    gf_nifti_set_int(h, GF_NIFTI_QFORM, 0, 0);
    gf_nifti_set_int(h, GF_NIFTI_SFORM, 0, 0);
    for (int i = 0; i < 12; i++)
        gf_nifti_set_real(h, GF_NIFTI_SROW, i, 0);
    for (int i = 0; i < 3; i++) {
        gf_nifti_set_real(h, GF_NIFTI_QUATERN, i, 0);
        gf_nifti_set_real(h, GF_NIFTI_QOFFSET, i, 0);
    }
}

void gf_nifti_set_space(struct gf_nifti_header *h, const struct gf_meta *meta)
{
    const struct gf_geometry *g = &meta->geometry;
    const int64_t units = gf_nifti_int(h, GF_NIFTI_UNITS, 0);
    const int64_t code = g->space == GF_SPACE_RAS ? 1 : 2;
    bool lengths = false;

    forget_forms(h);
    gf_nifti_set_real(h, GF_NIFTI_PIXDIM, 0, 1);
    for (int a = 0; a < 3; a++) {
        gf_nifti_set_real(h, GF_NIFTI_PIXDIM, a + 1, meta->spacing[a] > 0 ? meta->spacing[a] : 1);
        lengths = lengths || meta->spacing[a] > 0;
    }
    gf_nifti_set_int(h, GF_NIFTI_UNITS, 0, (units & ~7) | (lengths ? 2 : 0));
    if (!g->known)
        return;
    put_sform(h, g, 1);
    gf_nifti_set_int(h, GF_NIFTI_SFORM, 0, code);
    if (put_qform(h, meta))
        gf_nifti_set_int(h, GF_NIFTI_QFORM, 0, code);
}

/* ---- a header of which the place of the voxels changed ---- */

/* Voxel (i, j, k) of the result is where voxel first + k (i, j, k) was. */
struct change {
    double first[3];
    double scale[3];
};

static bool same_space(const struct gf_meta *a, const struct gf_meta *b)
{
    const struct gf_geometry *g = &a->geometry, *h = &b->geometry;
    bool same = g->known == h->known;
    for (int i = 0; i < 3; i++) {
        same = same && a->spacing[i] == b->spacing[i] &&
               (!g->known || g->origin[i] == h->origin[i]);
        for (int k = 0; k < 3 && g->known; k++)
            same = same && g->step[i][k] == h->step[i][k];
    }
    return same;
}

/* False when it is not a part of the same grid, or one with other steps along the same axes. */
static bool find_change(const struct gf_meta *was, const struct gf_meta *now, struct change *c)
{
    matrix old, k;
    double moved[3], determinant;
    memcpy(old, was->geometry.step, sizeof old);
    if (!was->geometry.known || !now->geometry.known ||
        was->geometry.space != now->geometry.space)
        return false;
    for (int a = 0; a < 3; a++) {
        c->scale[a] = now->spacing[a] / was->spacing[a];
        moved[a] = now->geometry.origin[a] - was->geometry.origin[a];
        for (int b = 0; b < 3; b++)
            if (!(fabs(now->geometry.step[a][b] - c->scale[a] * old[a][b]) <=
                  1e-9 * now->spacing[a]))
                return false;
    }
    determinant = cofactors(old, k);
    for (int a = 0; a < 3; a++) {
        c->first[a] = dot(moved, k[a]) / determinant;
        if (!isfinite(c->first[a]) || !isfinite(c->scale[a]))
            return false;
        /* Whole voxels, which the solution gives but for its rounding. */
        if (fabs(c->first[a] - rint(c->first[a])) < 1e-6)
            c->first[a] = rint(c->first[a]);
    }
    return true;
}

static void scale_pixdim(struct gf_nifti_header *h, const double scale[3])
{
    for (int a = 0; a < 3; a++)
        if (scale[a] != 1)
            gf_nifti_set_real(h, GF_NIFTI_PIXDIM, a + 1,
                              gf_nifti_real(h, GF_NIFTI_PIXDIM, a + 1) * scale[a]);
}

/* Each form moves by itself: they may be of different spaces. */
static void apply_change(struct gf_nifti_header *h, const struct change *c)
{
    const double unit = unit_of(h);
    if (gf_nifti_int(h, GF_NIFTI_QFORM, 0) > 0) {
        struct gf_geometry g = {0};
        get_qform(h, unit, &g);
        gf_geometry_crop(&g, c->first);
        for (int b = 0; b < 3; b++)
            gf_nifti_set_real(h, GF_NIFTI_QOFFSET, b, g.origin[b] / unit);
    }
    if (gf_nifti_int(h, GF_NIFTI_SFORM, 0) > 0) {
        struct gf_geometry g = {0};
        get_sform(h, unit, &g);
        gf_geometry_crop(&g, c->first);
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                g.step[a][b] *= c->scale[a];
        put_sform(h, &g, unit);
    }
    scale_pixdim(h, c->scale);
}

void gf_nifti_move_space(struct gf_nifti_header *h, const struct gf_meta *meta)
{
    struct gf_meta was = {.spacing = {0}};
    struct change change;
    gf_nifti_get_space(h, &was);
    if (same_space(&was, meta))
        return;
    if (find_change(&was, meta, &change)) {
        apply_change(h, &change);
        return;
    }
    if (was.geometry.known || meta->geometry.known) {
        gf_nifti_set_space(h, meta);
        return;
    }
    for (int a = 0; a < 3; a++)
        if (meta->spacing[a] != was.spacing[a])
            gf_nifti_set_real(h, GF_NIFTI_PIXDIM, a + 1, meta->spacing[a] / unit_of(h));
}
