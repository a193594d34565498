#include "text_header.h"

#include "../alloc.h"
#include "../text.h"
#include "../util.h"
#include "voxels.h"

#include <stdio.h>
#include <string.h>

#define FIRST_PART ((size_t)4096)

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* Reads up to `room` bytes and looks for the end; *length stays 0 when it is not there. */
static enum gf_status try_part(struct gf_reader *r, gf_header_end *end, size_t room, char *bytes,
                               size_t *length, bool *all, struct gf_error *e)
{
    size_t got = 0;
    GF_TRY(gf_voxels_header_some(r, bytes, room, 0, &got, e));
    bytes[got] = '\0';
    *all = got < room;
    *length = end(bytes, got, *all);
    return GF_OK;
}

enum gf_status gf_text_header_read(struct gf_reader *r, gf_header_end *end, const char *what,
                                   char **text, size_t *size, struct gf_error *e)
{
    void *block = NULL;
    size_t length = 0, room = FIRST_PART;
    bool all = false;
    enum gf_status status = GF_OK;

    *text = NULL;
    for (; status == GF_OK && length == 0 && !all && room <= GF_TEXT_HEADER_MOST; room *= 4) {
        gf_free(block);
        status = gf_allocate(&block, room + 1, 1, "a header", e);
        if (status == GF_OK)
            status = try_part(r, end, room, block, &length, &all, e);
    }
    if (status == GF_OK && length == 0)
        status = gf_fail(e, GF_EINPUT, all ? "%s: truncated header: %s is missing"
                                           : "%s: damaged header: %s is not in its first 4 MiB",
                         r->name, what);
    if (status == GF_OK && memchr(block, '\0', length))
        status = gf_fail(e, GF_EINPUT, "%s: damaged header: a zero byte among its text", r->name);
    if (status != GF_OK) {
        gf_free(block);
        return status;
    }
    *text = block;
    (*text)[length] = '\0';
    *size = length;
    return GF_OK;
}

enum gf_status gf_text_header_native(const struct gf_meta *meta, const char *format, char **text,
                                     struct gf_error *e)
{
    void *block;

    *text = NULL;
    if (!meta->native_format || strcmp(meta->native_format, format) != 0)
        return GF_OK;
    GF_TRY(gf_allocate(&block, meta->native.size + 1, 1, "a header", e));
    *text = memcpy(block, meta->native.data, meta->native.size);
    (*text)[meta->native.size] = '\0';
    return GF_OK;
}

char *gf_next_line(char **text)
{
    char *line = *text, *end = line + strcspn(line, "\n");
    if (*line == '\0')
        return NULL;
    *text = *end ? end + 1 : end;
    *end = '\0';
    while (end > line && is_blank(end[-1]))
        *--end = '\0';
    return line;
}

char *gf_next_word(char **text)
{
    char *word = *text, *end;
    while (is_blank(*word) || *word == '\n')
        word++;
    for (end = word; *end && !is_blank(*end) && *end != '\n'; end++)
        ;
    *text = *end ? end + 1 : end;
    if (end == word)
        return NULL;
    *end = '\0';
    return word;
}

char *gf_trim(char *text)
{
    size_t size;
    while (is_blank(*text))
        text++;
    size = strlen(text);
    while (size > 0 && is_blank(text[size - 1]))
        text[--size] = '\0';
    return text;
}

bool gf_number_list(char *text, bool special, double *numbers, unsigned most, unsigned *count)
{
    char *word;
    for (*count = 0; (word = gf_next_word(&text)) != NULL; ++*count)
        if (*count == most || !gf_parse_double(word, special, &numbers[*count]))
            return false;
    return true;
}

enum gf_status gf_skip_lines(struct gf_in *in, uint64_t offset, uint64_t lines, uint64_t *at,
                             struct gf_error *e)
{
    uint8_t part[4096];
    const uint64_t wanted = lines;

    while (lines > 0) {
        size_t got = 0;
        GF_TRY(gf_in_read_some(in, part, sizeof part, offset, &got, e));
        if (got == 0)
            return gf_fail(e, GF_EINPUT, "%s: truncated: %llu lines are to be skipped, there are "
                           "%llu; correct the header's line skip", gf_in_name(in),
                           (unsigned long long)wanted, (unsigned long long)(wanted - lines));
        for (size_t i = 0; i < got && lines > 0; i++, offset++)
            lines -= part[i] == '\n';
    }
    *at = offset;
    return GF_OK;
}

