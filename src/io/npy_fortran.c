/* Arrays in Fortran order, turned into rows: the first axis runs fastest in the file, so that a row
 * has its samples far apart. The file is read from end to end and rows are gathered, all of them
 * where memory allows, else in as few such passes as it allows. */
#include "npy.h"

#include "../alloc.h"
#include "../util.h"
#include "apart.h"

#include <string.h>

/* Bytes read at once: as much as a run of samples repays, less where memory is short. */
#define MOST_PIECE (4u << 20)
#define LEAST_PIECE (64u << 10)
/* Passes that are still worth waiting for. */
#define MOST_PASSES 64

struct turning {
    struct gf_npy_header header;
    uint64_t offset;
    struct gf_reader inner;       /* of the samples in the order of the file */
    uint64_t next;                /* sample that it would read next */
    struct gf_image image;        /* of each image; its meta are owned */
    uint64_t images, selected;
    unsigned bytes;               /* of a sample */
    uint64_t rows;                /* of each image */
    uint8_t *held;                /* rows [first, first + count) of all images; NULL before
                                   * the first pass */
    uint64_t first, count, room;
    uint8_t *piece;
    uint64_t piece_size;
};

static enum gf_status open_inner(struct gf_reader *r, struct gf_error *e)
{
    struct turning *t = r->state;
    struct gf_voxels v;
    enum gf_status status = gf_npy_voxels(&v, r, &t->header, t->offset, e);

    gf_voxels_close(&t->inner);
    t->inner = *r;
    t->inner.state = NULL;
    t->next = 0;
    if (status == GF_OK)
        status = gf_voxels_open(&t->inner, &v, e);
    gf_voxels_free(&v);
    return status;
}

enum gf_status gf_npy_fortran_open(struct gf_reader *r, const struct gf_npy_header *h,
                                   uint64_t offset, struct gf_error *e)
{
    struct turning *t;
    void *block;

    GF_TRY(gf_allocate(&block, 1, sizeof *t, r->name, e));
    r->format = &gf_format_npy_fortran;
    r->state = t = memset(block, 0, sizeof *t);
    t->header = *h;
    t->offset = offset;
    GF_TRY(open_inner(r, e));
    GF_TRY(gf_voxels_select(&t->inner, 0, &t->image, e));
    t->images = t->inner.images;
    t->bytes = gf_type_bytes(t->image.type);
    t->rows = t->image.height * t->image.depth;
    r->images = t->images;
    r->compression = t->inner.compression;
    r->random_access = false;
    return GF_OK;
}

enum gf_status gf_npy_fortran_select(struct gf_reader *r, uint64_t index, struct gf_image *image,
                                     struct gf_error *e)
{
    struct turning *t = r->state;
    t->selected = index;
    return gf_voxels_select(&t->inner, 0, image, e);
}

/* ---- gathering ---- */

/* Samples [at, at + count) of the file are in the piece: moves those of the held rows to their
 * places. They are whole runs along (n, z, y), one for each (x, c), or a part of one. */
static void gather(struct turning *t, uint64_t at, uint64_t count)
{
    const uint64_t n = t->images, z = t->image.depth, y = t->image.height, x = t->image.width;
    const uint64_t run = n * z * y, channels = t->image.channels, bytes = t->bytes;
    const uint64_t row = x * channels * bytes;
    const uint64_t column = at / run, columns = count < run ? 1 : count / run;
    /* Of the run, what is here. */
    const uint64_t begin = count < run ? at % run : 0, end = count < run ? begin + count : run;

    for (uint64_t j = begin / (n * z); j <= (end - 1) / (n * z); j++)
        for (uint64_t k = 0; k < z; k++)
            for (uint64_t i = 0; i < n; i++) {
                const uint64_t from = i + n * (k + z * j), to = (i * z + k) * y + j;
                uint64_t c = column, left = columns;
                if (from < begin || from >= end || to < t->first || to - t->first >= t->count)
                    continue;
                while (left > 0) {
                    /* Up to the last x of this channel. */
                    const uint64_t now = gf_min(left, x - c % x);
                    gf_copy_apart(t->held + (to - t->first) * row +
                                      (c % x * channels + c / x) * bytes,
                                  channels * bytes,
                                  t->piece + (from - begin + (c - column) * run) * bytes,
                                  run * bytes, bytes, now);
                    c += now;
                    left -= now;
                }
            }
}

