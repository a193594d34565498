#include "text.h"

#include "alloc.h"
#include "util.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* <ctype.h> is not used: it depends on the locale and is undefined for negative chars. */
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

/* Reads digits at *text and moves past them; false when there are none or too many. */
static bool read_digits(const char **text, uint64_t *value)
{
    const char *p = *text;
    uint64_t sum = 0;

    if (!is_digit(*p))
        return false;
    for (; is_digit(*p); p++)
        if (!gf_mul(sum, 10, &sum) || !gf_add(sum, (uint64_t)(*p - '0'), &sum))
            return false;
    *text = p;
    *value = sum;
    return true;
}

bool gf_parse_u64(const char *text, uint64_t *value)
{
    uint64_t sum;

    if (!read_digits(&text, &sum) || *text != '\0')
        return false;
    *value = sum;
    return true;
}

bool gf_parse_i64(const char *text, int64_t *value)
{
    bool negative = *text == '-';
    uint64_t sum;

    if (*text == '-' || *text == '+')
        text++;
    if (!gf_parse_u64(text, &sum) || sum > (uint64_t)INT64_MAX + negative)
        return false;
    *value = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return true;
}

static bool parse_special(const char *text, double *value)
{
    bool negative = *text == '-';

    if (*text == '-' || *text == '+')
        text++;
    if (strcasecmp(text, "inf") == 0 || strcasecmp(text, "infinity") == 0)
        *value = negative ? -(double)INFINITY : (double)INFINITY;
    else if (strcasecmp(text, "nan") == 0)
        *value = (double)NAN;
    else
        return false;
    return true;
}

bool gf_parse_double(const char *text, bool special, double *value)
{
    char *end;
    double number;

    /* strtod() would also take blanks, hexadecimal and "nan(...)". */
    if (*text == '\0' || text[strspn(text, "0123456789+-.eE")] != '\0')
        return special && parse_special(text, value);
    number = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(number))
        return false;
    *value = number;
    return true;
}

/* The factor of a unit, 0 for an unknown one. */
static uint64_t unit_bytes(const char *unit)
{
    static const char letters[] = "kmgtp";
    const char *letter;
    uint64_t base, factor = 1;

    if (*unit == '\0' || strcasecmp(unit, "b") == 0)
        return 1;
    letter = strchr(letters, lower(*unit));
    if (!letter || *letter == '\0')
        return 0;
    unit++;
    if (*unit == '\0' || strcasecmp(unit, "ib") == 0)
        base = 1024;
    else if (strcasecmp(unit, "b") == 0)
        base = 1000;
    else
        return 0;
    for (; letter >= letters; letter--)
        factor *= base;
    return factor;
}

bool gf_parse_bytes(const char *text, uint64_t *value)
{
    uint64_t whole, unit, bytes;
    const char *fraction = NULL;
    size_t digits = 0;

    if (!read_digits(&text, &whole))
        return false;
    if (*text == '.') {
        fraction = text + 1;
        while (is_digit(fraction[digits]))
            digits++;
        text = fraction + digits;
        if (digits == 0 || digits > 15)
            return false;
    }
    unit = unit_bytes(text);
    if (unit == 0 || (fraction && unit == 1) || !gf_mul(whole, unit, &bytes))
        return false;
    if (fraction) {
        unsigned __int128 part = 0, scale = 1;
        for (size_t i = 0; i < digits; i++) {
            part = part * 10 + (unsigned)(fraction[i] - '0');
            scale *= 10;
        }
        if (!gf_add(bytes, (uint64_t)(part * unit / scale), &bytes))
            return false;
    }
    *value = bytes;
    return true;
}

const char *gf_format_double(char buffer[GF_NUMBER_TEXT], double value)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buffer, GF_NUMBER_TEXT, "%.*g", digits, value);
        if (isnan(value) || strtod(buffer, NULL) == value)
            break;
    }
    return buffer;
}

const char *gf_format_bytes(char buffer[GF_NUMBER_TEXT], uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes / 1024;
    size_t i = 0;

    if (bytes < 10000) {
        snprintf(buffer, GF_NUMBER_TEXT, "%llu byte%s", (unsigned long long)bytes,
                 bytes == 1 ? "" : "s");
        return buffer;
    }
    while (value >= 1024 && i + 1 < GF_COUNT(units)) {
        value /= 1024;
        i++;
    }
    snprintf(buffer, GF_NUMBER_TEXT, value < 100 ? "%.3g %s" : "%.0f %s", value, units[i]);
    return buffer;
}

void gf_cut_short(char *text)
{
    size_t size = strlen(text);

    size = size > 3 ? size - 3 : 0;
    while (size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80)
        size--;
    strcpy(text + size, "...");
}

#define LONGEST_NAME 63

