/* Border modes: what stands outside the image. One table and one index function,
 * shared by the C and the CUDA code. */
#ifndef GPUFILT_SRC_BORDER_H
#define GPUFILT_SRC_BORDER_H

#include "sample.h"

#include <stdint.h>

/* X(NAME, name, aliases, picture): `a b c d` extended by three on both sides. */
#define GF_BORDERS(X)                                                                 \
    X(CONSTANT, "zero", "constant dirichlet", "0 0 0 | a b c d | 0 0 0")              \
    X(CLAMP, "clamp", "nearest edge replicate", "a a a | a b c d | d d d")            \
    X(WRAP, "wrap", "periodic circular", "b c d | a b c d | a b c")                   \
    X(SYMMETRIC, "symmetric", "grid-mirror", "c b a | a b c d | d c b")               \
    X(REFLECT101, "reflect101", "", "d c b | a b c d | c b a")                        \
    X(VALID, "valid", "", "no outside: the output shrinks")                           \
    X(NORMALIZE, "normalize", "", "- - - | a b c d | - - -  divided by the weight inside")

enum gf_border {
#define X(NAME, name, aliases, picture) GF_BORDER_##NAME,
    GF_BORDERS(X)
#undef X
    GF_BORDER_COUNT
};

struct gf_border_row {
    const char *name;
    const char *aliases; /* blank-separated */
    const char *picture;
};

/* The row of a mode; `mode` must be one of the enum. */
static inline const struct gf_border_row *gf_border_row(enum gf_border mode)
{
    static const struct gf_border_row rows[] = {
#define X(NAME, name, aliases, picture) {name, aliases, picture},
        GF_BORDERS(X)
#undef X
    };
    return &rows[mode];
}

/* The index inside [0, n) that stands for index `i`, n >= 1, any i; -1 when nothing
 * does (CONSTANT: the fill value, NORMALIZE: absent) and i is outside. VALID never
 * asks outside. */
static inline GF_HD int64_t gf_border_index(enum gf_border mode, int64_t i, int64_t n)
{
    int64_t period;
    if (i >= 0 && i < n)
        return i;
    switch (mode) {
    case GF_BORDER_CLAMP:
        return i < 0 ? 0 : n - 1;
    case GF_BORDER_WRAP:
        i %= n;
        return i < 0 ? i + n : i;
    case GF_BORDER_SYMMETRIC:
        period = 2 * n;
        i %= period;
        if (i < 0)
            i += period;
        return i < n ? i : period - 1 - i;
    case GF_BORDER_REFLECT101:
        if (n == 1)
            return 0;
        period = 2 * n - 2;
        i %= period;
        if (i < 0)
            i += period;
        return i < n ? i : period - i;
    default:
        return -1;
    }
}

#endif
