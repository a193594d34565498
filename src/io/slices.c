#include "slices.h"

#include "../alloc.h"
#include "../signals.h"
#include "../text.h"
#include "../util.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- one %0Nd ---- */

/* The length of a directive for a number at `p`, which is a %; 0 when it is none. *width is
 * UINT32_MAX when it is one that is not understood: blanks in file names are nobody's wish.
 * Two digits without a 0 before them are what the web writes for one character ("%20d"). */
static size_t directive(const char *p, unsigned *width)
{
    size_t digits = 0;
    while (gf_is_digit(p[1 + digits]))
        digits++;
    if (p[1 + digits] != 'd' || (digits > 1 && p[1] != '0'))
        return 0;
    *width = 0;
    for (size_t i = 1; i <= digits && *width < 100; i++)
        *width = *width * 10 + (unsigned)(p[i] - '0');
    if ((digits > 0 && p[1] != '0') || *width > 18)
        *width = UINT32_MAX;
    return digits + 2;
}

/* Copies [from, to) with one % for two. */
static char *without_doubles(const char *from, const char *to, const char *last)
{
    char *copy = gf_alloc((uint64_t)(to - from) + 1, 1), *end = copy;
    while (copy && from < to) {
        if (from >= last && from[0] == '%' && from + 1 < to && from[1] == '%')
            from++;
        *end++ = *from++;
    }
    if (copy)
        *end = '\0';
    return copy;
}

/* The one directive of a path: *at is NULL when there is none. */
static enum gf_status find_directive(const char *path, const char **at, size_t *length,
                                     unsigned *digits, struct gf_error *e)
{
    const char *last = last_part(path), *stray = NULL;
    unsigned width = 0;

    *at = NULL;
    for (const char *p = strchr(last, '%'); p; p = strchr(p, '%')) {
        size_t size = directive(p, &width);
        if (p[1] == '%') {
            p += 2;
            continue;
        }
        if (size > 0 && (*at || width == UINT32_MAX))
            return gf_fail(e, GF_EUSAGE, "%s: '%.*s' cannot be there: one %%d, or %%04d for four "
                           "digits and the like, stands for the number of a slice", path, (int)size,
                           p);
        if (size > 0) {
            *at = p;
            *length = size;
            *digits = width;
        } else if (!stray) {
            stray = p;
        }
        p += size ? size : 1;
    }
    if (*at && stray)
        return gf_fail(e, GF_EUSAGE, "%s: '%.2s' is not understood beside '%.*s', which stands for "
                       "the number of a slice; %%%% is a percent sign", path, stray, (int)*length,
                       *at);
    return GF_OK;
}

enum gf_status gf_numbering_parse(struct gf_numbering *n, const char *path, struct gf_error *e)
{
    const char *last = last_part(path), *at;
    size_t length;

    memset(n, 0, sizeof *n);
    GF_TRY(find_directive(path, &at, &length, &n->width, e));
    if (!at)
        return GF_OK;
    n->before = without_doubles(path, at, last);
    n->after = without_doubles(at + length, at + strlen(at), last);
    if (n->before && n->after)
        return GF_OK;
    gf_numbering_free(n);
    return gf_fail(e, GF_EMEMORY, "%s: not enough memory for its name", path);
}

char *gf_numbering_path(const struct gf_numbering *n, uint64_t number)
{
    struct gf_buffer b = {0};
    gf_buffer_printf(&b, "%s%0*" PRIu64 "%s", n->before, (int)n->width, number, n->after);
    if (b.failed)
        gf_buffer_free(&b);
    return b.data; /* gf_buffer's memory is gf_alloc's */
}

void gf_numbering_free(struct gf_numbering *n)
{
    gf_free(n->before);
    gf_free(n->after);
    memset(n, 0, sizeof *n);
}

/* The number of which numbering makes this very name; false when there is none. */
static bool number_of(const struct gf_numbering *n, const char *before, const char *name,
                      uint64_t *number)
{
    size_t digits = 0;
    if (strncmp(name, before, strlen(before)) != 0)
        return false;
    name += strlen(before);
    while (gf_is_digit(name[digits]))
        digits++;
    /* What follows may begin with digits of its own: those come off the end. */
    for (const char *p = n->after; gf_is_digit(*p) && digits > 0; p++)
        digits--;
    if (digits == 0 || digits > 18 || strcmp(name + digits, n->after) != 0 ||
        digits < n->width || (name[0] == '0' && digits > gf_max(n->width, 1)))
        return false;
    *number = 0;
    for (size_t i = 0; i < digits; i++)
        *number = *number * 10 + (uint64_t)(name[i] - '0');
    return true;
}

/* ---- what there is ---- */

static bool has_wildcard(const char *path) { return strpbrk(last_part(path), "*?[") != NULL; }

bool gf_slices_numbered(const char *path)
{
    const char *at;
    size_t length;
    unsigned digits;
    return find_directive(path, &at, &length, &digits, NULL) == GF_OK && at;
}

bool gf_slices_wanted(const char *path)
{
    struct stat info;
    if (!strchr(last_part(path), '%') && !has_wildcard(path))
        return false;
    return (has_wildcard(path) || gf_slices_numbered(path)) && lstat(path, &info) != 0;
}

