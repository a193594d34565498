/* TIFF writing: rows to strips and tiles, planes to pages. */
#include "tiff.h"

#include "../alloc.h"
#include "../util.h"
#include "apart.h"

#include <string.h>

struct tiff_output {
    TIFF *tif;
    struct gf_tiff_client client;
    struct gf_tiff_coding coding;
    struct gf_tiff_words words;
    uint32_t pages;               /* of a plane */
    uint64_t z, y;                /* the next row */
    bool swap;                    /* the file's byte order is not the machine's */
    bool said;
    uint8_t *band;                /* rows that do not fill a band yet */
    uint64_t band_size, band_rows; /* rows it must hold */
    uint64_t filled;
    uint8_t *unit;                /* one strip or tile as libtiff gets it */
    uint64_t unit_size;
};

enum gf_status gf_tiff_accepts(const struct gf_image *image, uint64_t images, const char *name,
                               struct gf_error *e)
{
    uint64_t pages;

    if (image->width == 0 || image->height == 0 || image->depth == 0 || image->channels == 0)
        return gf_fail(e, GF_EFEATURE, "%s: a TIFF cannot hold an image of size 0", name);
    if (image->width > UINT32_MAX || image->height > UINT32_MAX)
        return gf_fail(e, GF_EFEATURE, "%s: %llux%llu is more than the 2^32 rows and columns a "
                       "TIFF can hold; write raw samples (-f raw)", name,
                       (unsigned long long)image->width, (unsigned long long)image->height);
    if (image->channels / gf_tiff_pages_per_plane(image) > UINT16_MAX)
        return gf_fail(e, GF_EFEATURE, "%s: %u channels are more than the 65535 a TIFF can hold; "
                       "write raw samples (-f raw)", name, (unsigned)image->channels);
    if (!gf_mul(image->depth, gf_tiff_pages_per_plane(image), &pages) ||
        !gf_mul(pages, images, &pages) || pages > 1000000)
        return gf_fail(e, GF_EFEATURE, "%s: libtiff writes at most 1000000 pages; write raw "
                       "samples (-f raw)", name);
    return GF_OK;
}

enum gf_status gf_tiff_create(struct gf_writer *w, struct gf_error *e)
{
    struct tiff_output *s;

    if (w->options.compression && !gf_tiff_compression_known(w->options.compression))
        return gf_fail(e, GF_EUSAGE, "--compression '%s': expected %s", w->options.compression,
                       gf_tiff_compression_names());
    s = gf_alloc_zero(1, sizeof *s);
    if (!s)
        return gf_fail(e, GF_EMEMORY, "%s: not enough memory to write it", w->name);
    s->client.out = w->out;
    s->client.name = w->name;
    s->said = s->words.said = w->options.quiet;
    w->state = s;
    return GF_OK;
}

static enum gf_status failed(const struct tiff_output *s, struct gf_error *e)
{
    return gf_tiff_client_fail(&s->client, GF_EOUTPUT, "writing", e);
}

/* The first image decides byte order and header: only then is its layout known. */
static enum gf_status open_file(struct gf_writer *w, struct gf_error *e)
{
    static const uint16_t one = 1;
    struct tiff_output *s = w->state;
    const struct gf_tiff_layout *kept = &w->image.meta.tiff;
    bool machine_big = *(const uint8_t *)&one == 0;
    /* libtiff writes the floating-point predictor of a big-endian file the wrong way round. */
    bool big_endian = kept->known && kept->big_endian &&
                      s->coding.predictor != PREDICTOR_FLOATINGPOINT;
    uint64_t bytes;
    bool big = gf_tiff_needs_big(w, &s->coding, &bytes) || (kept->known && kept->bigtiff);
    char mode[4] = {'w', big_endian ? 'b' : 'l', big ? '8' : '4', 0};

    s->swap = big_endian != machine_big;
    if (s->coding.compression == COMPRESSION_NONE)
        GF_TRY(gf_out_reserve(w->out, bytes, e));
    s->tif = gf_tiff_client_open(&s->client, mode);
    return s->tif ? GF_OK : failed(s, e);
}

