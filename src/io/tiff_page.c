/* One directory: its tags, checked, and its rows, a band (a strip or a row of tiles) at a
 * time. */
#include "tiff.h"

#include "../alloc.h"
#include "../util.h"

#include <stdio.h>
#include <string.h>

#define STORED_CHUNK ((uint64_t)1 << 20) /* read at once when samples must be converted */

static enum gf_status refuse(const struct gf_tiff_page *p, struct gf_error *e, const char *what,
                             unsigned value, const char *remedy)
{
    return gf_fail(e, GF_EFEATURE, "%s: page %llu: %s %u is not supported; %s", p->name,
                   (unsigned long long)p->number, what, value, remedy);
}

/* ---- tags ---- */

/* Colour channels that the photometric interpretation promises; 0 for unknown ones. */
static unsigned color_channels(const struct gf_tiff_page *p)
{
    uint16_t ink_set = INKSET_CMYK, inks = 4;

    switch (p->photometric) {
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_MINISBLACK:
    case PHOTOMETRIC_MASK:
    case PHOTOMETRIC_PALETTE:
    case PHOTOMETRIC_LOGL:
        return 1;
    case PHOTOMETRIC_RGB:
    case PHOTOMETRIC_YCBCR:
        return 3;
    case PHOTOMETRIC_SEPARATED:
        TIFFGetField(p->tif, TIFFTAG_INKSET, &ink_set);
        TIFFGetField(p->tif, TIFFTAG_NUMBEROFINKS, &inks);
        return ink_set == INKSET_CMYK && inks == 4 ? 4 : 0;
    default:
        return 0;
    }
}

static void find_color(struct gf_tiff_page *p)
{
    unsigned colors = color_channels(p), others = 0;
    uint16_t extra_count = 0, *extra = NULL;

    p->alpha = -1;
    TIFFGetFieldDefaulted(p->tif, TIFFTAG_EXTRASAMPLES, &extra_count, &extra);
    for (unsigned i = 0; i < extra_count && extra && extra_count <= p->samples; i++) {
        unsigned channel = p->samples - extra_count + i;
        if (p->alpha >= 0 || channel < colors || extra[i] == EXTRASAMPLE_UNSPECIFIED)
            continue;
        p->alpha = (int)channel;
        p->alpha_associated = extra[i] == EXTRASAMPLE_ASSOCALPHA;
    }
    if (p->samples > colors)
        others = p->samples - colors - (p->alpha >= 0);
    if (p->photometric == PHOTOMETRIC_PALETTE && p->alpha >= 0)
        p->alpha += 2;
    p->color = GF_OTHER;
    if (p->samples < colors || others > 0)
        return;
    if (p->photometric == PHOTOMETRIC_PALETTE || colors == 3)
        p->color = GF_RGB;
    else if (colors == 4)
        p->color = GF_CMYK;
    else if (colors == 1)
        p->color = GF_GRAY;
}

static enum gf_status find_type(struct gf_tiff_page *p, struct gf_error *e)
{
    struct gf_tiff_convert *c = &p->convert;
    uint16_t format = SAMPLEFORMAT_UINT;

    TIFFGetFieldDefaulted(p->tif, TIFFTAG_SAMPLEFORMAT, &format);
    if (format == SAMPLEFORMAT_COMPLEXINT || format == SAMPLEFORMAT_COMPLEXIEEEFP)
        return gf_fail(e, GF_EFEATURE, "%s: page %llu: complex samples are not supported; write "
                       "the real part or the magnitude", p->name, (unsigned long long)p->number);
    c->bits = p->bits;
    c->is_float = format == SAMPLEFORMAT_IEEEFP;
    c->is_signed = format == SAMPLEFORMAT_INT;
    if (c->is_float) {
        if (p->bits == 16)
            c->type = GF_F16;
        else if (p->bits == 24 || p->bits == 32)
            c->type = GF_F32;
        else if (p->bits == 64)
            c->type = GF_F64;
        else
            return refuse(p, e, "floating point of width", p->bits,
                          "16, 24, 32 and 64 bits are");
        return GF_OK;
    }
    if (p->bits == 0 || (p->bits > 32 && p->bits != 64))
        return refuse(p, e, "bits per sample of", p->bits, "1 to 32 and 64 are");
    if (p->bits <= 8)
        c->type = c->is_signed ? GF_I8 : GF_U8;
    else if (p->bits <= 16)
        c->type = c->is_signed ? GF_I16 : GF_U16;
    else if (p->bits <= 32)
        c->type = c->is_signed ? GF_I32 : GF_U32;
    else
        c->type = GF_F64;
    c->scale = p->bits < 8 && !c->is_signed;
    c->invert = p->photometric == PHOTOMETRIC_MINISWHITE;
    return GF_OK;
}

