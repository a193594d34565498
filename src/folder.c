#include "folder.h"

#include "alloc.h"
#include "text.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_folder(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

bool gf_folder_named(const char *path)
{
    size_t length = strlen(path);
    return is_folder(path) || (length && path[length - 1] == '/');
}

bool gf_folder_wanted(const struct gf_request *r)
{
    if (strcmp(r->output, "-") == 0)
        return r->operand_count > 1;
    return r->operand_count > 1 || gf_folder_named(r->output) ||
           (!r->format && !gf_format_by_path(r->output));
}

static enum gf_status name_of(const struct gf_request *r, const char *in_path, char **name,
                              struct gf_error *e)
{
    const char *slash = strrchr(in_path, '/'), *base = slash ? slash + 1 : in_path;
    const char *own = gf_path_extension(base), *extension = "png";
    const struct gf_format *format = gf_format_by_path(in_path);
    bool has_stem = own > base + 1 && own[-1] == '.';
    size_t stem = has_stem ? (size_t)(own - 1 - base) : strlen(base);
    struct gf_buffer b = {0};
    if (strcmp(in_path, "-") == 0)
        base = "stdin", stem = 5;
    if (r->format)
        extension = r->format->extensions;
    else if (format && format->create)
        extension = own;
    gf_buffer_text(&b, r->output);
    if (b.size > 0 && b.data[b.size - 1] != '/')
        gf_buffer_text(&b, "/");
    gf_buffer_printf(&b, "%.*s%s.%.*s%s", (int)stem, base, r->suffix ? r->suffix : "",
                     (int)strcspn(extension, " "), extension,
                     r->format && r->write.gzip ? ".gz" : "");
    *name = b.data; /* gf_buffer's memory is gf_alloc's */
    return gf_buffer_status(&b, "the names of the outputs", e);
}

/* The path of the second file beside one of this path and format (NULL: by the path), in `second`;
 * false when there is none. */
static bool has_second(const struct gf_request *r, const struct gf_format *format,
                       const char *path, char second[PATH_MAX])
{
    format = format ? format : gf_format_by_path(path);
    return format && format->second_file &&
           format->second_file(path, &r->write, second, PATH_MAX);
}

/* A file that is to be written. */
struct made {
    const char *path;
    char *second;   /* NULL, or the path, owned: a second file beside an output */
    size_t index;
};

static int by_name(const void *a, const void *b)
{
    const struct made *p = a, *q = b;
    int order = strcmp(p->path, q->path);
    return order ? order : (p->index > q->index) - (p->index < q->index);
}

static enum gf_status list_made(const struct gf_folder *f, const struct gf_request *r,
                                struct made *made, size_t *count, struct gf_error *e)
{
    char second[PATH_MAX];
    for (size_t i = 0; i < f->count; i++) {
        made[(*count)++] = (struct made){f->names[i], NULL, i};
        if (!has_second(r, r->format, f->names[i], second))
            continue;
        made[*count] = (struct made){NULL, gf_alloc(strlen(second) + 1, 1), i};
        if (!made[*count].second)
            return gf_fail(e, GF_EMEMORY, "out of memory for the names of the outputs");
        made[*count].path = strcpy(made[*count].second, second);
        ++*count;
    }
    return GF_OK;
}

/* Two inputs of one output would silently lose one of them. */
static enum gf_status refuse_same_names(const struct gf_folder *f, const struct gf_request *r,
                                        struct gf_error *e)
{
    struct made *made = gf_alloc(f->count, 2 * sizeof *made);
    enum gf_status status;
    size_t count = 0;
    if (!made)
        return gf_fail(e, GF_EMEMORY, "out of memory for the names of the outputs");
    status = list_made(f, r, made, &count, e);
    qsort(made, count, sizeof *made, by_name);
    for (size_t i = 1; i < count && status == GF_OK; i++)
        if (strcmp(made[i - 1].path, made[i].path) == 0)
            status = gf_fail(e, GF_EUSAGE, "%s and %s: both would be written to %s; nothing was "
                             "read", r->operands[made[i - 1].index], r->operands[made[i].index],
                             made[i].path);
    for (size_t i = 0; i < count; i++)
        gf_free(made[i].second);
    gf_free(made);
    return status;
}

/* Where an input or an output really is, links followed. */
struct place {
    char *path; /* owned */
    size_t index;
    bool is_output;
};

/* Outputs first, so that the first of one path is compared with all that clash with it. */
static int by_path(const void *a, const void *b)
{
    const struct place *p = a, *q = b;
    int order = strcmp(p->path, q->path);
    if (order == 0)
        order = q->is_output - p->is_output;
    return order ? order : (p->index > q->index) - (p->index < q->index);
}

