#include "nrrd_header.h"

#include "../alloc.h"
#include "../geometry.h"
#include "../text.h"
#include "../util.h"
#include "text_header.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* ---- tables ---- */

static const char *const field_names[][2] = {
#define X(NAME, name, other) {name, other},
    GF_NRRD_FIELDS(X)
#undef X
};

/* Words that a field takes, with commas between them, as they contain blanks. */
struct word_row {
    const char *words;
    int value;
};

#define NO_TYPE (-1)

static const struct word_row types[] = {
    {"signed char,int8,int8_t,char", GF_I8},
    {"unsigned char,uchar,uint8,uint8_t", GF_U8},
    {"short,short int,signed short,signed short int,int16,int16_t", GF_I16},
    {"unsigned short,ushort,unsigned short int,uint16,uint16_t", GF_U16},
    {"int,signed int,int32,int32_t", GF_I32},
    {"unsigned int,uint,uint32,uint32_t", GF_U32},
    {"float", GF_F32},
    {"double", GF_F64},
    {"long long,longlong,long long int,signed long long,signed long long int,int64,int64_t",
     NO_TYPE},
    {"unsigned long long,ulonglong,unsigned long long int,uint64,uint64_t", NO_TYPE},
    {"block", NO_TYPE},
};

#define NO_ENCODING (-1)

static const struct word_row encodings[] = {
    {"raw", GF_NRRD_RAW},          {"gzip,gz", GF_NRRD_GZIP}, {"ascii,text,txt", GF_NRRD_TEXT},
    {"hex,bzip2,bz2", NO_ENCODING},
};

static const struct gf_nrrd_space spaces[] = {
    {"right-anterior-superior", "RAS", true, false, false},
    {"left-anterior-superior", "LAS", true, true, false},
    {"left-posterior-superior", "LPS", true, true, true},
    {"scanner-xyz", "scanner-xyz", false, false, false},
    {"3D-right-handed", "3D-right-handed", false, false, false},
    {"3D-left-handed", "3D-left-handed", false, false, false},
};

/* Spaces with a fourth dimension. */
static const char *const timed_spaces =
    "right-anterior-superior-time,RAST,left-anterior-superior-time,LAST,"
    "left-posterior-superior-time,LPST,scanner-xyz-time,3D-right-handed-time,3D-left-handed-time";

static const struct gf_nrrd_kind kinds[] = {
    {"domain", 0, true, GF_GRAY, false},
    {"space", 0, true, GF_GRAY, false},
    {"time", 0, false, GF_OTHER, false},
    {"list", 0, false, GF_OTHER, false},
    {"point", 0, false, GF_OTHER, false},
    {"vector", 0, false, GF_OTHER, false},
    {"covariant-vector", 0, false, GF_OTHER, false},
    {"normal", 0, false, GF_OTHER, false},
    {"stub", 1, false, GF_OTHER, false},
    {"scalar", 1, false, GF_OTHER, false},
    {"complex", 2, false, GF_OTHER, false},
    {"2-vector", 2, false, GF_OTHER, false},
    {"3-color", 3, false, GF_OTHER, false},
    {"RGB-color", 3, false, GF_RGB, false},
    {"HSV-color", 3, false, GF_OTHER, false},
    {"XYZ-color", 3, false, GF_OTHER, false},
    {"4-color", 4, false, GF_OTHER, false},
    {"RGBA-color", 4, false, GF_RGB, true},
    {"3-vector", 3, false, GF_OTHER, false},
    {"3-gradient", 3, false, GF_OTHER, false},
    {"3-normal", 3, false, GF_OTHER, false},
    {"4-vector", 4, false, GF_OTHER, false},
    {"quaternion", 4, false, GF_OTHER, false},
    {"2D-symmetric-matrix", 3, false, GF_OTHER, false},
    {"2D-masked-symmetric-matrix", 4, false, GF_OTHER, false},
    {"2D-matrix", 4, false, GF_OTHER, false},
    {"2D-masked-matrix", 5, false, GF_OTHER, false},
    {"3D-symmetric-matrix", 6, false, GF_OTHER, false},
    {"3D-masked-symmetric-matrix", 7, false, GF_OTHER, false},
    {"3D-matrix", 9, false, GF_OTHER, false},
    {"3D-masked-matrix", 10, false, GF_OTHER, false},
};

