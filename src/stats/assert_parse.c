#include "assert.h"
#include "assert_tree.h"

#include "../util.h"

#include <stdio.h>
#include <string.h>

/* Most parentheses, ! and - within each other. */
#define DEEPEST 100

static const struct binary {
    const char *text;
    unsigned tight;
    bool takes_answers, gives_answer;
} binary[] = {
#define X(id, text, tight, takes, gives) {text, tight, takes, gives},
    GF_ASSERT_BINARY(X)
#undef X
};

struct parser {
    struct gf_assert *a;
    struct gf_columns *columns;
    struct gf_error *e;
    const char *at;             /* what has not been read */
    unsigned depth;
};

static enum gf_status wrong(const struct parser *p, const char *at, const char *what)
{
    char shown[48];
    if (*at == '\0')
        return gf_fail(p->e, GF_EUSAGE, "--assert: at the end of '%s': %s", p->a->text, what);
    snprintf(shown, sizeof shown, "%s", at);
    if (strlen(at) >= sizeof shown)
        gf_cut_short(shown);
    /* What was understood so far is ASCII. */
    return gf_fail(p->e, GF_EUSAGE, "--assert: at character %d, '%s': %s",
                   (int)(at - p->a->text) + 1, shown, what);
}

static void skip_blanks(struct parser *p) { p->at += strspn(p->at, " \t\n"); }

static bool gives_answer(const struct parser *p, unsigned node)
{
    const unsigned op = p->a->node[node].op;
    return op < GF_COUNT(binary) ? binary[op].gives_answer : op == GF_OP_NOT;
}

/* A new node, complete but for its operands; its text ends where the parser is. */
static enum gf_status add_node(struct parser *p, enum gf_assert_op op, const char *start,
                               unsigned *node)
{
    if (p->a->count == GF_ASSERT_NODES)
        return wrong(p, p->at, "too long an expression");
    *node = p->a->count++;
    p->a->node[*node] = (struct gf_assert_node){.op = (unsigned char)op,
                                                .start = (unsigned)(start - p->a->text),
                                                .end = (unsigned)(p->at - p->a->text)};
    return GF_OK;
}

static enum gf_status expression(struct parser *p, unsigned tight, unsigned *node);

/* ---- names and numbers ---- */

static bool is_name_part(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' ||
           gf_is_digit(c);
}

static enum gf_status name(struct parser *p, unsigned *node)
{
    const char *start = p->at;
    struct gf_column column;
    while (is_name_part(*p->at))
        p->at++;
    GF_TRY(gf_column_find(&column, start, (size_t)(p->at - start), "--assert", p->e));
    if (column.row->kind == GF_KIND_PLACE || column.row->kind == GF_KIND_HISTOGRAM)
        return wrong(p, start, "it is not a number, so it cannot be compared");
    GF_TRY(gf_columns_need(p->columns, &column, p->e));
    GF_TRY(add_node(p, GF_OP_NAME, start, node));
    p->a->node[*node].column = column;
    return GF_OK;
}

/* Digits alone that fit in 127 bits. */
static bool whole_number(const char *text, struct gf_value *value)
{
    __int128 sum = 0;
    for (; gf_is_digit(*text); text++)
        if (__builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, *text - '0', &sum))
            return false;
    *value = (struct gf_value){.kind = GF_VALUE_WHOLE,
                               .whole = {(uint64_t)sum, (uint64_t)(sum >> 64)}};
    return *text == '\0';
}

static enum gf_status number(struct parser *p, unsigned *node)
{
    const char *start = p->at;
    char text[64];
    struct gf_value value = {.kind = GF_VALUE_REAL};

    while (gf_is_digit(*p->at) || *p->at == '.')
        p->at++;
    if (*p->at == 'e' || *p->at == 'E') {
        p->at++;
        p->at += *p->at == '-' || *p->at == '+';
        while (gf_is_digit(*p->at))
            p->at++;
    }
    if (is_name_part(*p->at) || (size_t)(p->at - start) >= sizeof text)
        return wrong(p, start, "no such number");
    memcpy(text, start, (size_t)(p->at - start));
    text[p->at - start] = '\0';
    if (!whole_number(text, &value)) {
        value.kind = GF_VALUE_REAL;
        if (!gf_parse_double(text, false, &value.real))
            return wrong(p, start, "no such number");
    }
    GF_TRY(add_node(p, GF_OP_NUMBER, start, node));
    p->a->node[*node].number = value;
    return GF_OK;
}

