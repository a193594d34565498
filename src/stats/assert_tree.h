/* The operators of --assert, for assert*.c alone. */
#ifndef GPUFILT_SRC_STATS_ASSERT_TREE_H
#define GPUFILT_SRC_STATS_ASSERT_TREE_H

/* X(id, text, how tight, takes answers, gives an answer): longer texts before their beginnings. */
#define GF_ASSERT_BINARY(X) \
    X(OR, "||", 1, 1, 1)    \
    X(AND, "&&", 2, 1, 1)   \
    X(EQ, "==", 3, 0, 1)    \
    X(NE, "!=", 3, 0, 1)    \
    X(LE, "<=", 4, 0, 1)    \
    X(GE, ">=", 4, 0, 1)    \
    X(LT, "<", 4, 0, 1)     \
    X(GT, ">", 4, 0, 1)     \
    X(ADD, "+", 5, 0, 0)    \
    X(SUB, "-", 5, 0, 0)    \
    X(MUL, "*", 6, 0, 0)    \
    X(DIV, "/", 6, 0, 0)

enum gf_assert_op {
#define X(id, text, tight, takes, gives) GF_OP_##id,
    GF_ASSERT_BINARY(X)
#undef X
    GF_OP_NOT, GF_OP_NEGATE, GF_OP_NAME, GF_OP_NUMBER
};

#endif
