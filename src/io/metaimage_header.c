#include "metaimage_header.h"

#include "../alloc.h"
#include "../geometry.h"
#include "../text.h"
#include "../util.h"
#include "text_header.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* ---- tables ---- */

static const struct {
    const char *key, *others;
    bool kept;
} fields[] = {
#define X(NAME, key, others, kept) {key, others, kept},
    GF_METAIMAGE_FIELDS(X)
#undef X
};

#define NO_TYPE (-1)

/* Arrays are the same samples with several channels. */
static const struct {
    const char *name;
    int type;
} types[] = {
    {"MET_CHAR", GF_I8},        {"MET_UCHAR", GF_U8},        {"MET_SHORT", GF_I16},
    {"MET_USHORT", GF_U16},     {"MET_INT", GF_I32},         {"MET_UINT", GF_U32},
    {"MET_LONG", GF_I32},       {"MET_ULONG", GF_U32},       {"MET_FLOAT", GF_F32},
    {"MET_DOUBLE", GF_F64},     {"MET_LONG_LONG", NO_TYPE},  {"MET_ULONG_LONG", NO_TYPE},
    {"MET_ASCII_CHAR", NO_TYPE}, {"MET_STRING", NO_TYPE},    {"MET_OTHER", NO_TYPE},
    {"MET_FLOAT_MATRIX", NO_TYPE},
};

const char *gf_metaimage_key(enum gf_metaimage_field field) { return fields[field].key; }

bool gf_metaimage_kept(enum gf_metaimage_field field) { return fields[field].kept; }

const char *gf_metaimage_type_name(enum gf_type type)
{
    for (size_t i = 0; i < GF_COUNT(types); i++)
        if (types[i].type == (int)type)
            return types[i].name;
    return NULL;
}

enum gf_metaimage_field gf_metaimage_find(const char *key)
{
    const size_t size = strlen(key);
    for (size_t i = 0; i < GF_COUNT(fields); i++) {
        if (strcmp(fields[i].key, key) == 0)
            return (enum gf_metaimage_field)i;
        for (const char *s = fields[i].others; *s; s += strcspn(s, ","), s += *s == ',')
            if (strcspn(s, ",") == size && memcmp(s, key, size) == 0)
                return (enum gf_metaimage_field)i;
    }
    return GF_METAIMAGE_FIELD_COUNT;
}

/* ---- lines ---- */

bool gf_metaimage_cut(char *line, char **key, char **value)
{
    char *s = strpbrk(line, "=:");
    if (!s)
        return false;
    *s = '\0';
    *key = gf_trim(line);
    *value = gf_trim(s + 1);
    return **key != '\0';
}

static enum gf_status take_lines(struct gf_metaimage *h, char *text, struct gf_error *e)
{
    char *line, *key, *value;

    h->end = text + strlen(text);
    while ((line = gf_next_line(&text)) != NULL) {
        enum gf_metaimage_field field;
        if (*gf_trim(line) == '\0')
            continue;
        if (!gf_metaimage_cut(line, &key, &value))
            return gf_fail(e, GF_EINPUT, "%s: damaged MetaImage header: the line '%.80s' is not "
                           "'KEY = VALUE'", h->name, line);
        field = gf_metaimage_find(key);
        if (field == GF_METAIMAGE_FIELD_COUNT)
            continue;
        if (h->field[field] && strcmp(h->field[field], value) != 0)
            return gf_fail(e, GF_EINPUT, "%s: damaged MetaImage header: %s is given twice, as "
                           "'%.40s' and as '%.40s'", h->name, fields[field].key, h->field[field],
                           value);
        h->field[field] = value;
        if (field == GF_METAIMAGE_DATA_FILE) {
            h->names = h->end = text;
            break;
        }
    }
    return GF_OK;
}

/* ---- values ---- */

static enum gf_status wrong(const struct gf_metaimage *h, enum gf_metaimage_field field,
                            const char *need, struct gf_error *e)
{
    return gf_fail(e, GF_EINPUT, "%s: damaged MetaImage header: '%s = %.80s', where %s", h->name,
                   fields[field].key, h->field[field], need);
}

