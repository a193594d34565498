/* TIFF reading: pages or volumes of pages, and what the tags say beside the samples. */
#include "tiff.h"

#include "../alloc.h"
#include "../message.h"
#include "../utf8.h"
#include "../text.h"
#include "../util.h"
#include "apart.h"

#include <stdio.h>
#include <string.h>

struct tiff_state {
    struct gf_tiff_chain chain;
    struct gf_tiff_page *pages;   /* one for each page of a plane */
    uint32_t page_count, wanted_pages;
    struct gf_tiff_stack stack;
    bool volume;                  /* images are volumes of planes */
    bool contiguous;              /* ImageJ: planes follow the first one, without directories */
    uint64_t depth;               /* planes of an image */
    uint64_t step_z, step_c, step_t; /* from plane to page */
    uint64_t image, z;            /* selected, and the plane whose pages are open */
    bool open;
    struct gf_image shape;        /* of the selected image, without metadata */
    uint8_t *gather;              /* rows of one page of a plane that has several */
};

static bool tiff_probe(const uint8_t *head, size_t size)
{
    return size >= 8 && (memcmp(head, "II*\0", 4) == 0 || memcmp(head, "MM\0*", 4) == 0 ||
                         memcmp(head, "II+\0", 4) == 0 || memcmp(head, "MM\0+", 4) == 0);
}

/* ---- which pages are an image ---- */

static bool equal_sizes(const struct gf_tiff_chain *chain)
{
    for (uint64_t i = 1; i < chain->count; i++)
        if (chain->dirs[i].width != chain->dirs[0].width ||
            chain->dirs[i].height != chain->dirs[0].height)
            return false;
    return true;
}

/* ImageJ writes stacks beyond 4 GiB as one directory and planes one after the other. */
static bool holds_planes(const struct gf_tiff_page *p, struct gf_in *in, uint64_t planes)
{
    uint64_t bands = gf_ceil_div(p->height, p->band_rows), bytes, at, strip;

    if (p->method != GF_TIFF_STORED || p->tile_width > 0 || p->planes > 1)
        return false;
    strip = p->band_rows * p->unit_row_bytes;
    at = TIFFGetStrileOffset(p->tif, 0);
    for (uint64_t i = 1; i < bands; i++)
        if (TIFFGetStrileOffset(p->tif, (uint32_t)i) != at + i * strip)
            return false;
    return gf_mul(p->height * p->unit_row_bytes, planes, &bytes) && gf_add(at, bytes, &bytes) &&
           bytes <= gf_in_size(in);
}

/* Warns when the description promises more than there is, and settles for pages. */
static void arrange(struct gf_reader *r, struct tiff_state *s)
{
    const struct gf_tiff_stack *k = &s->stack;
    uint64_t pages = s->chain.count, planes;

    r->images = pages;
    s->depth = 1;
    s->step_t = 1;
    if (k->other_files > 0)
        gf_print_warning("%s: its OME-XML names %u planes in other files; only this file's %llu "
                         "pages are read", r->name, k->other_files, (unsigned long long)pages);
    if (k->kind == GF_TIFF_PLAIN)
        return;
    if (!gf_mul(k->z, k->c, &planes) || !gf_mul(planes, k->t, &planes))
        planes = UINT64_MAX;
    if (k->kind == GF_TIFF_IMAGEJ && pages == 1 && k->images > 1) {
        if (holds_planes(&s->pages[0], r->in, k->images)) {
            s->contiguous = true;
            pages = r->images = k->images;
        } else {
            gf_print_warning("%s: its ImageJ description promises %llu planes, the file has 1 "
                             "page", r->name, (unsigned long long)k->images);
        }
    }
    if (k->z <= 1)
        return;
    if (planes != pages || !k->in_order || !equal_sizes(&s->chain)) {
        if (k->other_files == 0 && pages > 1)
            gf_print_warning("%s: its description promises %llux%llux%llu planes (z, channels, "
                             "times), which its %llu pages are not; they are read as single "
                             "pages, --3d makes a volume of them", r->name,
                             (unsigned long long)k->z, (unsigned long long)k->c,
                             (unsigned long long)k->t, (unsigned long long)pages);
        return;
    }
    s->volume = true;
    s->depth = k->z;
    s->wanted_pages = (uint32_t)k->c;
    s->step_z = k->step_z;
    s->step_c = k->step_c;
    s->step_t = k->step_t;
    r->images = k->t;
}