/* Whether `word`, in any case, is one of the list. */
static bool listed(const char *word, const char *list)
{
    const size_t size = strlen(word);
    while (*list) {
        const size_t length = strcspn(list, ",");
        if (length == size && strncasecmp(word, list, size) == 0)
            return true;
        list += length + (list[length] == ',');
    }
    return false;
}

/* The row's value in *value; false for a word that none has. */
static bool find_word(const struct word_row *rows, size_t count, const char *word, int *value)
{
    for (size_t i = 0; i < count; i++)
        if (listed(word, rows[i].words)) {
            *value = rows[i].value;
            return true;
        }
    return false;
}

const char *gf_nrrd_field_name(enum gf_nrrd_field field) { return field_names[field][0]; }

/* ---- lines ---- */

static bool find_field(const char *name, size_t size, enum gf_nrrd_field *field)
{
    for (size_t i = 0; i < GF_COUNT(field_names); i++)
        for (int n = 0; n < 2; n++)
            if (size > 0 && strlen(field_names[i][n]) == size &&
                strncasecmp(field_names[i][n], name, size) == 0) {
                *field = (enum gf_nrrd_field)i;
                return true;
            }
    return false;
}

enum gf_nrrd_line gf_nrrd_line(const char *line, enum gf_nrrd_field *field, const char **value)
{
    const char *key = strstr(line, ":="), *colon = strstr(line, ": ");

    if (*line == '\0')
        return GF_NRRD_NOTHING;
    if (*line == '#')
        return GF_NRRD_COMMENT;
    if (key && key > line && (!colon || key < colon)) {
        *value = key + 2;
        return GF_NRRD_KEY;
    }
    if (!colon)
        colon = strchr(line, ':');
    if (!colon || colon == line)
        return GF_NRRD_UNKNOWN;
    *value = colon + 1 + strspn(colon + 1, " \t");
    return find_field(line, (size_t)(colon - line), field) ? GF_NRRD_FIELD : GF_NRRD_UNKNOWN;
}

/* ---- values ---- */

static enum gf_status wrong(const struct gf_nrrd *h, enum gf_nrrd_field field, const char *need,
                            struct gf_error *e)
{
    return gf_fail(e, GF_EINPUT, "%s: damaged NRRD header: '%s: %.80s', where %s", h->name,
                   field_names[field][0], h->field[field], need);
}

static enum gf_status missing(const struct gf_nrrd *h, enum gf_nrrd_field field,
                              const char *meaning, struct gf_error *e)
{
    return gf_fail(e, GF_EINPUT, "%s: damaged NRRD header: it lacks the field '%s'%s", h->name,
                   field_names[field][0], meaning);
}

/* A copy of a field's value to cut up. */
static enum gf_status copy_value(const struct gf_nrrd *h, enum gf_nrrd_field field, char **copy,
                                 struct gf_error *e)
{
    const size_t size = strlen(h->field[field]) + 1;
    void *block;
    GF_TRY(gf_allocate(&block, size, 1, "a header", e));
    *copy = memcpy(block, h->field[field], size);
    return GF_OK;
}

/* One number an axis; NaN where there is none. */
static enum gf_status axis_numbers(const struct gf_nrrd *h, enum gf_nrrd_field field,
                                   double numbers[GF_NRRD_AXES], struct gf_error *e)
{
    char *copy;
    unsigned count;
    bool good;

    for (unsigned a = 0; a < GF_NRRD_AXES; a++)
        numbers[a] = (double)NAN;
    if (!h->field[field])
        return GF_OK;
    GF_TRY(copy_value(h, field, &copy, e));
    good = gf_number_list(copy, true, numbers, GF_NRRD_AXES, &count) && count == h->dimension;
    gf_free(copy);
    return good ? GF_OK : wrong(h, field, "one number an axis is needed", e);
}