static enum gf_status missing(const struct gf_metaimage *h, enum gf_metaimage_field field,
                              struct gf_error *e)
{
    return gf_fail(e, GF_EINPUT, "%s: damaged MetaImage header: it lacks %s", h->name,
                   fields[field].key);
}

static enum gf_status take_bool(const struct gf_metaimage *h, enum gf_metaimage_field field,
                                bool *value, struct gf_error *e)
{
    const char *s = h->field[field];
    if (!s)
        return GF_OK;
    *value = strcasecmp(s, "true") == 0 || strcasecmp(s, "t") == 0 || strcmp(s, "1") == 0;
    if (!*value && strcasecmp(s, "false") != 0 && strcasecmp(s, "f") != 0 && strcmp(s, "0") != 0)
        return wrong(h, field, "True or False is needed", e);
    return GF_OK;
}

/* Exactly `count` numbers. */
static enum gf_status take_numbers(const struct gf_metaimage *h, enum gf_metaimage_field field,
                                   double *numbers, unsigned count, struct gf_error *e)
{
    const size_t size = strlen(h->field[field]) + 1;
    unsigned found;
    void *copy;
    bool good;

    GF_TRY(gf_allocate(&copy, size, 1, "a header", e));
    memcpy(copy, h->field[field], size);
    good = gf_number_list(copy, false, numbers, count, &found) && found == count;
    gf_free(copy);
    if (good)
        return GF_OK;
    return gf_fail(e, GF_EINPUT, "%s: damaged MetaImage header: '%s = %.80s', where %u numbers are "
                   "needed", h->name, fields[field].key, h->field[field], count);
}

static enum gf_status take_sizes(struct gf_metaimage *h, struct gf_error *e)
{
    const char *s = h->field[GF_METAIMAGE_DIMENSIONS];
    uint64_t dimensions;

    if (!s)
        return missing(h, GF_METAIMAGE_DIMENSIONS, e);
    if (!gf_parse_u64(s, &dimensions) || dimensions < 1)
        return wrong(h, GF_METAIMAGE_DIMENSIONS, "a whole number above 0 is needed", e);
    if (dimensions < 2 || dimensions > GF_METAIMAGE_AXES)
        return gf_fail(e, GF_EFEATURE, "%s: a MetaImage of %llu dimensions, 2 to 4 can be read",
                       h->name, (unsigned long long)dimensions);
    h->dimensions = (unsigned)dimensions;
    s = h->field[GF_METAIMAGE_SIZE];
    if (!s)
        return missing(h, GF_METAIMAGE_SIZE, e);
    for (unsigned a = 0; a < h->dimensions; a++) {
        s += strspn(s, " \t");
        if (!gf_take_u64(&s, &h->sizes[a]) || h->sizes[a] == 0 || (*s && *s != ' ' && *s != '\t'))
            return wrong(h, GF_METAIMAGE_SIZE, "a whole number above 0 is needed for each "
                         "dimension", e);
    }
    if (s[strspn(s, " \t")] != '\0')
        return wrong(h, GF_METAIMAGE_SIZE, "there are more numbers than NDims says", e);
    return GF_OK;
}

static enum gf_status take_type(struct gf_metaimage *h, struct gf_error *e)
{
    const char *s = h->field[GF_METAIMAGE_TYPE], *array;
    uint64_t channels = 1;
    size_t size;

