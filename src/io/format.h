/* File formats: one constant struct a format, one list, and the reader and writer
 * objects the rest of the program uses. Formats know images, not plans. */
#ifndef GPUFILT_SRC_IO_FORMAT_H
#define GPUFILT_SRC_IO_FORMAT_H

#include "../image.h"
#include "file.h"

/* Where samples are in a raw file (--raw or the size in the name). */
struct gf_raw_spec {
    bool given;
    uint64_t width, height, depth;
    uint32_t channels;
    enum gf_type type;
    bool big_endian;
    uint64_t offset;              /* bytes before the first sample */
};

struct gf_read_options {
    struct gf_raw_spec raw;
    bool stack_pages;  /* --3d: pages of equal shape become the z axis of one volume */
};

/* An open input. A file holds `images` images (pages of a TIFF; 1 for a PNG); each is a
 * picture or a volume. Exactly one image is selected at a time. */
struct gf_reader {
    const struct gf_format *format;
    struct gf_in *in;
    const char *name;             /* for messages */
    struct gf_read_options options;
    uint64_t images;              /* set by open, >= 1 */
    bool random_access;           /* rows may be read in any order, cheaply */
    uint64_t selected;            /* the image that was selected last */
    bool gzipped;                 /* the file is deflated as a whole; set before open */
    const char *compression;      /* of the samples, where gf_voxels reads them: "gzip", "zlib";
                                   * NULL: none */
    void *state;                  /* the format's own, allocated by open */
};

struct gf_write_options {
    const char *compression;      /* --compression NAME, or NULL */
    bool gzip;                    /* deflated as a whole, as -f nii.gz asks */
    int level;                    /* --level 0..9 for deflate, -1 default */
    unsigned threads;             /* for compression; 0: one a processor. Never in the bytes */
    bool quiet;                   /* notes and warnings were given for another file like it */
};

struct gf_writer {
    const struct gf_format *format;
    struct gf_out *out;
    struct gf_out *second;        /* a file for the samples alone, which is committed with `out`;
                                   * opened by the format, or NULL */
    struct gf_out_options out_options; /* of both */
    const char *name;
    struct gf_write_options options;
    uint64_t images;              /* how many will be written */
    uint64_t bytes;               /* of all samples of all images, before compression */
    bool gzipped;                 /* the file is to be deflated as a whole: by its name */
    struct gf_image image;        /* the image being written (meta borrowed) */
    uint64_t index;               /* of that image, from 0 */
    uint64_t rows;                /* of it, written so far */
    void *state;
};

/* Metadata that a format holds. */
enum gf_keeps {
    GF_KEEPS_ICC = 1 << 0,
    GF_KEEPS_EXIF = 1 << 1,
    GF_KEEPS_XMP = 1 << 2,
    GF_KEEPS_TEXTS = 1 << 3,
    GF_KEEPS_RESOLUTION = 1 << 4,
    GF_KEEPS_SPACING = 1 << 5,
    GF_KEEPS_DESCRIPTION = 1 << 6,
    GF_KEEPS_GAMMA = 1 << 7,      /* gamma and primaries */
    GF_KEEPS_ORIENTATION = 1 << 8,
    GF_KEEPS_ORIGIN = 1 << 9,     /* of a volume, and */
    GF_KEEPS_DIRECTIONS = 1 << 10 /* the directions of its axes */
};

struct gf_format {
    const char *name;             /* "png": -f value */
    const char *extensions;       /* space-separated, without dots: "tif tiff btf" */
    const char *data_extensions;  /* of files that hold nothing but samples, whose header lies
                                   * beside them: they are given to open(), which finds it. NULL:
                                   * none */
    const char *summary;          /* one line for help */
    bool seekable_output;         /* the writer needs a seekable output */
    bool associated_alpha;        /* can hold colour that is stored multiplied by alpha */
    unsigned keeps;               /* written metadata: bits of enum gf_keeps */
    bool gzip;                    /* may be deflated as a whole: NAME.EXT.gz */
    const char *compressions;     /* of the samples, what --compression may say, blank-separated;
                                   * NULL: nothing (TIFF: gf_tiff_compression_names) */

