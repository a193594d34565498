#include "order.h"

#include "keys.h"

#include <math.h>
#include <string.h>

unsigned gf_order_levels(enum gf_type type)
{
    return type == GF_F64 ? 4 : gf_type_bytes(type) == 4 ? 2 : 1;
}

void gf_order_begin(struct gf_order *o, enum gf_type type, const uint64_t *ranks, unsigned count)
{
    memset(o, 0, sizeof *o);
    o->type = type;
    o->levels = gf_order_levels(type);
    o->count = count;
    memcpy(o->rank, ranks, count * sizeof *ranks);
}

unsigned gf_order_shift(const struct gf_order *o) { return 16 * (o->levels - o->level - 1); }

unsigned gf_order_prefixes(const struct gf_order *o, uint64_t prefix[GF_RANKS])
{
    unsigned n = 0;
    for (unsigned i = 0; i < o->count; i++) {
        unsigned at = n;
        while (at > 0 && prefix[at - 1] > o->key[i])
            at--;
        if (at > 0 && prefix[at - 1] == o->key[i])
            continue;
        memmove(prefix + at + 1, prefix + at, (n - at) * sizeof *prefix);
        prefix[at] = o->key[i];
        n++;
    }
    return n;
}

void gf_order_next(struct gf_order *o, const uint64_t *prefix, unsigned prefixes,
                   const uint64_t *count)
{
    for (unsigned i = 0; i < o->count; i++) {
        const uint64_t *bins = count;
        uint64_t digit = 0;
        for (unsigned p = 0; p < prefixes && prefix[p] != o->key[i]; p++)
            bins += GF_KEY_BINS;
        while (digit + 1 < GF_KEY_BINS && o->rank[i] >= bins[digit])
            o->rank[i] -= bins[digit++];
        o->key[i] = o->key[i] << 16 | digit;
    }
    o->level++;
}

void gf_order_sorted(struct gf_order *o, const uint64_t *keys)
{
    for (unsigned i = 0; i < o->count; i++)
        o->key[i] = keys[o->rank[i]];
    o->level = o->levels;
}

double gf_order_value(const struct gf_order *o, unsigned i)
{
    return gf_key_value(o->type, o->key[i]);
}

void gf_keys_of(enum gf_type type, const void *samples, uint64_t count, uint64_t *keys)
{
    switch (type) {
#define X(NAME, name, ctype, bytes, is_float, lowest, highest)                         \
    case GF_##NAME:                                                                    \
        for (uint64_t i = 0; i < count; i++) {                                         \
            ctype x = ((const ctype *)samples)[i];                                     \
            keys[i] = gf_is_finite_##name(x) ? gf_key_of_##name(x) : GF_NO_KEY;        \
        }                                                                              \
        break;
    GF_TYPES(X)
#undef X
    case GF_TYPE_COUNT:
        break;
    }
}

static double float_of_key(uint64_t key, unsigned bytes)
{
    const uint64_t sign = UINT64_C(1) << (8 * bytes - 1);
    uint64_t bits = key & sign ? key ^ sign : ~key;
    uint32_t half = (uint32_t)bits;
    double d;
    float f;
    memcpy(&d, &bits, sizeof d);
    memcpy(&f, &half, sizeof f);
    return bytes == 8 ? d : bytes == 4 ? (double)f : (double)gf_f16_to_f32((uint16_t)bits);
}

double gf_key_value(enum gf_type type, uint64_t key)
{
    const struct gf_type_row *row = gf_type_row(type);
    return row->is_float ? float_of_key(key, row->bytes) : (double)key + row->lowest;
}

/* ---- percentiles ---- */

void gf_percentile_rank(uint64_t n, double p, uint64_t *below, double *part)
{
    double at = (double)(n - 1) * (p / 100);
    *below = (uint64_t)at;
    *part = at - (double)*below;
    if (*below >= n - 1) {
        *below = n - 1;
        *part = 0;
    }
}

double gf_percentile_value(double below, double above, double part)
{
    double step = above - below;
    if (part == 0 || below == above)
        return below;
    if (!(step <= gf_type_row(GF_F64)->highest)) /* beyond the range of double */
        return below * (1 - part) + above * part;
    return part < 0.5 ? below + step * part : above - step * (1 - part);
}

double gf_median_value(double below, double above)
{
    double sum = below + above;
    return isfinite(sum) ? sum / 2 : below / 2 + above / 2;
}
