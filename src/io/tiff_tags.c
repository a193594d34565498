/* The tags of a page that is written. */
#include "tiff.h"

#include "../alloc.h"
#include "../util.h"
#include "exif.h"

#include <string.h>

/* How the channels are to be seen, and how many of them that describes. */
static uint16_t photometric(const struct gf_image *image, uint32_t channels, uint32_t *colors)
{
    const struct gf_tiff_layout *kept = &image->meta.tiff;
    bool whole = channels == image->channels; /* else: some pages of a plane */
    uint16_t old = kept->known ? kept->photometric : PHOTOMETRIC_MINISBLACK;
    bool has_alpha = image->alpha >= 0;

    if ((whole && image->color == GF_RGB) ||
        (image->color == GF_OTHER && old == PHOTOMETRIC_RGB && channels >= 3)) {
        *colors = 3;
        return PHOTOMETRIC_RGB;
    }
    if (whole && image->color == GF_CMYK) {
        *colors = 4;
        return PHOTOMETRIC_SEPARATED;
    }
    if (whole && image->color == GF_OTHER && old == PHOTOMETRIC_SEPARATED) {
        *colors = kept->ink_set == INKSET_MULTIINK || channels < 4 ? channels - has_alpha : 4;
        return PHOTOMETRIC_SEPARATED;
    }
    if (whole && image->color == GF_OTHER && old == PHOTOMETRIC_ICCLAB && channels >= 3) {
        *colors = 3;
        return PHOTOMETRIC_ICCLAB;
    }
    *colors = 1;
    /* Read as it was stored, because floating point has no maximum to turn it round. */
    if (old == PHOTOMETRIC_MINISWHITE && gf_type_row(image->type)->is_float)
        return PHOTOMETRIC_MINISWHITE;
    return PHOTOMETRIC_MINISBLACK;
}

static enum gf_status set_channels(TIFF *tif, const struct gf_image *image,
                                   const struct gf_tiff_coding *c, struct gf_error *e)
{
    uint32_t colors, extras;
    uint16_t look = photometric(image, c->channels, &colors);

    TIFFSetField(tif, TIFFTAG_SAMPLESPERPIXEL, (int)c->channels);
    TIFFSetField(tif, TIFFTAG_PHOTOMETRIC, look);
    if (look == PHOTOMETRIC_SEPARATED) {
        bool cmyk = colors == 4 && image->meta.tiff.ink_set != INKSET_MULTIINK;
        TIFFSetField(tif, TIFFTAG_INKSET, cmyk ? INKSET_CMYK : INKSET_MULTIINK);
        if (!cmyk)
            TIFFSetField(tif, TIFFTAG_NUMBEROFINKS, (int)colors);
    }
    extras = c->channels - colors;
    if (extras > 0) {
        uint16_t *kinds = gf_alloc_zero(extras, sizeof *kinds);
        if (!kinds)
            return gf_fail(e, GF_EMEMORY, "not enough memory for %u channels; raise --max-memory",
                           (unsigned)extras);
        if (image->alpha >= (int)colors && c->channels == image->channels)
            kinds[image->alpha - (int)colors] = image->alpha_associated ? EXTRASAMPLE_ASSOCALPHA
                                                                        : EXTRASAMPLE_UNASSALPHA;
        TIFFSetField(tif, TIFFTAG_EXTRASAMPLES, (int)extras, kinds);
        gf_free(kinds);
    }
    return GF_OK;
}

static void set_coding(TIFF *tif, const struct gf_tiff_coding *c)
{
    TIFFSetField(tif, TIFFTAG_COMPRESSION, c->compression);
    TIFFSetField(tif, TIFFTAG_PLANARCONFIG, c->planar);
    if (c->tile_width > 0) {
        TIFFSetField(tif, TIFFTAG_TILEWIDTH, c->tile_width);
        TIFFSetField(tif, TIFFTAG_TILELENGTH, c->tile_height);
    } else {
        TIFFSetField(tif, TIFFTAG_ROWSPERSTRIP, c->band_rows);
    }
    if (c->predictor != PREDICTOR_NONE)
        TIFFSetField(tif, TIFFTAG_PREDICTOR, c->predictor);
    if (c->level < 0)
        return;
    if (c->compression == COMPRESSION_ADOBE_DEFLATE)
        TIFFSetField(tif, TIFFTAG_ZIPQUALITY, (int)gf_min((uint64_t)c->level, 9));
    else if (c->compression == COMPRESSION_ZSTD)
        TIFFSetField(tif, TIFFTAG_ZSTD_LEVEL, (int)gf_max((uint64_t)c->level, 1));
    else if (c->compression == COMPRESSION_LZMA)
        TIFFSetField(tif, TIFFTAG_LZMAPRESET, (int)gf_min((uint64_t)c->level, 9));
}