    if (!s)
        return missing(h, GF_METAIMAGE_TYPE, e);
    size = strlen(s);
    array = size > 6 && strcmp(s + size - 6, "_ARRAY") == 0 ? s + size - 6 : s + size;
    for (size_t i = 0; i < GF_COUNT(types); i++) {
        if (strlen(types[i].name) != (size_t)(array - s) ||
            strncmp(types[i].name, s, (size_t)(array - s)) != 0)
            continue;
        if (types[i].type == NO_TYPE)
            return gf_fail(e, GF_EFEATURE, "%s: samples of type %s cannot be read; write the file "
                           "again as MET_INT, MET_FLOAT or MET_DOUBLE", h->name, s);
        h->type = (enum gf_type)types[i].type;
        s = h->field[GF_METAIMAGE_CHANNELS];
        if (s && (!gf_parse_u64(s, &channels) || channels < 1))
            return wrong(h, GF_METAIMAGE_CHANNELS, "a whole number above 0 is needed", e);
        if (channels > 65535)
            return gf_fail(e, GF_EFEATURE, "%s: %llu channels, at most 65535 can be filtered",
                           h->name, (unsigned long long)channels);
        h->channels = (uint32_t)channels;
        return GF_OK;
    }
    return wrong(h, GF_METAIMAGE_TYPE, "a type such as MET_UCHAR or MET_FLOAT is needed", e);
}

static enum gf_status take_order(struct gf_metaimage *h, struct gf_error *e)
{
    bool element = false;
    GF_TRY(take_bool(h, GF_METAIMAGE_MSB, &h->big_endian, e));
    GF_TRY(take_bool(h, GF_METAIMAGE_ELEMENT_MSB, &element, e));
    if (h->field[GF_METAIMAGE_MSB] && h->field[GF_METAIMAGE_ELEMENT_MSB] &&
        element != h->big_endian)
        return wrong(h, GF_METAIMAGE_ELEMENT_MSB, "BinaryDataByteOrderMSB says otherwise", e);
    h->big_endian = h->big_endian || element;
    return GF_OK;
}

static enum gf_status take_coding(struct gf_metaimage *h, struct gf_error *e)
{
    const char *s = h->field[GF_METAIMAGE_COMPRESSED_SIZE];
    bool binary = true;

    GF_TRY(take_bool(h, GF_METAIMAGE_BINARY, &binary, e));
    GF_TRY(take_bool(h, GF_METAIMAGE_COMPRESSED, &h->compressed, e));
    h->text = !binary;
    if (h->text && h->compressed)
        return gf_fail(e, GF_EFEATURE, "%s: compressed text (BinaryData = False, CompressedData = "
                       "True) cannot be read; write the file again as binary", h->name);
    if (h->compressed && s && (!gf_parse_u64(s, &h->compressed_size) ||
                               h->compressed_size > INT64_MAX))
        return wrong(h, GF_METAIMAGE_COMPRESSED_SIZE, "a number of bytes is needed", e);
    s = h->field[GF_METAIMAGE_HEADER_SIZE];
    h->at_end = s && strcmp(s, "-1") == 0;
    if (s && !h->at_end && (!gf_parse_u64(s, &h->header_size) || h->header_size > INT64_MAX))
        return wrong(h, GF_METAIMAGE_HEADER_SIZE, "a number of bytes or -1 is needed", e);
    if (h->at_end && (h->compressed || h->text))
        return gf_fail(e, GF_EFEATURE, "%s: 'HeaderSize = -1' can be read with plain binary "
                       "samples alone; write the number of bytes instead", h->name);
    return GF_OK;
}

static enum gf_status take_unit(struct gf_metaimage *h, struct gf_error *e)
{
    const char *s = h->field[GF_METAIMAGE_UNITS];
    h->unit = 1;
    if (s && strcmp(s, "?") != 0 && *s && !gf_length_unit(s, strlen(s), &h->unit))
        return wrong(h, GF_METAIMAGE_UNITS, "a unit such as mm or um is needed", e);
    return GF_OK;
}

enum gf_status gf_metaimage_parse(struct gf_metaimage *h, char *text, const char *name,
                                  struct gf_error *e)
{
    const char *kind;

    memset(h, 0, sizeof *h);
    h->name = name;
    GF_TRY(take_lines(h, text, e));
    kind = h->field[GF_METAIMAGE_OBJECT_TYPE];
    if (kind && strcmp(kind, "Image") != 0)
        return gf_fail(e, GF_EFEATURE, "%s: this is a MetaIO object of type '%s', not an image",
                       name, kind);
    GF_TRY(take_sizes(h, e));
    GF_TRY(take_type(h, e));
    GF_TRY(take_order(h, e));
    GF_TRY(take_coding(h, e));
    GF_TRY(take_unit(h, e));
    if (!h->field[GF_METAIMAGE_DATA_FILE] || !*h->field[GF_METAIMAGE_DATA_FILE])
        return missing(h, GF_METAIMAGE_DATA_FILE, e);
    return GF_OK;
}