    /* --- reading; all NULL when the format is only written --- */
    /* True when these first bytes of a file are this format's. `size` is the whole file
     * when that is shorter than GF_PROBE_BYTES. NULL: by name only (raw). */
    bool (*probe)(const uint8_t *head, size_t size);
    /* Reads the header; sets images, random_access, state. */
    enum gf_status (*open)(struct gf_reader *r, struct gf_error *e);
    /* Fills `image` (zeroed by the caller, who frees its meta) for image `index`.
     * Going through them in order is cheap; it selects the image for read_rows.
     * Refuses before allocating anything what gf_image_check or the memory limit
     * refuses. */
    enum gf_status (*select)(struct gf_reader *r, uint64_t index, struct gf_image *image,
                             struct gf_error *e);
    /* Rows [first, first + count) of the selected image into `rows`, packed, samples in
     * this machine's byte order; row r is y = r % height of plane z = r / height. In
     * increasing order without gaps unless random_access. */
    enum gf_status (*read_rows)(struct gf_reader *r, uint64_t first, uint64_t count, void *rows,
                                struct gf_error *e);
    /* Samples [first, first + count) of the selected image in the order of its rows; from several
     * threads at once. NULL: there are whole rows only. */
    enum gf_status (*read_samples)(struct gf_reader *r, uint64_t first, uint64_t count,
                                   void *samples, struct gf_error *e);
    /* After the last row of the last image: reads what is left and verifies the
     * checksums that come after the samples. May be NULL. */
    enum gf_status (*finish)(struct gf_reader *r, struct gf_error *e);
    /* Releases state; accepts a half-opened reader. NULL: state is NULL or one block. */
    void (*close)(struct gf_reader *r);

    /* --- writing; all NULL when the format is only read --- */
    /* GF_EFEATURE and the command that converts it when this format cannot hold
     * the image, or not that many. */
    enum gf_status (*accepts)(const struct gf_image *image, uint64_t images, const char *name,
                              struct gf_error *e);
    enum gf_status (*create)(struct gf_writer *w, struct gf_error *e);
    /* Starts an image: w->image is set. */
    enum gf_status (*begin)(struct gf_writer *w, struct gf_error *e);
    /* The next `count` rows, packed, in order. */
    enum gf_status (*write_rows)(struct gf_writer *w, const void *rows, uint64_t count,
                                 struct gf_error *e);
    /* After the last row; gf_writer_end has seen that there were all of them. May be NULL. */
    enum gf_status (*end)(struct gf_writer *w, struct gf_error *e);
    /* The path of the second file beside an output of this path, before anything is written. False
     * when there is none, or no room for its name. NULL: there never is. */
    bool (*second_file)(const char *path, const struct gf_write_options *options, char *name,
                        size_t room);
    /* Everything to the output; the caller commits it. May be NULL. */
    enum gf_status (*complete)(struct gf_writer *w, struct gf_error *e);
    /* Releases state, also after complete. NULL: state is NULL or one block. */
    void (*discard)(struct gf_writer *w);
    /* With GF_KEEPS_TEXTS: whether this one of `meta` is held. NULL: all are. */
    bool (*keeps_text)(const struct gf_meta *meta, const struct gf_text *text);
};

#define GF_PROBE_BYTES 512

/* All formats, NULL-terminated; more specific probes first. */
extern const struct gf_format *const gf_formats[];

extern const struct gf_format gf_format_png, gf_format_tiff, gf_format_jpeg, gf_format_bmp,
    gf_format_tga, gf_format_hdr, gf_format_psd, gf_format_pnm, gf_format_pfm, gf_format_raw,
    gf_format_nrrd, gf_format_metaimage, gf_format_npy,
    gf_format_nifti;

