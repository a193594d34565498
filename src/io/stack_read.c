/* Reading: slices one after the other. */
#include "stack.h"

#include "../alloc.h"
#include "../signals.h"
#include "../text.h"
#include "../util.h"

#include <string.h>

struct stack {
    struct gf_slices slices;
    char *name;
    struct gf_image plane;      /* what every slice is; owns the first one's metadata */
    struct gf_reader *slice;    /* the open one, or NULL */
    uint64_t current;           /* which */
    uint64_t next;              /* its next row, where it is read in order */
    void *scratch;              /* rows that are dropped */
    uint64_t scratch_rows;
};

/* Bytes read at a time to be dropped. */
#define DROPPED_BYTES (UINT64_C(1) << 20)

static enum gf_status open_slice(const struct gf_reader *r, const struct stack *s, uint64_t index,
                                 struct gf_reader **slice, struct gf_image *image,
                                 struct gf_error *e)
{
    const char *path = s->slices.paths[index];
    struct gf_read_options options = r->options;

    options.stack_pages = false;
    GF_TRY(gf_reader_open_file(slice, path, &options, e));
    if ((*slice)->images != 1)
        return gf_fail(e, GF_EFEATURE, "%s: holds %llu images, and a slice is one; a file of "
                       "several pages is read by itself", path,
                       (unsigned long long)(*slice)->images);
    GF_TRY(gf_reader_select(*slice, 0, image, e));
    if (image->depth != 1)
        return gf_fail(e, GF_EFEATURE, "%s: is a volume of %llu planes, and a slice has one; a "
                       "volume is read by itself", path, (unsigned long long)image->depth);
    return GF_OK;
}

static void describe(char text[128], const struct gf_image *image)
{
    struct gf_buffer b = {0};
    gf_buffer_printf(&b, "%llux%llu, %u channel%s%s, %s", (unsigned long long)image->width,
                     (unsigned long long)image->height, image->channels,
                     image->channels == 1 ? "" : "s",
                     image->alpha < 0 ? "" : image->alpha_associated ? " (alpha multiplied in)"
                                                                     : " (alpha)",
                     gf_type_name(image->type));
    text[0] = '\0';
    if (!b.failed && b.size < 128)
        strcpy(text, b.data);
    gf_buffer_free(&b);
}

static bool alike(const struct gf_image *a, const struct gf_image *b)
{
    return gf_same_shape(a, b) && a->color == b->color && a->alpha == b->alpha &&
           a->alpha_associated == b->alpha_associated;
}

static enum gf_status compare(const struct stack *s, uint64_t index, const struct gf_image *image,
                              struct gf_error *e)
{
    char found[128], needed[128];
    if (alike(image, &s->plane))
        return GF_OK;
    describe(found, image);
    describe(needed, &s->plane);
    return gf_fail(e, GF_EINPUT, "%s: is %s, and the first slice, %s, is %s; the slices of a "
                   "volume are alike", s->slices.paths[index], found, s->slices.paths[0], needed);
}

static enum gf_status read_headers(struct gf_reader *r, struct stack *s, struct gf_error *e)
{
    for (uint64_t i = 0; i < s->slices.count; i++) {
        struct gf_reader *slice = NULL;
        struct gf_image image = {.alpha = -1};
        enum gf_status status = open_slice(r, s, i, &slice, &image, e);
        if (status == GF_OK && i > 0)
            status = compare(s, i, &image, e);
        if (i == 0)
            s->plane = image;
        else
            gf_meta_free(&image.meta);
        gf_reader_close(&slice);
        GF_TRY(status);
        if (gf_signal_pending())
            return GF_ESIGNAL;
    }
    return GF_OK;
}

enum gf_status gf_stack_open(struct gf_reader *r, const char *path, struct gf_error *e)
{
    struct stack *s;
    void *block;

    GF_TRY(gf_allocate(&block, 1, sizeof *s, path, e));
    s = memset(block, 0, sizeof *s);
    s->plane.alpha = -1;
    r->format = &gf_format_stack;
    r->state = s;
    GF_TRY(gf_allocate(&block, strlen(path) + 1, 1, path, e));
    r->name = s->name = strcpy(block, path);
    GF_TRY(gf_slices_list(&s->slices, path, e));
    r->images = 1;
    r->random_access = true;
    return read_headers(r, s, e);
}

bool gf_is_stack(const struct gf_reader *r) { return r->format == &gf_format_stack; }

