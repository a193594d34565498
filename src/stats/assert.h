/* The expression of --assert: comparisons of numbers, joined.
 *
 *     EXPR   ||  &&  == !=  < <= > >=  + -  * /  unary ! -  (EXPR) NAME NUMBER
 *
 * from the loosest to the tightest, as in C; those of a kind group to the left. NAME is a statistic
 * that is a number (n, p99.9, std). Numbers and answers do not mix: ! && || take comparisons,
 * comparisons and arithmetic take numbers, so that a < b < c and !n are errors, not surprises.
 *
 * Counts, sums of integer samples, extremes of integer samples and numbers without point and
 * exponent are integers, kept exact through + - * as long as they fit in 128 bits; what does not,
 * quotients and all else are doubles. A comparison is exact, also of an integer with a double.
 *
 * A comparison with NaN is neither true nor false: ! leaves it so, && is false where the other side
 * is, || is true where the other side is, and an assertion that is not true has failed. */
#ifndef GPUFILT_SRC_STATS_ASSERT_H
#define GPUFILT_SRC_STATS_ASSERT_H

#include "columns.h"
#include "stats.h"

/* Most operators, names and numbers. */
#define GF_ASSERT_NODES 256

struct gf_assert_node {
    unsigned char op;           /* enum gf_assert_op */
    unsigned left, right;       /* nodes; only `left` of a unary operator */
    unsigned start, end;        /* its part of the text */
    struct gf_column column;    /* of a name */
    struct gf_value number;
};

struct gf_assert {
    const char *text;           /* borrowed */
    unsigned count, root;
    struct gf_assert_node node[GF_ASSERT_NODES];
};

/* Parses `text`, which must stay, and marks in `columns` what has to be computed for it. GF_EUSAGE
 * says what is wrong and where. */
enum gf_status gf_assert_parse(struct gf_assert *assertion, const char *text,
                               struct gf_columns *columns, struct gf_error *e);
/* GF_OK when it is true of a row, else GF_NO and the first comparison that is not true, with its
 * values: "a.tif, channel 2: --assert: p99 < 60000 is not true: p99 = 61234". */
enum gf_status gf_assert_check(const struct gf_assert *assertion, const struct gf_stats *stats,
                               struct gf_error *e);

#endif
