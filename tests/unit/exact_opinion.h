/* What an exact plan must give, by 128-bit integers, a border walker and a rounding that
 * share nothing with the backends. */
#ifndef GPUFILT_TESTS_UNIT_EXACT_OPINION_H
#define GPUFILT_TESTS_UNIT_EXACT_OPINION_H

#include "backend.h"
#include "random_plan.h"

/* ---- the third opinion, exact plans only ---- */

typedef __int128 wide;

/* Walks from the edge one step at a time instead of dividing by a period. */
static int64_t walk(enum gf_border border, int64_t i, int64_t n)
{
    int64_t at, direction;

    if (i >= 0 && i < n)
        return i;
    if (border == GF_BORDER_CONSTANT || border == GF_BORDER_NORMALIZE)
        return -1;
    at = i < 0 ? 0 : n - 1;
    direction = i < 0 ? -1 : 1;
    for (int64_t steps = i < 0 ? -i : i - (n - 1); steps > 0; steps--) {
        if (at + direction >= 0 && at + direction < n)
            at += direction;
        else if (border == GF_BORDER_WRAP)
            at = direction < 0 ? n - 1 : 0;
        else if (border == GF_BORDER_SYMMETRIC)
            direction = -direction;
        else if (border == GF_BORDER_REFLECT101 && n > 1) {
            direction = -direction;
            at += direction;
        }
    }
    return at;
}

static wide exact_tap(const struct gf_plan *p, uint32_t i, uint32_t j, uint32_t k)
{
    if (!p->separable)
        return ((const int32_t *)p->taps)[((size_t)k * p->size[1] + j) * p->size[0] + i];
    return (wide)((const int32_t *)p->factor[0])[i] * ((const int32_t *)p->factor[1])[j] *
           ((const int32_t *)p->factor[2])[k];
}

static void exact_sums(const struct gf_plan *p, const struct buffer *in, const int64_t at[3],
                       wide *sum, wide *weight, wide *total)
{
    uint32_t channels = p->in.channels;
    unsigned bytes = gf_type_bytes(p->in.type);

    for (uint32_t c = 0; c < channels; c++)
        sum[c] = 0;
    *weight = *total = 0;
    for (uint32_t k = 0; k < p->size[2]; k++)
        for (uint32_t j = 0; j < p->size[1]; j++)
            for (uint32_t i = 0; i < p->size[0]; i++) {
                wide t = exact_tap(p, i, j, k);
                int64_t x = walk(p->border, at[0] + p->shift[0] - p->origin[0] + i,
                                 (int64_t)p->in.width);
                int64_t y = walk(p->border, at[1] + p->shift[1] - p->origin[1] + j,
                                 (int64_t)p->in.height);
                int64_t z = walk(p->border, at[2] + p->shift[2] - p->origin[2] + k,
                                 (int64_t)p->in.depth);
                bool outside = x < 0 || y < 0 || z < 0;
                *total += t;
                if (outside && p->border == GF_BORDER_NORMALIZE)
                    continue;
                *weight += t;
                const unsigned char *pixel =
                    outside ? NULL : buffer_row(in, (uint64_t)y, (uint64_t)z) +
                                         (size_t)x * channels * bytes;
                for (uint32_t c = 0; c < channels; c++) {
                    double v = outside ? p->fill : get(p->in.type, pixel + c * bytes);
                    double a = outside || p->in.alpha < 0
                                   ? p->fill
                                   : get(p->in.type, pixel + (size_t)p->in.alpha * bytes);
                    if (!p->alpha_multiply || (int)c == p->in.alpha)
                        a = 1;
                    sum[c] += t * (wide)v * (wide)a;
                }
            }
}

/* Half-even by comparing doubled distances with the floor. */
static wide half_even(wide n, wide d)
{
    if (d < 0) {
        n = -n;
        d = -d;
    }
    wide floor = n / d - (n % d < 0);
    wide twice = 2 * (n - floor * d);
    return floor + (twice > d || (twice == d && (floor & 1) != 0));
}

static bool third_opinion(const struct gf_plan *p, const struct buffer *in,
                          const struct buffer *out, const struct gf_counts *counts)
{
    const struct gf_type_row *row = gf_type_row(p->out.type);
    struct gf_counts mine = {0};
    wide sum[8], weight, total;

    for (uint64_t z = 0; z < p->out.depth; z++)
        for (uint64_t y = 0; y < p->out.height; y++)
            for (uint64_t x = 0; x < p->out.width; x++) {
                int64_t at[3] = {(int64_t)x, (int64_t)y, (int64_t)z};
                exact_sums(p, in, at, sum, &weight, &total);
                for (uint32_t c = 0; c < p->out.channels; c++) {
                    const unsigned char *got = buffer_row(out, y, z) +
                                               (x * p->out.channels + c) * row->bytes;
                    bool is_alpha = (int)c == p->in.alpha;
                    wide n = sum[c], d = p->divisor;
                    unsigned char want[8];
                    if (p->alpha_keep && is_alpha) {
                        n = (wide)get(p->in.type,
                                      buffer_row(in, (uint64_t)(at[1] + p->shift[1]),
                                                 (uint64_t)(at[2] + p->shift[2])) +
                                          ((uint64_t)(at[0] + p->shift[0]) * p->in.channels + c) *
                                              gf_type_bytes(p->in.type));
                        d = 1;
                    } else if (p->alpha_divide && !is_alpha) {
                        n *= (wide)p->tap_total * (wide)p->alpha_scale;
                        d *= sum[p->in.alpha];
                        if (sum[p->in.alpha] <= 0) {
                            n = 0;
                            d = 1;
                        }
                    } else {
                        if (p->alpha_divide)
                            d = p->tap_total;
                        if (p->border == GF_BORDER_NORMALIZE) {
                            n *= total;
                            d *= weight;
                        }
                    }
                    if (row->is_float || d == 0) {
                        double v = (double)n / (double)d;
                        if (row->is_float) {
                            put(p->out.type, want, isnan(v) ? (double)NAN : v);
                            double back = get(p->out.type, want);
                            mine.clipped_low += back < 0 && isinf(back) && !isinf(v);
                            mine.clipped_high += back > 0 && isinf(back) && !isinf(v);
                        } else {
                            mine.nan += isnan(v);
                            mine.clipped_low += v < 0;
                            mine.clipped_high += v > 0;
                            put(p->out.type, want, isnan(v) ? 0 : v > 0 ? 1e30 : -1e30);
                        }
                    } else {
                        wide v = half_even(n, d);
                        if (v < (wide)row->lowest) {
                            v = (wide)row->lowest;
                            mine.clipped_low++;
                        }
                        if (v > (wide)row->highest) {
                            v = (wide)row->highest;
                            mine.clipped_high++;
                        }
                        put(p->out.type, want, (double)v);
                    }
                    if (memcmp(want, got, row->bytes) != 0) {
                        fprintf(stderr, "integer arithmetic: %g, reference %g at %" PRIu64
                                ",%" PRIu64 ",%" PRIu64 ",%u\n", get(p->out.type, want),
                                get(p->out.type, got), x, y, z, c);
                        return false;
                    }
                }
            }
    if (memcmp(&mine, counts, sizeof mine) != 0) {
        fprintf(stderr, "integer arithmetic: counts differ\n");
        return false;
    }
    return true;
}

#endif