/* `unit`: mm of ImageJ's unit, in which it counts resolutions; 0 for none. */
static void set_resolution(TIFF *tif, const struct gf_meta *m, double unit)
{
    double x = m->resolution[0], y = m->resolution[1];
    uint16_t in = m->resolution_unit == 2 ? RESUNIT_INCH : RESUNIT_NONE;

    if (m->resolution_unit == 1 || m->resolution_unit == 3)
        in = RESUNIT_CENTIMETER;
    if (m->resolution_unit == 1) {
        x /= 100;
        y /= 100;
    }
    if (unit > 0 && m->spacing[0] > 0 && m->spacing[1] > 0) {
        if (!(x > 0))
            in = RESUNIT_NONE;
        x = unit / m->spacing[0];
        y = unit / m->spacing[1];
    } else if (!(x > 0) && m->spacing[0] > 0 && m->spacing[1] > 0) {
        x = 10 / m->spacing[0];
        y = 10 / m->spacing[1];
        in = RESUNIT_CENTIMETER;
    }
    if (!(x > 0 && y > 0))
        return;
    TIFFSetField(tif, TIFFTAG_XRESOLUTION, x);
    TIFFSetField(tif, TIFFTAG_YRESOLUTION, y);
    TIFFSetField(tif, TIFFTAG_RESOLUTIONUNIT, in);
}

/* "2024:01:31 12:00:00", the only form a TIFF may hold. */
static bool is_date(const char *text)
{
    static const char form[] = "dddd:dd:dd dd:dd:dd";

    for (size_t i = 0; i < sizeof form; i++) {
        bool digit = text[i] >= '0' && text[i] <= '9';
        if (form[i] == 'd' ? !digit : text[i] != form[i])
            return false;
    }
    return true;
}

const struct gf_tiff_text gf_tiff_texts[] = {
    {TIFFTAG_DOCUMENTNAME, "Title"}, {TIFFTAG_ARTIST, "Author"},
    {TIFFTAG_COPYRIGHT, "Copyright"}, {TIFFTAG_SOFTWARE, "Software"},
    {TIFFTAG_DATETIME, "Creation Time"}, {TIFFTAG_MAKE, "Make"}, {TIFFTAG_MODEL, "Model"},
    {TIFFTAG_HOSTCOMPUTER, "Host Computer"}, {TIFFTAG_PAGENAME, "Page Name"}, {0, NULL},
};

/* The tag for a text, 0 when there is none that may hold it. */
static uint32_t tag_of(const struct gf_text *text)
{
    for (const struct gf_tiff_text *t = gf_tiff_texts; t->key; t++)
        if (strcmp(text->key, t->key) == 0)
            return t->tag != TIFFTAG_DATETIME || is_date(text->value) ? t->tag : 0;
    return 0;
}

bool gf_tiff_keeps_text(const struct gf_meta *meta, const struct gf_text *text)
{
    return tag_of(text) != 0 || text->value == gf_tiff_description(meta);
}

const char *gf_tiff_description(const struct gf_meta *meta)
{
    static const char *const keys[] = {"Description", "Comment"};

    if (meta->description)
        return meta->description;
    for (size_t k = 0; k < GF_COUNT(keys); k++)
        for (size_t i = 0; i < meta->text_count; i++)
            if (strcmp(meta->texts[i].key, keys[k]) == 0)
                return meta->texts[i].value;
    return NULL;
}

static void set_texts(TIFF *tif, const struct gf_meta *m)
{
    for (size_t i = 0; i < m->text_count; i++) {
        uint32_t tag = tag_of(&m->texts[i]);
        if (tag != 0)
            TIFFSetField(tif, tag, m->texts[i].value);
    }
    if (m->icc.size > 0 && m->icc.size <= UINT32_MAX)
        TIFFSetField(tif, TIFFTAG_ICCPROFILE, (uint32_t)m->icc.size, m->icc.data);
    if (m->xmp.size > 0 && m->xmp.size <= UINT32_MAX)
        TIFFSetField(tif, TIFFTAG_XMLPACKET, (uint32_t)m->xmp.size, m->xmp.data);
}

static uint16_t sample_format(enum gf_type type)
{
    if (gf_type_row(type)->is_float)
        return SAMPLEFORMAT_IEEEFP;
    return gf_type_row(type)->lowest < 0 ? SAMPLEFORMAT_INT : SAMPLEFORMAT_UINT;
}

enum gf_status gf_tiff_set_tags(TIFF *tif, const struct gf_writer *w,
                                const struct gf_tiff_coding *coding,
                                const struct gf_tiff_words *words, bool first, struct gf_error *e)
{
    const struct gf_image *im = &w->image;
    const struct gf_tiff_layout *kept = &im->meta.tiff;

    TIFFSetField(tif, TIFFTAG_IMAGEWIDTH, (uint32_t)im->width);
    TIFFSetField(tif, TIFFTAG_IMAGELENGTH, (uint32_t)im->height);
    TIFFSetField(tif, TIFFTAG_BITSPERSAMPLE, (int)(8 * gf_type_bytes(im->type)));
    TIFFSetField(tif, TIFFTAG_SAMPLEFORMAT, (int)sample_format(im->type));
    if (kept->known || gf_meta_orientation(&im->meta) > 1)
        TIFFSetField(tif, TIFFTAG_ORIENTATION, gf_meta_orientation(&im->meta));
    set_coding(tif, coding);
    if (first)
        set_texts(tif, &im->meta);
    if (words->text && first)
        TIFFSetField(tif, TIFFTAG_IMAGEDESCRIPTION, words->text);
    set_resolution(tif, &im->meta, words->unit);
    return set_channels(tif, im, coding, e);
}
