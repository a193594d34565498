#include "rows.h"

#include "../alloc.h"
#include "../signals.h"
#include "../util.h"

#include <string.h>

struct kept {
    void *data;                 /* the whole image, or NULL */
    bool tried;                 /* memory for it was asked for in vain */
};

struct gf_rows {
    const char *path;
    struct gf_read_options options;
    struct gf_reader *reader;
    struct gf_image *image;     /* of each; meta is freed */
    uint64_t images;
    bool keep;
    struct kept *kept;          /* of each */
    uint64_t selected;          /* image the reader is at; `images`: none */
    uint64_t next;              /* its next row */
    bool verified;
};

/* Bytes read at a time to be dropped. */
#define SKIPPED_BYTES (UINT64_C(1) << 20)

static uint64_t rows_of(const struct gf_image *image) { return image->height * image->depth; }

static enum gf_status read_headers(struct gf_rows *r, struct gf_error *e)
{
    void *block;
    r->images = r->reader->images;
    GF_TRY(gf_allocate(&block, r->images, sizeof *r->image, r->reader->name, e));
    r->image = memset(block, 0, r->images * sizeof *r->image);
    GF_TRY(gf_allocate(&block, r->images, sizeof *r->kept, r->reader->name, e));
    r->kept = memset(block, 0, r->images * sizeof *r->kept);
    for (uint64_t i = 0; i < r->images; i++) {
        GF_TRY(gf_reader_select(r->reader, i, &r->image[i], e));
        gf_meta_free(&r->image[i].meta);
        if (gf_signal_pending())
            return GF_ESIGNAL;
    }
    r->selected = r->images - 1;
    return GF_OK;
}

enum gf_status gf_rows_open(struct gf_rows **rows, const char *path,
                            const struct gf_read_options *options, struct gf_error *e)
{
    struct gf_rows *r;
    void *block;
    enum gf_status status;
    *rows = NULL;
    GF_TRY(gf_allocate(&block, 1, sizeof *r, path, e));
    r = memset(block, 0, sizeof *r);
    r->path = path;
    r->options = *options;
    status = gf_reader_open(&r->reader, path, options, e);
    if (status == GF_OK)
        status = gf_name_error(r->reader->name, read_headers(r, e), e);
    *rows = r;
    if (status != GF_OK)
        gf_rows_close(rows);
    return status;
}

void gf_rows_close(struct gf_rows **rows)
{
    struct gf_rows *r = *rows;
    *rows = NULL;
    if (!r)
        return;
    for (uint64_t i = 0; r->image && i < r->images; i++)
        gf_meta_free(&r->image[i].meta);
    for (uint64_t i = 0; r->kept && i < r->images; i++)
        gf_free(r->kept[i].data);
    gf_free(r->image);
    gf_free(r->kept);
    gf_reader_close(&r->reader);
    gf_free(r);
}

/* A reader's name goes with it when the file is opened again; standard input never is. */
const char *gf_rows_name(const struct gf_rows *r)
{
    return strcmp(r->path, "-") == 0 ? r->reader->name : r->path;
}

uint64_t gf_rows_images(const struct gf_rows *r) { return r->images; }
const struct gf_image *gf_rows_image(const struct gf_rows *r, uint64_t i) { return &r->image[i]; }
void gf_rows_keep(struct gf_rows *r) { r->keep = true; }

/* Selects an image; the reader is opened again when it cannot go back. */
static enum gf_status select_image(struct gf_rows *r, uint64_t image, struct gf_error *e)
{
    struct gf_image again = {.alpha = -1};
    enum gf_status status;
    bool back = r->selected > image || (r->selected == image && r->next > 0);
    if (back && r->images == 1) {
        if (!gf_in_again(r->path))
            return gf_fail(e, GF_EMEMORY,
                           "%s: has to be read more than once for this, and cannot be kept in "
                           "memory; raise --max-memory, or save it to a file", gf_rows_name(r));
        gf_reader_close(&r->reader);
        GF_TRY(gf_reader_open(&r->reader, r->path, &r->options, e));
    }
    status = gf_reader_select(r->reader, image, &again, e);
    gf_meta_free(&again.meta);
    GF_TRY(status);
    if (!gf_same_shape(&again, &r->image[image]))
        return gf_fail(e, GF_EINPUT, "%s: changed while it was read", gf_rows_name(r));
    r->selected = image;
    r->next = 0;
    return GF_OK;
}

