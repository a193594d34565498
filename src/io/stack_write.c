/* Writing: every plane a file, all of which appear when the last one is written. */
#include "stack.h"

#include "../alloc.h"
#include "../geometry.h"
#include "../message.h"
#include "../signals.h"
#include "../util.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct stack_output {
    struct gf_stack_plan plan;
    struct gf_numbering numbering;
    struct gf_out_options options;
    char *folder;               /* made for them, or NULL */
    struct gf_writer *slice;    /* being written, or NULL */
    char *path;                 /* its name */
    struct gf_image plane;      /* what it is; meta borrowed */
    uint64_t rows;              /* of it, written */
    uint64_t z;                 /* its plane in the image */
    struct gf_parked **parked;  /* slices that are complete, */
    uint64_t count;             /* and how many */
};

static enum gf_status no_memory(const char *path, struct gf_error *e)
{
    return gf_fail(e, GF_EMEMORY, "%s: not enough memory for the names of the slices", path);
}

enum gf_status gf_stack_accepts(const struct gf_format *format, const struct gf_image *image,
                                const char *name, struct gf_error *e)
{
    struct gf_image plane = *image;
    char other[16];

    plane.depth = 1;
    plane.volume = false;
    if (format->second_file && format->second_file(name, NULL, other, sizeof other))
        return gf_fail(e, GF_EFEATURE, "%s: its samples are in a second file, and a slice is one "
                       "file; choose another format", name);
    return format->accepts(&plane, 1, name, e);
}

/* ---- before anything is written ---- */

/* What may not be replaced. */
static enum gf_status check_one(const char *path, const struct gf_out_options *options,
                                struct gf_error *e)
{
    struct stat info;

    if (stat(path, &info) != 0)
        return GF_OK; /* whatever is wrong is what opening it says */
    if (S_ISDIR(info.st_mode))
        return gf_fail(e, GF_EOUTPUT, "%s: is a folder, a slice was to have this name", path);
    if (!S_ISREG(info.st_mode))
        return gf_fail(e, GF_EOUTPUT, "%s: is not a plain file, and slices replace nothing else",
                       path);
    if (options->no_clobber)
        return gf_fail(e, GF_EOUTPUT, "%s: exists already; remove it, or leave out --no-clobber",
                       path);
    return GF_OK;
}

static enum gf_status check_all(const struct gf_numbering *n, const struct gf_stack_plan *plan,
                                const struct gf_out_options *options, struct gf_error *e)
{
    if (!n->before)
        return gf_fail(e, GF_EUSAGE, "%s: has no %%d for the numbers of the slices", plan->path);
    if (plan->first >= GF_SLICE_NUMBERS || plan->planes > GF_SLICE_NUMBERS - plan->first)
        return gf_fail(e, GF_EFEATURE, "%s: the numbers of the slices would have more than 18 "
                       "digits", plan->path);
    for (uint64_t i = 0; i < plan->planes; i++) {
        char *path = gf_numbering_path(n, plan->first + i);
        enum gf_status status = path ? check_one(path, options, e) : no_memory(plan->path, e);
        gf_free(path);
        GF_TRY(status);
        if (gf_signal_pending())
            return GF_ESIGNAL;
    }
    return GF_OK;
}

/* The folder of the slices, in gf_alloc's memory; NULL where it is the current one. */
static enum gf_status folder_of(const struct gf_numbering *n, char **folder, struct gf_error *e)
{
    const char *slash = strrchr(n->before, '/');
    void *block;

    *folder = NULL;
    if (!slash || slash == n->before)
        return GF_OK;
    GF_TRY(gf_allocate(&block, (uint64_t)(slash - n->before) + 1, 1, n->before, e));
    *folder = memcpy(block, n->before, (size_t)(slash - n->before));
    (*folder)[slash - n->before] = '\0';
    return GF_OK;
}

