#include "nifti_header.h"

#include "../util.h"

#include <string.h>

/* How a number or a byte stands in the header. */
enum kind { BYTE, I16, I32, I64, F32, F64 };

static const unsigned kind_bytes[] = {1, 2, 4, 8, 4, 8};

struct place {
    uint16_t at;
    uint8_t kind;
};

/* Where every field is: in NIfTI-1, in NIfTI-2. */
static const struct {
    uint16_t count;
    struct place in[2];
} fields[GF_NIFTI_FIELDS] = {
    [GF_NIFTI_SIZE] = {1, {{0, I32}, {0, I32}}},
    [GF_NIFTI_DIM_INFO] = {1, {{39, BYTE}, {524, BYTE}}},
    [GF_NIFTI_DIM] = {8, {{40, I16}, {16, I64}}},
    [GF_NIFTI_INTENT_P] = {3, {{56, F32}, {80, F64}}},
    [GF_NIFTI_INTENT_CODE] = {1, {{68, I16}, {504, I32}}},
    [GF_NIFTI_DATATYPE] = {1, {{70, I16}, {12, I16}}},
    [GF_NIFTI_BITPIX] = {1, {{72, I16}, {14, I16}}},
    [GF_NIFTI_SLICE_START] = {1, {{74, I16}, {224, I64}}},
    [GF_NIFTI_PIXDIM] = {8, {{76, F32}, {104, F64}}},
    [GF_NIFTI_VOX_OFFSET] = {1, {{108, F32}, {168, I64}}},
    [GF_NIFTI_SLOPE] = {1, {{112, F32}, {176, F64}}},
    [GF_NIFTI_INTER] = {1, {{116, F32}, {184, F64}}},
    [GF_NIFTI_SLICE_END] = {1, {{120, I16}, {232, I64}}},
    [GF_NIFTI_SLICE_CODE] = {1, {{122, BYTE}, {496, I32}}},
    [GF_NIFTI_UNITS] = {1, {{123, BYTE}, {500, I32}}},
    [GF_NIFTI_CAL_MAX] = {1, {{124, F32}, {192, F64}}},
    [GF_NIFTI_CAL_MIN] = {1, {{128, F32}, {200, F64}}},
    [GF_NIFTI_SLICE_DURATION] = {1, {{132, F32}, {208, F64}}},
    [GF_NIFTI_TOFFSET] = {1, {{136, F32}, {216, F64}}},
    [GF_NIFTI_DESCRIP] = {80, {{148, BYTE}, {240, BYTE}}},
    [GF_NIFTI_AUX_FILE] = {24, {{228, BYTE}, {320, BYTE}}},
    [GF_NIFTI_QFORM] = {1, {{252, I16}, {344, I32}}},
    [GF_NIFTI_SFORM] = {1, {{254, I16}, {348, I32}}},
    [GF_NIFTI_QUATERN] = {3, {{256, F32}, {352, F64}}},
    [GF_NIFTI_QOFFSET] = {3, {{268, F32}, {376, F64}}},
    [GF_NIFTI_SROW] = {12, {{280, F32}, {400, F64}}},
    [GF_NIFTI_INTENT_NAME] = {16, {{328, BYTE}, {508, BYTE}}},
};

static const struct {
    size_t size, magic_at, magic_size;
    const char *single, *pair;
} versions[2] = {
    {348, 344, 4, "n+1", "ni1"},
    /* The line ends show what a transfer as text does to a file. */
    {540, 4, 8, "n+2\0\r\n\032\n", "ni2\0\r\n\032\n"},
};

#define TOO_LONG "convert it to a 32-bit integer or a float type first"
#define COMPLEX "store its real part, or its magnitude, as float32 or float64 first"

static const struct gf_nifti_type types[] = {
    {2, 8, "uint8", true, GF_U8, 1, NULL},
    {4, 16, "int16", true, GF_I16, 1, NULL},
    {8, 32, "int32", true, GF_I32, 1, NULL},
    {16, 32, "float32", true, GF_F32, 1, NULL},
    {64, 64, "float64", true, GF_F64, 1, NULL},
    {256, 8, "int8", true, GF_I8, 1, NULL},
    {512, 16, "uint16", true, GF_U16, 1, NULL},
    {768, 32, "uint32", true, GF_U32, 1, NULL},
    {128, 24, "RGB24", true, GF_U8, 3, NULL},
    {2304, 32, "RGBA32", true, GF_U8, 4, NULL},
    {1, 1, "one bit", false, GF_U8, 1, "convert it to uint8 first"},
    {32, 64, "complex64", false, GF_F32, 2, COMPLEX},
    {1024, 64, "int64", false, GF_F64, 1, TOO_LONG},
    {1280, 64, "uint64", false, GF_F64, 1, TOO_LONG},
    {1536, 128, "float128", false, GF_F64, 1, "convert it to float64 first"},
    {1792, 128, "complex128", false, GF_F64, 2, COMPLEX},
    {2048, 256, "complex256", false, GF_F64, 2, COMPLEX},
};