static enum gf_status stack_pages(struct gf_reader *r, struct tiff_state *s, struct gf_error *e)
{
    if (s->volume)
        return GF_OK;
    if (!equal_sizes(&s->chain))
        return gf_fail(e, GF_EFEATURE, "%s: --3d needs pages of equal size, and they differ; "
                       "filter the pages without --3d", r->name);
    s->volume = true;
    s->depth = r->images;
    s->step_z = 1;
    s->step_t = 0;
    r->images = 1;
    return GF_OK;
}

static void tiff_close(struct gf_reader *r)
{
    struct tiff_state *s = r->state;

    if (!s)
        return;
    for (uint32_t i = 0; s->pages && i < s->page_count; i++)
        gf_tiff_page_close(&s->pages[i]);
    gf_free(s->pages);
    gf_free(s->chain.dirs);
    gf_free(s->gather);
    gf_free(s);
    r->state = NULL;
}

static enum gf_status tiff_open(struct gf_reader *r, struct gf_error *e)
{
    struct tiff_state *s;
    char *description = NULL;
    void *block;

    s = gf_alloc_zero(1, sizeof *s);
    if (!s)
        return gf_fail(e, GF_EMEMORY, "%s: not enough memory to open it", r->name);
    r->state = s;
    GF_TRY(gf_tiff_chain_read(&s->chain, r->in, r->name, e));
    s->pages = gf_alloc_zero(1, sizeof *s->pages);
    if (!s->pages)
        return gf_fail(e, GF_EMEMORY, "%s: not enough memory to open it", r->name);
    s->page_count = 1;
    GF_TRY(gf_tiff_page_open(&s->pages[0], r->in, &s->chain, 0, r->name, e));
    if (!TIFFGetField(s->pages[0].tif, TIFFTAG_IMAGEDESCRIPTION, &description))
        description = NULL;
    gf_tiff_stack_parse(description, s->pages[0].samples, &s->stack);
    arrange(r, s);
    if (r->options.stack_pages)
        GF_TRY(stack_pages(r, s, e));
    if (s->wanted_pages > 1) {
        uint32_t count = s->wanted_pages;
        gf_tiff_page_close(&s->pages[0]);
        GF_TRY(gf_allocate(&block, count, sizeof *s->pages, "a channel's pages", e));
        memset(block, 0, count * sizeof *s->pages);
        gf_free(s->pages);
        s->pages = block;
        s->page_count = count;
    }
    r->random_access = s->page_count == 1 && s->pages[0].method == GF_TIFF_STORED &&
                       s->pages[0].tile_width == 0;
    return GF_OK;
}

/* ---- tags beside the samples ---- */

static enum gf_status read_texts(TIFF *tif, struct gf_meta *meta, struct gf_error *e)
{
    char *found, *text;

    for (const struct gf_tiff_text *t = gf_tiff_texts; t->key; t++) {
        enum gf_status status;
        if (!TIFFGetField(tif, t->tag, &found) || !found || !*found)
            continue;
        /* TIFF says ASCII; what is in the files is UTF-8 or Latin-1. */
        GF_TRY(gf_utf8_from_bytes(found, strlen(found), &text, e));
        status = gf_meta_add_text(meta, t->key, text, e);
        gf_free(text);
        GF_TRY(status);
    }
    return GF_OK;
}

static void read_resolution(TIFF *tif, struct gf_meta *meta)
{
    float x = 0, y = 0;
    uint16_t unit = RESUNIT_INCH;

    if (!TIFFGetField(tif, TIFFTAG_XRESOLUTION, &x) || !TIFFGetField(tif, TIFFTAG_YRESOLUTION, &y))
        return;
    if (!(x > 0 && x < 1e30f && y > 0 && y < 1e30f))
        return;
    TIFFGetFieldDefaulted(tif, TIFFTAG_RESOLUTIONUNIT, &unit);
    meta->resolution[0] = x;
    meta->resolution[1] = y;
    meta->resolution_unit = unit == RESUNIT_INCH ? 2 : unit == RESUNIT_CENTIMETER ? 3 : 0;
}

/* The size of which a page holds the inverse as a fraction, given in single precision: the one of 7
 * digits, where that says the same. */
static double size_of_voxel(double unit, double resolution)
{
    char digits[GF_NUMBER_TEXT];
    double size = unit / resolution, near;
    snprintf(digits, sizeof digits, "%.7g", size);
    return gf_parse_double(digits, false, &near) && (float)(unit / near) == (float)resolution
               ? near : size;
}