enum gf_status gf_stack_try(const struct gf_stack_plan *plan,
                            const struct gf_out_options *out_options, struct gf_error *e)
{
    struct gf_numbering n;
    struct gf_out *out = NULL;
    struct stat info;
    char *folder = NULL, *path = NULL;
    enum gf_status status = gf_numbering_parse(&n, plan->path, e);

    if (status == GF_OK)
        status = check_all(&n, plan, out_options, e);
    if (status == GF_OK)
        status = folder_of(&n, &folder, e);
    /* One that will be made cannot be tried. */
    if (status == GF_OK && (!folder || stat(folder, &info) == 0)) {
        path = gf_numbering_path(&n, plan->first);
        status = path ? gf_out_open(&out, path, out_options, e) : no_memory(plan->path, e);
    }
    gf_out_abort(&out);
    gf_free(path);
    gf_free(folder);
    gf_numbering_free(&n);
    return status;
}

static enum gf_status make_folder(struct stack_output *s, struct gf_error *e)
{
    char *folder;
    struct stat info;

    GF_TRY(folder_of(&s->numbering, &folder, e));
    if (!folder)
        return GF_OK;
    if (mkdir(folder, 0777) == 0) {
        s->folder = folder;
        return GF_OK;
    }
    if (errno != EEXIST || stat(folder, &info) != 0 || !S_ISDIR(info.st_mode))
        gf_fail(e, GF_EOUTPUT, "%s: the folder %s could not be made: %s", s->plan.path, folder,
                strerror(errno));
    else
        errno = 0;
    gf_free(folder);
    return errno ? GF_EOUTPUT : GF_OK;
}

static enum gf_status prepare(struct stack_output *s, struct gf_error *e)
{
    void *block;

    GF_TRY(gf_numbering_parse(&s->numbering, s->plan.path, e));
    GF_TRY(check_all(&s->numbering, &s->plan, &s->options, e));
    GF_TRY(gf_allocate(&block, s->plan.planes, sizeof *s->parked, s->plan.path, e));
    s->parked = block;
    return make_folder(s, e);
}

enum gf_status gf_stack_create(struct gf_writer **out, const struct gf_stack_plan *plan,
                               uint64_t images, uint64_t bytes,
                               const struct gf_write_options *options,
                               const struct gf_out_options *out_options, struct gf_error *e)
{
    struct stack_output *s;
    struct gf_writer *w;
    void *block;
    enum gf_status status;

    *out = NULL;
    GF_TRY(gf_allocate(&block, 1, sizeof *w, plan->path, e));
    w = memset(block, 0, sizeof *w);
    w->format = &gf_format_stack_output;
    w->name = plan->path;
    w->images = images;
    w->bytes = bytes;
    w->options = *options;
    status = gf_allocate(&block, 1, sizeof *s, plan->path, e);
    if (status == GF_OK) {
        w->state = s = memset(block, 0, sizeof *s);
        s->plan = *plan;
        s->options = *out_options;
        s->options.seekable = false; /* for streams, which slices are not */
        status = gf_name_error(w->name, prepare(s, e), e);
    }
    if (status != GF_OK)
        gf_writer_abort(&w);
    *out = w;
    return status;
}

/* ---- slices ---- */

static enum gf_status accepts(const struct gf_image *image, uint64_t images, const char *name,
                              struct gf_error *e)
{
    /* gf_stack_accepts has been asked, and each slice's writer asks again. */
    (void)image, (void)images, (void)name, (void)e;
    return GF_OK;
}

static enum gf_status begin(struct gf_writer *w, struct gf_error *e)
{
    struct stack_output *s = w->state;

    (void)e;
    s->plane = w->image;
    s->plane.depth = 1;
    s->plane.volume = false;
    s->z = 0;
    return GF_OK;
}

static enum gf_status start_slice(struct gf_writer *w, struct gf_error *e)
{
    struct stack_output *s = w->state;
    struct gf_write_options options = w->options;
    const double first[3] = {0, 0, (double)s->z};

