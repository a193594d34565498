/* Masks as text: files in the format of gpufilt-mask(5) and masks on the command line.
 * Both are read into a draft, which then becomes a mask. */
#include "alloc.h"
#include "mask_internal.h"
#include "text.h"
#include "util.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SIZE_LINE, DIVISOR_LINE, ORIGIN_LINE, SIGMA_LINE, X_LINE, Y_LINE, Z_LINE, WORDS };
static const char *const words[WORDS] = { "size", "divisor", "origin", "sigma", "x", "y", "z" };

struct draft {
    const char *name;               /* of the file, for messages; NULL for an inline mask */
    uint64_t line;                  /* of the file, or row of the inline mask */
    struct gf_mask_number *number;  /* taps of all rows, or x, y and z one after another */
    uint64_t count, room;
    uint64_t width, row_count, plane_rows, plane_count, height;
    uint64_t factor_count[3];
    uint64_t seen[WORDS];           /* the line of a word, 0 when it was not there */
    double size[3], origin[3], sigma[3];
    int origin_count;
    double divisor;
    bool ends_in_fraction;          /* the last tap, and no other, was written as a fraction */
    uint64_t fraction_count;
};

static enum gf_status draft_fail(const struct draft *d, struct gf_error *e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static enum gf_status draft_fail(const struct draft *d, struct gf_error *e, const char *format, ...)
{
    char detail[700];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    if (d->name == NULL)
        return gf_fail(e, GF_EUSAGE, "mask on the command line, row %llu: %s",
                       (unsigned long long)d->line, detail);
    return gf_fail(e, GF_EINPUT, "%s:%llu: %s", d->name, (unsigned long long)d->line, detail);
}

/* So much of a token as fits in a message. */
static int shown(size_t length)
{
    return (int)gf_min(length, 40);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static enum gf_status add_number(struct draft *d, const char *token, size_t length,
                                 struct gf_error *e)
{
    const char *why;
    if (d->count == GF_MASK_MAX_TAPS)
        return draft_fail(d, e, "more than %u taps; a mask that large must be separable: give its "
                          "x, y and z lines", GF_MASK_MAX_TAPS);
    if (d->count == d->room) {
        uint64_t room = d->room + d->room / 2 + 64;
        void *grown = gf_realloc(d->number, room, sizeof *d->number);
        if (grown == NULL)
            return gf_fail(e, GF_EMEMORY, "%s: not enough memory for the taps; raise --max-memory",
                           d->name != NULL ? d->name : "mask on the command line");
        d->number = grown;
        d->room = room;
    }
    if (!gf_mask_number(token, length, true, &d->number[d->count], &why))
        return draft_fail(d, e, "'%.*s' %s", shown(length), token, why);
    d->ends_in_fraction = memchr(token, '/', length) != NULL;
    d->fraction_count += d->ends_in_fraction;
    d->count++;
    return GF_OK;
}

/* Reads numbers separated by blanks or single commas. *found is how many. */
static enum gf_status read_numbers(struct draft *d, const char *text, const char *end,
                                   uint64_t *found, struct gf_error *e)
{
    bool after_comma = true; /* a comma may not come next */
    *found = 0;
    while (text < end) {
        const char *token = text;
        if (is_blank(*text)) {
            text++;
            continue;
        }
        if (*text == ',') {
            if (after_comma)
                return draft_fail(d, e, "a ',' without a tap before it; write 0 for an empty tap");
            after_comma = true;
            text++;
            continue;
        }
        while (text < end && !is_blank(*text) && *text != ',')
            text++;
        GF_TRY(add_number(d, token, (size_t)(text - token), e));
        after_comma = false;
        if (++*found > GF_MASK_MAX_AXIS)
            return draft_fail(d, e, "more than %u taps in a row, the most a mask can have",
                              GF_MASK_MAX_AXIS);
    }
    if (after_comma && *found > 0)
        return draft_fail(d, e, "a ',' without a tap after it; write 0 for an empty tap");
    return GF_OK;
}

static enum gf_status end_row(struct draft *d, uint64_t width, struct gf_error *e)
{
    if (d->row_count > 0 && width != d->width)
        return draft_fail(d, e, "this row has %llu tap%s, needed %llu as in the first row; fill up "
                          "with 0", (unsigned long long)width, width == 1 ? "" : "s",
                          (unsigned long long)d->width);
    d->width = width;
    d->row_count++;
    if (++d->plane_rows > GF_MASK_MAX_AXIS)
        return draft_fail(d, e, "more than %u rows, the most a mask can have", GF_MASK_MAX_AXIS);
    return GF_OK;
}

static enum gf_status end_plane(struct draft *d, struct gf_error *e)
{
    if (d->plane_rows == 0)
        return draft_fail(d, e, "the plane that ends here is empty; write its rows");
    if (d->plane_count > 0 && d->plane_rows != d->height)
        return draft_fail(d, e, "the plane that ends here has %llu row%s, needed %llu as in the first "
                          "plane; fill up with rows of 0", (unsigned long long)d->plane_rows,
                          d->plane_rows == 1 ? "" : "s", (unsigned long long)d->height);
    d->height = d->plane_rows;
    d->plane_rows = 0;
    d->plane_count++;
    return GF_OK;
}

/* ---- from the draft to the mask ---- */

/* The size that was given, if any, must be the one that was found; where planes or rows were
 * not marked, it says where they end. */
static enum gf_status settle_size(struct draft *d, uint32_t size[3], struct gf_error *e)
{
    uint64_t found[3] = { d->width, d->height, d->plane_count };
    bool factors = d->factor_count[0] + d->factor_count[1] + d->factor_count[2] > 0;
    for (int a = 0; a < 3 && factors; a++)
        found[a] = gf_max(d->factor_count[a], 1);
    if (d->seen[SIZE_LINE] > 0) {
        uint64_t asked[3] = { (uint64_t)d->size[0], (uint64_t)d->size[1], (uint64_t)d->size[2] };
        bool one_plane = !factors && found[2] == 1 && found[0] == asked[0] &&
                         found[1] == asked[1] * asked[2];
        bool one_row = d->name == NULL && found[1] == 1 && found[2] == 1 &&
                       found[0] == asked[0] * asked[1] * asked[2];
        if (one_plane || one_row)
            memcpy(found, asked, sizeof found);
        d->line = d->name != NULL ? d->seen[SIZE_LINE] : 1;
        if (memcmp(found, asked, sizeof found) != 0)
            return draft_fail(d, e, "size %llux%llux%llu does not match the taps, which are "
                              "%llux%llux%llu; correct it or leave it out",
                              (unsigned long long)asked[0], (unsigned long long)asked[1],
                              (unsigned long long)asked[2], (unsigned long long)found[0],
                              (unsigned long long)found[1], (unsigned long long)found[2]);
    }
    for (int a = 0; a < 3; a++)
        size[a] = (uint32_t)found[a];
    return GF_OK;
}

static enum gf_status settle_origin(struct draft *d, struct gf_mask *mask, struct gf_error *e)
{
    int needed = mask->size[2] > 1 ? 3 : 2;
    if (d->seen[ORIGIN_LINE] == 0)
        return GF_OK;
    d->line = d->name != NULL ? d->seen[ORIGIN_LINE] : 1;
    if (d->origin_count < needed)
        return draft_fail(d, e, "the origin has %d numbers, needed %d (x, y%s)", d->origin_count,
                          needed, needed == 3 ? ", z" : "");
    for (int a = 0; a < d->origin_count; a++) {
        if (!(d->origin[a] < mask->size[a]))
            return draft_fail(d, e, "origin %.0f along %c lies outside the mask; it must be from 0 to "
                              "%u", d->origin[a], "xyz"[a], (unsigned)(mask->size[a] - 1));
        mask->origin[a] = (uint32_t)d->origin[a];
    }
    return GF_OK;
}

/* The line that says sigma promises a Gaussian: factors that sum to 1. */
static enum gf_status settle_sigma(struct draft *d, struct gf_mask *mask, struct gf_error *e)
{
    if (d->seen[SIGMA_LINE] == 0)
        return GF_OK;
    d->line = d->seen[SIGMA_LINE];
    if (!mask->separable || mask->divisor != 1.0)
        return draft_fail(d, e, "sigma stands before x, y and z lines without a divisor; leave it "
                          "out");
    for (int a = 0; a < 3; a++) {
        double sum = 0.0;
        for (uint32_t i = 0; i < mask->size[a]; i++)
            sum += mask->factor[a][i];
        if (!(fabs(sum - 1.0) <= 1e-9))
            return draft_fail(d, e, "the taps of a Gaussian sum to 1, but along %c to %.9g; leave "
                              "sigma out", "xyz"[a], sum);
        mask->sigma[a] = d->sigma[a];
    }
    return GF_OK;
}

static enum gf_status settle(struct draft *d, struct gf_mask *mask, const char *name,
                             struct gf_error *e)
{
    uint32_t size[3];
    bool factors = d->factor_count[0] + d->factor_count[1] + d->factor_count[2] > 0;
    double scale, divisor = d->divisor;
    enum gf_status status;
    GF_TRY(settle_size(d, size, e));
    GF_TRY(gf_mask_begin(mask, name, size, !factors, e));
    if (factors) {
        const struct gf_mask_number *next = d->number;
        for (int a = 0; a < 3; a++) {
            mask->factor[a][0] = 1.0;
            gf_mask_scale(next, d->factor_count[a], mask->factor[a], &scale);
            divisor *= scale;
            next += d->factor_count[a];
        }
    } else {
        gf_mask_scale(d->number, d->count, mask->taps, &scale);
        divisor *= scale;
    }
    mask->divisor = divisor;
    status = settle_origin(d, mask, e);
    if (status == GF_OK)
        status = settle_sigma(d, mask, e);
    if (status != GF_OK) {
        gf_mask_free(mask);
        return status;
    }
    GF_TRY(gf_mask_complete(mask, e));
    status = gf_mask_factor(mask, e);
    if (status != GF_OK)
        gf_mask_free(mask);
    return status;
}

/* ---- files ---- */

static enum gf_status check_text(const struct draft *d, const char *text, const char *end,
                                 struct gf_error *e)
{
    for (; text < end; text++)
        if (((unsigned char)*text < 0x20 && *text != '\t') || *text == 0x7F)
            return draft_fail(d, e, "byte 0x%02x in it; a mask file is plain text", (unsigned char)*text);
    return GF_OK;
}

/* The numbers after a word of the header, which are not taps. */
static enum gf_status read_values(struct draft *d, int word, const char *text, const char *end,
                                  double *values, int least, int most, int *found,
                                  struct gf_error *e)
{
    *found = 0;
    while (text < end) {
        const char *token = text, *why;
        struct gf_mask_number number;
        if (is_blank(*text) || *text == ',') {
            text++;
            continue;
        }
        while (text < end && !is_blank(*text) && *text != ',')
            text++;
        if (*found == most)
            return draft_fail(d, e, "more than %d number%s after '%s'", most, most == 1 ? "" : "s",
                              words[word]);
        if (!gf_mask_number(token, (size_t)(text - token), false, &number, &why))
            return draft_fail(d, e, "'%.*s' %s", shown((size_t)(text - token)), token, why);
        values[(*found)++] = number.numerator;
    }
    if (*found < least)
        return draft_fail(d, e, "'%s' needs %d number%s after it, found %d", words[word], least,
                          least == 1 ? "" : "s", *found);
    return GF_OK;
}

static enum gf_status check_size(const struct draft *d, struct gf_error *e)
{
    for (int a = 0; a < 3; a++)
        if (!(d->size[a] >= 1 && d->size[a] <= GF_MASK_MAX_AXIS && rint(d->size[a]) == d->size[a]))
            return draft_fail(d, e, "size %g along %c; needed a whole number from 1 to %u", d->size[a],
                              "xyz"[a], GF_MASK_MAX_AXIS);
    return GF_OK;
}

static enum gf_status check_origin(const struct draft *d, struct gf_error *e)
{
    for (int a = 0; a < d->origin_count; a++)
        if (!(d->origin[a] >= 0 && rint(d->origin[a]) == d->origin[a]))
            return draft_fail(d, e, "origin %g along %c; needed a whole number of 0 or more, counted "
                              "from the first tap", d->origin[a], "xyz"[a]);
    return GF_OK;
}

static enum gf_status check_divisor(const struct draft *d, struct gf_error *e)
{
    if (d->divisor == 0)
        return draft_fail(d, e, "the divisor is zero; leave it out for 1");
    return GF_OK;
}

static enum gf_status read_factor(struct draft *d, int axis, const char *text, const char *end,
                                  struct gf_error *e)
{
    if (d->row_count > 0)
        return draft_fail(d, e, "'%s' among rows of taps; a mask is given by rows or by x, y and z "
                          "lines", words[X_LINE + axis]);
    for (int a = axis + 1; a < 3; a++)
        if (d->factor_count[a] > 0)
            return draft_fail(d, e, "'%s' after '%s'; the order is x, y, z", words[X_LINE + axis],
                              words[X_LINE + a]);
    GF_TRY(read_numbers(d, text, end, &d->factor_count[axis], e));
    if (d->factor_count[axis] == 0)
        return draft_fail(d, e, "no taps after '%s'", words[X_LINE + axis]);
    return GF_OK;
}

static int find_word(const char *token, size_t length)
{
    for (int i = 0; i < WORDS; i++)
        if (strlen(words[i]) == length && memcmp(words[i], token, length) == 0)
            return i;
    return WORDS;
}

static enum gf_status fail_at_word(const struct draft *d, const char *token, size_t length,
                                   struct gf_error *e)
{
    char copy[41];
    const char *closest, *why;
    struct gf_mask_number number;
    /* "nan" and "inf" begin with letters too. */
    if (!gf_mask_number(token, length, true, &number, &why) && strstr(why, "finite") != NULL)
        return draft_fail(d, e, "'%.*s' %s", shown(length), token, why);
    snprintf(copy, sizeof copy, "%.*s", shown(length), token);
    closest = gf_closest(copy, words, WORDS);
    if (closest != NULL)
        return draft_fail(d, e, "unknown word '%s'; did you mean '%s'?", copy, closest);
    return draft_fail(d, e, "unknown word '%s'; needed numbers, or size, divisor, origin, sigma, x, y, "
                      "z", copy);
}

static enum gf_status read_word(struct draft *d, const char *text, const char *end,
                                struct gf_error *e)
{
    const char *token = text;
    int word, found;
    while (text < end && !is_blank(*text) && *text != ',')
        text++;
    word = find_word(token, (size_t)(text - token));
    if (word == WORDS)
        return fail_at_word(d, token, (size_t)(text - token), e);
    if (d->seen[word] > 0)
        return draft_fail(d, e, "'%s' a second time, the first is in line %llu", words[word],
                          (unsigned long long)d->seen[word]);
    d->seen[word] = d->line;
    switch (word) {
    case SIZE_LINE:
        GF_TRY(read_values(d, word, text, end, d->size, 2, 3, &found, e));
        return check_size(d, e);
    case DIVISOR_LINE:
        GF_TRY(read_values(d, word, text, end, &d->divisor, 1, 1, &found, e));
        return check_divisor(d, e);
    case ORIGIN_LINE:
        GF_TRY(read_values(d, word, text, end, d->origin, 2, 3, &d->origin_count, e));
        return check_origin(d, e);
    case SIGMA_LINE:
        GF_TRY(read_values(d, word, text, end, d->sigma, 2, 3, &found, e));
        for (int a = 0; a < 3; a++)
            if (!(d->sigma[a] >= 0))
                return draft_fail(d, e, "sigma %g; needed a number of 0 or more", d->sigma[a]);
        return GF_OK;
    default:
        return read_factor(d, word - X_LINE, text, end, e);
    }
}

static enum gf_status read_line(struct draft *d, const char *text, const char *end,
                                struct gf_error *e)
{
    const char *comment;
    uint64_t width;
    if (end > text && end[-1] == '\r')
        end--;
    GF_TRY(check_text(d, text, end, e));
    comment = memchr(text, '#', (size_t)(end - text));
    if (comment != NULL)
        end = comment;
    while (text < end && is_blank(*text))
        text++;
    while (end > text && is_blank(end[-1]))
        end--;
    if (text == end)
        return GF_OK;
    if (end - text == 3 && memcmp(text, "---", 3) == 0)
        return end_plane(d, e);
    if ((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z'))
        return read_word(d, text, end, e);
    if (d->factor_count[0] + d->factor_count[1] + d->factor_count[2] > 0)
        return draft_fail(d, e, "a row of taps after x, y or z lines; a mask is given by one or the "
                          "other");
    GF_TRY(read_numbers(d, text, end, &width, e));
    return end_row(d, width, e);
}

static enum gf_status read_file(struct draft *d, const char *text, uint64_t length,
                                struct gf_error *e)
{
    const char *end = text + length;
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        text += 3;
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        d->line++;
        GF_TRY(read_line(d, text, stop != NULL ? stop : end, e));
        text = stop != NULL ? stop + 1 : end;
    }
    if (d->count == 0 && d->plane_count == 0)
        return gf_fail(e, GF_EINPUT, "%s: no taps in it; needed at least one row of numbers",
                       d->name);
    if (d->row_count > 0 || d->plane_count > 0)
        return end_plane(d, e);
    return GF_OK;
}

/* "masks/edge.mask" becomes "edge". */
static void short_name(const char *path, char name[64])
{
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL && slash[1] != '\0' ? slash + 1 : path;
    size_t length = strlen(base);
    if (length > 5 && strcmp(base + length - 5, ".mask") == 0)
        length -= 5;
    length = length < 63 ? length : 63;
    memcpy(name, base, length);
    name[length] = '\0';
}

enum gf_status gf_mask_parse(struct gf_mask *mask, const char *text, uint64_t length,
                             const char *name, struct gf_error *e)
{
    struct draft d = { .name = name, .divisor = 1.0, .size = { 1, 1, 1 } };
    char base[64];
    enum gf_status status;
    memset(mask, 0, sizeof *mask);
    short_name(name, base);
    status = read_file(&d, text, length, e);
    if (status == GF_OK)
        status = settle(&d, mask, base, e);
    gf_free(d.number);
    return status == GF_EUSAGE ? GF_EINPUT : status;
}

/* ---- on the command line ---- */

/* Whole numbers with `mark` between them; moves past them. 0 when it is anything else. */
static int read_list(const char **text, char mark, double *values)
{
    int count = 0;
    for (;;) {
        size_t digits = strspn(*text, "0123456789");
        double value = 0.0;
        if (digits == 0 || digits > 9 || count == 3)
            return 0;
        for (size_t i = 0; i < digits; i++)
            value = value * 10 + (*(*text)++ - '0');
        values[count++] = value;
        if (**text != mark)
            return count;
        (*text)++;
    }
}

/* "3x3", "3x3+1+1" or "+1+1". */
static enum gf_status read_geometry(struct draft *d, const char *text, size_t length,
                                    struct gf_error *e)
{
    char copy[100];
    const char *next = copy;
    bool good = length < sizeof copy;
    snprintf(copy, sizeof copy, "%.*s", (int)gf_min(length, sizeof copy), text);
    copy[strcspn(copy, " \t")] = '\0';
    if (good && *next != '+') {
        good = read_list(&next, 'x', d->size) >= 2;
        d->seen[SIZE_LINE] = 1;
    }
    if (good && *next == '+') {
        next++;
        d->origin_count = read_list(&next, '+', d->origin);
        good = d->origin_count >= 2;
        d->seen[ORIGIN_LINE] = 1;
    }
    if (!good || *next != '\0')
        return draft_fail(d, e, "'%.*s' before ':'; needed a size, an origin or both, such as 3x3, "
                          "+0+1 or 3x3+0+1", shown(length), text);
    return check_size(d, e);
}

static enum gf_status read_rows(struct draft *d, const char *text, const char *end,
                                struct gf_error *e)
{
    for (;;) {
        const char *stop = memchr(text, ';', (size_t)(end - text));
        uint64_t width;
        d->line++;
        GF_TRY(read_numbers(d, text, stop != NULL ? stop : end, &width, e));
        if (width == 0)
            return draft_fail(d, e, "no taps in it; rows are separated by ';', planes by ';;'");
        GF_TRY(end_row(d, width, e));
        if (stop == NULL)
            return end_plane(d, e);
        text = stop + 1;
        if (text < end && *text == ';') {
            GF_TRY(end_plane(d, e));
            text++;
        }
    }
}

static enum gf_status read_divisor(struct draft *d, const char *text, const char *end,
                                   struct gf_error *e)
{
    struct gf_mask_number number;
    const char *why;
    while (text < end && is_blank(*text))
        text++;
    while (end > text && is_blank(end[-1]))
        end--;
    if (!gf_mask_number(text, (size_t)(end - text), false, &number, &why))
        return draft_fail(d, e, "'%.*s' after '/' %s; the divisor is one number at the end",
                          shown((size_t)(end - text)), text, why);
    d->divisor = number.numerator;
    return check_divisor(d, e);
}

static enum gf_status read_inline(struct draft *d, const char *text, struct gf_error *e)
{
    const char *end = text + strlen(text), *colon = strchr(text, ':'), *slash;
    d->line = 1;
    GF_TRY(check_text(d, text, end, e));
    if (colon != NULL) {
        while (is_blank(*text))
            text++;
        GF_TRY(read_geometry(d, text, (size_t)(colon - text), e));
        text = colon + 1;
    }
    /* A '/' after a blank begins the divisor, one inside a number makes a fraction. */
    slash = strchr(text, '/');
    while (slash != NULL && slash > text && !is_blank(slash[-1]))
        slash = strchr(slash + 1, '/');
    d->line = 0;
    GF_TRY(read_rows(d, text, slash != NULL ? slash : end, e));
    if (slash != NULL)
        return read_divisor(d, slash + 1, end, e);
    /* "1,2,1;2,4,2;1,2,1/16" most likely means a divisor. */
    if (d->count > 1 && d->fraction_count == 1 && d->ends_in_fraction)
        return draft_fail(d, e, "the last tap alone is a fraction; write ' / N' with a blank before "
                          "it for a divisor, or the tap as a decimal number");
    return GF_OK;
}

enum gf_status gf_mask_parse_inline(struct gf_mask *mask, const char *text, struct gf_error *e)
{
    struct draft d = { .divisor = 1.0, .size = { 1, 1, 1 } };
    enum gf_status status;
    memset(mask, 0, sizeof *mask);
    status = read_inline(&d, text, e);
    if (status == GF_OK)
        status = settle(&d, mask, "inline", e);
    gf_free(d.number);
    return status;
}
