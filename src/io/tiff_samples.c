/* Stored samples of any width to ours. Everything here works on whole rows in memory. */
#include "tiff.h"

#include "../util.h"
#include "apart.h"

#include <string.h>

/* ---- the bits of a sample ---- */

/* Most significant bit first, whatever the byte order: what both TIFF and libtiff mean by
 * samples that are no whole bytes. */
#define BITS_LOOP(type)                                             \
    do {                                                            \
        type *to = out;                                             \
        uint64_t held = 0;                                          \
        unsigned have = 0;                                          \
        for (uint64_t i = 0; i < count; i++) {                      \
            while (have < bits) {                                   \
                held = held << 8 | *from++;                         \
                have += 8;                                          \
            }                                                       \
            have -= bits;                                           \
            to[i] = (type)(((held >> have & mask) ^ sign) - sign);  \
        }                                                           \
    } while (0)

static void unpack_bits(const uint8_t *from, uint64_t count, unsigned bits, bool is_signed,
                        unsigned out_bytes, void *out)
{
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    const uint64_t sign = is_signed ? UINT64_C(1) << (bits - 1) : 0;

    if (out_bytes == 1)
        BITS_LOOP(uint8_t);
    else if (out_bytes == 2)
        BITS_LOOP(uint16_t);
    else
        BITS_LOOP(uint32_t);
}

/* 24-bit integers stand in machine order after gf_tiff_swap. */
static uint32_t load24(const uint8_t *p)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
#else
    return (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
#endif
}