/* ---- operators ---- */

static enum gf_status parentheses(struct parser *p, unsigned *node)
{
    const char *start = p->at++;
    GF_TRY(expression(p, 1, node));
    skip_blanks(p);
    if (*p->at != ')')
        return wrong(p, p->at, "needed ')' or an operator");
    p->at++;
    p->a->node[*node].start = (unsigned)(start - p->a->text);
    p->a->node[*node].end = (unsigned)(p->at - p->a->text);
    return GF_OK;
}

static enum gf_status operand(struct parser *p, unsigned *node);

static enum gf_status unary(struct parser *p, unsigned *node)
{
    const char *start = p->at++;
    const bool negate = *start == '-';
    unsigned inner;
    GF_TRY(operand(p, &inner));
    if (!negate && !gives_answer(p, inner))
        return wrong(p, start, "! needs a comparison in parentheses");
    if (negate && gives_answer(p, inner))
        return wrong(p, start, "a comparison has no negative; use !");
    GF_TRY(add_node(p, negate ? GF_OP_NEGATE : GF_OP_NOT, start, node));
    p->a->node[*node].left = inner;
    return GF_OK;
}

static enum gf_status operand(struct parser *p, unsigned *node)
{
    enum gf_status status;
    skip_blanks(p);
    if (p->depth == DEEPEST)
        return wrong(p, p->at, "too many parentheses and signs within each other");
    p->depth++;
    if (*p->at == '(')
        status = parentheses(p, node);
    else if (*p->at == '-' || (*p->at == '!' && p->at[1] != '='))
        status = unary(p, node);
    else if (gf_is_digit(*p->at) || *p->at == '.')
        status = number(p, node);
    else if (is_name_part(*p->at))
        status = name(p, node);
    else
        status = wrong(p, p->at, "needed a statistic or a number");
    p->depth--;
    return status;
}

/* The operator that comes next, GF_COUNT(binary) when none does. */
static unsigned next_operator(struct parser *p)
{
    unsigned op = 0;
    skip_blanks(p);
    while (op < GF_COUNT(binary) &&
           strncmp(p->at, binary[op].text, strlen(binary[op].text)) != 0)
        op++;
    return op;
}

static enum gf_status check_operand(const struct parser *p, unsigned op, unsigned node,
                                    const char *at)
{
    char what[80];
    const bool answer = gives_answer(p, node);
    if (answer == binary[op].takes_answers)
        return GF_OK;
    snprintf(what, sizeof what,
             answer ? "%s needs numbers, not comparisons (join them with &&)"
                    : "%s needs comparisons, not numbers", binary[op].text);
    return wrong(p, at, what);
}

/* What binds at least as tight. */
static enum gf_status expression(struct parser *p, unsigned tight, unsigned *node)
{
    unsigned op;
    GF_TRY(operand(p, node));
    while ((op = next_operator(p)) < GF_COUNT(binary) && binary[op].tight >= tight) {
        const char *at = p->at;
        unsigned left = *node, right;
        p->at += strlen(binary[op].text);
        GF_TRY(expression(p, binary[op].tight + 1, &right));
        GF_TRY(check_operand(p, op, left, at));
        GF_TRY(check_operand(p, op, right, at));
        GF_TRY(add_node(p, (enum gf_assert_op)op, p->a->text + p->a->node[left].start, node));
        p->a->node[*node].end = p->a->node[right].end;
        p->a->node[*node].left = left;
        p->a->node[*node].right = right;
    }
    return GF_OK;
}

enum gf_status gf_assert_parse(struct gf_assert *assertion, const char *text,
                               struct gf_columns *columns, struct gf_error *e)
{
    struct parser p = {.a = assertion, .columns = columns, .e = e, .at = text};
    assertion->text = text;
    assertion->count = 0;
    GF_TRY(expression(&p, 1, &assertion->root));
    skip_blanks(&p);
    if (*p.at == '=')
        return wrong(&p, p.at, "equality is written ==");
    if (*p.at != '\0')
        return wrong(&p, p.at, "needed an operator, such as < or &&");
    if (!gives_answer(&p, assertion->root))
        return wrong(&p, p.at, "needed a comparison (n_nan == 0)");
    return GF_OK;
}