/* "(1,0,0)", cut off *text, into `count` numbers; false for anything else. */
static bool take_vector(char **text, double *vector, unsigned count)
{
    char *s = *text + strspn(*text, " \t"), *end;
    if (*s != '(' || (end = strchr(s, ')')) == NULL)
        return false;
    *text = end + 1;
    *end = '\0';
    s++;
    for (unsigned i = 0; i < count; i++) {
        char *comma = strchr(s, ',');
        if ((comma != NULL) != (i + 1 < count))
            return false;
        if (comma)
            *comma = '\0';
        if (!gf_parse_double(gf_trim(s), true, &vector[i]))
            return false;
        s = comma ? comma + 1 : s;
    }
    return true;
}

/* The directions of the axes; *directed[axis] is false for "none". */
static bool take_directions(const struct gf_nrrd *h, char *text, double vectors[GF_NRRD_AXES][3],
                            bool directed[GF_NRRD_AXES])
{
    for (unsigned a = 0; a < h->dimension; a++) {
        char *s = text + strspn(text, " \t");
        directed[a] = *s == '(';
        if (directed[a] && !take_vector(&text, vectors[a], h->space_dimension))
            return false;
        if (!directed[a]) {
            char *word = gf_next_word(&text);
            if (!word || strcasecmp(word, "none") != 0)
                return false;
        }
    }
    return *gf_trim(text) == '\0';
}

static enum gf_status directions(const struct gf_nrrd *h, double vectors[GF_NRRD_AXES][3],
                                 bool directed[GF_NRRD_AXES], struct gf_error *e)
{
    char *copy;
    bool good;

    memset(vectors, 0, sizeof(double[GF_NRRD_AXES][3]));
    memset(directed, 0, sizeof(bool[GF_NRRD_AXES]));
    if (!h->field[GF_NRRD_SPACE_DIRECTIONS])
        return GF_OK;
    if (h->space_dimension == 0)
        return missing(h, GF_NRRD_SPACE, " or 'space dimension', which 'space directions' needs",
                       e);
    GF_TRY(copy_value(h, GF_NRRD_SPACE_DIRECTIONS, &copy, e));
    good = take_directions(h, copy, vectors, directed);
    gf_free(copy);
    return good ? GF_OK : wrong(h, GF_NRRD_SPACE_DIRECTIONS, "a vector or 'none' an axis is "
                                "needed, as in (1,0,0)", e);
}

/* Cuts the next of a list of quoted strings off *text; false when there is none. */
static bool take_quoted(const char **text, const char **string, size_t *size)
{
    const char *s = *text + strspn(*text, " \t");
    if (*s != '"')
        return false;
    *string = ++s;
    for (; *s && *s != '"'; s++)
        if (*s == '\\' && s[1])
            s++;
    if (*s != '"')
        return false;
    *size = (size_t)(s - *string);
    *text = s + 1;
    return true;
}

/* The unit in the `index`-th string of a field, in mm; false for what is no length. */
static bool unit_at(const struct gf_nrrd *h, enum gf_nrrd_field field, unsigned index, double *mm)
{
    const char *text = h->field[field], *unit = "";
    size_t size = 0;

    *mm = 1;
    for (unsigned i = 0; text && i <= index; i++)
        if (!take_quoted(&text, &unit, &size))
            return true;
    return size == 0 || (size == 3 && memcmp(unit, "???", 3) == 0) ||
           gf_length_unit(unit, size, mm) ||
           (unit[size - 1] == 's' && gf_length_unit(unit, size - 1, mm));
}

