/* The header of an NRRD: its fields parsed and checked, and what they mean for the samples. No
 * files are touched here. */
#ifndef GPUFILT_SRC_IO_NRRD_HEADER_H
#define GPUFILT_SRC_IO_NRRD_HEADER_H

#include "../image.h"

#define GF_NRRD_AXES 16

/* X(NAME, "name", "other name"): the fields of NRRD0001 to NRRD0005. */
#define GF_NRRD_FIELDS(X)                                                    \
    X(CONTENT, "content", "")                                                \
    X(NUMBER, "number", "")                                                  \
    X(TYPE, "type", "")                                                      \
    X(BLOCK_SIZE, "block size", "blocksize")                                 \
    X(DIMENSION, "dimension", "")                                            \
    X(SPACE, "space", "")                                                    \
    X(SPACE_DIMENSION, "space dimension", "")                                \
    X(SIZES, "sizes", "")                                                    \
    X(SPACINGS, "spacings", "")                                              \
    X(THICKNESSES, "thicknesses", "")                                        \
    X(AXIS_MINS, "axis mins", "axismins")                                    \
    X(AXIS_MAXS, "axis maxs", "axismaxs")                                    \
    X(SPACE_DIRECTIONS, "space directions", "")                              \
    X(CENTERINGS, "centerings", "centers")                                   \
    X(KINDS, "kinds", "")                                                    \
    X(LABELS, "labels", "")                                                  \
    X(UNITS, "units", "")                                                    \
    X(MIN, "min", "")                                                        \
    X(MAX, "max", "")                                                        \
    X(OLD_MIN, "old min", "oldmin")                                          \
    X(OLD_MAX, "old max", "oldmax")                                          \
    X(ENDIAN, "endian", "")                                                  \
    X(ENCODING, "encoding", "")                                              \
    X(LINE_SKIP, "line skip", "lineskip")                                    \
    X(BYTE_SKIP, "byte skip", "byteskip")                                    \
    X(SAMPLE_UNITS, "sample units", "sampleunits")                           \
    X(SPACE_UNITS, "space units", "")                                        \
    X(SPACE_ORIGIN, "space origin", "")                                      \
    X(MEASUREMENT_FRAME, "measurement frame", "")                            \
    X(DATA_FILE, "data file", "datafile")

enum gf_nrrd_field {
#define X(NAME, name, other) GF_NRRD_##NAME,
    GF_NRRD_FIELDS(X)
#undef X
    GF_NRRD_FIELD_COUNT
};

enum gf_nrrd_encoding { GF_NRRD_RAW, GF_NRRD_GZIP, GF_NRRD_TEXT };

/* A name of a patient's or another space of three dimensions. */
struct gf_nrrd_space {
    const char *name, *brief;
    bool known;               /* its directions have names: */
    bool left, posterior;     /* where x and y grow; else right and anterior. z grows to superior */
};

struct gf_nrrd_kind {
    const char *name;
    unsigned size;            /* that the axis must have, or 0 */
    bool space;               /* an axis of the image itself */
    enum gf_color color;      /* of its channels */
    bool alpha;               /* the last channel */
};

/* What a line of a header is. */
enum gf_nrrd_line { GF_NRRD_COMMENT, GF_NRRD_FIELD, GF_NRRD_KEY, GF_NRRD_UNKNOWN, GF_NRRD_NOTHING };

struct gf_nrrd {
    const char *name;                   /* of the file, for messages */
    const char *field[GF_NRRD_FIELD_COUNT]; /* values, in the text; NULL: not given */
    char *names;                        /* the lines after "data file: LIST", or NULL */
    char *end;                          /* of the lines that were cut */
    enum gf_type type;
    unsigned dimension;
    uint64_t sizes[GF_NRRD_AXES];
    enum gf_nrrd_encoding encoding;
    bool big_endian;
    uint64_t line_skip, byte_skip;
    bool at_end;                        /* byte skip -1 */
    const struct gf_nrrd_kind *kinds[GF_NRRD_AXES]; /* NULL: not said */
    /* Which axes are what: */
    unsigned first, space_axes;         /* axis 0 is channels when first is 1 */
    bool list;                          /* the last axis counts images */
    unsigned space_dimension;           /* 0: no space */
    const struct gf_nrrd_space *space;  /* NULL: without a name */
    bool directed;                      /* every axis of space has a direction */
    double unit[3];                     /* mm, of the directions of space */
};

/* Parses a header. `text` is cut into lines, zero-terminated (some empty) up to h->end, and must
 * stay alive. GF_EINPUT for what breaks the rules, GF_EFEATURE for what is sound and not read
 * here. */
enum gf_status gf_nrrd_parse(struct gf_nrrd *h, char *text, const char *name, struct gf_error *e);
/* What kind of line one of the cut text is, its field in *field; *value is the text after the field
 * name, or of a key after the ":=". */
enum gf_nrrd_line gf_nrrd_line(const char *line, enum gf_nrrd_field *field, const char **value);
/* The first name of a field. */
const char *gf_nrrd_field_name(enum gf_nrrd_field field);

/* Shape, type and colour of each image; *images is their number. */
enum gf_status gf_nrrd_image(const struct gf_nrrd *h, struct gf_image *image, uint64_t *images,
                             struct gf_error *e);
/* Spacing and geometry, in mm and RAS; not known where directions are no vectors with a length. A
 * unit that is no length is taken for mm: */
enum gf_status gf_nrrd_geometry(const struct gf_nrrd *h, struct gf_meta *meta, struct gf_error *e);
/* false when there is such a unit. */
bool gf_nrrd_units_known(const struct gf_nrrd *h);
/* Turns geometry in RAS into the space of a name, or back; NULL does nothing. */
void gf_nrrd_turn(const struct gf_nrrd_space *space, struct gf_geometry *g);
/* The space that is written where no other is asked for: left-posterior-superior. */
const struct gf_nrrd_space *gf_nrrd_default_space(void);
/* Whether samples along an axis of the image are the middles of cells, before the first of which by
 * half a cell the axis begins. */
bool gf_nrrd_is_cell(const struct gf_nrrd *h, unsigned axis);
/* The unit of the spacing of an axis of the image (0 is x) in mm: 1 unless `units` says another. */
double gf_nrrd_axis_unit(const struct gf_nrrd *h, unsigned axis);

#endif
