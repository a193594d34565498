#include "wide.h"

#include "wide_internal.h"

/* ---- natural numbers ---- */

void gf_wide_add(struct gf_wide *to, gf_u128 value, unsigned shift)
{
    unsigned bit = shift % 64;
    const uint64_t part[3] = {(uint64_t)value << bit, (uint64_t)((value << bit) >> 64),
                              bit ? (uint64_t)(value >> (128 - bit)) : 0};
    uint64_t carry = 0;
    for (unsigned i = shift / 64, k = 0; i < GF_WIDE_WORDS && (k < 3 || carry); i++, k++) {
        gf_u128 t = (gf_u128)to->word[i] + (k < 3 ? part[k] : 0) + carry;
        to->word[i] = (uint64_t)t;
        carry = (uint64_t)(t >> 64);
    }
}

/* a - b modulo 2^(64 * GF_WIDE_WORDS); true when it was below zero. */
static bool take(struct gf_wide *to, const struct gf_wide *a, const struct gf_wide *b)
{
    uint64_t borrow = 0;
    for (unsigned i = 0; i < GF_WIDE_WORDS; i++) {
        gf_u128 t = (gf_u128)a->word[i] - b->word[i] - borrow;
        to->word[i] = (uint64_t)t;
        borrow = (uint64_t)(t >> 64) & 1;
    }
    return borrow;
}

bool gf_wide_subtract(struct gf_wide *a, const struct gf_wide *b)
{
    struct gf_wide difference;
    bool negative = take(&difference, a, b);
    if (negative)
        take(&difference, b, a);
    *a = difference;
    return negative;
}

/* How many bits it has; 0 for 0. */
static unsigned length(const struct gf_wide *a)
{
    for (unsigned i = GF_WIDE_WORDS; i-- > 0;)
        if (a->word[i])
            return 64 * i + 64 - (unsigned)__builtin_clzll(a->word[i]);
    return 0;
}

static struct gf_wide product(const struct gf_wide *a, const struct gf_wide *b)
{
    struct gf_wide p = {{0}};
    unsigned top_a = (length(a) + 63) / 64, top_b = (length(b) + 63) / 64;
    for (unsigned i = 0; i < top_a; i++) {
        uint64_t carry = 0;
        for (unsigned k = 0; k < top_b; k++) {
            gf_u128 t = (gf_u128)a->word[i] * b->word[k] + p.word[i + k] + carry;
            p.word[i + k] = (uint64_t)t;
            carry = (uint64_t)(t >> 64);
        }
        if (carry)
            p.word[i + top_b] = carry;
    }
    return p;
}

/* Divides; true when there is a remainder. */
static bool divide(struct gf_wide *a, uint64_t divisor)
{
    gf_u128 rest = 0;
    if (divisor == 1)
        return false;
    for (unsigned i = (length(a) + 63) / 64; i-- > 0;) {
        rest = rest << 64 | a->word[i];
        a->word[i] = (uint64_t)(rest / divisor);
        rest %= divisor;
    }
    return rest != 0;
}

/* ---- rounding ---- */

/* The double nearest to m * 2^exponent, ties to even, where m has its top bit set and `more` says
 * that the true value is above that, by less than 2^exponent. */
static double rounded(uint64_t m, int exponent, bool more)
{
    int drop = exponent + 11 < -1074 ? -1074 - exponent : 11;
    gf_u128 kept, rest, half;
    if (drop > 64)
        return 0;
    kept = (gf_u128)m >> drop;
    rest = (gf_u128)m - (kept << drop);
    half = (gf_u128)1 << (drop - 1);
    if (rest > half || (rest == half && (more || (kept & 1))))
        kept++;
    return ldexp((double)(uint64_t)kept, exponent + drop);
}

/* Whether one of the lowest `count` bits is set. */
static bool any_below(const struct gf_wide *a, unsigned count)
{
    for (unsigned i = 0; i < count / 64; i++)
        if (a->word[i])
            return true;
    return count % 64 && a->word[count / 64] << (64 - count % 64);
}

/* The bits from `first` on, 64 of them. */
static uint64_t bits_from(const struct gf_wide *a, unsigned first)
{
    unsigned i = first / 64, bit = first % 64;
    uint64_t low = a->word[i] >> bit;
    return bit && i + 1 < GF_WIDE_WORDS ? low | a->word[i + 1] << (64 - bit) : low;
}