/* ---- meaning ---- */

enum gf_status gf_metaimage_image(const struct gf_metaimage *h, struct gf_image *image,
                                  uint64_t *images, struct gf_error *e)
{
    const bool colors = h->channels == 3 && (h->type == GF_U8 || h->type == GF_U16);
    image->width = h->sizes[0];
    image->height = h->sizes[1];
    image->depth = h->dimensions > 2 ? h->sizes[2] : 1;
    image->channels = h->channels;
    image->type = h->type;
    /* The format does not tell colours from vectors; three of 8 or 16 bits nearly always are. */
    image->color = h->channels == 1 ? GF_GRAY : colors ? GF_RGB : GF_OTHER;
    image->alpha = -1;
    image->volume = h->dimensions > 2;
    *images = h->dimensions > 3 ? h->sizes[3] : 1;
    return gf_image_check(image, h->name, e);
}

/* ElementSize, the extent of an element, stands in for its distance from the next. */
static enum gf_status take_spacing(const struct gf_metaimage *h, double spacing[GF_METAIMAGE_AXES],
                                   bool *given, struct gf_error *e)
{
    const enum gf_metaimage_field field = h->field[GF_METAIMAGE_SPACING]
                                              ? GF_METAIMAGE_SPACING : GF_METAIMAGE_ELEMENT_SIZE;
    for (unsigned a = 0; a < GF_METAIMAGE_AXES; a++)
        spacing[a] = 1;
    *given = h->field[field] != NULL;
    return *given ? take_numbers(h, field, spacing, h->dimensions, e) : GF_OK;
}

enum gf_status gf_metaimage_geometry(const struct gf_metaimage *h, struct gf_meta *meta,
                                     struct gf_error *e)
{
    const unsigned n = h->dimensions, axes = n > 2 ? 3 : 2;
    double spacing[GF_METAIMAGE_AXES], offset[GF_METAIMAGE_AXES] = {0};
    double matrix[GF_METAIMAGE_AXES * GF_METAIMAGE_AXES] = {0};
    struct gf_geometry *g = &meta->geometry;
    bool spaced;

    GF_TRY(take_spacing(h, spacing, &spaced, e));
    for (unsigned a = 0; a < n; a++)
        matrix[a * n + a] = 1;
    if (h->field[GF_METAIMAGE_OFFSET])
        GF_TRY(take_numbers(h, GF_METAIMAGE_OFFSET, offset, n, e));
    if (h->field[GF_METAIMAGE_MATRIX])
        GF_TRY(take_numbers(h, GF_METAIMAGE_MATRIX, matrix, n * n, e));
    memset(g, 0, sizeof *g);
    if (h->field[GF_METAIMAGE_OFFSET] || h->field[GF_METAIMAGE_MATRIX]) {
        /* A row of the matrix is the direction of an axis. */
        for (unsigned a = 0; a < axes; a++)
            for (unsigned b = 0; b < axes; b++)
                g->step[a][b] = matrix[a * n + b] * spacing[a] * h->unit;
        for (unsigned b = 0; b < axes; b++)
            g->origin[b] = offset[b] * h->unit;
        if (axes == 2) {
            g->step[2][2] = 1;
        } else {
            g->space = GF_SPACE_RAS;
            gf_geometry_flip(g);
        }
        gf_geometry_settle(meta);
        spaced = true;
    }
    for (unsigned a = 0; a < 3 && !g->known; a++) {
        const double mm = fabs(spacing[a] * h->unit);
        meta->spacing[a] = spaced && mm > 0 && isfinite(mm) ? mm : 0;
    }
    if (axes == 2 && !g->known)
        meta->spacing[2] = 0;
    return GF_OK;
}
