/* Compression, predictor, strips or tiles of what is written. */
#include "tiff.h"

#include "../message.h"
#include "../util.h"

#include <stdio.h>
#include <string.h>

#define STRIP_BYTES ((uint64_t)256 << 10)
/* Strips are held in memory whole; larger ones of the input are not kept. */
#define LARGEST_STRIP ((uint64_t)16 << 20)

/* What is written: compressions without loss. */
static const struct compression {
    const char *name;
    uint16_t code;
    bool predictor;               /* it can have one */
} compressions[] = {
    {"none", COMPRESSION_NONE, false}, {"lzw", COMPRESSION_LZW, true},
    {"deflate", COMPRESSION_ADOBE_DEFLATE, true}, {"packbits", COMPRESSION_PACKBITS, false},
    {"zstd", COMPRESSION_ZSTD, true}, {"lzma", COMPRESSION_LZMA, true},
};

/* Row of the table by name or, with a null name, by code; NULL when it is not there or libtiff
 * was built without it. */
static const struct compression *find(const char *name, uint16_t code)
{
    for (size_t i = 0; i < GF_COUNT(compressions); i++) {
        const struct compression *c = &compressions[i];
        if (name ? strcmp(c->name, name) == 0 : c->code == code)
            return TIFFIsCODECConfigured(c->code) ? c : NULL;
    }
    return NULL;
}

bool gf_tiff_compression_known(const char *name) { return find(name, 0) != NULL; }

const char *gf_tiff_compression_names(void)
{
    static char names[64];
    size_t size = 0;

    /* Filled again at each call, always with the same. */
    for (size_t i = 0; i < GF_COUNT(compressions) && size < sizeof names; i++)
        if (TIFFIsCODECConfigured(compressions[i].code))
            size += (size_t)snprintf(names + size, sizeof names - size, "%s%s", size ? " " : "",
                                     compressions[i].name);
    return names;
}

/* Deflate has an old code too. */
static uint16_t modern(uint16_t compression)
{
    return compression == COMPRESSION_DEFLATE ? COMPRESSION_ADOBE_DEFLATE : compression;
}

const char *gf_tiff_compression_name(uint16_t code)
{
    const struct compression *row = find(NULL, modern(code));
    const TIFFCodec *codec = TIFFFindCODEC(code);
    return row ? row->name : codec ? codec->name : "unknown";
}

static void choose_predictor(const struct gf_writer *w, struct gf_tiff_coding *c)
{
    const struct gf_tiff_layout *kept = &w->image.meta.tiff;
    const struct compression *row = find(NULL, c->compression);
    bool is_float = gf_type_row(w->image.type)->is_float;

    c->predictor = PREDICTOR_NONE;
    if (!row || !row->predictor)
        return;
    if (kept->known && !w->options.compression && modern(kept->compression) == c->compression) {
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
    if (kept->known && kept->tile_width > 0 && kept->tile_width <= 1u << 20 &&
        kept->tile_height <= 1u << 20) {
        c->tile_width = (kept->tile_width + 15) / 16 * 16;
        c->tile_height = (kept->tile_height + 15) / 16 * 16;
        c->band_rows = c->tile_height;
        return;
    }
    if (kept->known && kept->rows_per_strip > 0 && kept->rows_per_strip <= LARGEST_STRIP / row)
        rows = kept->rows_per_strip;
    c->band_rows = (uint32_t)gf_min(rows, w->image.height);
}

/* LZMA's presets beyond 6 differ by their dictionary alone: 8 MiB, 16, 32, 64, for which the
 * encoder takes ten times as much. What is larger than a strip or tile is for nothing. */
static void limit_dictionary(const struct gf_writer *w, struct gf_tiff_coding *c)
{
    uint64_t width = c->tile_width > 0 ? c->tile_width : w->image.width;
    uint64_t bytes = width * c->channels * gf_type_bytes(w->image.type), preset = 6;

    if (c->compression != COMPRESSION_LZMA || c->level <= 6 || !gf_mul(bytes, c->band_rows, &bytes))
        return;
    while (preset < 9 && (UINT64_C(8) << 20 << (preset - 6)) < bytes)
        preset++;
    c->level = (int)gf_min((uint64_t)c->level, preset);
}

void gf_tiff_choose_coding(const struct gf_writer *w, struct gf_tiff_coding *coding, bool *said)
{
    const struct gf_tiff_layout *kept = &w->image.meta.tiff;

    *coding = (struct gf_tiff_coding){.compression = COMPRESSION_NONE, .level = w->options.level};
    coding->channels = w->image.channels / gf_tiff_pages_per_plane(&w->image);
    if (w->options.compression) {
        coding->compression = find(w->options.compression, 0)->code;
    } else if (kept->known) {
        coding->compression = modern(kept->compression);
        if (!find(NULL, coding->compression)) {
            if (!*said)
                gf_print_warning("%s: the input's compression (%s) cannot hold the result without "
                                 "loss; written with deflate", w->name,
                                 gf_tiff_compression_name(kept->compression));
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
    limit_dictionary(w, coding);
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