bool gf_nrrd_units_known(const struct gf_nrrd *h)
{
    bool known = true;
    double mm;
    for (unsigned b = 0; b < h->space_dimension; b++)
        known = unit_at(h, GF_NRRD_SPACE_UNITS, b, &mm) && known;
    for (unsigned a = 0; a < h->space_axes; a++)
        known = unit_at(h, GF_NRRD_UNITS, h->first + a, &mm) && known;
    return known;
}

double gf_nrrd_axis_unit(const struct gf_nrrd *h, unsigned axis)
{
    double mm;
    unit_at(h, GF_NRRD_UNITS, h->first + axis, &mm);
    return mm;
}

/* ---- fields ---- */

/* Cuts the text into lines and remembers where fields have their values. */
static enum gf_status take_lines(struct gf_nrrd *h, char *text, struct gf_error *e)
{
    char *line;

    h->end = text + strlen(text);
    line = gf_next_line(&text);

    if (!line || strncmp(line, "NRRD000", 7) != 0 || line[7] < '1' || line[7] > '9' || line[8])
        return gf_fail(e, GF_EINPUT, "%s: not an NRRD: its first line must be NRRD0001 to NRRD0005",
                       h->name);
    if (line[7] > '5')
        return gf_fail(e, GF_EFEATURE, "%s: this is an %s, NRRD0001 to NRRD0005 can be read",
                       h->name, line);
    while ((line = gf_next_line(&text)) != NULL) {
        enum gf_nrrd_field field = GF_NRRD_CONTENT;
        const char *value = NULL;
        enum gf_nrrd_line kind = gf_nrrd_line(line, &field, &value);
        if (kind == GF_NRRD_UNKNOWN && !value)
            return gf_fail(e, GF_EINPUT, "%s: damaged NRRD header: the line '%.80s' is neither "
                           "'FIELD: VALUE' nor 'KEY:=VALUE'", h->name, line);
        if (kind != GF_NRRD_FIELD)
            continue;
        if (h->field[field])
            return gf_fail(e, GF_EINPUT, "%s: damaged NRRD header: the field '%s' is given twice",
                           h->name, field_names[field][0]);
        h->field[field] = value;
        if (field == GF_NRRD_DATA_FILE && strncmp(value, "LIST", 4) == 0 &&
            (value[4] == '\0' || value[4] == ' ')) {
            h->names = h->end = text;
            return GF_OK;
        }
    }
    return GF_OK;
}

static enum gf_status take_type(struct gf_nrrd *h, struct gf_error *e)
{
    int type;
    if (!h->field[GF_NRRD_TYPE])
        return missing(h, GF_NRRD_TYPE, "", e);
    if (!find_word(types, GF_COUNT(types), h->field[GF_NRRD_TYPE], &type))
        return wrong(h, GF_NRRD_TYPE, "a type such as 'unsigned char' or 'float' is needed", e);
    if (type == NO_TYPE)
        return gf_fail(e, GF_EFEATURE, "%s: samples of type '%s' cannot be read; convert them with "
                       "unu convert -t int or -t double", h->name, h->field[GF_NRRD_TYPE]);
    h->type = (enum gf_type)type;
    return GF_OK;
}

static enum gf_status take_sizes(struct gf_nrrd *h, struct gf_error *e)
{
    const char *s = h->field[GF_NRRD_DIMENSION];
    uint64_t dimension;

    if (!s)
        return missing(h, GF_NRRD_DIMENSION, "", e);
    if (!gf_parse_u64(s, &dimension) || dimension < 1 || dimension > GF_NRRD_AXES)
        return wrong(h, GF_NRRD_DIMENSION, "a number from 1 to 16 is needed", e);
    h->dimension = (unsigned)dimension;
    s = h->field[GF_NRRD_SIZES];
    if (!s)
        return missing(h, GF_NRRD_SIZES, "", e);
    for (unsigned a = 0; a < h->dimension; a++) {
        s += strspn(s, " \t");
        if (!gf_take_u64(&s, &h->sizes[a]) || h->sizes[a] == 0 || (*s && *s != ' ' && *s != '\t'))
            return wrong(h, GF_NRRD_SIZES, "a whole number above 0 is needed for each axis", e);
    }
    if (s[strspn(s, " \t")] != '\0')
        return wrong(h, GF_NRRD_SIZES, "there are more numbers than the dimension says", e);
    return GF_OK;
}