static enum gf_status grow(uint8_t **block, uint64_t *have, uint64_t size, const char *what,
                           struct gf_error *e)
{
    void *fresh;

    if (size <= *have)
        return GF_OK;
    gf_free(*block);
    *block = NULL;
    *have = 0;
    GF_TRY(gf_allocate(&fresh, size, 1, what, e));
    *block = fresh;
    *have = size;
    return GF_OK;
}

/* Interleaved rows that need no other form go to libtiff as they are. It turns the bytes of
 * what it gets round in place, so not for the other byte order. */
static bool passes_through(const struct tiff_output *s)
{
    return s->coding.tile_width == 0 && s->coding.planar == PLANARCONFIG_CONTIG && !s->swap &&
           s->pages == 1;
}

enum gf_status gf_tiff_begin(struct gf_writer *w, struct gf_error *e)
{
    struct tiff_output *s = w->state;
    const struct gf_tiff_coding *c = &s->coding;
    size_t sample = gf_type_bytes(w->image.type);
    uint64_t unit, band;

    gf_tiff_choose_coding(w, &s->coding, &s->said);
    GF_TRY(gf_tiff_describe(w, &s->words, e));
    s->pages = gf_tiff_pages_per_plane(&w->image);
    s->z = s->y = s->filled = 0;
    if (!s->tif)
        GF_TRY(open_file(w, e));
    if (s->swap && s->coding.predictor == PREDICTOR_FLOATINGPOINT)
        s->coding.predictor = PREDICTOR_NONE; /* for open_file's reason */
    /* The channels of a plane that go to several pages: libtiff writes one page after the
     * other, so the plane is collected first. */
    s->band_rows = s->pages > 1 ? w->image.height : gf_min(c->band_rows, w->image.height);
    unit = (uint64_t)c->band_rows * (c->tile_width > 0 ? c->tile_width : w->image.width) * sample *
           (c->planar == PLANARCONFIG_SEPARATE ? 1 : c->channels);
    if (!passes_through(s))
        GF_TRY(grow(&s->unit, &s->unit_size, unit, "a strip or tile", e));
    if (!gf_mul(s->band_rows, gf_row_bytes(&w->image), &band))
        band = UINT64_MAX;
    return grow(&s->band, &s->band_size, band, "a band of rows", e);
}

/* ---- strips and tiles ---- */

/* A band of rows of a page. `rows` holds whole pixels of the image; the page takes
 * `coding.channels` of them from `channel` on. */
static enum gf_status write_band(struct gf_writer *w, uint64_t band, const uint8_t *rows,
                                 uint64_t count, uint32_t channel, struct gf_error *e)
{
    struct tiff_output *s = w->state;
    const struct gf_tiff_coding *c = &s->coding;
    const struct gf_image *im = &w->image;
    size_t sample = gf_type_bytes(im->type), pixel = im->channels * sample;
    bool separate = c->planar == PLANARCONFIG_SEPARATE;
    uint32_t planes = separate ? c->channels : 1;
    size_t taken = separate ? sample : c->channels * sample;
    uint64_t bands = gf_ceil_div(im->height, c->band_rows);
    uint64_t across = c->tile_width > 0 ? gf_ceil_div(im->width, c->tile_width) : 1;
    uint64_t unit_width = c->tile_width > 0 ? c->tile_width : im->width;
    uint64_t unit_rows = c->tile_width > 0 ? c->band_rows : count;
    uint64_t bytes = unit_rows * unit_width * taken;

    if (passes_through(s)) {
        /* libtiff takes a pointer to what it could change and, in this byte order, does not. */
        if (TIFFWriteEncodedStrip(s->tif, (uint32_t)band, (void *)(uintptr_t)rows,
                                  (tmsize_t)bytes) != (tmsize_t)bytes)
            return failed(s, e);
        return GF_OK;
    }
    for (uint32_t plane = 0; plane < planes; plane++) {
        for (uint64_t t = 0; t < across; t++) {
            uint64_t x = t * unit_width, pixels = gf_min(unit_width, im->width - x);
            uint32_t index = (uint32_t)((plane * bands + band) * across + t);
            tmsize_t done;

            if (pixels < unit_width || count < unit_rows)
                memset(s->unit, 0, (size_t)bytes);
            for (uint64_t r = 0; r < count; r++)
                gf_copy_apart(s->unit + r * unit_width * taken, taken,
                              rows + (r * im->width + x) * pixel + (channel + plane) * sample,
                              pixel, taken, pixels);
            done = c->tile_width > 0
                       ? TIFFWriteEncodedTile(s->tif, index, s->unit, (tmsize_t)bytes)
                       : TIFFWriteEncodedStrip(s->tif, index, s->unit, (tmsize_t)bytes);
            if (done != (tmsize_t)bytes)
                return failed(s, e);
        }
    }
    return GF_OK;
}

