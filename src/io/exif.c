#include "exif.h"

#include <string.h>

enum { TAG_ORIENTATION = 0x0112, TAG_X_RESOLUTION = 0x011a, TAG_Y_RESOLUTION = 0x011b,
       TAG_UNIT = 0x0128 };
enum { TYPE_BYTE = 1, TYPE_SHORT = 3, TYPE_LONG = 4, TYPE_RATIONAL = 5 };

struct exif {
    const uint8_t *data;
    size_t size;
    bool big_endian;
};

static uint32_t number(const struct exif *x, size_t at, int bytes)
{
    uint32_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint32_t)x->data[at + (size_t)i] << 8 * (x->big_endian ? bytes - 1 - i : i);
    return value;
}

/* Finds an entry of the first directory; the offset of its 12 bytes, or 0. */
static size_t find_entry(struct exif *x, const uint8_t *data, size_t size, unsigned tag)
{
    size_t directory, entries;
    x->data = data;
    x->size = size;
    if (size < 8)
        return 0;
    x->big_endian = data[0] == 'M';
    if (memcmp(data, x->big_endian ? "MM\0*" : "II*\0", 4) != 0)
        return 0;
    directory = number(x, 4, 4);
    if (directory < 8 || directory > size - 2)
        return 0;
    entries = number(x, directory, 2);
    for (size_t i = 0; i < entries; i++) {
        size_t at = directory + 2 + 12 * i;
        if (at + 12 > size)
            return 0;
        if (number(x, at, 2) == tag && number(x, at + 4, 4) == 1)
            return at;
    }
    return 0;
}

/* Bytes of a whole number of this type, or 0. */
static int integer_bytes(uint32_t type)
{
    return type == TYPE_BYTE ? 1 : type == TYPE_SHORT ? 2 : type == TYPE_LONG ? 4 : 0;
}

static bool integer(const uint8_t *data, size_t size, unsigned tag, uint32_t *value)
{
    struct exif x;
    size_t at = find_entry(&x, data, size, tag);
    int bytes = at ? integer_bytes(number(&x, at + 2, 2)) : 0;
    if (bytes == 0)
        return false;
    *value = number(&x, at + 8, bytes);
    return true;
}

int gf_exif_orientation(const uint8_t *data, size_t size)
{
    uint32_t value;
    return integer(data, size, TAG_ORIENTATION, &value) && value >= 1 && value <= 8 ? (int)value
                                                                                    : 1;
}

void gf_exif_set_upright(uint8_t *data, size_t size)
{
    struct exif x;
    size_t at = find_entry(&x, data, size, TAG_ORIENTATION);
    int bytes = at ? integer_bytes(number(&x, at + 2, 2)) : 0;
    for (int i = 0; i < bytes; i++)
        data[at + 8 + (size_t)i] = (x.big_endian ? bytes - 1 - i : i) == 0;
}

int gf_meta_orientation(const struct gf_meta *meta)
{
    if (meta->tiff.known && meta->tiff.orientation >= 1 && meta->tiff.orientation <= 8)
        return meta->tiff.orientation;
    return gf_exif_orientation(meta->exif.data, meta->exif.size);
}

void gf_exif_make_orientation(uint8_t data[GF_EXIF_ORIENTATION_BYTES], int orientation)
{
    /* The directory at 8 holds one entry, and none follows. */
    static const uint8_t start[] = {'M', 'M', 0, '*', 0, 0, 0, 8, 0, 1};
    memset(data, 0, GF_EXIF_ORIENTATION_BYTES);
    memcpy(data, start, sizeof start);
    data[10] = TAG_ORIENTATION >> 8;
    data[11] = TAG_ORIENTATION & 0xff;
    data[13] = TYPE_SHORT;
    data[17] = 1;
    data[19] = (uint8_t)orientation;
}

static bool rational(const uint8_t *data, size_t size, unsigned tag, double *value)
{
    struct exif x;
    size_t at = find_entry(&x, data, size, tag);
    uint32_t from, above, below;
    if (at == 0 || number(&x, at + 2, 2) != TYPE_RATIONAL || size < 8)
        return false;
    from = number(&x, at + 8, 4);
    if (from > size - 8)
        return false;
    above = number(&x, from, 4);
    below = number(&x, from + 4, 4);
    if (above == 0 || below == 0)
        return false;
    *value = (double)above / below;
    return true;
}

bool gf_exif_resolution(const uint8_t *data, size_t size, double resolution[2], int *unit)
{
    uint32_t value = 2; /* EXIF's default is the inch */
    double xy[2];
    (void)integer(data, size, TAG_UNIT, &value);
    if (!rational(data, size, TAG_X_RESOLUTION, &xy[0]) ||
        !rational(data, size, TAG_Y_RESOLUTION, &xy[1]) || value < 1 || value > 3)
        return false;
    resolution[0] = xy[0];
    resolution[1] = xy[1];
    *unit = value == 1 ? 0 : (int)value;
    return true;
}

void gf_turn_upright(void *to, const void *from, uint64_t width, uint64_t height, size_t bytes,
                     int orientation, uint64_t first, uint64_t count)
{
    /* Where upright column 0 and row 0 are among the stored columns and rows, by orientation:
     * the axes exchanged, the stored x counted from the right, the stored y from below. */
    static const struct {
        bool swap, right, below;
    } ways[9] = {
        {false, false, false}, {false, false, false}, {false, true, false}, {false, true, true},
        {false, false, true},  {true, false, false},  {true, false, true},  {true, true, true},
        {true, true, false},
    };
    const bool swap = ways[orientation].swap;
    const uint64_t out_width = swap ? height : width;
    uint8_t *out = to;

    for (uint64_t v = first; v < first + count; v++) {
        for (uint64_t u = 0; u < out_width; u++, out += bytes) {
            uint64_t x = swap ? v : u, y = swap ? u : v;
            x = ways[orientation].right ? width - 1 - x : x;
            y = ways[orientation].below ? height - 1 - y : y;
            memcpy(out, (const uint8_t *)from + (y * width + x) * bytes, bytes);
        }
    }
}
