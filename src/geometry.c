#include "geometry.h"

#include <math.h>
#include <string.h>

/* Of a direction's size, what two axes of space may share without being called oblique: headers
 * hold angles in single precision. */
#define NEARLY_NOTHING 1e-6

/* 0 when it has none that can be worked with. Without squares of the components themselves, which
 * could overflow; exact for a vector along an axis. */
static double length_of(const double v[3])
{
    double most = fmax(fabs(v[0]), fmax(fabs(v[1]), fabs(v[2]))), sum = 0, length;
    if (!isfinite(v[0]) || !isfinite(v[1]) || !isfinite(v[2]) || most == 0)
        return 0;
    for (int b = 0; b < 3; b++)
        sum += v[b] / most * (v[b] / most);
    length = most * sqrt(sum);
    return isfinite(length) ? length : 0;
}

struct gf_geometry gf_geometry_plain(const struct gf_meta *meta)
{
    struct gf_geometry g = {.space = GF_SPACE_UNKNOWN};
    for (int a = 0; a < 3; a++)
        g.step[a][a] = meta->spacing[a] > 0 ? meta->spacing[a] : 1;
    return g;
}

bool gf_geometry_settle(struct gf_meta *meta)
{
    struct gf_geometry *g = &meta->geometry;
    bool good = true;
    for (int a = 0; a < 3; a++) {
        meta->spacing[a] = length_of(g->step[a]);
        good = good && meta->spacing[a] > 0 && isfinite(g->origin[a]);
    }
    g->known = good;
    if (good)
        return true;
    memset(g, 0, sizeof *g);
    memset(meta->spacing, 0, sizeof meta->spacing);
    return false;
}

void gf_geometry_flip(struct gf_geometry *g)
{
    /* Taken from 0, so that no 0 becomes the -0 that would be written into headers. */
    for (int b = 0; b < 2; b++) {
        g->origin[b] = 0.0 - g->origin[b];
        for (int a = 0; a < 3; a++)
            g->step[a][b] = 0.0 - g->step[a][b];
    }
}

void gf_geometry_crop(struct gf_geometry *g, const double first[3])
{
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            g->origin[b] += first[a] * g->step[a][b];
}

void gf_geometry_scale(struct gf_geometry *g, const double spacing[3])
{
    for (int a = 0; a < 3; a++) {
        double length = length_of(g->step[a]);
        for (int b = 0; b < 3 && spacing[a] > 0 && length > 0; b++)
            g->step[a][b] = g->step[a][b] / length * spacing[a];
    }
}

bool gf_geometry_plain_axes(const struct gf_geometry *g)
{
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            if (a == b ? !(g->step[a][a] > 0)
                       : fabs(g->step[a][b]) > NEARLY_NOTHING * fabs(g->step[a][a]))
                return false;
    return true;
}

void gf_geometry_orientation(const struct gf_geometry *g, char code[4])
{
    static const char names[2][4] = {"LPI", "RAS"};
    bool axis_done[3] = {false}, way_done[3] = {false};
    memset(code, 0, 4);
    if (!g->known || g->space != GF_SPACE_RAS)
        return;
    /* The closest pair of an axis and a direction first, so that each direction is named once. */
    for (int n = 0; n < 3; n++) {
        int axis = 0, way = 0;
        double most = -1;
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3 && !axis_done[a]; b++) {
                double share = fabs(g->step[a][b]) / length_of(g->step[a]);
                if (!way_done[b] && share > most) {
                    most = share;
                    axis = a;
                    way = b;
                }
            }
        axis_done[axis] = way_done[way] = true;
        code[axis] = names[g->step[axis][way] > 0][way];
    }
}