    if (s->count == s->plan.planes)
        return gf_fail(e, GF_EOUTPUT, "%s: there are more planes than were planned",
                       s->plan.path);
    options.quiet = options.quiet || s->count > 0;
    gf_free(s->path);
    s->path = gf_numbering_path(&s->numbering, s->plan.first + s->count);
    if (!s->path)
        return no_memory(s->plan.path, e);
    GF_TRY(gf_writer_open(&s->slice, s->path, s->plan.format, 1, gf_image_bytes(&s->plane),
                          &options, &s->options, e));
    s->plane.meta.geometry = w->image.meta.geometry;
    if (s->plane.meta.geometry.known)
        gf_geometry_crop(&s->plane.meta.geometry, first);
    s->rows = 0;
    return gf_writer_begin(s->slice, &s->plane, e);
}

static enum gf_status end_slice(struct stack_output *s, struct gf_error *e)
{
    GF_TRY(gf_writer_end(s->slice, e));
    GF_TRY(gf_writer_park(&s->slice, &s->parked[s->count], e));
    s->count++;
    s->z++;
    return GF_OK;
}

static enum gf_status write_rows(struct gf_writer *w, const void *rows, uint64_t count,
                                 struct gf_error *e)
{
    struct stack_output *s = w->state;
    const char *from = rows;

    while (count > 0) {
        uint64_t now;
        if (!s->slice)
            GF_TRY(start_slice(w, e));
        now = gf_min(count, s->plane.height - s->rows);
        GF_TRY(gf_writer_rows(s->slice, from, now, e));
        s->rows += now;
        if (s->rows == s->plane.height)
            GF_TRY(end_slice(s, e));
        from += now * gf_row_bytes(&s->plane);
        count -= now;
    }
    return GF_OK;
}

/* Slices of an earlier and longer run would be taken for more of this one. */
static void warn_of_neighbour(const struct stack_output *s, uint64_t number)
{
    char *path = gf_numbering_path(&s->numbering, number);
    struct stat info;

    if (path && stat(path, &info) == 0)
        gf_print_warning("%s: was there before and is not of this run, but %s takes it for a slice "
                         "of the same volume", path, s->plan.path);
    gf_free(path);
}

static enum gf_status complete(struct gf_writer *w, struct gf_error *e)
{
    struct stack_output *s = w->state;
    uint64_t count = s->count;

    if (count != s->plan.planes)
        return gf_fail(e, GF_EOUTPUT, "%s: %llu slices were written where %llu are needed",
                       s->plan.path, (unsigned long long)count,
                       (unsigned long long)s->plan.planes);
    s->count = 0;
    GF_TRY(gf_parked_publish(s->parked, count, &s->options, e));
    if (s->plan.first > 0)
        warn_of_neighbour(s, s->plan.first - 1);
    warn_of_neighbour(s, s->plan.first + count);
    return GF_OK;
}

static void discard(struct gf_writer *w)
{
    struct stack_output *s = w->state;
    if (!s)
        return;
    gf_writer_abort(&s->slice);
    for (uint64_t i = 0; i < s->count; i++)
        gf_parked_drop(&s->parked[i]);
    gf_free(s->parked);
    gf_free(s->path);
    /* Gone again when nothing came into it; not when anything did. */
    if (s->folder)
        (void)rmdir(s->folder);
    gf_free(s->folder);
    gf_numbering_free(&s->numbering);
    gf_free(s);
    w->state = NULL;
}

const struct gf_format gf_format_stack_output = {
    .name = "stack",
    .extensions = "",
    .summary = "slices in files of their own",
    .associated_alpha = true, /* each slice's format says what it holds */
    .keeps = ~0u,
    .accepts = accepts,
    .create = NULL, /* by the name: gf_stack_create */
    .begin = begin,
    .write_rows = write_rows,
    .complete = complete,
    .discard = discard,
};