/* A voxel's size comes from ImageJ or OME only: 72 dpi is what writers put who do not know. */
static void find_spacing(const struct gf_tiff_stack *stack, struct gf_meta *meta)
{
    if (stack->kind == GF_TIFF_IMAGEJ && stack->unit > 0) {
        for (int i = 0; i < 2; i++)
            meta->spacing[i] = meta->resolution[i] > 0
                                   ? size_of_voxel(stack->unit, meta->resolution[i]) : 0;
        meta->spacing[2] = stack->spacing[2];
        /* ImageJ counts in its own unit, whatever the resolution's unit says. */
        meta->resolution[0] = meta->resolution[1] = 0;
        meta->resolution_unit = 0;
    } else if (stack->kind == GF_TIFF_OME) {
        memcpy(meta->spacing, stack->spacing, sizeof meta->spacing);
    }
}

static void keep_layout(const struct gf_tiff_page *p, const struct tiff_state *s,
                        struct gf_tiff_layout *layout)
{
    layout->known = true;
    layout->compression = p->compression;
    layout->predictor = p->predictor == PREDICTOR_NONE ? 0 : p->predictor;
    layout->planar = p->planar;
    layout->tile_width = p->tile_width;
    layout->tile_height = p->tile_height;
    layout->rows_per_strip = p->tile_width > 0 ? 0 : p->band_rows;
    layout->big_endian = s->chain.big_endian;
    layout->bigtiff = s->chain.big;
    layout->photometric = p->photometric;
    if (p->photometric == PHOTOMETRIC_PALETTE || p->photometric == PHOTOMETRIC_YCBCR)
        layout->photometric = PHOTOMETRIC_RGB;
    else if (p->photometric == PHOTOMETRIC_LOGL || p->photometric == PHOTOMETRIC_MASK ||
             p->convert.invert)
        layout->photometric = PHOTOMETRIC_MINISBLACK;
    layout->orientation = p->orientation;
    if (p->photometric == PHOTOMETRIC_SEPARATED)
        TIFFGetField(p->tif, TIFFTAG_INKSET, &layout->ink_set);
    layout->pages_per_plane = s->page_count;
}

static enum gf_status read_meta(const struct gf_tiff_page *p, const struct tiff_state *s,
                                struct gf_meta *meta, struct gf_error *e)
{
    char *text = NULL;
    uint32_t size = 0;
    void *data = NULL;

    keep_layout(p, s, &meta->tiff);
    read_resolution(p->tif, meta);
    find_spacing(&s->stack, meta);
    if (TIFFGetField(p->tif, TIFFTAG_IMAGEDESCRIPTION, &text) && text && *text) {
        void *block;
        GF_TRY(gf_allocate(&block, strlen(text) + 1, 1, "the description", e));
        memcpy(block, text, strlen(text) + 1);
        meta->description = block;
    }
    if (TIFFGetField(p->tif, TIFFTAG_ICCPROFILE, &size, &data) && size > 0)
        GF_TRY(gf_blob_set(&meta->icc, data, size, e));
    if (TIFFGetField(p->tif, TIFFTAG_XMLPACKET, &size, &data) && size > 0)
        GF_TRY(gf_blob_set(&meta->xmp, data, size, e));
    return read_texts(p->tif, meta, e);
}

/* ---- images and rows ---- */

static enum gf_status check_shape(const struct gf_reader *r, const struct tiff_state *s,
                                  const struct gf_tiff_page *p, struct gf_error *e)
{
    if (p->width == s->shape.width && p->height == s->shape.height &&
        p->convert.type == s->shape.type &&
        p->convert.channels * s->page_count == s->shape.channels)
        return GF_OK;
    return gf_fail(e, GF_EFEATURE, "%s: page %llu is %llux%llu with %u channels of %s, unlike the "
                   "volume's first page; its pages do not make a volume", r->name,
                   (unsigned long long)p->number, (unsigned long long)p->width,
                   (unsigned long long)p->height, (unsigned)p->convert.channels,
                   gf_type_name(p->convert.type));
}

static enum gf_status open_plane(struct gf_reader *r, uint64_t z, struct gf_error *e)
{
    struct tiff_state *s = r->state;

    for (uint32_t c = 0; c < s->page_count; c++) {
        uint64_t page = s->image * s->step_t + z * s->step_z + c * s->step_c;
        struct gf_tiff_page *p = &s->pages[c];

        s->open = false;
        if (!s->contiguous || !p->tif)
            GF_TRY(gf_tiff_page_open(p, r->in, &s->chain, s->contiguous ? 0 : page, r->name, e));
        if (s->contiguous) {
            p->number = page + 1;
            p->plane_offset = page * p->height * p->unit_row_bytes;
        }
        if (s->shape.width > 0)
            GF_TRY(check_shape(r, s, p, e));
    }
    s->z = z;
    s->open = true;
    return GF_OK;
}