static enum gf_status take_encoding(struct gf_nrrd *h, struct gf_error *e)
{
    int encoding;
    if (!h->field[GF_NRRD_ENCODING])
        return missing(h, GF_NRRD_ENCODING, "", e);
    if (!find_word(encodings, GF_COUNT(encodings), h->field[GF_NRRD_ENCODING], &encoding))
        return wrong(h, GF_NRRD_ENCODING, "raw, gzip or ascii is needed", e);
    if (encoding == NO_ENCODING)
        return gf_fail(e, GF_EFEATURE, "%s: the encoding '%s' cannot be read, only raw, gzip and "
                       "ascii; convert the file with unu save -f nrrd -e gzip", h->name,
                       h->field[GF_NRRD_ENCODING]);
    h->encoding = (enum gf_nrrd_encoding)encoding;
    return GF_OK;
}

static enum gf_status take_endian(struct gf_nrrd *h, struct gf_error *e)
{
    const char *s = h->field[GF_NRRD_ENDIAN];
    if (!s) {
        if (gf_type_bytes(h->type) > 1 && h->encoding != GF_NRRD_TEXT)
            return missing(h, GF_NRRD_ENDIAN, ", which samples of more than one byte need", e);
        return GF_OK;
    }
    h->big_endian = strcasecmp(s, "big") == 0;
    if (!h->big_endian && strcasecmp(s, "little") != 0)
        return wrong(h, GF_NRRD_ENDIAN, "little or big is needed", e);
    return GF_OK;
}

static enum gf_status take_skips(struct gf_nrrd *h, struct gf_error *e)
{
    const char *s = h->field[GF_NRRD_LINE_SKIP];
    if (s && (!gf_parse_u64(s, &h->line_skip) || h->line_skip > INT64_MAX))
        return wrong(h, GF_NRRD_LINE_SKIP, "a number of lines is needed", e);
    s = h->field[GF_NRRD_BYTE_SKIP];
    h->at_end = s && strcmp(s, "-1") == 0;
    if (s && !h->at_end && (!gf_parse_u64(s, &h->byte_skip) || h->byte_skip > INT64_MAX))
        return wrong(h, GF_NRRD_BYTE_SKIP, "a number of bytes or -1 is needed", e);
    if (h->at_end && h->encoding != GF_NRRD_RAW)
        return gf_fail(e, GF_EFEATURE, "%s: 'byte skip: -1' can be read with the encoding raw "
                       "alone; write the number of bytes instead", h->name);
    return GF_OK;
}

static enum gf_status take_kinds(struct gf_nrrd *h, struct gf_error *e)
{
    char *copy, *rest, *word;
    unsigned count = 0;
    enum gf_status status = GF_OK;

    if (!h->field[GF_NRRD_KINDS])
        return GF_OK;
    GF_TRY(copy_value(h, GF_NRRD_KINDS, &copy, e));
    rest = copy;
    while (status == GF_OK && (word = gf_next_word(&rest)) != NULL) {
        const struct gf_nrrd_kind *kind = NULL;
        for (size_t i = 0; i < GF_COUNT(kinds); i++)
            if (strcasecmp(kinds[i].name, word) == 0)
                kind = &kinds[i];
        if (count == h->dimension ||
            (!kind && strcmp(word, "???") != 0 && strcasecmp(word, "none") != 0))
            status = wrong(h, GF_NRRD_KINDS, "one of NRRD's kinds an axis is needed", e);
        else if (kind && kind->size && kind->size != h->sizes[count])
            status = gf_fail(e, GF_EINPUT, "%s: damaged NRRD header: axis %u of kind %s has size "
                             "%llu, not %u", h->name, count, kind->name,
                             (unsigned long long)h->sizes[count], kind->size);
        else
            h->kinds[count++] = kind;
    }
    gf_free(copy);
    if (status == GF_OK && count != h->dimension)
        status = wrong(h, GF_NRRD_KINDS, "one of NRRD's kinds an axis is needed", e);
    return status;
}

