/* What an image is, without its samples: shape, sample type, colour and metadata. */
#ifndef GPUFILT_SRC_IMAGE_H
#define GPUFILT_SRC_IMAGE_H

#include "sample.h"
#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gf_color {
    GF_GRAY,  /* 1 colour channel */
    GF_RGB,   /* 3 */
    GF_CMYK,  /* 4 */
    GF_OTHER  /* any number of channels without a colour meaning */
};

/* Bytes owned by the metadata; NULL and 0 when absent. */
struct gf_blob {
    uint8_t *data;
    size_t size;
};

/* A text: keyword as in PNG ("Title", "Comment"; UTF-8) and value (UTF-8). */
struct gf_text {
    char *key;
    char *value;
};

/* How a TIFF stores its samples, so that TIFF to TIFF keeps it. */
struct gf_tiff_layout {
    bool known;               /* false: the writer's defaults */
    uint16_t compression;     /* COMPRESSION_* of libtiff */
    uint16_t predictor;       /* PREDICTOR_*; 0 where the coding has none */
    uint16_t planar;          /* PLANARCONFIG_* */
    uint32_t tile_width, tile_height; /* 0 for strips */
    uint32_t rows_per_strip;
    bool big_endian, bigtiff;
    uint16_t photometric;     /* PHOTOMETRIC_* of the samples as we hand them out */
    uint16_t orientation;     /* the tag, 1..8; samples are as stored */
    uint16_t ink_set;         /* INKSET_*; 0 when absent */
    uint32_t pages_per_plane; /* a plane's channels lie in that many pages; 0 or 1: in one */
};

/* How the three directions of a patient's or an instrument's space are named. */
enum gf_space {
    GF_SPACE_UNKNOWN,         /* numbers without names */
    GF_SPACE_RAS              /* to the right, to the front, to the head; what a file says in LPS is
                               * turned into this and back */
};

/* Where voxels are: the centre of voxel (i, j, k) is at origin + i step[0] + j step[1] + k step[2],
 * in mm. The lengths of the steps are the spacing. */
struct gf_geometry {
    bool known;               /* else only the spacing says something */
    enum gf_space space;
    double origin[3];
    double step[3][3];        /* step[axis] is a vector in space */
};

/* Metadata that formats share. Owned; gf_meta_free releases it. */
struct gf_meta {
    double spacing[3];        /* voxel size along x, y, z in mm; 0 when unknown */
    struct gf_geometry geometry;
    /* What the file's own header says that has no place here, for a writer of the same format:
     * its form is that format's affair. native_format is the format's name, or NULL. */
    const char *native_format;
    struct gf_blob native;
    double resolution[2];     /* pixels per unit along x, y; 0 when unknown */
    int resolution_unit;      /* 0 none (aspect ratio only), 1 metre, 2 inch, 3 cm */
    struct gf_blob icc, exif, xmp;
    char *description;        /* TIFF ImageDescription; NULL when absent */
    struct gf_text *texts;    /* PNG text chunks, TIFF Artist, Copyright, ...  */
    size_t text_count;
    bool has_gamma, has_chroma, has_srgb;
    uint32_t gamma;           /* PNG gAMA: times 100000 */
    uint32_t chroma[8];       /* PNG cHRM: white, red, green, blue x y, times 100000 */
    uint8_t srgb_intent;      /* PNG sRGB */
    struct gf_tiff_layout tiff;
};

struct gf_image {
    uint64_t width, height, depth; /* all >= 1; depth 1 for a picture */
    uint32_t channels;             /* >= 1, interleaved, alpha included */
    enum gf_type type;
    enum gf_color color;
    int alpha;                     /* index of the alpha channel, or -1 */
    bool alpha_associated;         /* colour is stored multiplied by alpha */
    bool volume;                   /* the file says that depth is space (z), not pages */
    struct gf_meta meta;
};

/* Whether depth is space and there is any: filtered in 3D unless asked otherwise. */
static inline bool gf_is_volume(const struct gf_image *image)
{
    return image->volume && image->depth > 1;
}

/* Whether both have the same samples in the same places: sizes, channels and type. */
static inline bool gf_same_shape(const struct gf_image *a, const struct gf_image *b)
{
    return a->width == b->width && a->height == b->height && a->depth == b->depth &&
           a->channels == b->channels && a->type == b->type;
}

/* Bytes of one row: width * channels * bytes of a sample. The product of all sizes
 * of an image that a reader has described fits in 63 bits (gf_image_check). */
static inline size_t gf_row_bytes(const struct gf_image *image)
{
    return (size_t)(image->width * image->channels * gf_type_bytes(image->type));
}

/* Bytes of all samples. */
static inline uint64_t gf_image_bytes(const struct gf_image *image)
{
    return image->depth * image->height * gf_row_bytes(image);
}

/* GF_EINPUT when a size is 0 or the bytes of all samples do not fit in 63 bits. `name`
 * is the file in the message. */
enum gf_status gf_image_check(const struct gf_image *image, const char *name, struct gf_error *e);

/* Deep copy; on GF_EMEMORY `to` holds nothing. */
enum gf_status gf_meta_copy(struct gf_meta *to, const struct gf_meta *from, struct gf_error *e);
/* Appends a text; both strings are copied. */
enum gf_status gf_meta_add_text(struct gf_meta *meta, const char *key, const char *value,
                                struct gf_error *e);
/* Copies `size` bytes into `blob`. */
enum gf_status gf_blob_set(struct gf_blob *blob, const void *data, size_t size, struct gf_error *e);
/* Takes the axes of `spacing` that are above 0, which count for more than the file; a resolution
 * that says otherwise goes. */
void gf_meta_override_spacing(struct gf_meta *meta, const double spacing[3]);
/* Releases everything and leaves zeros; accepts a zeroed struct. */
void gf_meta_free(struct gf_meta *meta);

#endif