static enum gf_status tiff_select(struct gf_reader *r, uint64_t index, struct gf_image *image,
                                  struct gf_error *e)
{
    struct tiff_state *s = r->state;
    const struct gf_tiff_page *p = &s->pages[0];
    uint64_t memory;

    s->image = index;
    s->shape = (struct gf_image){0};
    gf_free(s->gather);
    s->gather = NULL;
    GF_TRY(open_plane(r, 0, e));
    image->width = p->width;
    image->height = p->height;
    image->depth = s->depth;
    image->volume = s->volume;
    image->channels = p->convert.channels;
    image->type = p->convert.type;
    image->color = p->color;
    image->alpha = p->alpha;
    image->alpha_associated = p->alpha >= 0 && p->alpha_associated;
    if (s->page_count > 1) {
        if (gf_ceil_div(UINT32_MAX, s->page_count) <= image->channels)
            return gf_fail(e, GF_EFEATURE, "%s: %u channels on each of %u pages a plane are too "
                           "many", r->name, (unsigned)image->channels, (unsigned)s->page_count);
        image->channels *= s->page_count;
        image->color = GF_OTHER;
        image->alpha = -1;
        image->alpha_associated = false;
    }
    GF_TRY(gf_image_check(image, r->name, e));
    s->shape = *image;
    for (uint32_t c = 1; c < s->page_count; c++)
        GF_TRY(check_shape(r, s, &s->pages[c], e));
    if (!gf_mul(gf_tiff_page_memory(p), s->page_count, &memory))
        memory = UINT64_MAX;
    GF_TRY(gf_memory_check(memory, "strips and tiles", e));
    r->random_access = s->page_count == 1 && p->method == GF_TIFF_STORED && p->tile_width == 0;
    return read_meta(p, s, &image->meta, e);
}

static enum gf_status gather_rows(struct gf_reader *r, uint64_t first, uint64_t count,
                                  uint8_t *rows, struct gf_error *e)
{
    struct tiff_state *s = r->state;
    uint64_t page_row = s->pages[0].row_bytes, row = page_row * s->page_count;
    size_t pixel = (size_t)(page_row / s->shape.width);
    uint64_t most = gf_max(1, ((uint64_t)1 << 20) / page_row);

    if (!s->gather) {
        void *block;
        GF_TRY(gf_allocate(&block, gf_min(most, s->shape.height), page_row, "rows of a page", e));
        s->gather = block;
    }
    while (count > 0) {
        uint64_t now = gf_min(gf_min(count, most), s->shape.height);
        for (uint32_t c = 0; c < s->page_count; c++) {
            GF_TRY(gf_tiff_page_rows(&s->pages[c], first, now, s->gather, e));
            gf_copy_apart(rows + c * pixel, pixel * s->page_count, s->gather, pixel, pixel,
                          now * s->shape.width);
        }
        first += now;
        count -= now;
        rows += now * row;
    }
    return GF_OK;
}

static enum gf_status tiff_read_rows(struct gf_reader *r, uint64_t first, uint64_t count,
                                     void *rows, struct gf_error *e)
{
    struct tiff_state *s = r->state;
    uint8_t *to = rows;
    size_t row = gf_row_bytes(&s->shape);

    while (count > 0) {
        uint64_t z = first / s->shape.height, y = first % s->shape.height;
        uint64_t now = gf_min(count, s->shape.height - y);

        if (z != s->z || !s->open)
            GF_TRY(open_plane(r, z, e));
        if (s->page_count == 1)
            GF_TRY(gf_tiff_page_rows(&s->pages[0], y, now, to, e));
        else
            GF_TRY(gather_rows(r, y, now, to, e));
        first += now;
        count -= now;
        to += now * row;
    }
    return GF_OK;
}

const struct gf_format gf_format_tiff = {
    .name = "tiff",
    .extensions = "tif tiff btf tf8",
    .summary = "TIFF and BigTIFF, pages and volumes, every sample type and compression",
    .seekable_output = true,
    .associated_alpha = true,
    .keeps = GF_KEEPS_ICC | GF_KEEPS_XMP | GF_KEEPS_TEXTS | GF_KEEPS_RESOLUTION |
             GF_KEEPS_SPACING | GF_KEEPS_DESCRIPTION | GF_KEEPS_ORIENTATION,
    .probe = tiff_probe,
    .open = tiff_open,
    .select = tiff_select,
    .read_rows = tiff_read_rows,
    .close = tiff_close,
    .accepts = gf_tiff_accepts,
    .create = gf_tiff_create,
    .begin = gf_tiff_begin,
    .write_rows = gf_tiff_write_rows,
    .complete = gf_tiff_complete,
    .discard = gf_tiff_discard,
    .keeps_text = gf_tiff_keeps_text,
};