static enum gf_status take_space(struct gf_nrrd *h, struct gf_error *e)
{
    const char *s = h->field[GF_NRRD_SPACE];
    uint64_t dimension;

    for (unsigned b = 0; b < 3; b++)
        h->unit[b] = 1;
    if (s && h->field[GF_NRRD_SPACE_DIMENSION])
        return wrong(h, GF_NRRD_SPACE_DIMENSION, "'space' has said it", e);
    if (s) {
        for (size_t i = 0; i < GF_COUNT(spaces); i++)
            if (strcasecmp(spaces[i].name, s) == 0 || strcasecmp(spaces[i].brief, s) == 0)
                h->space = &spaces[i];
        if (!h->space && listed(s, timed_spaces))
            return gf_fail(e, GF_EFEATURE, "%s: the space '%s' has a fourth dimension, which "
                           "cannot be read; use the one without time", h->name, s);
        if (!h->space)
            return wrong(h, GF_NRRD_SPACE, "a space such as left-posterior-superior is needed", e);
        h->space_dimension = 3;
    } else if ((s = h->field[GF_NRRD_SPACE_DIMENSION]) != NULL) {
        if (!gf_parse_u64(s, &dimension) || dimension < 1 || dimension > GF_NRRD_AXES)
            return wrong(h, GF_NRRD_SPACE_DIMENSION, "a number from 1 to 16 is needed", e);
        if (dimension > 3)
            return gf_fail(e, GF_EFEATURE, "%s: a space of %u dimensions cannot be read, at most 3",
                           h->name, (unsigned)dimension);
        h->space_dimension = (unsigned)dimension;
    }
    for (unsigned b = 0; b < h->space_dimension; b++)
        unit_at(h, GF_NRRD_SPACE_UNITS, b, &h->unit[b]);
    return GF_OK;
}

/* Which axes are channels, image and images. Where no kind says it, an axis without direction among
 * others that have one is not in space. */
static enum gf_status take_layout(struct gf_nrrd *h, struct gf_error *e)
{
    double vectors[GF_NRRD_AXES][3];
    bool has_direction[GF_NRRD_AXES], space[GF_NRRD_AXES], any = false;
    unsigned last = h->dimension;

    GF_TRY(directions(h, vectors, has_direction, e));
    for (unsigned a = 0; a < h->dimension; a++)
        any = any || has_direction[a];
    for (unsigned a = 0; a < h->dimension; a++)
        space[a] = h->kinds[a] ? h->kinds[a]->space : !any || has_direction[a];
    h->first = h->dimension > 1 && !space[0];
    h->list = last - h->first > 1 && !space[last - 1];
    last -= h->list;
    h->space_axes = last - h->first;
    h->directed = any;
    for (unsigned a = h->first; a < last; a++) {
        h->directed = h->directed && has_direction[a];
        if (!space[a] && h->dimension > 1)
            return gf_fail(e, GF_EFEATURE, "%s: axis %u of %u is not in space, as between the "
                           "first and the last all axes must be; permute them with unu permute",
                           h->name, a, h->dimension);
    }
    if (h->space_axes > 3)
        return gf_fail(e, GF_EFEATURE, "%s: %u axes of space, at most 3 can be filtered; say with "
                       "'kinds:' which of them are channels (vector, first) or a series (list or "
                       "time, last)", h->name, h->space_axes);
    return GF_OK;
}