/* Room for as many rows as memory allows; the slabs of the run have theirs by now, and half of what
 * is left stays for what is still to come. */
static enum gf_status make_room(struct gf_reader *r, struct gf_error *e)
{
    struct turning *t = r->state;
    const uint64_t row = gf_row_bytes(&t->image), all = t->rows * t->images;
    uint64_t left = gf_memory_limit() - gf_min(gf_memory_limit(), gf_memory_used());
    const uint64_t least = gf_ceil_div(all, MOST_PASSES);
    void *block;

    t->piece_size = gf_max(gf_min(left / 8, MOST_PIECE), LEAST_PIECE);
    left -= gf_min(left, t->piece_size);
    t->room = gf_min(all, left / 2 / row);
    if (t->room < least)
        return gf_fail(e, GF_EMEMORY, "%s: an array in Fortran order, of which %llu bytes at a "
                       "time must be held to turn it, with %llu left; raise --max-memory, or save "
                       "numpy.ascontiguousarray(a)", r->name,
                       (unsigned long long)(least * row), (unsigned long long)(left / 2));
    GF_TRY(gf_allocate(&block, t->piece_size, 1, "an array in Fortran order", e));
    t->piece = block;
    GF_TRY(gf_allocate(&block, t->room, row, "an array in Fortran order", e));
    t->held = block;
    return GF_OK;
}

/* A pass through the file, for rows from `first` of all images on. */
static enum gf_status fill(struct gf_reader *r, uint64_t first, struct gf_error *e)
{
    struct turning *t = r->state;
    const uint64_t run = t->rows * t->images;
    const uint64_t total = run * t->image.width * t->image.channels;
    uint64_t most;

    if (!t->held)
        GF_TRY(make_room(r, e));
    most = t->piece_size / t->bytes;
    if (t->next > 0 && !t->inner.random_access)
        GF_TRY(open_inner(r, e));
    t->first = first;
    t->count = gf_min(t->room, run - first);
    for (t->next = 0; t->next < total;) {
        /* Whole runs, or within one. */
        const uint64_t in_run = run - t->next % run;
        const uint64_t count = gf_min(total - t->next,
                                      run <= most ? most / run * run : gf_min(most, in_run));
        GF_TRY(gf_voxels_read_samples(&t->inner, t->next, count, t->piece, e));
        gather(t, t->next, count);
        t->next += count;
    }
    return GF_OK;
}

enum gf_status gf_npy_fortran_read_rows(struct gf_reader *r, uint64_t first, uint64_t count,
                                        void *rows, struct gf_error *e)
{
    struct turning *t = r->state;
    const size_t row = gf_row_bytes(&t->image);
    uint64_t at = t->selected * t->rows + first;
    uint8_t *to = rows;

    while (count > 0) {
        uint64_t now;
        if (!t->held || at < t->first || at - t->first >= t->count)
            GF_TRY(fill(r, at, e));
        now = gf_min(count, t->first + t->count - at);
        memcpy(to, t->held + (at - t->first) * row, (size_t)(now * row));
        to += now * row;
        at += now;
        count -= now;
    }
    return GF_OK;
}

enum gf_status gf_npy_fortran_finish(struct gf_reader *r, struct gf_error *e)
{
    struct turning *t = r->state;
    return gf_voxels_finish(&t->inner, e);
}

void gf_npy_fortran_close(struct gf_reader *r)
{
    struct turning *t = r->state;
    if (!t)
        return;
    gf_voxels_close(&t->inner);
    gf_meta_free(&t->image.meta);
    gf_free(t->held);
    gf_free(t->piece);
    gf_free(t);
    r->state = NULL;
}