/* The format by -f name or extension ("tiff", "tif", "nii.gz"); NULL when unknown. */
const struct gf_format *gf_format_by_name(const char *name);
/* The names of the formats that can be written, blank-separated, in `list`, which it returns. */
const char *gf_format_names(char *list, size_t room);
/* Whether a name ends in ".gz". */
bool gf_name_gzipped(const char *name);
/* The extension in a path, without its dot: "tif", or "nii.gz" where a known format may be deflated
 * as a whole; the empty end where there is none. */
const char *gf_path_extension(const char *path);
/* The format by the extension of a path; NULL when unknown. */
const struct gf_format *gf_format_by_path(const char *path);

/* All that --compression may say, with blanks between, in `list`, which it returns. */
const char *gf_compression_names(char *list, size_t room);
/* GF_EUSAGE when options.compression is none of the format's, or not what the path says. */
enum gf_status gf_compression_check(const struct gf_format *format, const char *path,
                                    const struct gf_write_options *options, struct gf_error *e);
/* Compressions for gf_write_options: those without loss that libtiff has in this build. */
bool gf_tiff_compression_known(const char *name);
/* Their names with blanks between them. */
const char *gf_tiff_compression_names(void);
/* The name of a COMPRESSION_* code, for people. */
const char *gf_tiff_compression_name(uint16_t code);

/* Opens an input and finds its format from the content (raw: from the options or the
 * size in the name). A path that is a pattern of slices (stack.h) is a volume of them. */
enum gf_status gf_reader_open(struct gf_reader **r, const char *path,
                              const struct gf_read_options *options, struct gf_error *e);
/* The same of one file, whatever its name looks like. */
enum gf_status gf_reader_open_file(struct gf_reader **r, const char *path,
                                   const struct gf_read_options *options, struct gf_error *e);
enum gf_status gf_reader_select(struct gf_reader *r, uint64_t index, struct gf_image *image,
                                struct gf_error *e);
enum gf_status gf_reader_rows(struct gf_reader *r, uint64_t first, uint64_t count, void *rows,
                              struct gf_error *e);
/* The same of samples, for formats that have read_samples. */
enum gf_status gf_reader_samples(struct gf_reader *r, uint64_t first, uint64_t count,
                                 void *samples, struct gf_error *e);
/* Back to the first row of the selected image, also where the format goes forward only: what was
 * read is read and decoded again. GF_EINPUT when it is not `image` any more. */
enum gf_status gf_reader_restart(struct gf_reader *r, const struct gf_image *image,
                                 struct gf_error *e);
/* Verifies trailing checksums and that the file did not change while it was read. */
enum gf_status gf_reader_finish(struct gf_reader *r, struct gf_error *e);
void gf_reader_close(struct gf_reader **r);

/* Opens an output for `images` images of `bytes` sample bytes in all. */
enum gf_status gf_writer_open(struct gf_writer **w, const char *path,
                              const struct gf_format *format, uint64_t images, uint64_t bytes,
                              const struct gf_write_options *options,
                              const struct gf_out_options *out_options, struct gf_error *e);
/* `image` (with its meta) must stay alive until gf_writer_end. A note names the metadata of
 * the first image that the format does not hold. */
enum gf_status gf_writer_begin(struct gf_writer *w, const struct gf_image *image,
                               struct gf_error *e);
enum gf_status gf_writer_rows(struct gf_writer *w, const void *rows, uint64_t count,
                              struct gf_error *e);
/* GF_EOUTPUT when rows are missing. */
enum gf_status gf_writer_end(struct gf_writer *w, struct gf_error *e);
/* Completes the file, which then waits for its name (gf_out_park); the writer is gone
 * afterwards, also on an error. */
enum gf_status gf_writer_park(struct gf_writer **w, struct gf_parked **parked, struct gf_error *e);
/* Completes and commits the file; the writer is gone afterwards, also on an error. */
enum gf_status gf_writer_commit(struct gf_writer **w, struct gf_error *e);
void gf_writer_abort(struct gf_writer **w);

#endif