const struct gf_nifti_type *gf_nifti_type(int64_t code)
{
    for (size_t i = 0; i < GF_COUNT(types); i++)
        if (types[i].code == code)
            return &types[i];
    return NULL;
}

const struct gf_nifti_type *gf_nifti_type_of(const struct gf_image *image)
{
    const bool right_alpha = image->channels == 4 ? image->alpha == 3 && !image->alpha_associated
                                                  : image->alpha < 0;
    for (size_t i = 0; i < GF_COUNT(types); i++)
        if (types[i].read && types[i].type == image->type &&
            types[i].channels == image->channels && right_alpha &&
            (image->channels == 1 || image->color == GF_RGB))
            return &types[i];
    return NULL;
}

/* ---- numbers ---- */

static uint64_t get_bits(const uint8_t *at, unsigned bytes, bool big)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < bytes; i++)
        bits = bits << 8 | at[big ? i : bytes - 1 - i];
    return bits;
}

static void put_bits(uint8_t *at, unsigned bytes, bool big, uint64_t bits)
{
    for (unsigned i = 0; i < bytes; i++, bits >>= 8)
        at[big ? bytes - 1 - i : i] = (uint8_t)bits;
}

static struct place place_of(const struct gf_nifti_header *h, enum gf_nifti_field field, int index)
{
    struct place p = fields[field].in[h->version - 1];
    p.at = (uint16_t)(p.at + (unsigned)index * kind_bytes[p.kind]);
    return p;
}

int64_t gf_nifti_int(const struct gf_nifti_header *h, enum gf_nifti_field field, int index)
{
    const struct place p = place_of(h, field, index);
    const uint64_t bits = get_bits(h->bytes + p.at, kind_bytes[p.kind], h->big);
    switch (p.kind) {
    case I16:
        return (int16_t)bits;
    case I32:
        return (int32_t)bits;
    default:
        return (int64_t)bits;
    }
}

double gf_nifti_real(const struct gf_nifti_header *h, enum gf_nifti_field field, int index)
{
    const struct place p = place_of(h, field, index);
    const uint64_t bits = get_bits(h->bytes + p.at, kind_bytes[p.kind], h->big);
    const uint32_t low = (uint32_t)bits;
    float f;
    double d;
    switch (p.kind) {
    case F32:
        memcpy(&f, &low, sizeof f);
        return (double)f;
    case F64:
        memcpy(&d, &bits, sizeof d);
        return d;
    default:
        return (double)gf_nifti_int(h, field, index);
    }
}

void gf_nifti_set_int(struct gf_nifti_header *h, enum gf_nifti_field field, int index,
                      int64_t value)
{
    const struct place p = place_of(h, field, index);
    put_bits(h->bytes + p.at, kind_bytes[p.kind], h->big, (uint64_t)value);
}

void gf_nifti_set_real(struct gf_nifti_header *h, enum gf_nifti_field field, int index,
                       double value)
{
    const struct place p = place_of(h, field, index);
    /* Doubles beyond float's range become its infinity, as IEEE 754 has it. */
    const float f = (float)value;
    uint64_t bits = 0;
    uint32_t low;
    switch (p.kind) {
    case F32:
        memcpy(&low, &f, sizeof low);
        bits = low;
        break;
    case F64:
        memcpy(&bits, &value, sizeof bits);
        break;
    default:
        bits = (uint64_t)(int64_t)value;
        break;
    }
    put_bits(h->bytes + p.at, kind_bytes[p.kind], h->big, bits);
}

uint8_t *gf_nifti_bytes(struct gf_nifti_header *h, enum gf_nifti_field field, size_t *size)
{
    *size = fields[field].count;
    return h->bytes + fields[field].in[h->version - 1].at;
}

/* ---- the header as a whole ---- */

size_t gf_nifti_size(const struct gf_nifti_header *h)
{
    return versions[h->version - 1].size;
}

void gf_nifti_set_magic(struct gf_nifti_header *h)
{
    const int v = h->version - 1;
    memcpy(h->bytes + versions[v].magic_at, h->single ? versions[v].single : versions[v].pair,
           versions[v].magic_size);
}