static enum gf_status read_palette(struct gf_tiff_page *p, struct gf_error *e)
{
    uint16_t *map[3] = {NULL, NULL, NULL};
    uint32_t entries;
    uint16_t highest = 0;
    void *block;

    if (p->bits > 16 || p->convert.is_float)
        return refuse(p, e, "a palette with bits per sample of", p->bits, "1 to 16 are");
    if (!TIFFGetField(p->tif, TIFFTAG_COLORMAP, &map[0], &map[1], &map[2]))
        return gf_fail(e, GF_EINPUT, "%s: page %llu has palette samples and no palette", p->name,
                       (unsigned long long)p->number);
    entries = UINT32_C(1) << p->bits;
    GF_TRY(gf_allocate(&block, entries, 3, "a palette", e));
    p->convert.palette = block;
    for (unsigned k = 0; k < 3; k++)
        for (uint32_t i = 0; i < entries; i++)
            highest = map[k][i] > highest ? map[k][i] : highest;
    /* Some writers fill the 16-bit entries with 8-bit values. */
    for (unsigned k = 0; k < 3; k++)
        for (uint32_t i = 0; i < entries; i++)
            p->convert.palette[3 * i + k] =
                (uint8_t)(highest > 255 ? map[k][i] >> 8 : map[k][i]);
    p->convert.type = GF_U8;
    p->convert.is_signed = p->convert.invert = p->convert.scale = false;
    return GF_OK;
}

/* Photometric interpretations whose samples cannot be filtered as they are, or that libtiff
 * turns into something that can. */
static enum gf_status check_photometric(struct gf_tiff_page *p, struct gf_error *e)
{
    char reason[1024] = "";