/* ---- names ---- */

enum gf_status gf_name_list_add(struct gf_name_list *list, const char *name, struct gf_error *e)
{
    const size_t size = strlen(name) + 1, count = list->count;
    void *copy;

    if (count == GF_NAMES_MOST)
        return gf_fail(e, GF_EFEATURE, "more than %d files of samples; stack them with fewer",
                       GF_NAMES_MOST);
    /* The room doubles each time the count reaches a power of two. */
    if ((count & (count - 1)) == 0) {
        char **names = gf_realloc(list->names, count > 0 ? 2 * (uint64_t)count : 1, sizeof *names);
        if (!names)
            return gf_fail(e, GF_EMEMORY, "not enough memory for names; raise --max-memory");
        list->names = names;
    }
    GF_TRY(gf_allocate(&copy, size, 1, "a name", e));
    list->names[list->count++] = memcpy(copy, name, size);
    return GF_OK;
}

/* A whole number of up to nine digits with a sign. */
static bool take_int(const char *text, long long *value)
{
    uint64_t digits;
    const bool negative = *text == '-';
    if (!text[negative] || !gf_parse_u64(text + negative, &digits) || digits > 999999999)
        return false;
    *value = negative ? -(long long)digits : (long long)digits;
    return true;
}

/* A pattern, cut at its number. */
struct pattern {
    const char *before, *after;
    bool zeros;
    unsigned width;
};

static bool cut_pattern(char *text, struct pattern *p)
{
    char *percent = strchr(text, '%'), *s = percent + 1;
    if (!percent)
        return false;
    p->before = text;
    p->zeros = *s == '0';
    p->width = 0;
    for (; gf_is_digit(*s) && p->width < 10; s++)
        p->width = p->width * 10 + (unsigned)(*s - '0');
    if ((*s != 'd' && *s != 'i' && *s != 'u') || strchr(s, '%') || p->width > 32)
        return false;
    *percent = '\0';
    p->after = s + 1;
    return true;
}

static enum gf_status add_number(struct gf_name_list *list, const struct pattern *p,
                                 long long number, struct gf_error *e)
{
    struct gf_buffer name = {0};
    enum gf_status status;
    gf_buffer_printf(&name, p->zeros ? "%s%0*lld%s" : "%s%*lld%s", p->before, (int)p->width, number,
                     p->after);
    status = gf_buffer_status(&name, "a name", e);
    if (status == GF_OK)
        status = gf_name_list_add(list, name.data, e);
    gf_buffer_free(&name);
    return status;
}

enum gf_status gf_name_list_pattern(struct gf_name_list *list, char *text, char **rest,
                                    const char *file, struct gf_error *e)
{
    char *word = gf_next_word(&text), *numbers[3];
    long long first, last, step;
    struct pattern p;

    for (int i = 0; i < 3; i++)
        numbers[i] = gf_next_word(&text);
    if (!word || !numbers[0] || !numbers[1] || !numbers[2] || !take_int(numbers[0], &first) ||
        !take_int(numbers[1], &last) || !take_int(numbers[2], &step) || step == 0 ||
        (last - first) / step < 0 || !cut_pattern(word, &p))
        return gf_fail(e, GF_EINPUT, "%s: damaged header: files of samples are given as NAME with "
                       "one %%d or %%03d, first number, last number and step", file);
    if ((last - first) / step >= GF_NAMES_MOST)
        return gf_fail(e, GF_EINPUT, "%s: damaged header: it names %lld files of samples; at most "
                       "%d are read", file, (last - first) / step + 1, GF_NAMES_MOST);
    for (long long n = first; step > 0 ? n <= last : n >= last; n += step)
        GF_TRY(add_number(list, &p, n, e));
    *rest = text;
    return GF_OK;
}

void gf_name_list_free(struct gf_name_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        gf_free(list->names[i]);
    gf_free(list->names);
    *list = (struct gf_name_list){NULL, 0};
}