int gf_natural_order(const char *a, const char *b)
{
    const char *p = a, *q = b;
    while (*p && *q) {
        if (gf_is_digit(*p) && gf_is_digit(*q)) {
            size_t m, n;
            int order;
            while (*p == '0')
                p++;
            while (*q == '0')
                q++;
            for (m = 0; gf_is_digit(p[m]);)
                m++;
            for (n = 0; gf_is_digit(q[n]);)
                n++;
            order = m != n ? (m > n) - (m < n) : memcmp(p, q, m);
            if (order)
                return order;
            p += m;
            q += n;
        } else if (*p != *q) {
            return (unsigned char)*p - (unsigned char)*q;
        } else {
            p++;
            q++;
        }
    }
    if (*p || *q)
        return (unsigned char)*p - (unsigned char)*q;
    return strcmp(a, b); /* 1 and 01 */
}

struct entry {
    uint64_t number;
    char *name;                 /* owned, with the folder before it */
};

static int by_number(const void *a, const void *b)
{
    const struct entry *p = a, *q = b;
    return (p->number > q->number) - (p->number < q->number);
}

static int by_name(const void *a, const void *b)
{
    return gf_natural_order(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

struct listing {
    const char *path;
    struct gf_numbering numbering;
    struct entry *entries;
    uint64_t count, room;
};

static enum gf_status no_memory(const char *path, struct gf_error *e)
{
    return gf_fail(e, GF_EMEMORY, "%s: not enough memory for the names of its slices", path);
}

static enum gf_status add(struct listing *l, const char *folder, size_t length, const char *name,
                          uint64_t number, struct gf_error *e)
{
    struct entry *entry;
    if (l->count == l->room) {
        uint64_t room = l->room ? 2 * l->room : 256;
        struct entry *entries = gf_realloc(l->entries, room, sizeof *entries);
        if (!entries)
            return no_memory(l->path, e);
        l->entries = entries;
        l->room = room;
    }
    entry = &l->entries[l->count];
    entry->number = number;
    entry->name = gf_alloc(length + strlen(name) + 1, 1);
    if (!entry->name)
        return no_memory(l->path, e);
    l->count++;
    memcpy(entry->name, folder, length);
    strcpy(entry->name + length, name);
    return GF_OK;
}

static enum gf_status list_folder(struct listing *l, DIR *folder, struct gf_error *e)
{
    const char *last = last_part(l->path);
    size_t length = (size_t)(last - l->path);
    struct dirent *found;

    for (errno = 0; (found = readdir(folder)) != NULL; errno = 0) {
        uint64_t number = 0;
        if (l->numbering.before
                ? !number_of(&l->numbering, last_part(l->numbering.before), found->d_name, &number)
                : fnmatch(last, found->d_name, FNM_PERIOD) != 0)
            continue;
        GF_TRY(add(l, l->path, length, found->d_name, number, e));
        if (gf_signal_pending())
            return GF_ESIGNAL;
    }
    if (errno != 0)
        return gf_fail(e, GF_EINPUT, "%s: its folder cannot be read: %s", l->path, strerror(errno));
    return GF_OK;
}

static enum gf_status read_folder(struct listing *l, struct gf_error *e)
{
    size_t length = (size_t)(last_part(l->path) - l->path);
    char *name = gf_alloc(length + 2, 1);
    enum gf_status status;
    DIR *folder;

    if (!name)
        return no_memory(l->path, e);
    memcpy(name, l->path, length);
    strcpy(name + length, length ? "" : ".");
    folder = opendir(name);
    gf_free(name);
    if (!folder)
        return gf_fail(e, GF_EINPUT, "%s: its folder cannot be read: %s", l->path, strerror(errno));
    status = list_folder(l, folder, e);
    closedir(folder);
    return status;
}

/* Numbers follow each other. */
static enum gf_status check_numbers(const struct listing *l, struct gf_error *e)
{
    for (uint64_t i = 1; l->numbering.before && i < l->count; i++) {
        const struct entry *a = &l->entries[i - 1], *b = &l->entries[i];
        char *missing;
        enum gf_status status;
        if (b->number == a->number + 1)
            continue;
        missing = gf_numbering_path(&l->numbering, a->number + 1);
        if (!missing)
            return no_memory(l->path, e);
        status = gf_fail(e, GF_EINPUT, "%s: number %" PRIu64 " is missing, %s: there is %s before "
                         "and %s after it", l->path, a->number + 1, last_part(missing),
                         last_part(a->name), last_part(b->name));
        gf_free(missing);
        return status;
    }
    return GF_OK;
}

enum gf_status gf_slices_list(struct gf_slices *s, const char *path, struct gf_error *e)
{
    struct listing l = {.path = path};
    enum gf_status status;
    void *block = NULL;

    memset(s, 0, sizeof *s);
    status = gf_numbering_parse(&l.numbering, path, e);
    if (status == GF_OK)
        status = read_folder(&l, e);
    if (status == GF_OK && l.count == 0)
        status = gf_fail(e, GF_EINPUT, "%s: there is no such file, and none whose name has this "
                         "pattern", path);
    if (status == GF_OK)
        qsort(l.entries, l.count, sizeof *l.entries, l.numbering.before ? by_number : by_name);
    if (status == GF_OK)
        status = check_numbers(&l, e);
    if (status == GF_OK)
        status = gf_allocate(&block, l.count, sizeof *s->paths, path, e);
    if (status == GF_OK) {
        s->paths = block;
        s->first = l.entries[0].number;
    }
    for (uint64_t i = 0; i < l.count; i++)
        if (status == GF_OK)
            s->paths[s->count++] = l.entries[i].name;
        else
            gf_free(l.entries[i].name);
    gf_free(l.entries);
    gf_numbering_free(&l.numbering);
    return status;
}

void gf_slices_free(struct gf_slices *s)
{
    for (uint64_t i = 0; i < s->count; i++)
        gf_free(s->paths[i]);
    gf_free(s->paths);
    memset(s, 0, sizeof *s);
}
