/* What the files of the TIFF format share: libtiff over the I/O module, one page as rows of
 * samples, the conversion of samples, and the descriptions that make a volume of pages. */
#ifndef GPUFILT_SRC_IO_TIFF_H
#define GPUFILT_SRC_IO_TIFF_H

#include "format.h"

#include <tiffio.h>
#include <zlib.h>

/* ---- libtiff over the I/O module (tiff_client.c) ---- */

/* libtiff's handle to a file: where it is, and what it complained about. */
struct gf_tiff_client {
    struct gf_in *in;             /* one of the two */
    struct gf_out *out;
    uint64_t position;
    /* A page is shown to libtiff as a file of one directory: while `one_page` is set, the
     * header's offset reads as `directory` and the link at `next_at` as 0. libtiff then
     * never walks the chain, which it does in quadratic time. */
    bool one_page, big, big_endian;
    uint64_t directory, next_at;
    bool decoding;                /* warnings are about samples now */
    bool has_trouble;             /* samples or tags are lost */
    char trouble[400];            /* libtiff's first error, or warning that loses something */
    enum gf_status io_status;     /* of the I/O module, with its message */
    struct gf_error io;
    const char *name;             /* for notes */
};

/* Opens with libtiff; `mode` as TIFFOpen's. NULL on failure, the reason in the client. */
TIFF *gf_tiff_client_open(struct gf_tiff_client *client, const char *mode);
void gf_tiff_client_reset(struct gf_tiff_client *client);
/* The I/O module's own error when there is one, else `status` with "NAME: PLACE: libtiff's
 * text". */
enum gf_status gf_tiff_client_fail(const struct gf_tiff_client *client, enum gf_status status,
                                   const char *place, struct gf_error *e);

/* ---- the chain of directories (tiff_chain.c) ---- */

struct gf_tiff_dir {
    uint64_t offset;
    uint64_t next_at;             /* where the link to the next directory stands */
    uint32_t width, height;       /* from the tags, 0 when they are not simple */
    bool palette;                 /* the photometric tag says so */
};

struct gf_tiff_chain {
    bool big, big_endian, swap;
    struct gf_tiff_dir *dirs;     /* reduced images and masks left out */
    uint64_t count;
};

/* Walks the main chain once; a loop is GF_EINPUT. */
enum gf_status gf_tiff_chain_read(struct gf_tiff_chain *chain, struct gf_in *in,
                                  const char *name, struct gf_error *e);

/* ---- samples (tiff_samples.c) ---- */

/* How stored samples become ours. */
struct gf_tiff_convert {
    unsigned bits;                /* stored bits of a sample */
    bool is_signed, is_float;
    bool invert;                  /* channel 0 is min-is-white */
    bool scale;                   /* 1 to 7 bits to 0..255 */
    bool identity;                /* stored samples in machine order are the result */
    uint32_t stored_channels;     /* per pixel, before a palette */
    uint32_t channels;            /* per pixel of the result */
    enum gf_type type;
    uint8_t *palette;             /* red, green, blue of each index, or NULL */
    uint8_t scaled[128];          /* filled by gf_tiff_convert_setup */
    void *scratch;                /* 8 bytes for each sample of a row, unless identity */
};

void gf_tiff_convert_setup(struct gf_tiff_convert *c);
/* `pixels` pixels that hold the stored channels [first, first + count) become those channels
 * of `out`. Returns the number of samples converted: fewer than pixels * count when the next
 * one is a 64-bit integer that f64 cannot hold. */
uint64_t gf_tiff_convert_row(const struct gf_tiff_convert *c, const uint8_t *row, uint64_t pixels,
                             uint32_t first, uint32_t count, void *out);
/* Stored bytes to this machine's order: samples of 16, 24, 32 or 64 bits. */
void gf_tiff_swap(void *data, uint64_t bytes, unsigned bits);
/* Undoes the predictor on one row in the file's byte order; the result is in machine order. */
void gf_tiff_unpredict(uint8_t *row, uint64_t row_bytes, unsigned bits, uint32_t stride,
                       uint16_t predictor, bool swap, uint8_t *scratch);

/* ---- one page (tiff_page.c, tiff_decode.c) ---- */

enum gf_tiff_method {
    GF_TIFF_STORED,   /* not compressed: read straight from the file */
    GF_TIFF_DEFLATE,  /* inflated here, because libtiff lets a damaged stream pass */
    GF_TIFF_LIBRARY,  /* libtiff decodes */
    GF_TIFF_RGBA      /* libtiff decodes and makes RGB of YCbCr */
};

struct gf_tiff_page {
    TIFF *tif;
    struct gf_tiff_client client;
    const char *name;
    uint64_t number;              /* from 1, for messages */
    uint64_t width, height;
    uint32_t tile_width, tile_height; /* 0: strips */
    uint32_t band_rows;           /* rows of a strip or tile */
    uint16_t samples, bits, photometric, compression, predictor, fill_order, planar,
             orientation;
    bool swap;                    /* the file's byte order is not the machine's */
    enum gf_tiff_method method;
    enum gf_color color;
    int alpha;
    bool alpha_associated;
    struct gf_tiff_convert convert;
    uint32_t planes;              /* separate planes stored, 1 when interleaved */
    uint32_t stored_channels;     /* in one plane */
    uint64_t unit_width, unit_row_bytes, unit_bytes; /* a stored strip or tile, decoded */
    uint64_t row_bytes;           /* of the result */
    uint64_t plane_offset;        /* added to strip offsets: contiguous ImageJ stacks */
    uint8_t *unit;                /* unit_bytes, allocated at the first read */
    uint8_t *band;                /* one band of the result */
    uint64_t band_index;          /* which, UINT64_MAX for none */
    uint8_t *scratch;             /* one row for predictors */
    z_stream inflate;
    bool inflate_ready;
    uint8_t *input;               /* GF_TIFF_INPUT bytes of compressed data */
};