static enum gf_status start_page(struct gf_writer *w, uint32_t page, struct gf_error *e)
{
    struct tiff_output *s = w->state;

    GF_TRY(gf_tiff_set_tags(s->tif, w, &s->coding, &s->words, s->z == 0 && page == 0, e));
    return s->client.has_trouble || s->client.io_status != GF_OK ? failed(s, e) : GF_OK;
}

static enum gf_status finish_page(struct tiff_output *s, struct gf_error *e)
{
    if (!TIFFWriteDirectory(s->tif) || s->client.has_trouble || s->client.io_status != GF_OK)
        return failed(s, e);
    return GF_OK;
}

/* `rows` are the band's rows; those of a plane that goes to several pages are all of it. */
static enum gf_status flush_band(struct gf_writer *w, const uint8_t *rows, uint64_t count,
                                 uint64_t first, struct gf_error *e)
{
    struct tiff_output *s = w->state;
    size_t row = gf_row_bytes(&w->image);

    if (s->pages == 1) {
        if (first == 0)
            GF_TRY(start_page(w, 0, e));
        GF_TRY(write_band(w, first / s->coding.band_rows, rows, count, 0, e));
        return first + count == w->image.height ? finish_page(s, e) : GF_OK;
    }
    for (uint32_t page = 0; page < s->pages; page++) {
        GF_TRY(start_page(w, page, e));
        for (uint64_t y = 0; y < count; y += s->coding.band_rows)
            GF_TRY(write_band(w, y / s->coding.band_rows, rows + y * row,
                              gf_min(s->coding.band_rows, count - y), page * s->coding.channels,
                              e));
        GF_TRY(finish_page(s, e));
    }
    return GF_OK;
}

enum gf_status gf_tiff_write_rows(struct gf_writer *w, const void *rows, uint64_t count,
                                  struct gf_error *e)
{
    struct tiff_output *s = w->state;
    const uint8_t *from = rows;
    size_t row = gf_row_bytes(&w->image);

    while (count > 0) {
        uint64_t first = s->y - s->filled;
        uint64_t full = gf_min(s->band_rows, w->image.height - first);
        uint64_t now = gf_min(count, full - s->filled);

        if (now == full) {
            GF_TRY(flush_band(w, from, full, first, e));
        } else {
            memcpy(s->band + s->filled * row, from, (size_t)(now * row));
            s->filled += now;
            if (s->filled == full) {
                GF_TRY(flush_band(w, s->band, full, first, e));
                s->filled = 0;
            }
        }
        s->y += now;
        from += now * row;
        count -= now;
        if (s->y == w->image.height) {
            s->y = 0;
            s->z++;
        }
    }
    return GF_OK;
}

enum gf_status gf_tiff_complete(struct gf_writer *w, struct gf_error *e)
{
    struct tiff_output *s = w->state;

    if (s->tif)
        TIFFClose(s->tif);
    s->tif = NULL;
    if (s->client.has_trouble || s->client.io_status != GF_OK)
        return failed(s, e);
    return GF_OK;
}

void gf_tiff_discard(struct gf_writer *w)
{
    struct tiff_output *s = w->state;

    if (!s)
        return;
    if (s->tif)
        TIFFCleanup(s->tif); /* closes without writing anything more */
    gf_free(s->words.text);
    gf_free(s->band);
    gf_free(s->unit);
    gf_free(s);
    w->state = NULL;
}
