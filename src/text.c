#include "text.h"

#include "alloc.h"
#include "utf8.h"
#include "util.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* <ctype.h> is not used: it depends on the locale and is undefined for negative chars. */
static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

bool gf_take_u64(const char **text, uint64_t *value)
{
    const char *p = *text;
    uint64_t sum = 0;

    if (!gf_is_digit(*p))
        return false;
    for (; gf_is_digit(*p); p++)
        if (!gf_mul(sum, 10, &sum) || !gf_add(sum, (uint64_t)(*p - '0'), &sum))
            return false;
    *text = p;
    *value = sum;
    return true;
}

bool gf_parse_u64(const char *text, uint64_t *value)
{
    uint64_t sum;

    if (!gf_take_u64(&text, &sum) || *text != '\0')
        return false;
    *value = sum;
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

    if (!gf_take_u64(&text, &whole))
        return false;
    if (*text == '.') {
        fraction = text + 1;
        while (gf_is_digit(fraction[digits]))
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

bool gf_word_in_list(const char *word, const char *list)
{
    size_t length = strlen(word);

    while (*list) {
        size_t size = strcspn(list, " ");
        if (size == length && size > 0 && memcmp(list, word, size) == 0)
            return true;
        list += size;
        list += strspn(list, " ");
    }
    return false;
}

bool gf_length_unit(const char *name, size_t size, double *mm)
{
    static const struct {
        const char *name;
        double mm;
    } units[] = {
        {"mm", 1.0}, {"millimeter", 1.0}, {"cm", 10.0}, {"m", 1e3}, {"meter", 1e3}, {"km", 1e6},
        {"um", 1e-3}, {"\xc2\xb5m", 1e-3}, {"\xce\xbcm", 1e-3}, {"micrometer", 1e-3},
        {"micron", 1e-3}, {"microns", 1e-3}, {"nm", 1e-6}, {"nanometer", 1e-6}, {"pm", 1e-9},
        {"\xc3\x85", 1e-7}, {"A", 1e-7}, {"inch", 25.4}, {"in", 25.4},
    };

    for (size_t i = 0; i < GF_COUNT(units); i++)
        if (strlen(units[i].name) == size && memcmp(units[i].name, name, size) == 0) {
            *mm = units[i].mm;
            return true;
        }
    return false;
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

void gf_buffer_json(struct gf_buffer *b, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    gf_buffer_text(b, "\"");
    while (*s) {
        size_t length = gf_printable(s);
        if (*s == '"' || *s == '\\')
            gf_buffer_printf(b, "\\%c", *s);
        else if (length)
            gf_buffer_append(b, s, length);
        else if (*s < 0x80)
            gf_buffer_printf(b, "\\u%04x", *s);
        else
            gf_buffer_text(b, "\\ufffd");
        s += length ? length : 1;
    }
    gf_buffer_text(b, "\"");
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

size_t gf_printable(const unsigned char *s)
{
    uint32_t c;
    size_t size = gf_utf8_decode(s, &c);

    if (size == 0 || c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f ||
        (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069))
        return 0;
    return size;
}

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