size_t gf_edit_distance(const char *a, const char *b)
{
    /* Optimal string alignment: three rows of the usual table are enough. */
    size_t rows[3][LONGEST_NAME + 1];
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    size_t a_size = strlen(a), b_size = strlen(b);

    if (a_size > LONGEST_NAME || b_size > LONGEST_NAME)
        return SIZE_MAX;
    for (size_t j = 0; j <= b_size; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_size; i++) {
        size_t *oldest = before;
        before = above;
        above = row;
        row = oldest;
        row[0] = i;
        for (size_t j = 1; j <= b_size; j++) {
            char x = lower(a[i - 1]), y = lower(b[j - 1]);
            size_t best = above[j - 1] + (x != y);
            best = above[j] + 1 < best ? above[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            if (i > 1 && j > 1 && x == lower(b[j - 2]) && lower(a[i - 2]) == y &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
    }
    return row[b_size];
}

const char *gf_closest(const char *name, const char *const *candidates, size_t count)
{
    size_t limit = strlen(name) / 3;
    const char *found = NULL;

    limit = limit > 0 ? limit : 1;
    for (size_t i = 0; i < count; i++) {
        size_t distance = gf_edit_distance(name, candidates[i]);
        /* Everything is a replacement away from a single letter: no use as a hint. */
        if (distance > limit || distance >= strlen(name) || (found && distance == limit))
            continue;
        found = candidates[i];
        limit = distance;
    }
    return found;
}

/* Makes room for `more` bytes and the final zero. */
static bool buffer_grow(struct gf_buffer *b, size_t more)
{
    uint64_t needed;
    char *data;

    if (b->failed)
        return false;
    if (!gf_add(b->size, more, &needed) || !gf_add(needed, 1, &needed)) {
        b->failed = true;
        return false;
    }
    if (needed <= b->room)
        return true;
    needed = gf_max(needed, gf_max(256, (uint64_t)b->room + b->room / 2));
    data = gf_realloc(b->data, needed, 1);
    if (!data) {
        b->failed = true;
        return false;
    }
    b->data = data;
    b->room = needed;
    return true;
}

void gf_buffer_append(struct gf_buffer *b, const void *data, size_t size)
{
    if (!buffer_grow(b, size))
        return;
    if (size > 0)
        memcpy(b->data + b->size, data, size);
    b->size += size;
    b->data[b->size] = '\0';
}

void gf_buffer_text(struct gf_buffer *b, const char *text)
{
    gf_buffer_append(b, text, strlen(text));
}

void gf_buffer_printf(struct gf_buffer *b, const char *format, ...)
{
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0) {
        b->failed = true;
        return;
    }
    if (!buffer_grow(b, (size_t)length))
        return;
    va_start(args, format);
    vsnprintf(b->data + b->size, (size_t)length + 1, format, args);
    va_end(args);
    b->size += (size_t)length;
}

enum gf_status gf_buffer_status(const struct gf_buffer *b, const char *what, struct gf_error *e)
{
    if (b->failed)
        return gf_fail(e, GF_EMEMORY, "not enough memory for %s; raise --max-memory", what);
    return GF_OK;
}

void gf_buffer_free(struct gf_buffer *b)
{
    gf_free(b->data);
    *b = (struct gf_buffer){0};
}

/* Bytes of the character at `s` when it is well-formed UTF-8 that is safe to show, else 0.
 * Unsafe are the control characters and those that turn the direction of writing, with which
 * a name could disguise the rest of the line. */
size_t gf_printable(const unsigned char *s)
{
    uint32_t c = s[0];
    size_t size;

    if (c < 0x80)
        return c >= 0x20 && c != 0x7f;
    size = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    if (c < 0xc2 || c > 0xf4)
        return 0;
    c &= 0xffu >> (size + 1);
    for (size_t i = 1; i < size; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3fu);
    }
    if ((size == 3 && c < 0x800) || (size == 4 && c < 0x10000) || c > 0x10ffff ||
        (c >= 0xd800 && c <= 0xdfff))
        return 0;
    if (c < 0xa0 || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
        (c >= 0x2066 && c <= 0x2069))
        return 0;
    return size;
}

/* Appends `text` with everything else as \xNN; `to` has four bytes for each of its bytes. */
char *gf_escape(char *to, const char *text)
{
    static const char hex[] = "0123456789abcdef";
    const unsigned char *s = (const unsigned char *)text;

    while (*s) {
        size_t size = gf_printable(s);
        if (size > 0) {
            memcpy(to, s, size);
            to += size;
            s += size;
        } else {
            *to++ = '\\';
            *to++ = 'x';
            *to++ = hex[*s >> 4];
            *to++ = hex[*s & 15];
            s++;
        }
    }
    return to;
}

void gf_buffer_escaped(struct gf_buffer *b, const char *text, size_t length)
{
    char piece[256], shown[4 * sizeof piece];
    while (length > 0) {
        size_t part = length < sizeof piece ? length : sizeof piece - 1;
        /* A character is not cut in two, unless it is no character. */
        for (size_t back = part; part < length && back > part - 4; back--)
            if (((unsigned char)text[back] & 0xc0) != 0x80) {
                part = back;
                break;
            }
        memcpy(piece, text, part);
        piece[part] = '\0';
        gf_buffer_append(b, shown, (size_t)(gf_escape(shown, piece) - shown));
        text += part;
        length -= part;
    }
}