static enum gf_status skip_to(struct gf_rows *r, uint64_t row, struct gf_error *e)
{
    const size_t bytes = gf_row_bytes(&r->image[r->selected]);
    const uint64_t chunk = gf_max(SKIPPED_BYTES / bytes, 1);
    enum gf_status status = GF_OK;
    void *scratch;
    if (r->next >= row)
        return GF_OK;
    GF_TRY(gf_allocate(&scratch, gf_min(chunk, row - r->next), bytes, gf_rows_name(r), e));
    while (status == GF_OK && r->next < row) {
        uint64_t count = gf_min(chunk, row - r->next);
        status = gf_signal_pending() ? GF_ESIGNAL
                                     : gf_reader_rows(r->reader, r->next, count, scratch, e);
        r->next += count;
    }
    gf_free(scratch);
    return status;
}

static enum gf_status read_here(struct gf_rows *r, uint64_t image, uint64_t first, uint64_t count,
                                void *to, struct gf_error *e)
{
    if (r->selected != image || (!r->reader->random_access && first < r->next))
        GF_TRY(select_image(r, image, e));
    if (!r->reader->random_access)
        GF_TRY(skip_to(r, first, e));
    GF_TRY(gf_reader_rows(r->reader, first, count, to, e));
    r->next = first + count;
    return GF_OK;
}

/* Reads the image into memory if it is to be kept and there is room. */
static enum gf_status keep_image(struct gf_rows *r, uint64_t image, struct gf_error *e)
{
    struct kept *kept = &r->kept[image];
    const struct gf_image *shape = &r->image[image];
    enum gf_status status;
    if (!r->keep || kept->data || kept->tried || r->reader->random_access)
        return GF_OK;
    kept->tried = true;
    if (gf_image_bytes(shape) > (gf_memory_limit() - gf_memory_used()) / 2)
        return GF_OK;
    kept->data = gf_alloc(rows_of(shape), gf_row_bytes(shape));
    if (!kept->data)
        return GF_OK;
    status = read_here(r, image, 0, rows_of(shape), kept->data, e);
    if (status != GF_OK) {
        gf_free(kept->data);
        kept->data = NULL;
    }
    return status;
}

enum gf_status gf_rows_read(struct gf_rows *r, uint64_t image, uint64_t first, uint64_t count,
                            void *to, struct gf_error *e)
{
    const size_t bytes = gf_row_bytes(&r->image[image]);
    GF_TRY(keep_image(r, image, e));
    if (!r->kept[image].data)
        return read_here(r, image, first, count, to, e);
    memcpy(to, (const char *)r->kept[image].data + first * bytes, count * bytes);
    return GF_OK;
}

/* The only image is selected since its header was read. */
bool gf_rows_anywhere(const struct gf_rows *r)
{
    return r->images == 1 && r->reader->random_access && r->reader->format->read_samples;
}

enum gf_status gf_rows_samples(const struct gf_rows *r, uint64_t first, uint64_t count, void *to,
                               struct gf_error *e)
{
    return gf_reader_samples(r->reader, first, count, to, e);
}

enum gf_status gf_rows_verify(struct gf_rows *r, struct gf_error *e)
{
    if (r->verified)
        return GF_OK;
    r->verified = true;
    for (uint64_t i = r->selected; i < r->images && !r->reader->random_access; i++) {
        if (r->selected != i)
            GF_TRY(select_image(r, i, e));
        GF_TRY(skip_to(r, rows_of(&r->image[i]), e));
    }
    return gf_reader_finish(r->reader, e);
}
