/* The accumulator has a bin for each exponent of double, in which mantissas and their squares are
 * added up as integers: no shift and no carry from bin to bin until results are asked for. The
 * bins are so wide that 2^64 samples do not fill one. */
#include "wide.h"

#include "alloc.h"
#include "wide_internal.h"

enum { BINS = 2047 }; /* exponents of finite doubles, biased */

struct bin {
    gf_s128 sum;            /* of 53-bit mantissas with their signs */
    gf_u128 squares;        /* of 106 bits each */
    uint64_t carries;       /* out of `squares` */
};

struct gf_exact {
    uint64_t n;
    struct bin bin[BINS];
};

struct gf_exact *gf_exact_new(void) { return gf_alloc_zero(1, sizeof(struct gf_exact)); }

void gf_exact_free(struct gf_exact *exact) { gf_free(exact); }

uint64_t gf_exact_count(const struct gf_exact *exact) { return exact->n; }

static inline void add_square(struct bin *bin, gf_u128 square)
{
    bin->squares += square;
    bin->carries += bin->squares < square;
}

/* 1 when the sample is finite and was added. */
static inline unsigned add(struct bin *bins, double x)
{
    uint64_t bits, m;
    int64_t sign;
    unsigned e;
    memcpy(&bits, &x, sizeof bits);
    e = bits >> 52 & 0x7ff;
    if (e >= BINS)
        return 0;
    m = (bits & 0xfffffffffffff) | (uint64_t)(e != 0) << 52;
    sign = bits >> 63 ? -1 : 0;
    bins[e].sum += ((int64_t)m ^ sign) - sign;
    add_square(&bins[e], (gf_u128)m * m);
    return 1;
}

/* X(NAME, C type, what makes a double of it): the float types of GF_TYPES. */
#define FLOATS(X)                    \
    X(F16, uint16_t, gf_f16_to_f32)  \
    X(F32, float, (double))          \
    X(F64, double, (double))

void gf_exact_add(struct gf_exact *exact, enum gf_type type, const void *samples, uint64_t count)
{
    uint64_t n = 0;
    switch (type) {
#define X(NAME, ctype, to_double)                                         \
    case GF_##NAME:                                                       \
        for (uint64_t i = 0; i < count; i++)                              \
            n += add(exact->bin, to_double(((const ctype *)samples)[i])); \
        break;
        FLOATS(X)
#undef X
    default: /* integers have no place here */
        break;
    }
    exact->n += n;
}

void gf_exact_join(struct gf_exact *exact, const struct gf_exact *from)
{
    exact->n += from->n;
    for (unsigned e = 0; e < BINS; e++) {
        exact->bin[e].sum += from->bin[e].sum;
        add_square(&exact->bin[e], from->bin[e].squares);
        exact->bin[e].carries += from->bin[e].carries;
    }
}

struct gf_moments_results gf_exact_results(const struct gf_exact *exact, unsigned ddof)
{
    struct gf_wide plus = {{0}}, minus = {{0}}, squares = {{0}};
    bool negative;
    for (unsigned e = 0; e < BINS; e++) {
        const struct bin *bin = &exact->bin[e];
        unsigned shift = e ? e - 1 : 0; /* subnormals have the unit of the lowest normal numbers */
        if (bin->sum >= 0)
            gf_wide_add(&plus, (gf_u128)bin->sum, shift);
        else
            gf_wide_add(&minus, -(gf_u128)bin->sum, shift);
        gf_wide_add(&squares, bin->squares, 2 * shift);
        gf_wide_add(&squares, bin->carries, 2 * shift + 128);
    }
    negative = gf_wide_subtract(&plus, &minus);
    return gf_wide_results(exact->n, negative, &plus, &squares, -1074, ddof);
}
