/* Compression, predictor, strips or tiles of what is written. */
#include "tiff.h"

#include "../message.h"
#include "../util.h"

#include <string.h>

#define STRIP_BYTES ((uint64_t)256 << 10)
/* Strips are held in memory whole; larger ones of the input are not kept. */
#define LARGEST_STRIP ((uint64_t)16 << 20)

static const struct {
    const char *name;
    uint16_t compression;
} names[] = {
    {"none", COMPRESSION_NONE}, {"lzw", COMPRESSION_LZW}, {"deflate", COMPRESSION_ADOBE_DEFLATE},
    {"zip", COMPRESSION_ADOBE_DEFLATE}, {"packbits", COMPRESSION_PACKBITS},
    {"zstd", COMPRESSION_ZSTD}, {"lzma", COMPRESSION_LZMA}, {"jpeg", COMPRESSION_JPEG},
    {"webp", COMPRESSION_WEBP},
};

static bool by_name(const char *name, uint16_t *compression)
{
    for (size_t i = 0; i < GF_COUNT(names); i++)
        if (strcmp(names[i].name, name) == 0) {
            *compression = names[i].compression;
            return true;
        }
    return false;
}

enum gf_status gf_tiff_check_compression(const struct gf_writer *w, struct gf_error *e)
{
    uint16_t compression;

    if (!w->options.compression)
        return GF_OK;
    if (!by_name(w->options.compression, &compression))
        return gf_fail(e, GF_EUSAGE, "--compression %s: unknown; none, lzw, deflate, packbits, "
                       "zstd, lzma, jpeg and webp are known", w->options.compression);
    if (!TIFFIsCODECConfigured(compression))
        return gf_fail(e, GF_EFEATURE, "--compression %s: this system's libtiff was built without "
                       "it; use deflate", w->options.compression);
    return GF_OK;
}

static bool has_predictor(uint16_t compression)
{
    return compression == COMPRESSION_LZW || compression == COMPRESSION_ADOBE_DEFLATE ||
           compression == COMPRESSION_ZSTD || compression == COMPRESSION_LZMA;
}

/* Deflate has an old code too. */
static uint16_t modern(uint16_t compression)
{
    return compression == COMPRESSION_DEFLATE ? COMPRESSION_ADOBE_DEFLATE : compression;
}

static bool keeps_all(uint16_t compression)
{
    return compression == COMPRESSION_NONE || compression == COMPRESSION_PACKBITS ||
           has_predictor(compression);
}

/* JPEG and WebP hold bytes that are pictures. */
static enum gf_status check_picture(const struct gf_writer *w, uint16_t compression,
                                    struct gf_error *e)
{
    const struct gf_image *image = &w->image;
    bool gray = image->color == GF_GRAY && image->channels == 1;
    bool rgb = image->color == GF_RGB && image->channels == 3;
    bool rgba = image->color == GF_RGB && image->channels == 4 && image->alpha == 3;

    if (compression == COMPRESSION_JPEG && image->type == GF_U8 && (gray || rgb))
        return GF_OK;
    if (compression == COMPRESSION_WEBP && image->type == GF_U8 && (rgb || rgba) &&
        image->width <= 16383)
        return GF_OK;
    if (compression != COMPRESSION_JPEG && compression != COMPRESSION_WEBP)
        return GF_OK;
    return gf_fail(e, GF_EFEATURE, "%s: %s cannot hold %u channels of %s (%s); use --compression "
                   "deflate", w->name, w->options.compression, (unsigned)image->channels,
                   gf_type_name(image->type),
                   compression == COMPRESSION_JPEG ? "it can hold gray or RGB of u8"
                                                   : "it can hold RGB or RGBA of u8, 16383 wide");
}

static void choose_predictor(const struct gf_writer *w, struct gf_tiff_coding *c)
{
    const struct gf_tiff_layout *kept = &w->image.meta.tiff;
    bool is_float = gf_type_row(w->image.type)->is_float;

    c->predictor = PREDICTOR_NONE;
    if (!has_predictor(c->compression))
        return;
    if (kept->known && !w->options.compression && has_predictor(modern(kept->compression))) {
        c->predictor = kept->predictor == 0 ? PREDICTOR_NONE : kept->predictor;
        if (c->predictor == PREDICTOR_FLOATINGPOINT && !is_float)
            c->predictor = PREDICTOR_HORIZONTAL;
        return;
    }
    c->predictor = is_float ? PREDICTOR_FLOATINGPOINT : PREDICTOR_HORIZONTAL;
}

