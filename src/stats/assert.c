#include "assert.h"

#include "assert_tree.h"

#include <math.h>
#include <string.h>

/* ---- numbers ---- */

struct number {
    bool whole;
    __int128 i;                 /* when whole */
    double d;                   /* when not */
};

static struct number real(double d) { return (struct number){.d = d}; }
static struct number whole(__int128 i) { return (struct number){.whole = true, .i = i}; }
/* Integers are rounded to nearest. */
static double to_double(struct number n) { return n.whole ? (double)n.i : n.d; }

static struct number from_value(const struct gf_value *value)
{
    if (value->kind == GF_VALUE_WHOLE)
        return whole((__int128)((unsigned __int128)value->whole.high << 64 | value->whole.low));
    return real(value->real);
}

static struct number calculate(enum gf_assert_op op, struct number a, struct number b)
{
    const bool both = a.whole && b.whole;
    __int128 i;
    switch (op) {
    case GF_OP_ADD:
        return both && !__builtin_add_overflow(a.i, b.i, &i) ? whole(i)
                                                             : real(to_double(a) + to_double(b));
    case GF_OP_SUB:
        return both && !__builtin_sub_overflow(a.i, b.i, &i) ? whole(i)
                                                             : real(to_double(a) - to_double(b));
    case GF_OP_MUL:
        return both && !__builtin_mul_overflow(a.i, b.i, &i) ? whole(i)
                                                             : real(to_double(a) * to_double(b));
    default:
        return real(to_double(a) / to_double(b));
    }
}

/* ---- comparisons ---- */

/* In this order && is the least, || the greatest and ! the mirror image. */
enum answer { NOT_TRUE = 0, UNKNOWN = 1, TRUE = 2 };

/* < 0, 0 or > 0, as i is to d, which is not NaN. */
static int compare_mixed(__int128 i, double d)
{
    const double limit = 0x1p127;
    __int128 floor_of_d;
    if (d >= limit)
        return -1;
    if (d < -limit)
        return 1;
    floor_of_d = (__int128)floor(d);
    if (i != floor_of_d)
        return i < floor_of_d ? -1 : 1;
    return d > floor(d) ? -1 : 0;
}

static int compare(struct number a, struct number b)
{
    if (a.whole && b.whole)
        return (a.i > b.i) - (a.i < b.i);
    if (a.whole)
        return compare_mixed(a.i, b.d);
    if (b.whole)
        return -compare_mixed(b.i, a.d);
    return (a.d > b.d) - (a.d < b.d);
}

static enum answer answer_of(bool yes) { return yes ? TRUE : NOT_TRUE; }

static enum answer compared(enum gf_assert_op op, struct number a, struct number b)
{
    int order;
    if ((!a.whole && isnan(a.d)) || (!b.whole && isnan(b.d)))
        return UNKNOWN;
    order = compare(a, b);
    switch (op) {
    case GF_OP_LT:
        return answer_of(order < 0);
    case GF_OP_LE:
        return answer_of(order <= 0);
    case GF_OP_GT:
        return answer_of(order > 0);
    case GF_OP_GE:
        return answer_of(order >= 0);
    case GF_OP_EQ:
        return answer_of(order == 0);
    default:
        return answer_of(order != 0);
    }
}

/* ---- the tree ---- */

/* A node of numbers. */
static struct number number_at(const struct gf_assert *a, unsigned at, const struct gf_stats *s)
{
    const struct gf_assert_node *node = &a->node[at];
    struct gf_value value;
    switch (node->op) {
    case GF_OP_NUMBER:
        return from_value(&node->number);
    case GF_OP_NAME:
        value = gf_column_value(&node->column, s);
        return from_value(&value);
    case GF_OP_NEGATE: {
        struct number n = number_at(a, node->left, s);
        return n.whole ? calculate(GF_OP_SUB, whole(0), n) : real(-n.d);
    }
    default:
        return calculate((enum gf_assert_op)node->op, number_at(a, node->left, s),
                         number_at(a, node->right, s));
    }
}

/* A node of answers. If it is not TRUE, *culprit is the first part that makes it so. */
static enum answer answer_at(const struct gf_assert *a, unsigned at, const struct gf_stats *s,
                             unsigned *culprit)
{
    const struct gf_assert_node *node = &a->node[at];
    enum answer left, right;
    unsigned ignored;
    switch (node->op) {
    case GF_OP_AND:
        left = answer_at(a, node->left, s, culprit);
        right = answer_at(a, node->right, s, left == TRUE ? culprit : &ignored);
        return left < right ? left : right;
    case GF_OP_OR:
        *culprit = at;
        left = answer_at(a, node->left, s, &ignored);
        right = answer_at(a, node->right, s, &ignored);
        return left > right ? left : right;
    case GF_OP_NOT:
        *culprit = at;
        return (enum answer)(TRUE - answer_at(a, node->left, s, &ignored));
    default:
        *culprit = at;
        return compared((enum gf_assert_op)node->op, number_at(a, node->left, s),
                        number_at(a, node->right, s));
    }
}

/* ---- the message ---- */

/* "n = 5, p99 = 3.25": the statistics within a node, each once. */
static void name_values(struct gf_buffer *t, const struct gf_assert *a, unsigned at,
                        const struct gf_stats *s)
{
    const struct gf_assert_node *part = &a->node[at];
    const char *between = "";
    for (unsigned i = 0; i < a->count; i++) {
        const struct gf_assert_node *node = &a->node[i];
        char text[GF_I128_TEXT];
        struct gf_value value;
        bool said = false;
        if (node->op != GF_OP_NAME || node->start < part->start || node->end > part->end)
            continue;
        for (unsigned k = 0; k < i && !said; k++)
            said = a->node[k].op == GF_OP_NAME && a->node[k].start >= part->start &&
                   strcmp(a->node[k].column.name, node->column.name) == 0;
        if (said)
            continue;
        value = gf_column_value(&node->column, s);
        gf_buffer_printf(t, "%s%s = %s", between, node->column.name, gf_value_text(text, &value));
        between = ", ";
    }
}

enum gf_status gf_assert_check(const struct gf_assert *assertion, const struct gf_stats *stats,
                               struct gf_error *e)
{
    struct gf_buffer parts = {0}, values = {0};
    const struct gf_assert_node *node;
    enum gf_status status;
    unsigned culprit;

    if (answer_at(assertion, assertion->root, stats, &culprit) == TRUE)
        return GF_OK;
    node = &assertion->node[culprit];
    gf_stats_part_text(&parts, stats);
    name_values(&values, assertion, culprit, stats);
    /* Without memory the answer is still no. */
    status = gf_fail(e, GF_NO, "%s%s: --assert: %.*s is not true%s%s", stats->file,
                     parts.data != NULL ? parts.data : "", (int)(node->end - node->start),
                     assertion->text + node->start, values.data != NULL ? ": " : "",
                     values.data != NULL ? values.data : "");
    gf_buffer_free(&parts);
    gf_buffer_free(&values);
    return status;
}