enum gf_status gf_nrrd_parse(struct gf_nrrd *h, char *text, const char *name, struct gf_error *e)
{
    memset(h, 0, sizeof *h);
    h->name = name;
    GF_TRY(take_lines(h, text, e));
    GF_TRY(take_type(h, e));
    GF_TRY(take_sizes(h, e));
    GF_TRY(take_encoding(h, e));
    GF_TRY(take_endian(h, e));
    GF_TRY(take_skips(h, e));
    GF_TRY(take_kinds(h, e));
    GF_TRY(take_space(h, e));
    return take_layout(h, e);
}

/* ---- meaning ---- */

enum gf_status gf_nrrd_image(const struct gf_nrrd *h, struct gf_image *image, uint64_t *images,
                             struct gf_error *e)
{
    const struct gf_nrrd_kind *kind = h->first ? h->kinds[0] : NULL;
    uint64_t channels = h->first ? h->sizes[0] : 1;

    if (channels > 65535)
        return gf_fail(e, GF_EFEATURE, "%s: %llu channels, at most 65535 can be filtered", h->name,
                       (unsigned long long)channels);
    image->width = h->sizes[h->first];
    image->height = h->space_axes > 1 ? h->sizes[h->first + 1] : 1;
    image->depth = h->space_axes > 2 ? h->sizes[h->first + 2] : 1;
    image->channels = (uint32_t)channels;
    image->type = h->type;
    image->color = channels == 1 ? GF_GRAY : kind ? kind->color : GF_OTHER;
    image->alpha = kind && kind->alpha ? (int)channels - 1 : -1;
    image->volume = h->space_axes == 3;
    *images = h->list ? h->sizes[h->dimension - 1] : 1;
    return gf_image_check(image, h->name, e);
}

void gf_nrrd_turn(const struct gf_nrrd_space *space, struct gf_geometry *g)
{
    const bool turned[2] = {space && space->left, space && space->posterior};
    for (int b = 0; b < 2; b++)
        if (turned[b]) {
            g->origin[b] = 0.0 - g->origin[b];
            for (int a = 0; a < 3; a++)
                g->step[a][b] = 0.0 - g->step[a][b];
        }
}

/* Steps for the axes that the image lacks: along what is left of space. */
static void complete_steps(const struct gf_nrrd *h, struct gf_geometry *g)
{
    const double *u = g->step[0], *v = g->step[1];
    double length = 0;

    for (unsigned a = h->space_axes; a < 3; a++)
        g->step[a][a] = 1;
    if (h->space_axes != 2 || h->space_dimension < 3)
        return;
    for (int b = 0; b < 3; b++) {
        g->step[2][b] = u[(b + 1) % 3] * v[(b + 2) % 3] - u[(b + 2) % 3] * v[(b + 1) % 3];
        length += g->step[2][b] * g->step[2][b];
    }
    for (int b = 0; b < 3; b++)
        g->step[2][b] = length > 0 && isfinite(length) ? g->step[2][b] / sqrt(length) : b == 2;
}

static enum gf_status take_origin(const struct gf_nrrd *h, double origin[3], struct gf_error *e)
{
    char *copy, *rest;
    bool good;

    if (!h->field[GF_NRRD_SPACE_ORIGIN])
        return GF_OK;
    if (h->space_dimension == 0)
        return missing(h, GF_NRRD_SPACE, " or 'space dimension', which 'space origin' needs", e);
    GF_TRY(copy_value(h, GF_NRRD_SPACE_ORIGIN, &copy, e));
    rest = copy;
    if (strcasecmp(gf_trim(copy), "none") == 0)
        good = true;
    else
        good = take_vector(&rest, origin, h->space_dimension) && *gf_trim(rest) == '\0';
    gf_free(copy);
    if (!good)
        return wrong(h, GF_NRRD_SPACE_ORIGIN, "a vector is needed, as in (1,0,0)", e);
    /* Not a number is how some writers say that it is not known. */
    for (unsigned b = 0; b < h->space_dimension; b++)
        origin[b] = isfinite(origin[b]) ? origin[b] * h->unit[b] : 0;
    return GF_OK;
}