/* The first 64 bits of the square root of `a`, of `pairs` > 64 pairs of bits, digit by digit as on
 * paper; *more says that there are further ones. */
static uint64_t root_of(const struct gf_wide *a, unsigned pairs, bool *more)
{
    gf_u128 rest = 0, root = 0;
    for (unsigned p = pairs; p-- > pairs - 64;) {
        gf_u128 trial = root << 2 | 1;
        rest = rest << 2 | (bits_from(a, 2 * p) & 3);
        root <<= 1;
        if (rest >= trial) {
            rest -= trial;
            root |= 1;
        }
    }
    *more = rest != 0 || any_below(a, 2 * (pairs - 64));
    return (uint64_t)root;
}

/* value / (a * b) * 2^exponent, or the square root of that, rounded once. `exponent` is even for a
 * root. The quotient is taken to 128 bits or more and remembers whether it is exact. */
static double ratio(const struct gf_wide *value, int exponent, uint64_t a, uint64_t b, bool root)
{
    enum { MORE = 4 }; /* words: 256 bits, of which a * b takes 128 */
    struct gf_wide q = {{0}};
    bool rest, more;
    unsigned bits;
    uint64_t m;
    memcpy(q.word + MORE, value->word, sizeof q.word - MORE * sizeof q.word[0]);
    exponent -= 64 * MORE;
    rest = divide(&q, a);
    rest |= divide(&q, b);
    bits = length(&q);
    if (bits == 0)
        return 0;
    if (root) {
        unsigned pairs = (bits + 1) / 2;
        m = root_of(&q, pairs, &more);
        return rounded(m, exponent / 2 + (int)pairs - 64, more || rest);
    }
    m = bits_from(&q, bits - 64);
    return rounded(m, exponent + (int)bits - 64, any_below(&q, bits - 64) || rest);
}

/* ---- results ---- */

struct gf_moments_results gf_wide_results(uint64_t n, bool negative, const struct gf_wide *sum,
                                          const struct gf_wide *squares, int exponent,
                                          unsigned ddof)
{
    struct gf_moments_results r = {0, (double)NAN, (double)NAN, (double)NAN, (double)NAN, true};
    if (n == 0)
        return r;
    r.sum = ratio(sum, exponent, 1, 1, false);
    r.mean = ratio(sum, exponent, n, 1, false);
    if (negative) {
        r.sum = -r.sum;
        r.mean = -r.mean;
    }
    r.rms = ratio(squares, 2 * exponent, n, 1, true);
    if (n > ddof) {
        struct gf_wide count = {{n}}, spread = product(squares, &count);
        struct gf_wide square = product(sum, sum);
        gf_wide_subtract(&spread, &square); /* not below zero, by Cauchy */
        r.variance = ratio(&spread, 2 * exponent, n, n - ddof, false);
        r.std = ratio(&spread, 2 * exponent, n, n - ddof, true);
    }
    return r;
}

/* ---- integers ---- */

static gf_u128 magnitude(struct gf_i128 value)
{
    gf_u128 bits = (gf_u128)value.high << 64 | value.low;
    return value.high >> 63 ? -bits : bits;
}

const char *gf_i128_text(char text[GF_I128_TEXT], struct gf_i128 value)
{
    gf_u128 rest = magnitude(value);
    char *at = text + GF_I128_TEXT;
    *--at = '\0';
    do {
        *--at = (char)('0' + (int)(rest % 10));
        rest /= 10;
    } while (rest);
    if (value.high >> 63)
        *--at = '-';
    return memmove(text, at, (size_t)(text + GF_I128_TEXT - at));
}

struct gf_moments_results gf_integer_results(uint64_t n, struct gf_i128 sum,
                                             struct gf_i128 squares, unsigned ddof)
{
    struct gf_wide s1 = {{0}}, s2 = {{0}};
    gf_wide_add(&s1, magnitude(sum), 0);
    gf_wide_add(&s2, magnitude(squares), 0);
    return gf_wide_results(n, sum.high >> 63, &s1, &s2, 0, ddof);
}