/* A sign, 7 bits of exponent with bias 63, 16 of mantissa: exact in binary32. */
static float widen24(uint32_t v)
{
    uint32_t sign = (v & 0x800000u) << 8, exponent = v >> 16 & 0x7f, mantissa = v & 0xffff;
    uint32_t bits;
    float value;

    if (exponent == 0) {
        value = (float)mantissa * 0x1p-78f;
        memcpy(&bits, &value, sizeof bits);
        bits |= sign;
    } else if (exponent == 127) {
        bits = sign | 0x7f800000u | mantissa << 7;
    } else {
        bits = sign | (exponent + 127 - 63) << 23 | mantissa << 7;
    }
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Returns how many are exact, up to the first that is not. With `inverted`, each sample at a
 * multiple of that number is min-is-white: turned round here, while it is still exact. */
static uint64_t widen64(const uint8_t *from, uint64_t count, bool is_signed, uint32_t inverted,
                        void *out)
{
    double *to = out;

    for (uint64_t i = 0; i < count; i++) {
        uint64_t v, size;
        memcpy(&v, from + 8 * i, sizeof v);
        if (inverted > 0 && i % inverted == 0)
            v = ~v;
        size = is_signed && v >> 63 ? 0 - v : v;
        /* Exact when the bits between the first and the last one set are 53 at most. */
        if (size >> 53 != 0 && 64 - __builtin_clzll(size) - __builtin_ctzll(size) > 53)
            return i;
        to[i] = is_signed ? (double)(int64_t)v : (double)v;
    }
    return count;
}

static void unpack(const struct gf_tiff_convert *c, const uint8_t *from, uint64_t count,
                   unsigned out_bytes, void *out)
{
    if (c->bits == 24 && c->is_float) {
        float *to = out;
        for (uint64_t i = 0; i < count; i++)
            to[i] = widen24(load24(from + 3 * i));
    } else if (c->bits == 24) {
        uint32_t *to = out;
        uint32_t sign = c->is_signed ? 0x800000u : 0;
        for (uint64_t i = 0; i < count; i++)
            to[i] = (load24(from + 3 * i) ^ sign) - sign;
    } else if (c->bits % 8 == 0) {
        memcpy(out, from, count * (c->bits / 8));
    } else {
        unpack_bits(from, count, c->bits, c->is_signed, out_bytes, out);
    }
}

/* ---- min-is-white ---- */

/* max - v of unsigned and -1 - v of signed integers turn all bits round; the bits above the
 * stored ones are put right by `mask`. */
static void invert(const struct gf_tiff_convert *c, void *out, uint64_t count, size_t step)
{
    unsigned bytes = gf_type_bytes(c->type);

    if (bytes == 1) {
        uint8_t *to = out;
        uint8_t mask = c->is_signed || c->bits == 8 || c->scale
                           ? 0xff : (uint8_t)((1u << c->bits) - 1);
        for (uint64_t i = 0; i < count; i++)
            to[i * step] ^= mask;
    } else if (bytes == 2) {
        uint16_t *to = out;
        uint16_t mask = c->is_signed ? 0xffff : (uint16_t)((1u << c->bits) - 1);
        for (uint64_t i = 0; i < count; i++)
            to[i * step] ^= mask;
    } else {
        uint32_t *to = out;
        uint32_t mask = c->is_signed ? UINT32_MAX : (uint32_t)((UINT64_C(1) << c->bits) - 1);
        for (uint64_t i = 0; i < count; i++)
            to[i * step] ^= mask;
    }
}

/* ---- rows ---- */

void gf_tiff_convert_setup(struct gf_tiff_convert *c)
{
    unsigned bits = c->bits;
    bool whole = bits == 8 || bits == 16 || bits == 32 || (bits == 64 && c->is_float);

    c->identity = whole && !c->palette && !c->invert;
    if (bits < 8) {
        unsigned max = (1u << bits) - 1;
        for (unsigned v = 0; v <= max; v++)
            c->scaled[v] = (uint8_t)(c->scale ? (v * 510 + max) / (2 * max) : v);
    }
}

/* Indices become three bytes, alpha and other channels one byte. */
static void look_up(const struct gf_tiff_convert *c, const uint8_t *row, uint64_t pixels,
                    uint32_t first, uint32_t count, uint8_t *out)
{
    uint16_t *index = c->scratch;
    uint32_t max = (uint32_t)((UINT64_C(1) << c->bits) - 1);

    if (c->bits == 8)
        for (uint64_t i = 0; i < pixels * count; i++)
            index[i] = row[i];
    else
        unpack(c, row, pixels * count, 2, index);
    for (uint64_t i = 0; i < pixels; i++, out += c->channels) {
        for (uint32_t k = 0; k < count; k++) {
            uint32_t v = index[i * count + k];
            if (first + k == 0)
                memcpy(out, c->palette + 3 * (size_t)v, 3);
            else
                out[2 + first + k] = (uint8_t)((v * UINT64_C(510) + max) / (2 * max));
        }
    }
}

uint64_t gf_tiff_convert_row(const struct gf_tiff_convert *c, const uint8_t *row, uint64_t pixels,
                             uint32_t first, uint32_t count, void *out)
{
    unsigned bytes = gf_type_bytes(c->type);
    uint64_t samples = pixels * count, done = samples;
    bool inverted = c->invert && first == 0;
    void *to = count == c->channels ? out : c->scratch;

    if (c->palette) {
        look_up(c, row, pixels, first, count, out);
        return samples;
    }
    if (c->bits == 64 && !c->is_float)
        done = widen64(row, samples, c->is_signed, inverted ? count : 0, to);
    else
        unpack(c, row, samples, bytes, to);
    if (c->bits < 8 && c->scale) {
        uint8_t *p = to;
        for (uint64_t i = 0; i < samples; i++)
            p[i] = c->scaled[p[i]];
    }
    if (inverted && c->bits != 64)
        invert(c, to, pixels, count);
    if (to != out)
        gf_copy_apart((uint8_t *)out + (size_t)first * bytes, (size_t)c->channels * bytes, to,
                      bytes, bytes, pixels);
    return done;
}

/* ---- byte order and predictors ---- */

void gf_tiff_swap(void *data, uint64_t bytes, unsigned bits)
{
    uint8_t *p = data;

    if (bits == 16) {
        for (uint64_t i = 0; i + 2 <= bytes; i += 2) {
            uint16_t v;
            memcpy(&v, p + i, sizeof v);
            v = __builtin_bswap16(v);
            memcpy(p + i, &v, sizeof v);
        }
    } else if (bits == 24) {
        for (uint64_t i = 0; i + 3 <= bytes; i += 3) {
            uint8_t t = p[i];
            p[i] = p[i + 2];
            p[i + 2] = t;
        }
    } else if (bits == 32) {
        for (uint64_t i = 0; i + 4 <= bytes; i += 4) {
            uint32_t v;
            memcpy(&v, p + i, sizeof v);
            v = __builtin_bswap32(v);
            memcpy(p + i, &v, sizeof v);
        }
    } else if (bits == 64) {
        for (uint64_t i = 0; i + 8 <= bytes; i += 8) {
            uint64_t v;
            memcpy(&v, p + i, sizeof v);
            v = __builtin_bswap64(v);
            memcpy(p + i, &v, sizeof v);
        }
    }
}

/* The rows of strips and tiles start at multiples of the sample's size in buffers that are
 * aligned to 64 bytes, hence the plain pointers. */
#define ACCUMULATE(type)                                            \
    do {                                                            \
        type *p = (type *)(void *)row;                              \
        uint64_t n = row_bytes / sizeof(type);                      \
        for (uint64_t i = stride; i < n; i++)                       \
            p[i] = (type)(p[i] + p[i - stride]);                    \
    } while (0)

void gf_tiff_unpredict(uint8_t *row, uint64_t row_bytes, unsigned bits, uint32_t stride,
                       uint16_t predictor, bool swap, uint8_t *scratch)
{
    if (predictor == PREDICTOR_FLOATINGPOINT) {
        unsigned bytes = bits / 8;
        uint64_t samples = row_bytes / bytes;

        for (uint64_t i = stride; i < row_bytes; i++)
            row[i] = (uint8_t)(row[i] + row[i - stride]);
        memcpy(scratch, row, row_bytes);
        /* All first bytes come first, most significant first whatever the byte order. */
        for (unsigned b = 0; b < bytes; b++) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
            unsigned at = b;
#else
            unsigned at = bytes - 1 - b;
#endif
            for (uint64_t i = 0; i < samples; i++)
                row[i * bytes + at] = scratch[b * samples + i];
        }
        return;
    }
    if (swap)
        gf_tiff_swap(row, row_bytes, bits);
    if (predictor != PREDICTOR_HORIZONTAL)
        return;
    if (bits == 8)
        ACCUMULATE(uint8_t);
    else if (bits == 16)
        ACCUMULATE(uint16_t);
    else if (bits == 32)
        ACCUMULATE(uint32_t);
    else
        ACCUMULATE(uint64_t);
}
