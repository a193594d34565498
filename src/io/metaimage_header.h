/* The header of a MetaImage: its fields parsed and checked, and what they mean for the samples. No
 * files are touched here. */
#ifndef GPUFILT_SRC_IO_METAIMAGE_HEADER_H
#define GPUFILT_SRC_IO_METAIMAGE_HEADER_H

#include "../image.h"

#define GF_METAIMAGE_AXES 4

/* X(NAME, "Key", "other keys with commas between them", kept): a field that is `kept` has no
 * bearing on the samples and stays as it is from MetaImage to MetaImage. */
#define GF_METAIMAGE_FIELDS(X)                                               \
    X(OBJECT_TYPE, "ObjectType", "", false)                                  \
    X(DIMENSIONS, "NDims", "", false)                                        \
    X(BINARY, "BinaryData", "", false)                                       \
    X(MSB, "BinaryDataByteOrderMSB", "", false)                              \
    X(ELEMENT_MSB, "ElementByteOrderMSB", "", false)                         \
    X(COMPRESSED, "CompressedData", "", false)                               \
    X(COMPRESSED_SIZE, "CompressedDataSize", "", false)                      \
    X(MATRIX, "TransformMatrix", "Rotation,Orientation", false)              \
    X(OFFSET, "Offset", "Position,Origin", false)                            \
    X(CENTER, "CenterOfRotation", "", false)                                 \
    X(ANATOMY, "AnatomicalOrientation", "", false)                           \
    X(UNITS, "DistanceUnits", "", true)                                      \
    X(SPACING, "ElementSpacing", "", false)                                  \
    X(ELEMENT_SIZE, "ElementSize", "", false)                                \
    X(SIZE, "DimSize", "", false)                                            \
    X(HEADER_SIZE, "HeaderSize", "", false)                                  \
    X(CHANNELS, "ElementNumberOfChannels", "", false)                        \
    X(TYPE, "ElementType", "", false)                                        \
    X(MIN, "ElementMin", "", false)                                          \
    X(MAX, "ElementMax", "", false)                                          \
    X(OBJECT_SUBTYPE, "ObjectSubType", "", true)                             \
    X(TRANSFORM_TYPE, "TransformType", "", true)                             \
    X(ID, "ID", "", true)                                                    \
    X(PARENT_ID, "ParentID", "", true)                                       \
    X(COLOR, "Color", "", true)                                              \
    X(MODALITY, "Modality", "", true)                                        \
    X(SEQUENCE_ID, "SequenceID", "", true)                                   \
    X(DATA_FILE, "ElementDataFile", "", false)

enum gf_metaimage_field {
#define X(NAME, key, others, kept) GF_METAIMAGE_##NAME,
    GF_METAIMAGE_FIELDS(X)
#undef X
    GF_METAIMAGE_FIELD_COUNT
};

struct gf_metaimage {
    const char *name;                   /* of the file, for messages */
    const char *field[GF_METAIMAGE_FIELD_COUNT]; /* values, in the text; NULL: not given */
    char *names;                        /* the lines after "ElementDataFile = LIST", or NULL */
    char *end;                          /* of the lines that were cut */
    unsigned dimensions;                /* 2 to 4 */
    uint64_t sizes[GF_METAIMAGE_AXES];
    uint32_t channels;
    enum gf_type type;
    bool text, big_endian, compressed;
    uint64_t compressed_size;           /* 0: not given */
    uint64_t header_size;
    bool at_end;                        /* HeaderSize is -1 */
    double unit;                        /* mm, of all lengths */
};

/* Parses a header. `text` is cut into lines, zero-terminated (some empty) up to h->end, and must
 * stay alive. GF_EINPUT for what breaks the rules, GF_EFEATURE for what is sound and not read
 * here. */
enum gf_status gf_metaimage_parse(struct gf_metaimage *h, char *text, const char *name,
                                  struct gf_error *e);
/* Cuts "KEY = VALUE" in place; false when the line is none. */
bool gf_metaimage_cut(char *line, char **key, char **value);
/* The field of a key; GF_METAIMAGE_FIELD_COUNT when it is none of them. */
enum gf_metaimage_field gf_metaimage_find(const char *key);
const char *gf_metaimage_key(enum gf_metaimage_field field);
bool gf_metaimage_kept(enum gf_metaimage_field field);
/* "MET_UCHAR"; NULL when there is none for the type. */
const char *gf_metaimage_type_name(enum gf_type type);

/* Shape, type and colour of each image; *images is their number. */
enum gf_status gf_metaimage_image(const struct gf_metaimage *h, struct gf_image *image,
                                  uint64_t *images, struct gf_error *e);
/* Spacing and geometry in mm; that of volumes in RAS (the file's numbers are LPS). Not known where
 * directions are no vectors with a length. */
enum gf_status gf_metaimage_geometry(const struct gf_metaimage *h, struct gf_meta *meta,
                                     struct gf_error *e);

#endif