    switch (p->photometric) {
    case PHOTOMETRIC_YCBCR:
        if (p->samples != 3 || p->bits != 8)
            return refuse(p, e, "YCbCr with samples per pixel of", p->samples,
                          "3 samples of 8 bits are");
        if (p->compression == COMPRESSION_JPEG && p->planar == PLANARCONFIG_CONTIG) {
            TIFFSetField(p->tif, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
            return GF_OK;
        }
        /* Samples as stored, not turned: the raster is read as if upright. */
        TIFFSetField(p->tif, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
        if (!TIFFRGBAImageOK(p->tif, reason))
            return gf_fail(e, GF_EFEATURE, "%s: page %llu: this YCbCr cannot be read: %s", p->name,
                           (unsigned long long)p->number, reason);
        p->method = GF_TIFF_RGBA;
        return GF_OK;
    case PHOTOMETRIC_LOGL:
        if (p->compression != COMPRESSION_SGILOG)
            return refuse(p, e, "LogL with compression", p->compression, "SGILog is");
        TIFFSetField(p->tif, TIFFTAG_SGILOGDATAFMT, SGILOGDATAFMT_FLOAT);
        TIFFGetFieldDefaulted(p->tif, TIFFTAG_BITSPERSAMPLE, &p->bits);
        return GF_OK;
    case PHOTOMETRIC_LOGLUV:
    case PHOTOMETRIC_CIELAB:
    case PHOTOMETRIC_ITULAB:
    case PHOTOMETRIC_CFA:
        return refuse(p, e, "a colour space with the photometric code", p->photometric,
                      "convert it to RGB first");
    default:
        return GF_OK;
    }
}

/* What a byte of the compressed data can become at most; 0 when there is no useful bound. */
static uint64_t greatest_ratio(uint16_t compression)
{
    switch (compression) {
    case COMPRESSION_NONE:
        return 1;
    case COMPRESSION_PACKBITS:
        return 64;
    case COMPRESSION_LZW:
        return 4096;
    case COMPRESSION_DEFLATE:
    case COMPRESSION_ADOBE_DEFLATE:
        return 1033;
    default:
        return 0;
    }
}

static enum gf_status check_predictor(struct gf_tiff_page *p, struct gf_error *e)
{
    bool whole = p->bits == 8 || p->bits == 16 || p->bits == 32 || p->bits == 64;

    if (p->predictor == PREDICTOR_NONE || (p->predictor == PREDICTOR_HORIZONTAL && whole))
        return GF_OK;
    if (p->predictor == PREDICTOR_FLOATINGPOINT && p->convert.is_float)
        return GF_OK;
    if (p->predictor > PREDICTOR_FLOATINGPOINT)
        return refuse(p, e, "the predictor", p->predictor, "the file is probably damaged");
    return gf_fail(e, GF_EFEATURE, "%s: page %llu: predictor %u with %u-bit samples is not "
                   "supported; write it without a predictor", p->name,
                   (unsigned long long)p->number, p->predictor, p->bits);
}

static enum gf_status choose_method(struct gf_tiff_page *p, struct gf_error *e)
{
    if (!TIFFIsCODECConfigured(p->compression)) {
        const TIFFCodec *codec = TIFFFindCODEC(p->compression);
        return gf_fail(e, GF_EFEATURE, "%s: page %llu: compression %u (%s) is not in this "
                       "system's libtiff; write it with another compression", p->name,
                       (unsigned long long)p->number, p->compression,
                       codec ? codec->name : "unknown");
    }
    if (p->compression == COMPRESSION_CCITTRLEW)
        return gf_fail(e, GF_EFEATURE, "%s: page %llu: fax compression with rows aligned to words "
                       "is not supported, because libtiff decodes it wrongly; write it as Group 4",
                       p->name, (unsigned long long)p->number);
    p->method = GF_TIFF_LIBRARY;
    if (p->compression == COMPRESSION_NONE)
        p->method = GF_TIFF_STORED;
    else if (p->compression == COMPRESSION_ADOBE_DEFLATE || p->compression == COMPRESSION_DEFLATE)
        p->method = GF_TIFF_DEFLATE;
    return GF_OK;
}

static enum gf_status measure(struct gf_tiff_page *p, struct gf_error *e)
{
    uint64_t row_bits, plane, all, bands, striles, ratio = greatest_ratio(p->compression);
    uint64_t size = gf_in_size(p->client.in);

    p->planes = p->planar == PLANARCONFIG_SEPARATE && p->samples > 1 ? p->samples : 1;
    if (p->method == GF_TIFF_RGBA)
        p->planes = 1;
    p->stored_channels = p->planes > 1 ? 1 : p->samples;
    p->unit_width = p->tile_width > 0 ? p->tile_width : p->width;
    row_bits = p->unit_width * p->stored_channels * p->bits;
    p->unit_row_bytes = gf_ceil_div(row_bits, 8);
    if (p->method == GF_TIFF_RGBA)
        p->unit_row_bytes = p->unit_width * 4;
    p->row_bytes = p->width * p->convert.channels * gf_type_bytes(p->convert.type);
    bands = gf_ceil_div(p->height, p->band_rows);
    striles = bands * (p->tile_width > 0 ? gf_ceil_div(p->width, p->tile_width) : 1);
    if (!gf_mul(p->unit_row_bytes, p->band_rows, &p->unit_bytes) || p->unit_bytes > INT64_MAX ||
        !gf_mul(striles, p->planes, &striles) || striles > UINT32_MAX ||
        !gf_mul(gf_ceil_div(p->width * p->stored_channels * p->bits, 8), p->height, &plane) ||
        !gf_mul(plane, p->planes, &all))
        return gf_fail(e, GF_EINPUT, "%s: page %llu: a size of %llux%llu with %u samples of %u "
                       "bits cannot be; the file is damaged", p->name,
                       (unsigned long long)p->number, (unsigned long long)p->width,
                       (unsigned long long)p->height, p->samples, p->bits);
    if (ratio > 0 && p->method != GF_TIFF_RGBA && all / ratio > size)
        return gf_fail(e, GF_EINPUT, "%s: truncated: page %llu needs %llu bytes of samples, and "
                       "the file has %llu bytes", p->name, (unsigned long long)p->number,
                       (unsigned long long)all, (unsigned long long)size);
    return GF_OK;
}

static bool is_fax(uint16_t compression)
{
    return compression == COMPRESSION_CCITTRLE || compression == COMPRESSION_CCITTFAX3 ||
           compression == COMPRESSION_CCITTFAX4;
}

static enum gf_status read_tags(struct gf_tiff_page *p, struct gf_error *e)
{
    uint32_t width = 0, height = 0, rows = UINT32_MAX, depth = 1;
    uint16_t photometric;

    TIFFGetField(p->tif, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(p->tif, TIFFTAG_IMAGELENGTH, &height);
    TIFFGetFieldDefaulted(p->tif, TIFFTAG_BITSPERSAMPLE, &p->bits);
    TIFFGetFieldDefaulted(p->tif, TIFFTAG_SAMPLESPERPIXEL, &p->samples);
    TIFFGetFieldDefaulted(p->tif, TIFFTAG_PLANARCONFIG, &p->planar);
    TIFFGetFieldDefaulted(p->tif, TIFFTAG_COMPRESSION, &p->compression);
    TIFFGetFieldDefaulted(p->tif, TIFFTAG_FILLORDER, &p->fill_order);
    TIFFGetFieldDefaulted(p->tif, TIFFTAG_ORIENTATION, &p->orientation);
    TIFFGetFieldDefaulted(p->tif, TIFFTAG_IMAGEDEPTH, &depth);
    if (!TIFFGetField(p->tif, TIFFTAG_PREDICTOR, &p->predictor))
        p->predictor = PREDICTOR_NONE;
    if (width == 0 || height == 0 || p->samples == 0)
        return gf_fail(e, GF_EINPUT, "%s: page %llu is %ux%u with %u samples a pixel; every "
                       "number must be at least 1", p->name, (unsigned long long)p->number,
                       (unsigned)width, (unsigned)height, p->samples);
    if (depth > 1)
        return refuse(p, e, "an ImageDepth of", depth, "store the planes as pages");
    p->width = width;
    p->height = height;
    GF_TRY(choose_method(p, e));
    if (TIFFGetField(p->tif, TIFFTAG_PHOTOMETRIC, &photometric))
        p->photometric = photometric;
    else if (p->samples >= 3)
        p->photometric = PHOTOMETRIC_RGB;
    else
        p->photometric = is_fax(p->compression) ? PHOTOMETRIC_MINISWHITE : PHOTOMETRIC_MINISBLACK;
    GF_TRY(check_photometric(p, e));
    if (is_fax(p->compression) && (p->bits != 1 || p->samples != 1))
        return refuse(p, e, "fax compression with bits per sample of", p->bits,
                      "one sample of 1 bit is");
    GF_TRY(find_type(p, e));
    GF_TRY(check_predictor(p, e));
    if (p->photometric == PHOTOMETRIC_PALETTE)
        GF_TRY(read_palette(p, e));
    find_color(p);
    p->convert.stored_channels = p->samples;
    p->convert.channels = p->samples + (p->convert.palette ? 2u : 0u);
    gf_tiff_convert_setup(&p->convert);
    if (TIFFIsTiled(p->tif)) {
        TIFFGetField(p->tif, TIFFTAG_TILEWIDTH, &p->tile_width);
        TIFFGetField(p->tif, TIFFTAG_TILELENGTH, &p->tile_height);
        rows = p->tile_height;
        if (p->tile_width == 0 || rows == 0)
            return gf_fail(e, GF_EINPUT, "%s: page %llu has tiles of size 0", p->name,
                           (unsigned long long)p->number);
    } else {
        TIFFGetFieldDefaulted(p->tif, TIFFTAG_ROWSPERSTRIP, &rows);
        if (rows == 0)
            return gf_fail(e, GF_EINPUT, "%s: page %llu has strips of 0 rows", p->name,
                           (unsigned long long)p->number);
        rows = rows < height ? rows : height;
    }
    p->band_rows = rows;
    return measure(p, e);
}

enum gf_status gf_tiff_page_open(struct gf_tiff_page *page, struct gf_in *in,
                                 const struct gf_tiff_chain *chain, uint64_t index,
                                 const char *name, struct gf_error *e)
{
    char text[64];

    gf_tiff_page_close(page);
    page->name = page->client.name = name;
    page->number = index + 1;
    page->client.in = in;
    page->client.one_page = true;
    page->client.big = chain->big;
    page->client.big_endian = chain->big_endian;
    page->client.directory = chain->dirs[index].offset;
    page->client.next_at = chain->dirs[index].next_at;
    page->swap = chain->swap;
    page->band_index = UINT64_MAX;
    snprintf(text, sizeof text, "page %llu", (unsigned long long)page->number);
    page->tif = gf_tiff_client_open(&page->client, "rc");
    page->client.one_page = false;
    if (!page->tif || page->client.has_trouble || page->client.io_status != GF_OK)
        return gf_tiff_client_fail(&page->client,
                                   strstr(page->client.trouble, "different values per sample")
                                       ? GF_EFEATURE : GF_EINPUT, text, e);
    GF_TRY(read_tags(page, e));
    /* libtiff shows the indices as gray when the palette is missing or cut short. */
    if (chain->dirs[index].palette && !page->convert.palette)
        return gf_fail(e, GF_EINPUT, "%s: page %llu has palette samples and no whole palette", name,
                       (unsigned long long)page->number);
    return GF_OK;
}

void gf_tiff_page_close(struct gf_tiff_page *page)
{
    if (page->tif)
        TIFFClose(page->tif);
    if (page->inflate_ready)
        inflateEnd(&page->inflate);
    gf_free(page->convert.palette);
    gf_free(page->convert.scratch);
    gf_free(page->unit);
    gf_free(page->band);
    gf_free(page->scratch);
    gf_free(page->input);
    memset(page, 0, sizeof *page);
}

/* ---- rows ---- */

static bool decodes_in_place(const struct gf_tiff_page *p)
{
    return p->tile_width == 0 && p->planes == 1 && p->convert.identity &&
           p->method != GF_TIFF_RGBA;
}

static uint64_t stored_rows(const struct gf_tiff_page *p)
{
    return gf_max(1, gf_min(STORED_CHUNK / gf_max(p->unit_row_bytes, 1), p->band_rows));
}

static uint64_t unit_room(const struct gf_tiff_page *p)
{
    if (decodes_in_place(p))
        return 0;
    if (p->method == GF_TIFF_STORED && p->tile_width == 0)
        return stored_rows(p) * p->unit_row_bytes;
    return p->unit_bytes;
}

static uint64_t scratch_room(const struct gf_tiff_page *p)
{
    if (p->planes == 1 && !p->convert.palette)
        return 0;
    return 8 * p->unit_width * p->stored_channels;
}

static uint64_t band_room(const struct gf_tiff_page *p)
{
    if (p->method == GF_TIFF_STORED && p->tile_width == 0)
        return 0;
    return p->row_bytes * gf_min(p->band_rows, p->height);
}

uint64_t gf_tiff_page_memory(const struct gf_tiff_page *page)
{
    uint64_t sum = UINT64_MAX;

    if (!gf_add(unit_room(page), scratch_room(page), &sum) ||
        !gf_add(sum, band_room(page), &sum))
        return UINT64_MAX;
    return sum;
}

static enum gf_status prepare(struct gf_tiff_page *p, struct gf_error *e)
{
    void *block;

    if (!p->unit && unit_room(p) > 0) {
        GF_TRY(gf_allocate(&block, unit_room(p), 1, "a strip or tile", e));
        p->unit = block;
    }
    if (!p->convert.scratch && scratch_room(p) > 0) {
        GF_TRY(gf_allocate(&block, scratch_room(p), 1, "a row of samples", e));
        p->convert.scratch = block;
    }
    if (!p->scratch && p->method == GF_TIFF_DEFLATE && p->predictor == PREDICTOR_FLOATINGPOINT) {
        GF_TRY(gf_allocate(&block, p->unit_row_bytes, 1, "a row of samples", e));
        p->scratch = block;
    }
    return GF_OK;
}

/* `rows` rows of a strip or tile in `from` to `out`, the place of its first pixel. */
static enum gf_status convert_rows(const struct gf_tiff_page *p, const uint8_t *from, uint64_t x,
                                   uint64_t y, uint64_t pixels, uint64_t rows, uint32_t plane,
                                   uint8_t *out, struct gf_error *e)
{
    for (uint64_t r = 0; r < rows; r++) {
        uint64_t done = gf_tiff_convert_row(&p->convert, from + r * p->unit_row_bytes, pixels,
                                            plane, p->stored_channels, out + r * p->row_bytes);
        if (done < pixels * p->stored_channels) {
            long long value;
            memcpy(&value, from + r * p->unit_row_bytes + 8 * done, sizeof value);
            return gf_fail(e, GF_EFEATURE, "%s: page %llu, column %llu, row %llu: the 64-bit "
                           "integer with the bits 0x%llx has more digits than f64 can hold, the "
                           "type 64-bit integers are read as", p->name,
                           (unsigned long long)p->number,
                           (unsigned long long)(x + done / p->stored_channels),
                           (unsigned long long)(y + r), (unsigned long long)value);
        }
    }
    return GF_OK;
}

/* libtiff's rasters are upside down; a tile's is always a whole tile. */
static void convert_raster(const struct gf_tiff_page *p, uint64_t pixels, uint64_t rows,
                           uint64_t raster_rows, uint8_t *out)
{
    const uint32_t *raster = (const uint32_t *)(const void *)p->unit;

    for (uint64_t r = 0; r < rows; r++) {
        const uint32_t *from = raster + (raster_rows - 1 - r) * p->unit_width;
        uint8_t *to = out + r * p->row_bytes;
        for (uint64_t i = 0; i < pixels; i++, to += 3) {
            to[0] = (uint8_t)TIFFGetR(from[i]);
            to[1] = (uint8_t)TIFFGetG(from[i]);
            to[2] = (uint8_t)TIFFGetB(from[i]);
        }
    }
}

static enum gf_status fill_band(struct gf_tiff_page *p, uint64_t band, uint8_t *out,
                                struct gf_error *e)
{
    uint64_t y = band * p->band_rows, rows = gf_min(p->band_rows, p->height - y);
    uint64_t bands = gf_ceil_div(p->height, p->band_rows);
    uint64_t across = p->tile_width > 0 ? gf_ceil_div(p->width, p->tile_width) : 1;
    uint64_t stored = p->tile_width > 0 ? p->band_rows : rows;
    size_t pixel_bytes = p->convert.channels * gf_type_bytes(p->convert.type);

    if (decodes_in_place(p))
        return gf_tiff_decode(p, (uint32_t)band, y, rows, out, e);
    for (uint32_t plane = 0; plane < p->planes; plane++) {
        for (uint64_t t = 0; t < across; t++) {
            uint64_t x = t * p->tile_width, pixels = gf_min(p->unit_width, p->width - x);
            uint64_t index = (plane * bands + band) * across + t;

            GF_TRY(gf_tiff_decode(p, (uint32_t)index, y, stored, p->unit, e));
            if (p->method == GF_TIFF_RGBA)
                convert_raster(p, pixels, rows, stored, out + x * pixel_bytes);
            else
                GF_TRY(convert_rows(p, p->unit, x, y, pixels, rows, plane,
                                    out + x * pixel_bytes, e));
        }
    }
    return GF_OK;
}

/* Not compressed, in strips: any row can be read where it stands. */
static enum gf_status read_direct(struct gf_tiff_page *p, uint64_t first, uint64_t count,
                                  uint8_t *out, struct gf_error *e)
{
    uint64_t bands = gf_ceil_div(p->height, p->band_rows);
    uint64_t most = decodes_in_place(p) ? UINT64_MAX : stored_rows(p);

    while (count > 0) {
        uint64_t band = first / p->band_rows, skip = first % p->band_rows;
        uint64_t rows = gf_min(gf_min(count, p->band_rows - skip), most);

        for (uint32_t plane = 0; plane < p->planes; plane++) {
            uint8_t *to = decodes_in_place(p) ? out : p->unit;
            GF_TRY(gf_tiff_read_stored(p, (uint32_t)(plane * bands + band),
                                       skip * p->unit_row_bytes, rows * p->unit_row_bytes, to,
                                       e));
            if (to != out)
                GF_TRY(convert_rows(p, p->unit, 0, first, p->width, rows, plane, out, e));
        }
        first += rows;
        count -= rows;
        out += rows * p->row_bytes;
    }
    return GF_OK;
}

enum gf_status gf_tiff_page_rows(struct gf_tiff_page *page, uint64_t first, uint64_t count,
                                 uint8_t *rows, struct gf_error *e)
{
    GF_TRY(prepare(page, e));
    if (page->method == GF_TIFF_STORED && page->tile_width == 0)
        return read_direct(page, first, count, rows, e);
    while (count > 0) {
        uint64_t band = first / page->band_rows, skip = first % page->band_rows;
        uint64_t in_band = gf_min(page->band_rows, page->height - band * page->band_rows);
        uint64_t now = gf_min(count, in_band - skip);

        if (skip == 0 && now == in_band && band != page->band_index) {
            GF_TRY(fill_band(page, band, rows, e));
        } else {
            if (band != page->band_index) {
                if (!page->band) {
                    void *block;
                    GF_TRY(gf_allocate(&block, band_room(page), 1, "a band of rows", e));
                    page->band = block;
                }
                page->band_index = UINT64_MAX;
                GF_TRY(fill_band(page, band, page->band, e));
                page->band_index = band;
            }
            memcpy(rows, page->band + skip * page->row_bytes, (size_t)(now * page->row_bytes));
        }
        first += now;
        count -= now;
        rows += now * page->row_bytes;
    }
    return GF_OK;
}