void gf_nifti_clear(struct gf_nifti_header *h, int version)
{
    memset(h, 0, sizeof *h);
    h->version = version;
    h->big = GF_BIG_ENDIAN_MACHINE;
    h->single = true;
    gf_nifti_set_int(h, GF_NIFTI_SIZE, 0, (int64_t)gf_nifti_size(h));
    gf_nifti_set_magic(h);
}

void gf_nifti_widen(struct gf_nifti_header *h)
{
    const struct gf_nifti_header old = *h;
    gf_nifti_clear(h, 2);
    h->big = old.big;
    h->single = old.single;
    for (int f = 0; f < GF_NIFTI_FIELDS; f++)
        for (int i = 0; i < fields[f].count; i++)
            if (fields[f].in[1].kind == F64)
                gf_nifti_set_real(h, (enum gf_nifti_field)f, i,
                                  gf_nifti_real(&old, (enum gf_nifti_field)f, i));
            else if (f != GF_NIFTI_VOX_OFFSET) /* the writer sets it */
                gf_nifti_set_int(h, (enum gf_nifti_field)f, i,
                                 gf_nifti_int(&old, (enum gf_nifti_field)f, i));
    gf_nifti_set_int(h, GF_NIFTI_SIZE, 0, (int64_t)gf_nifti_size(h));
    gf_nifti_set_magic(h);
}

/* The version that the magic says, and whether it is the one of a single file; 0 without a magic
 * of which the first three letters are whole. */
static int magic_version(const uint8_t *head, size_t size, bool *single)
{
    for (int v = 0; v < 2; v++) {
        const uint8_t *magic = head + versions[v].magic_at;
        if (size < versions[v].magic_at + versions[v].magic_size)
            continue;
        *single = memcmp(magic, versions[v].single, 4) == 0;
        if (*single || memcmp(magic, versions[v].pair, 4) == 0)
            return v + 1;
    }
    return 0;
}

/* A header of Analyze 7.5 has no magic: a size of 348, 1 to 7 dimensions and a sample type. */
static bool like_analyze(const uint8_t *head, size_t size, bool big)
{
    uint64_t dimensions, type;
    if (size < 74 || get_bits(head, 4, big) != 348)
        return false;
    dimensions = get_bits(head + 40, 2, big);
    type = get_bits(head + 70, 2, big);
    return dimensions >= 1 && dimensions <= 7 && (type == 0 || gf_nifti_type((int64_t)type));
}

bool gf_nifti_probe(const uint8_t *head, size_t size)
{
    bool single;
    return magic_version(head, size, &single) != 0 || like_analyze(head, size, false) ||
           like_analyze(head, size, true);
}

static enum gf_status damaged(const struct gf_nifti_header *h, const uint8_t *head,
                              const char *name, struct gf_error *e)
{
    const int v = h->version - 1;
    const unsigned long long size = get_bits(head, 4, false);
    return gf_fail(e, GF_EINPUT, "%s: damaged NIfTI-%d header: it says that it has %llu bytes, "
                   "needed is %u in one of the byte orders", name, h->version, size,
                   (unsigned)versions[v].size);
}

enum gf_status gf_nifti_identify(struct gf_nifti_header *h, const uint8_t *head, size_t size,
                                 const char *name, struct gf_error *e)
{
    const uint8_t *magic;
    int v;
    memset(h, 0, sizeof *h);
    h->version = magic_version(head, size, &h->single);
    if (h->version == 0 && size >= 348)
        return gf_fail(e, GF_EFEATURE, "%s: Analyze 7.5 without the mark of NIfTI, which does not "
                       "say what is left and right; convert it to NIfTI first", name);
    if (h->version == 0)
        return gf_fail(e, GF_EINPUT, "%s: truncated: a NIfTI header has 348 bytes or more, the "
                       "file has %llu", name, (unsigned long long)size);
    v = h->version - 1;
    if (size < versions[v].size)
        return gf_fail(e, GF_EINPUT, "%s: truncated: a NIfTI-%d header has %u bytes, the file has "
                       "%llu", name, h->version, (unsigned)versions[v].size,
                       (unsigned long long)size);
    magic = head + versions[v].magic_at;
    if (memcmp(magic, h->single ? versions[v].single : versions[v].pair,
               versions[v].magic_size) != 0)
        return gf_fail(e, GF_EINPUT, "%s: damaged NIfTI-2 header: the line ends in its mark were "
                       "changed, as a transfer as text does; fetch the file again", name);
    h->big = get_bits(head, 4, true) == versions[v].size;
    if (!h->big && get_bits(head, 4, false) != versions[v].size)
        return damaged(h, head, name, e);
    memcpy(h->bytes, head, versions[v].size);
    return GF_OK;
}