#define GF_TIFF_INPUT ((size_t)256 << 10)

/* Opens directory `dir` of the chain and checks that it can be read; `page` was zeroed or
 * closed. */
enum gf_status gf_tiff_page_open(struct gf_tiff_page *page, struct gf_in *in,
                                 const struct gf_tiff_chain *chain, uint64_t index,
                                 const char *name, struct gf_error *e);
/* Rows [first, first + count), packed. */
enum gf_status gf_tiff_page_rows(struct gf_tiff_page *page, uint64_t first, uint64_t count,
                                 uint8_t *rows, struct gf_error *e);
/* Accepts a half-opened page; leaves zeros. */
void gf_tiff_page_close(struct gf_tiff_page *page);
/* Bytes that reading the page needs beside the caller's rows. */
uint64_t gf_tiff_page_memory(const struct gf_tiff_page *page);

/* Decodes strip or tile `index`, holding `rows` rows, to `out` (machine order, still packed;
 * RGBA: see libtiff). */
enum gf_status gf_tiff_decode(struct gf_tiff_page *page, uint32_t index, uint64_t first_row,
                              uint64_t rows, uint8_t *out, struct gf_error *e);
/* Reads `size` stored bytes, `skip` bytes into strip or tile `index`. */
enum gf_status gf_tiff_read_stored(struct gf_tiff_page *page, uint32_t index, uint64_t skip,
                                   uint64_t size, uint8_t *out, struct gf_error *e);

/* ---- pages as volumes (tiff_stack.c) ---- */

enum gf_tiff_description { GF_TIFF_PLAIN, GF_TIFF_IMAGEJ, GF_TIFF_OME };

/* What an ImageJ or OME description says. */
struct gf_tiff_stack {
    enum gf_tiff_description kind;
    uint64_t images;              /* ImageJ: planes in the file; 0 when not given */
    uint64_t z, c, t;             /* sizes, 1 when not given */
    uint64_t step_z, step_c, step_t; /* page index = z*step_z + c*step_c + t*step_t */
    bool in_order;                /* false: OME maps planes to pages in another way */
    unsigned other_files;         /* planes that OME says are in other files */
    double spacing[3];            /* OME: mm along x, y, z; ImageJ: z only; 0 unknown */
    double unit;                  /* ImageJ: mm of the unit, 0 unknown */
};

/* `samples` is the samples per pixel of a page: OME counts them as channels. */
void gf_tiff_stack_parse(const char *description, uint32_t samples, struct gf_tiff_stack *stack);

/* In how many pages the channels of a plane of `image` lie: as in the input, where that still
 * fits. */
uint32_t gf_tiff_pages_per_plane(const struct gf_image *image);

/* The description to be written. */
struct gf_tiff_words {
    char *text;                   /* NULL for none; to be freed with gf_free */
    bool imagej;                  /* it is ImageJ's, on the first page for the whole file */
    double unit;                  /* mm of ImageJ's unit, in which resolutions count; 0: none */
    bool said;                    /* that the old one does not fit */
};

/* The text that becomes a TIFF's description: the metadata's own, else a text "Description" or
 * "Comment"; NULL for none. */
const char *gf_tiff_description(const struct gf_meta *meta);
/* The description for the pages of w->image: the kept one with its counts put right, or an
 * ImageJ one when a volume needs it. When the first image's is ImageJ's it stays. */
enum gf_status gf_tiff_describe(const struct gf_writer *w, struct gf_tiff_words *words,
                                struct gf_error *e);

/* ---- how a page is written (tiff_coding.c, tiff_tags.c) ---- */

struct gf_tiff_coding {
    uint16_t compression, predictor, planar;
    uint32_t tile_width, tile_height; /* 0: strips */
    uint32_t band_rows;               /* rows of a strip or tile */
    uint32_t channels;                /* of one page */
    int level;                        /* -1: the library's own */
};

/* The coding of the pages of w->image: asked for (a known one), or kept from the input where it
 * can hold the samples without loss. *said is set once the user was told of another one. */
void gf_tiff_choose_coding(const struct gf_writer *w, struct gf_tiff_coding *coding, bool *said);
/* Whether a classic file might not do. */
bool gf_tiff_needs_big(const struct gf_writer *w, const struct gf_tiff_coding *coding,
                       uint64_t *bytes);
/* The tags of one page; `first` of its image gets the texts and profiles as well. */
enum gf_status gf_tiff_set_tags(TIFF *tif, const struct gf_writer *w,
                                const struct gf_tiff_coding *coding,
                                const struct gf_tiff_words *words, bool first, struct gf_error *e);

/* The tags that hold texts, with the keys of these; key NULL at the end. */
struct gf_tiff_text {
    uint32_t tag;
    const char *key;
};
extern const struct gf_tiff_text gf_tiff_texts[];
bool gf_tiff_keeps_text(const struct gf_meta *meta, const struct gf_text *text);

/* ---- writing (tiff_write.c), members of gf_format_tiff ---- */

enum gf_status gf_tiff_accepts(const struct gf_image *image, uint64_t images, const char *name,
                               struct gf_error *e);
enum gf_status gf_tiff_create(struct gf_writer *w, struct gf_error *e);
enum gf_status gf_tiff_begin(struct gf_writer *w, struct gf_error *e);
enum gf_status gf_tiff_write_rows(struct gf_writer *w, const void *rows, uint64_t count,
                                  struct gf_error *e);
enum gf_status gf_tiff_complete(struct gf_writer *w, struct gf_error *e);
void gf_tiff_discard(struct gf_writer *w);

#endif
