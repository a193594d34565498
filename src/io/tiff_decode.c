/* One strip or tile: from the file to samples in machine order, still packed. */
#include "tiff.h"

#include "../alloc.h"
#include "../util.h"

#include <stdio.h>
#include <string.h>

/* "page 2, strip 7" for messages. */
static const char *place(const struct gf_tiff_page *page, uint32_t index, char text[64])
{
    snprintf(text, 64, "page %llu, %s %u", (unsigned long long)page->number,
             page->tile_width > 0 ? "tile" : "strip", (unsigned)index);
    return text;
}

static void reverse_bits(uint8_t *data, uint64_t size)
{
    TIFFReverseBits(data, (tmsize_t)size);
}

/* ---- not compressed ---- */

enum gf_status gf_tiff_read_stored(struct gf_tiff_page *page, uint32_t index, uint64_t skip,
                                   uint64_t size, uint8_t *out, struct gf_error *e)
{
    uint64_t offset = TIFFGetStrileOffset(page->tif, index);
    uint64_t count = TIFFGetStrileByteCount(page->tif, index);
    uint64_t end;
    char text[64];

    if (offset == 0)
        return gf_fail(e, GF_EINPUT, "%s: %s has no samples in the file (offset 0)", page->name,
                       place(page, index, text));
    /* A count of 0 is a writer's slip: the geometry says how many bytes there are. */
    if (count != 0 && page->plane_offset == 0 && count < skip + size)
        return gf_fail(e, GF_EINPUT, "%s: truncated: %s holds %llu bytes, needed are %llu",
                       page->name, place(page, index, text), (unsigned long long)count,
                       (unsigned long long)(skip + size));
    if (!gf_add(offset, page->plane_offset, &offset) || !gf_add(offset, skip, &offset) ||
        !gf_add(offset, size, &end) || end > gf_in_size(page->client.in))
        return gf_fail(e, GF_EINPUT, "%s: truncated: %s should end at byte %llu, and the file "
                       "ends at %llu", page->name, place(page, index, text),
                       (unsigned long long)(offset + size),
                       (unsigned long long)gf_in_size(page->client.in));
    GF_TRY(gf_in_read(page->client.in, out, (size_t)size, offset, e));
    if (page->fill_order == FILLORDER_LSB2MSB)
        reverse_bits(out, size);
    if (page->swap)
        gf_tiff_swap(out, size, page->bits);
    return GF_OK;
}

/* ---- deflate ---- */

/* Fills the input from what is left of the strip; `*left` bytes stand at `*at`. */
static enum gf_status refill(struct gf_tiff_page *page, uint64_t *at, uint64_t *left,
                             struct gf_error *e)
{
    size_t size = (size_t)gf_min(*left, GF_TIFF_INPUT);

    GF_TRY(gf_in_read(page->client.in, page->input, size, *at, e));
    if (page->fill_order == FILLORDER_LSB2MSB)
        reverse_bits(page->input, size);
    page->inflate.next_in = page->input;
    page->inflate.avail_in = (uInt)size;
    *at += size;
    *left -= size;
    return GF_OK;
}

/* libtiff accepts a stream that holds more than the strip needs without looking at its
 * checksum, so that one flipped bit gives wrong samples. Here the stream must end, its
 * checksum must be right, and only the rows that a last strip may have too many are dropped. */
static enum gf_status inflate_unit(struct gf_tiff_page *page, uint32_t index, uint64_t size,
                                   uint64_t surplus, uint8_t *out, struct gf_error *e)
{
    uint64_t at = TIFFGetStrileOffset(page->tif, index);
    uint64_t left = TIFFGetStrileByteCount(page->tif, index);
    uint64_t got = 0;
    uint8_t drop[4096];
    int result = Z_OK;
    char text[64];

    place(page, index, text);
    if (at == 0 || left == 0)
        return gf_fail(e, GF_EINPUT, "%s: %s has no samples in the file (%llu bytes at %llu)",
                       page->name, text, (unsigned long long)left, (unsigned long long)at);
    if (at > gf_in_size(page->client.in) || left > gf_in_size(page->client.in) - at)
        return gf_fail(e, GF_EINPUT, "%s: truncated: %s should have %llu bytes at %llu, and the "
                       "file ends at %llu", page->name, text, (unsigned long long)left,
                       (unsigned long long)at, (unsigned long long)gf_in_size(page->client.in));
    if (!page->input) {
        void *block;
        GF_TRY(gf_allocate(&block, GF_TIFF_INPUT, 1, "compressed data", e));
        page->input = block;
    }
    if (page->inflate_ready)
        inflateReset(&page->inflate);
    else if (inflateInit(&page->inflate) != Z_OK)
        return gf_fail(e, GF_EMEMORY, "%s: not enough memory to decompress", page->name);
    page->inflate_ready = true;
    page->inflate.avail_in = 0;

    while (result != Z_STREAM_END) {
        uint64_t room = got < size ? size - got : sizeof drop;

        if (page->inflate.avail_in == 0 && left > 0)
            GF_TRY(refill(page, &at, &left, e));
        room = gf_min(room, (uint64_t)1 << 30);
        page->inflate.next_out = got < size ? out + got : drop;
        page->inflate.avail_out = (uInt)room;
        result = inflate(&page->inflate, Z_NO_FLUSH);
        got += room - page->inflate.avail_out;
        if (result == Z_MEM_ERROR)
            return gf_fail(e, GF_EMEMORY, "%s: not enough memory to decompress", page->name);
        if (result == Z_NEED_DICT || (result != Z_OK && result != Z_STREAM_END &&
                                      result != Z_BUF_ERROR))
            return gf_fail(e, GF_EINPUT, "%s: %s is corrupt: %s", page->name, text,
                           page->inflate.msg ? page->inflate.msg : "not a deflate stream");
        if (result == Z_BUF_ERROR && left == 0)
            return gf_fail(e, GF_EINPUT, "%s: truncated: %s ends inside its deflate stream after "
                           "%llu of %llu bytes", page->name, text, (unsigned long long)got,
                           (unsigned long long)size);
        if (got > size + surplus)
            return gf_fail(e, GF_EINPUT, "%s: %s is corrupt: more than the %llu bytes it needs",
                           page->name, text, (unsigned long long)size);
    }
    if (got < size)
        return gf_fail(e, GF_EINPUT, "%s: truncated: %s holds %llu bytes, needed are %llu",
                       page->name, text, (unsigned long long)got, (unsigned long long)size);
    return GF_OK;
}

