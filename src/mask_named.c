/* The named masks: one row each, with the generator that makes it. Most of them are in masks/
 * as text too, for people to read and change, and built in from there: both are wanted,
 * because the text has no 3D form of every width and the table no comments. test_mask_text
 * holds every file against its row, so they cannot drift apart. */
#include "mask_internal.h"
#include "text.h"
#include "util.h"

#include <math.h>
#include <string.h>

struct row;
typedef enum gf_status make_mask(struct gf_mask *mask, const struct row *row, int dimensions,
                                 struct gf_error *e);

/* The numbers are what the generator of the row takes; see there. */
struct row {
    struct gf_mask_row shown;
    make_mask *make;
    int number[4];
};

static make_mask make_binomial, make_box, make_derivative, make_neighbours, make_emboss, make_log;

#define BOX(n) {{"box" #n, "mean of " #n " samples along every axis", 0}, make_box, {n}}
#define DERIVATIVE(name, suffix, axis, axis_name, dimensions, outer, inner)                   \
    {{name suffix, "derivative along " axis_name ", smoothed across by " #outer " " #inner    \
      " " #outer, dimensions}, make_derivative, {axis, outer, inner}}
#define DERIVATIVES(name, outer, inner)                  \
    DERIVATIVE(name, "", 0, "x", 0, outer, inner),       \
    DERIVATIVE(name, "-x", 0, "x", 0, outer, inner),     \
    DERIVATIVE(name, "-y", 1, "y", 0, outer, inner),     \
    DERIVATIVE(name, "-z", 2, "z", 3, outer, inner)

static const struct row rows[] = {
    {{"gauss3", "binomial 1 2 1 along every axis, sigma 0.707", 0}, make_binomial, {3}},
    {{"gauss5", "binomial 1 4 6 4 1 along every axis, sigma 1", 0}, make_binomial, {5}},
    {{"gauss7", "binomial 1 6 15 20 15 6 1 along every axis, sigma 1.225", 0}, make_binomial, {7}},
    {{"gauss9", "binomial 1 8 28 56 70 56 28 8 1 along every axis, sigma 1.414", 0},
     make_binomial, {9}},
    BOX(3), BOX(5), BOX(7), BOX(9), BOX(11), BOX(13), BOX(15), BOX(17), BOX(19), BOX(21),
    BOX(23), BOX(25), BOX(27), BOX(29), BOX(31),
    DERIVATIVES("sobel", 1, 2),
    DERIVATIVES("scharr", 3, 10),
    DERIVATIVES("prewitt", 1, 1),
    {{"laplace", "Laplacian from the 4 (2D) or 6 (3D) nearest neighbours", 0},
     make_neighbours, {0, 1, 0, 0}},
    {{"laplace4", "Laplacian from the 4 nearest neighbours", 2}, make_neighbours, {0, 1, 0, 0}},
    {{"laplace8", "Laplacian from all 8 neighbours", 2}, make_neighbours, {0, 1, 1, 0}},
    {{"laplace6", "Laplacian from the 6 nearest neighbours", 3}, make_neighbours, {0, 1, 0, 0}},
    {{"laplace18", "Laplacian from the 18 neighbours across faces and edges", 3},
     make_neighbours, {0, 1, 1, 0}},
    {{"laplace26", "Laplacian from all 26 neighbours", 3}, make_neighbours, {0, 1, 1, 1}},
    {{"log5", "Laplacian of Gaussian in integers, 5 taps an axis", 0}, make_log, {5}},
    {{"log9", "Laplacian of Gaussian in integers, sigma 1.4, 9 taps an axis", 0}, make_log, {9}},
    {{"sharpen", "the sample minus its Laplacian", 0}, make_neighbours, {1, -1, 0, 0}},
    {{"emboss", "relief lit from the upper left", 0}, make_emboss, {0}},
    {{"identity", "the sample itself", 0}, make_box, {1}},
};

const struct gf_mask_row *gf_mask_row(unsigned index)
{
    return index < GF_COUNT(rows) ? &rows[index].shown : NULL;
}

static const struct row *find_row(const char *name)
{
    for (size_t i = 0; i < GF_COUNT(rows); i++)
        if (strcmp(rows[i].shown.name, name) == 0)
            return &rows[i];
    return NULL;
}

bool gf_mask_is_named(const char *name)
{
    return find_row(name) != NULL;
}

/* `number` taps along the first `dimensions` axes, 1 along the others. */
static void cube(uint32_t size[3], int number, int dimensions)
{
    for (int a = 0; a < 3; a++)
        size[a] = a < dimensions ? (uint32_t)number : 1;
}

/* number: taps. A row of Pascal's triangle along every axis, over its sum. */
static enum gf_status make_binomial(struct gf_mask *mask, const struct row *row, int dimensions,
                                    struct gf_error *e)
{
    uint32_t size[3];
    cube(size, row->number[0], dimensions);
    GF_TRY(gf_mask_begin(mask, row->shown.name, size, false, e));
    for (int a = 0; a < 3; a++) {
        double tap = 1.0;
        for (uint32_t i = 0; i < size[a]; i++) {
            mask->factor[a][i] = tap;
            mask->divisor *= i > 0 ? 2.0 : 1.0;
            tap = tap * (size[a] - 1 - i) / (i + 1);
        }
    }
    return gf_mask_complete(mask, e);
}

/* number: taps. */
static enum gf_status make_box(struct gf_mask *mask, const struct row *row, int dimensions,
                               struct gf_error *e)
{
    uint32_t size[3];
    cube(size, row->number[0], dimensions);
    return gf_mask_box(mask, row->shown.name, size, e);
}

/* number: axis of the derivative, outer and inner tap of the smoothing along the others.
 * Written for correlation: a rising ramp gives a positive result. */
static enum gf_status make_derivative(struct gf_mask *mask, const struct row *row, int dimensions,
                                      struct gf_error *e)
{
    uint32_t size[3];
    cube(size, 3, dimensions);
    GF_TRY(gf_mask_begin(mask, row->shown.name, size, false, e));
    for (int a = 0; a < 3; a++) {
        bool derivative = a == row->number[0];
        for (uint32_t i = 0; i < size[a]; i++)
            mask->factor[a][i] = size[a] == 1 ? 1.0
                                 : derivative ? (double)i - 1.0
                                              : row->number[i == 1 ? 2 : 1];
    }
    return gf_mask_complete(mask, e);
}

/* number: the sum of all taps, then the tap of a neighbour that differs along one axis, along
 * two, along three; the middle is what is left for the sum. */
static enum gf_status make_neighbours(struct gf_mask *mask, const struct row *row, int dimensions,
                                      struct gf_error *e)
{
    uint32_t size[3];
    uint64_t count;
    double middle = row->number[0];
    cube(size, 3, dimensions);
    GF_TRY(gf_mask_begin(mask, row->shown.name, size, true, e));
    count = gf_mask_count(mask);
    for (uint64_t i = 0; i < count; i++) {
        int steps = (i % 3 != 1) + (i / 3 % 3 != 1) + (dimensions == 3 && i / 9 != 1);
        mask->taps[i] = steps == 0 ? 0.0 : row->number[steps];
        middle -= mask->taps[i];
    }
    mask->taps[count / 2] = middle;
    return gf_mask_complete(mask, e);
}

/* Taps x + y (+ z), counted from the middle, and 1 in the middle. */
static enum gf_status make_emboss(struct gf_mask *mask, const struct row *row, int dimensions,
                                  struct gf_error *e)
{
    uint32_t size[3];
    uint64_t count;
    cube(size, 3, dimensions);
    GF_TRY(gf_mask_begin(mask, row->shown.name, size, true, e));
    count = gf_mask_count(mask);
    for (uint64_t i = 0; i < count; i++)
        mask->taps[i] = (double)(i % 3) - 1.0 + ((double)(i / 3 % 3) - 1.0) +
                        (dimensions == 3 ? (double)(i / 9) - 1.0 : 0.0);
    mask->taps[count / 2] = 1.0;
    return gf_mask_complete(mask, e);
}

/* A quarter of a symmetric plane, the middle last. */
static const int log5_quarter[3][3] = {{0, 0, 1}, {0, 1, 2}, {1, 2, -16}};
static const int log9_quarter[5][5] = {
    {0, 1, 1, 2, 2}, {1, 2, 4, 5, 5}, {1, 4, 5, 3, 0}, {2, 5, 3, -12, -24},
    {2, 5, 0, -24, -40},
};

/* number: taps. In 2D the two masks that textbooks print. In 3D the mask of `masks make log`
 * scaled so that its middle is -54 (5 taps, sigma 0.8) or -72 (9 taps, sigma 1.4) and rounded:
 * scales at which the rounded taps sum to 0. */
static enum gf_status make_log(struct gf_mask *mask, const struct row *row, int dimensions,
                               struct gf_error *e)
{
    bool small = row->number[0] == 5;
    uint32_t size[3], r = small ? 2 : 4;
    const double s = small ? 0.8 : 1.4, sigma[3] = {s, s, s};
    const uint32_t radius[3] = {r, r, r};
    uint64_t count;
    double scale;
    cube(size, row->number[0], dimensions);
    if (dimensions == 3)
        GF_TRY(gf_mask_log_taps(mask, row->shown.name, sigma, radius, 3, e));
    else
        GF_TRY(gf_mask_begin(mask, row->shown.name, size, true, e));
    count = gf_mask_count(mask);
    scale = (small ? -54.0 : -72.0) / mask->taps[count / 2];
    for (uint64_t i = 0; i < count; i++) {
        uint32_t x = (uint32_t)(i % size[0]), y = (uint32_t)(i / size[0] % size[1]);
        x = x > r ? 2 * r - x : x;
        y = y > r ? 2 * r - y : y;
        mask->taps[i] = dimensions == 3 ? rint(mask->taps[i] * scale) + 0.0
                        : small         ? log5_quarter[y][x]
                                        : log9_quarter[y][x];
    }
    return gf_mask_complete(mask, e);
}

/* "gauss4", "box33": a family that exists with another number. */
static enum gf_status fail_in_family(const char *name, struct gf_error *e)
{
    uint64_t number;
    if (strncmp(name, "gauss", 5) == 0 && gf_parse_u64(name + 5, &number))
        return gf_fail(e, GF_EUSAGE, "%s: no such mask; there are gauss3, gauss5, gauss7 and "
                       "gauss9, and any other width by --sigma", name);
    if (strncmp(name, "box", 3) == 0 && gf_parse_u64(name + 3, &number))
        return gf_fail(e, GF_EUSAGE, "%s: no such mask; there are box3, box5, ... box31, and any "
                       "other by 'gpufilt masks make box --size N'", name);
    if (strncmp(name, "log", 3) == 0 && gf_parse_u64(name + 3, &number))
        return gf_fail(e, GF_EUSAGE, "%s: no such mask; there are log5 and log9, and any other by "
                       "'gpufilt masks make log --sigma S'", name);
    if (strncmp(name, "laplace", 7) == 0 && gf_parse_u64(name + 7, &number))
        return gf_fail(e, GF_EUSAGE, "%s: no such mask; there are laplace4 and laplace8 in 2D, "
                       "laplace6, laplace18 and laplace26 in 3D", name);
    return GF_OK;
}

enum gf_status gf_mask_unknown(const char *name, struct gf_error *e)
{
    const char *names[GF_COUNT(rows)], *closest;
    GF_TRY(fail_in_family(name, e));
    for (size_t i = 0; i < GF_COUNT(rows); i++)
        names[i] = rows[i].shown.name;
    closest = gf_closest(name, names, GF_COUNT(rows));
    if (closest != NULL)
        return gf_fail(e, GF_EUSAGE, "%s: no such mask; did you mean '%s'?", name, closest);
    return gf_fail(e, GF_EUSAGE, "%s: no such mask; 'gpufilt masks list' shows them, @%s names a "
                   "file", name, name);
}

enum gf_status gf_mask_named(struct gf_mask *mask, const char *name, int dimensions,
                             struct gf_error *e)
{
    const struct row *row = find_row(name);
    memset(mask, 0, sizeof *mask);
    if (row == NULL)
        return gf_mask_unknown(name, e);
    if (row->shown.dimensions == 2 && dimensions == 3)
        return gf_fail(e, GF_EUSAGE, "%s: a mask in 2D alone, needed one in 3D; --2d filters a "
                       "volume slice by slice", name);
    if (row->shown.dimensions == 3 && dimensions == 2)
        return gf_fail(e, GF_EUSAGE, "%s: a mask in 3D alone, needed one in 2D; --3d makes a "
                       "volume of pages", name);
    return row->make(mask, row, dimensions, e);
}