uint64_t gf_stack_first(const struct gf_reader *r)
{
    const struct stack *s = r->state;
    return gf_is_stack(r) ? s->slices.first : 0;
}

static enum gf_status stack_select(struct gf_reader *r, uint64_t index, struct gf_image *image,
                                   struct gf_error *e)
{
    struct stack *s = r->state;

    (void)index;
    *image = s->plane;
    memset(&image->meta, 0, sizeof image->meta);
    image->depth = s->slices.count;
    image->volume = true;
    GF_TRY(gf_image_check(image, r->name, e));
    return gf_meta_copy(&image->meta, &s->plane.meta, e);
}

/* ---- rows ---- */

/* Rows of the open slice up to `row`; those of a file in any order are not read. */
static enum gf_status skip_to(struct stack *s, uint64_t row, struct gf_error *e)
{
    if (s->slice->random_access)
        s->next = gf_max(s->next, row);
    if (s->next < row && !s->scratch) {
        s->scratch_rows = gf_max(1, DROPPED_BYTES / gf_row_bytes(&s->plane));
        s->scratch_rows = gf_min(s->scratch_rows, s->plane.height);
        GF_TRY(gf_allocate(&s->scratch, s->scratch_rows, gf_row_bytes(&s->plane), s->name, e));
    }
    while (s->next < row) {
        uint64_t count = gf_min(s->scratch_rows, row - s->next);
        GF_TRY(gf_reader_rows(s->slice, s->next, count, s->scratch, e));
        s->next += count;
    }
    return GF_OK;
}

/* Closes the open slice, which is read to its end: there may be checksums. */
static enum gf_status leave(struct stack *s, struct gf_error *e)
{
    enum gf_status status;
    if (!s->slice)
        return GF_OK;
    status = skip_to(s, s->plane.height, e);
    if (status == GF_OK)
        status = gf_reader_finish(s->slice, e);
    gf_reader_close(&s->slice);
    return status;
}

static enum gf_status enter(struct gf_reader *r, struct stack *s, uint64_t index,
                            struct gf_error *e)
{
    struct gf_image image = {.alpha = -1};
    enum gf_status status = open_slice(r, s, index, &s->slice, &image, e);
    if (status == GF_OK && !alike(&image, &s->plane))
        status = gf_fail(e, GF_EINPUT, "%s: changed while the volume was read",
                         s->slices.paths[index]);
    gf_meta_free(&image.meta);
    s->current = index;
    s->next = 0;
    if (status != GF_OK)
        gf_reader_close(&s->slice);
    return status;
}

static enum gf_status stack_read_rows(struct gf_reader *r, uint64_t first, uint64_t count,
                                      void *rows, struct gf_error *e)
{
    struct stack *s = r->state;
    const size_t bytes = gf_row_bytes(&s->plane);
    char *to = rows;

    while (count > 0) {
        uint64_t z = first / s->plane.height, y = first % s->plane.height;
        uint64_t now = gf_min(count, s->plane.height - y);
        if (s->slice && s->current == z && s->next > y && !s->slice->random_access)
            gf_reader_close(&s->slice); /* once more from its start */
        if (s->slice && s->current != z)
            GF_TRY(leave(s, e));
        if (!s->slice)
            GF_TRY(enter(r, s, z, e));
        GF_TRY(skip_to(s, y, e));
        GF_TRY(gf_reader_rows(s->slice, y, now, to, e));
        s->next = y + now;
        if (s->next == s->plane.height)
            GF_TRY(leave(s, e));
        first += now;
        count -= now;
        to += now * bytes;
    }
    return GF_OK;
}

static enum gf_status stack_finish(struct gf_reader *r, struct gf_error *e)
{
    return leave(r->state, e);
}

static void stack_close(struct gf_reader *r)
{
    struct stack *s = r->state;
    if (!s)
        return;
    gf_reader_close(&s->slice);
    gf_slices_free(&s->slices);
    gf_meta_free(&s->plane.meta);
    gf_free(s->scratch);
    gf_free(s->name);
    gf_free(s);
    r->state = NULL;
}

const struct gf_format gf_format_stack = {
    .name = "stack",
    .extensions = "",
    .summary = "slices in files of their own",
    .open = NULL, /* by the name: gf_stack_open */
    .select = stack_select,
    .read_rows = stack_read_rows,
    .finish = stack_finish,
    .close = stack_close,
};
