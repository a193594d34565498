#include "parts.h"

#include "../alloc.h"
#include "../util.h"
#include "voxels.h"

#include <string.h>

struct state {
    struct gf_parts p;
    uint64_t part_bytes;        /* samples of each file */
    uint64_t index;             /* of the selected image */
    /* The open file. */
    struct gf_in *in;           /* not owned when there are no names */
    uint64_t part;
    struct gf_source *source;
    uint64_t at;                /* the next byte that the source can give */
};

static uint64_t part_count(const struct gf_parts *p) { return p->names.count ? p->names.count : 1; }

static void close_part(struct state *s)
{
    gf_source_close(&s->source);
    if (s->p.names.count > 0)
        gf_in_close(&s->in);
    s->in = NULL;
}

/* *at = the file's offset of the samples, or of the deflated data. */
static enum gf_status find_data(const struct state *s, uint64_t *at, struct gf_error *e)
{
    const struct gf_parts *p = &s->p;
    const uint64_t size = gf_in_size(s->in);
    const uint64_t skip = p->coding == GF_PLAIN ? p->skip : 0;
    uint64_t end;

    if (p->at_end) {
        *at = size - gf_min(size, s->part_bytes);
        end = size < s->part_bytes ? UINT64_MAX : size;
    } else {
        GF_TRY(gf_skip_lines(s->in, p->offset, p->lines, at, e));
        if (!gf_add(*at, skip, at) || (p->coding == GF_PLAIN && !gf_add(*at, s->part_bytes, &end)))
            end = UINT64_MAX;
        else if (p->coding != GF_PLAIN)
            return GF_OK;
    }
    if (end > size)
        return gf_fail(e, GF_EINPUT, "%s: truncated: the file has %llu bytes, of which the header "
                       "wants %llu as samples%s", gf_in_name(s->in), (unsigned long long)size,
                       (unsigned long long)s->part_bytes,
                       p->skip || p->lines || p->offset ? " behind what it skips" : "");
    if (end < size)
        return gf_fail(e, GF_EINPUT, "%s: %llu bytes follow the samples that the header wants; if "
                       "they come before them, skip them there", gf_in_name(s->in),
                       (unsigned long long)(size - end));
    return GF_OK;
}

static enum gf_status open_part(struct gf_reader *r, uint64_t part, struct gf_error *e)
{
    struct state *s = r->state;
    uint64_t at = 0;

    close_part(s);
    if (s->p.names.count > 0)
        GF_TRY(gf_voxels_beside(r, s->p.names.names[part], &s->in, e));
    else
        s->in = r->in;
    GF_TRY(find_data(s, &at, e));
    s->part = part;
    s->at = 0;
    return gf_source_open(&s->source, s->in, at, UINT64_MAX, s->p.coding, e);
}

/* What deflated data cannot hold, at most 1032 times their size. */
static enum gf_status check_ratio(const struct state *s, struct gf_error *e)
{
    if (s->p.coding == GF_PLAIN || s->part_bytes / 1032 <= gf_in_size(s->in))
        return GF_OK;
    return gf_fail(e, GF_EINPUT, "%s: truncated: %llu compressed bytes cannot hold the %llu bytes "
                   "of samples that the header wants", gf_in_name(s->in),
                   (unsigned long long)gf_in_size(s->in), (unsigned long long)s->part_bytes);
}

enum gf_status gf_parts_open(struct gf_reader *r, struct gf_parts *p, struct gf_error *e)
{
    struct state *s;
    void *block = NULL;
    uint64_t total;

    GF_TRY(gf_image_check(&p->image, r->name, e));
    if (!gf_mul(gf_image_bytes(&p->image), p->images, &total) || total > INT64_MAX)
        return gf_fail(e, GF_EINPUT, "%s: the header wants more than 2^63 bytes; it is probably "
                       "damaged", r->name);
    if (total % part_count(p) != 0 ||
        total / part_count(p) % gf_type_bytes(p->image.type) != 0)
        return gf_fail(e, GF_EINPUT, "%s: damaged header: its samples cannot be shared out evenly "
                       "among %llu files", r->name, (unsigned long long)part_count(p));
    GF_TRY(gf_allocate(&block, 1, sizeof *s, "reading", e));
    s = r->state = memset(block, 0, sizeof *s);
    s->p = *p;
    memset(p, 0, sizeof *p);
    s->part_bytes = total / part_count(&s->p);
    r->images = s->p.images;
    r->random_access = s->p.coding == GF_PLAIN;
    for (uint64_t i = part_count(&s->p); i-- > 0;) { /* the first stays open */
        GF_TRY(open_part(r, i, e));
        GF_TRY(check_ratio(s, e));
    }
    return GF_OK;
}

void gf_parts_free(struct gf_parts *p)
{
    gf_meta_free(&p->image.meta);
    gf_name_list_free(&p->names);
    memset(p, 0, sizeof *p);
}

enum gf_status gf_parts_select(struct gf_reader *r, uint64_t index, struct gf_image *image,
                               struct gf_error *e)
{
    struct state *s = r->state;
    *image = s->p.image;
    s->index = index;
    return gf_meta_copy(&image->meta, &s->p.image.meta, e);
}

/* The end of a part that was read to its last sample. */
static enum gf_status end_part(struct state *s, struct gf_error *e)
{
    const uint64_t total = s->part_bytes + (s->p.coding == GF_PLAIN ? 0 : s->p.skip);
    if (s->p.coding == GF_PLAIN || !s->source || s->at != total)
        return GF_OK;
    return gf_source_end(s->source, total, e);
}

enum gf_status gf_parts_read_rows(struct gf_reader *r, uint64_t first, uint64_t count, void *rows,
                                  struct gf_error *e)
{
    struct state *s = r->state;
    const struct gf_image *image = &s->p.image;
    const uint64_t skip = s->p.coding == GF_PLAIN ? 0 : s->p.skip;
    const size_t row = gf_row_bytes(image);
    uint64_t from = s->index * gf_image_bytes(image) + first * row, left = count * row;
    uint8_t *to = rows;

    while (left > 0) {
        const uint64_t part = from / s->part_bytes, within = from % s->part_bytes;
        const uint64_t bytes = gf_min(left, s->part_bytes - within);
        if (!s->source || part != s->part || (s->p.coding != GF_PLAIN && within + skip < s->at)) {
            GF_TRY(end_part(s, e));
            GF_TRY(open_part(r, part, e));
        }
        GF_TRY(gf_source_read(s->source, to, (size_t)bytes, within + skip, e));
        s->at = within + skip + bytes;
        to += bytes;
        from += bytes;
        left -= bytes;
    }
    if (s->p.swap)
        gf_swap_samples(rows, count * image->width * image->channels, gf_type_bytes(image->type));
    return GF_OK;
}

enum gf_status gf_parts_finish(struct gf_reader *r, struct gf_error *e)
{
    return end_part(r->state, e);
}

void gf_parts_close(struct gf_reader *r)
{
    struct state *s = r->state;
    if (!s)
        return;
    close_part(s);
    gf_parts_free(&s->p);
    gf_free(s);
    r->state = NULL;
}