/* Adds the place of `path` unless nothing is there. */
static enum gf_status add_place(struct place *places, size_t *count, const char *path,
                                size_t index, bool is_output, struct gf_error *e)
{
    char real[PATH_MAX];
    struct place *p = &places[*count];
    if (!realpath(path, real))
        return GF_OK;
    *p = (struct place){gf_alloc(strlen(real) + 1, 1), index, is_output};
    if (!p->path)
        return gf_fail(e, GF_EMEMORY, "out of memory for the names of the outputs");
    strcpy(p->path, real);
    ++*count;
    return GF_OK;
}

/* Outputs that are inputs of others (--suffix beside the inputs, a second time) would replace
 * what has yet to be read, and two that are links to one file each other. */
static enum gf_status refuse_same_places(const struct gf_folder *f, const struct gf_request *r,
                                         struct gf_error *e)
{
    enum gf_status status = GF_OK;
    size_t count = 0;
    struct place *places;
    if (!is_folder(r->output))
        return GF_OK;
    places = gf_alloc(f->count, 4 * sizeof *places);
    if (!places)
        return gf_fail(e, GF_EMEMORY, "out of memory for the names of the outputs");
    for (size_t i = 0; i < f->count && status == GF_OK; i++) {
        char second[PATH_MAX];
        if (strcmp(r->operands[i], "-") != 0)
            status = add_place(places, &count, r->operands[i], i, false, e);
        /* Where its header most likely says that the samples are. */
        if (status == GF_OK && has_second(r, NULL, r->operands[i], second))
            status = add_place(places, &count, second, i, false, e);
        if (status == GF_OK)
            status = add_place(places, &count, f->names[i], i, true, e);
        if (status == GF_OK && has_second(r, r->format, f->names[i], second))
            status = add_place(places, &count, second, i, true, e);
    }
    qsort(places, count, sizeof *places, by_path);
    for (size_t i = 1, first = 0; i < count && status == GF_OK; i++) {
        const struct place *a = &places[first], *b = &places[i];
        if (strcmp(a->path, b->path) != 0)
            first = i;
        else if (a->index != b->index && b->is_output)
            status = gf_fail(e, GF_EUSAGE, "%s and %s: both would be written to %s; nothing was "
                             "read", r->operands[a->index], r->operands[b->index], a->path);
        else if (a->index != b->index && a->is_output)
            status = gf_fail(e, GF_EUSAGE, "%s: is an input, and the output of %s would replace "
                             "it; nothing was read; write to another folder",
                             r->operands[b->index], r->operands[a->index]);
    }
    for (size_t i = 0; i < count; i++)
        gf_free(places[i].path);
    gf_free(places);
    return status;
}

enum gf_status gf_folder_prepare(struct gf_folder *f, const struct gf_request *r,
                                 struct gf_error *e)
{
    memset(f, 0, sizeof *f);
    if (strcmp(r->output, "-") == 0)
        return gf_fail(e, GF_EUSAGE, "-o -: standard output takes one input, not %zu",
                       r->operand_count);
    if (!is_folder(r->output) && gf_format_by_path(r->output))
        return gf_fail(e, GF_EUSAGE, "-o %s: %zu inputs need a folder, and this is a file's name",
                       r->output, r->operand_count);
    f->names = gf_alloc_zero(r->operand_count, sizeof *f->names);
    if (!f->names)
        return gf_fail(e, GF_EMEMORY, "out of memory for the names of the outputs");
    for (size_t i = 0; i < r->operand_count; i++) {
        f->count++;
        GF_TRY(name_of(r, r->operands[i], &f->names[i], e));
    }
    GF_TRY(refuse_same_names(f, r, e));
    GF_TRY(refuse_same_places(f, r, e));
    if (r->dry_run)
        return GF_OK;
    f->made = mkdir(r->output, 0777) == 0 ? r->output : NULL;
    if (f->made || (errno == EEXIST && is_folder(r->output)))
        return GF_OK;
    return gf_fail(e, GF_EOUTPUT, "%s: the folder could not be made: %s", r->output,
                   strerror(errno));
}

void gf_folder_free(struct gf_folder *f)
{
    for (size_t i = 0; i < f->count; i++)
        gf_free(f->names[i]);
    gf_free(f->names);
    /* Gone again when nothing came into it; not when anything did. */
    if (f->made)
        (void)rmdir(f->made);
    memset(f, 0, sizeof *f);
}