static void choose_bands(const struct gf_writer *w, struct gf_tiff_coding *c)
{
    const struct gf_tiff_layout *kept = &w->image.meta.tiff;
    uint64_t row = w->image.width * c->channels * gf_type_bytes(w->image.type);
    uint64_t rows = gf_max(1, STRIP_BYTES / row);

    c->planar = kept->known && kept->planar == PLANARCONFIG_SEPARATE && c->channels > 1
                    ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG;
    if (c->compression == COMPRESSION_JPEG || c->compression == COMPRESSION_WEBP)
        c->planar = PLANARCONFIG_CONTIG;
    if (kept->known && kept->tile_width > 0 && kept->tile_width <= 1u << 20 &&
        kept->tile_height <= 1u << 20) {
        c->tile_width = (kept->tile_width + 15) / 16 * 16;
        c->tile_height = (kept->tile_height + 15) / 16 * 16;
        c->band_rows = c->tile_height;
        return;
    }
    if (kept->known && kept->rows_per_strip > 0 && kept->rows_per_strip <= LARGEST_STRIP / row)
        rows = kept->rows_per_strip;
    if (c->compression == COMPRESSION_JPEG)
        rows = (rows + 15) / 16 * 16;
    c->band_rows = (uint32_t)gf_min(rows, w->image.height);
}

enum gf_status gf_tiff_choose_coding(const struct gf_writer *w, struct gf_tiff_coding *coding,
                                     bool *said, struct gf_error *e)
{
    const struct gf_tiff_layout *kept = &w->image.meta.tiff;

    *coding = (struct gf_tiff_coding){.compression = COMPRESSION_NONE, .level = w->options.level};
    coding->channels = w->image.channels / gf_tiff_pages_per_plane(&w->image);
    if (w->options.compression) {
        by_name(w->options.compression, &coding->compression);
        GF_TRY(check_picture(w, coding->compression, e));
    } else if (kept->known) {
        coding->compression = modern(kept->compression);
        if (!keeps_all(coding->compression) || !TIFFIsCODECConfigured(coding->compression)) {
            const TIFFCodec *codec = TIFFFindCODEC(coding->compression);
            if (!*said)
                gf_print_warning("%s: the input's compression (%s) cannot hold the result without "
                                 "loss; written with deflate", w->name,
                                 codec ? codec->name : "unknown");
            *said = true;
            coding->compression = COMPRESSION_ADOBE_DEFLATE;
        }
    }
    /* A level alone asks for compression. */
    if (w->options.level >= 0 && coding->compression == COMPRESSION_NONE &&
        !w->options.compression)
        coding->compression = COMPRESSION_ADOBE_DEFLATE;
    choose_predictor(w, coding);
    choose_bands(w, coding);
    return GF_OK;
}

bool gf_tiff_needs_big(const struct gf_writer *w, const struct gf_tiff_coding *c,
                       uint64_t *bytes)
{
    const struct gf_image *image = &w->image;
    const struct gf_meta *m = &image->meta;
    double pixels = (double)image->width * (double)image->height;
    double plane = pixels * c->channels * gf_type_bytes(image->type);
    double all = (double)gf_max(w->bytes, gf_image_bytes(image)), pages = all / plane + 1;
    double bands = (double)gf_ceil_div(image->height, c->band_rows), overhead;

    if (c->tile_width > 0) {
        double across = (double)gf_ceil_div(image->width, c->tile_width);
        all *= across * c->tile_width * bands * c->tile_height / pixels;
        bands *= across;
    }
    if (c->planar == PLANARCONFIG_SEPARATE)
        bands *= c->channels;
    *bytes = (uint64_t)all;
    /* The worst that LZW makes of noise is 12 bits of each byte; others add little. */
    if (c->compression == COMPRESSION_LZW)
        all *= 1.5;
    else if (c->compression != COMPRESSION_NONE)
        all *= 1.02;
    overhead = pages * (1024 + 16 * bands) +
               (double)w->images * (double)(m->icc.size + m->xmp.size +
                                            (m->description ? strlen(m->description) : 0) + 8192);
    return all + overhead + 0x1p24 > 0x1p32;
}