/* ---- libtiff ---- */

static bool call_library(struct gf_tiff_page *page, uint32_t index, uint64_t size, uint8_t *out)
{
    tmsize_t got;

    gf_tiff_client_reset(&page->client);
    page->client.decoding = true;
    if (page->tile_width > 0)
        got = TIFFReadEncodedTile(page->tif, index, out, (tmsize_t)size);
    else
        got = TIFFReadEncodedStrip(page->tif, index, out, (tmsize_t)size);
    page->client.decoding = false;
    return got == (tmsize_t)size && !page->client.has_trouble &&
           page->client.io_status == GF_OK;
}

/* libtiff's decoder of byte-aligned fax rows loses count of its bits near the end of the data
 * and decodes the last row wrongly, now and then without a word. With zeros behind the data
 * it does not come near the end. */
static enum gf_status decode_aligned_fax(struct gf_tiff_page *page, uint32_t index, uint64_t size,
                                         uint8_t *out, struct gf_error *e)
{
    enum { PADDING = 16 };
    uint64_t at = TIFFGetStrileOffset(page->tif, index);
    uint64_t count = TIFFGetStrileByteCount(page->tif, index);
    enum gf_status status;
    void *data;
    char text[64];
    int ok;

    if (at == 0 || count == 0 || count > gf_in_size(page->client.in))
        return gf_fail(e, GF_EINPUT, "%s: truncated: %s should have %llu bytes at %llu, and the "
                       "file ends at %llu", page->name, place(page, index, text),
                       (unsigned long long)count, (unsigned long long)at,
                       (unsigned long long)gf_in_size(page->client.in));
    GF_TRY(gf_allocate(&data, count + PADDING, 1, "compressed data", e));
    memset((uint8_t *)data + count, 0, PADDING);
    status = gf_in_read(page->client.in, data, (size_t)count, at, e);
    if (status == GF_OK) {
        gf_tiff_client_reset(&page->client);
        page->client.decoding = true;
        ok = TIFFReadFromUserBuffer(page->tif, index, data, (tmsize_t)(count + PADDING), out,
                                    (tmsize_t)size);
        page->client.decoding = false;
        if (!ok || page->client.has_trouble)
            status = gf_tiff_client_fail(&page->client, GF_EINPUT, place(page, index, text), e);
    }
    gf_free(data);
    return status;
}

static enum gf_status decode_rgba(struct gf_tiff_page *page, uint32_t index, uint64_t first_row,
                                  uint8_t *out, struct gf_error *e)
{
    uint32_t *raster = (uint32_t *)(void *)out;
    uint32_t across;
    int ok;
    char text[64];

    gf_tiff_client_reset(&page->client);
    page->client.decoding = true;
    if (page->tile_width > 0) {
        across = (uint32_t)gf_ceil_div(page->width, page->tile_width);
        ok = TIFFReadRGBATileExt(page->tif, index % across * page->tile_width,
                                 (uint32_t)first_row, raster, 1);
    } else {
        ok = TIFFReadRGBAStripExt(page->tif, (uint32_t)first_row, raster, 1);
    }
    page->client.decoding = false;
    if (!ok || page->client.has_trouble || page->client.io_status != GF_OK)
        return gf_tiff_client_fail(&page->client, GF_EINPUT, place(page, index, text), e);
    return GF_OK;
}

enum gf_status gf_tiff_decode(struct gf_tiff_page *page, uint32_t index, uint64_t first_row,
                              uint64_t rows, uint8_t *out, struct gf_error *e)
{
    uint64_t size = rows * page->unit_row_bytes;
    char text[64];

    switch (page->method) {
    case GF_TIFF_STORED:
        return gf_tiff_read_stored(page, index, 0, size, out, e);
    case GF_TIFF_DEFLATE:
        GF_TRY(inflate_unit(page, index, size, page->unit_bytes - size, out, e));
        if (page->predictor == PREDICTOR_NONE && !page->swap)
            return GF_OK;
        for (uint64_t r = 0; r < rows; r++)
            gf_tiff_unpredict(out + r * page->unit_row_bytes, page->unit_row_bytes, page->bits,
                              page->stored_channels, page->predictor, page->swap, page->scratch);
        return GF_OK;
    case GF_TIFF_RGBA:
        return decode_rgba(page, index, first_row, out, e);
    case GF_TIFF_LIBRARY:
        break;
    }
    if (page->compression == COMPRESSION_CCITTRLE)
        return decode_aligned_fax(page, index, size, out, e);
    if (!call_library(page, index, size, out))
        return gf_tiff_client_fail(&page->client, GF_EINPUT, place(page, index, text), e);
    return GF_OK;
}