const struct gf_nrrd_space *gf_nrrd_default_space(void) { return &spaces[2]; }

bool gf_nrrd_is_cell(const struct gf_nrrd *h, unsigned axis)
{
    const char *s = h->field[GF_NRRD_CENTERINGS];
    for (unsigned a = 0; s && a < h->first + axis; a++) {
        s += strspn(s, " \t");
        s += strcspn(s, " \t");
    }
    if (!s)
        return false;
    s += strspn(s, " \t");
    return strncasecmp(s, "cell", 4) == 0;
}

/* What spacings, axis mins and axis maxs say, which know no space. */
static enum gf_status plain_geometry(const struct gf_nrrd *h, struct gf_meta *meta,
                                     struct gf_error *e)
{
    double spacings[GF_NRRD_AXES], mins[GF_NRRD_AXES], maxs[GF_NRRD_AXES];
    bool placed = false, spaced = true;

    GF_TRY(axis_numbers(h, GF_NRRD_SPACINGS, spacings, e));
    GF_TRY(axis_numbers(h, GF_NRRD_AXIS_MINS, mins, e));
    GF_TRY(axis_numbers(h, GF_NRRD_AXIS_MAXS, maxs, e));
    for (unsigned a = 0; a < h->space_axes; a++) {
        const unsigned axis = h->first + a;
        const double unit = gf_nrrd_axis_unit(h, a);
        const double cells = (double)(h->sizes[axis] - !gf_nrrd_is_cell(h, a));
        double spacing = fabs(spacings[axis]);
        if (isnan(spacing) && cells > 0)
            spacing = fabs(maxs[axis] - mins[axis]) / cells;
        if (isfinite(spacing * unit) && spacing > 0)
            meta->spacing[a] = spacing * unit;
        spaced = spaced && meta->spacing[a] > 0;
        if (isfinite(mins[axis])) {
            placed = true;
            meta->geometry.origin[a] = mins[axis] * unit +
                                       (gf_nrrd_is_cell(h, a) ? meta->spacing[a] / 2 : 0);
        }
    }
    if (placed && spaced) {
        for (unsigned a = 0; a < 3; a++)
            meta->geometry.step[a][a] = a < h->space_axes ? meta->spacing[a] : 1;
        gf_geometry_settle(meta);
    } else {
        memset(&meta->geometry, 0, sizeof meta->geometry);
    }
    return GF_OK;
}

enum gf_status gf_nrrd_geometry(const struct gf_nrrd *h, struct gf_meta *meta, struct gf_error *e)
{
    double vectors[GF_NRRD_AXES][3];
    bool has_direction[GF_NRRD_AXES];
    struct gf_geometry *g = &meta->geometry;

    GF_TRY(take_origin(h, g->origin, e));
    GF_TRY(directions(h, vectors, has_direction, e));
    if (!h->directed) {
        memset(g, 0, sizeof *g);
        GF_TRY(plain_geometry(h, meta, e));
    } else {
        for (unsigned a = 0; a < h->space_axes; a++)
            for (unsigned b = 0; b < h->space_dimension; b++)
                g->step[a][b] = vectors[h->first + a][b] * h->unit[b];
        complete_steps(h, g);
        g->space = h->space && h->space->known ? GF_SPACE_RAS : GF_SPACE_UNKNOWN;
        gf_nrrd_turn(h->space, g);
        gf_geometry_settle(meta);
    }
    /* An axis that the image has not: steps of 1 are only good with the others'. */
    for (unsigned a = h->space_axes; a < 3 && !g->known; a++)
        meta->spacing[a] = 0;
    return GF_OK;
}
