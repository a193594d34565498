/* Counting by keys, a part of kernels_tmpl.c. */

/* Neighbours of the same value would wait for each other's counter, so they go to different
 * tables. */
static void top_8(const void *samples, size_t count, uint32_t *bins)
{
    const uint8_t *x = samples;
    uint32_t table[4][256] = {{0}};
    size_t i = 0;

    for (; i + 8 <= count; i += 8) {
        uint64_t eight;
        memcpy(&eight, x + i, sizeof eight);
        for (int k = 0; k < 8; k++)
            table[k % 4][eight >> 8 * k & 0xff]++;
    }
    for (; i < count; i++)
        table[0][x[i]]++;
    for (i = 0; i < 256; i++)
        bins[i] += table[0][i] + table[1][i] + table[2][i] + table[3][i];
}

/* Here several tables would leave the near cache: four of one value are counted at once. */
static void top_16(const void *samples, size_t count, uint32_t *bins)
{
    const uint16_t *x = samples;
    size_t i = 0;

    for (; i + 4 <= count; i += 4) {
        uint64_t four;
        memcpy(&four, x + i, sizeof four);
        if (four == (four & 0xffff) * UINT64_C(0x0001000100010001)) {
            bins[four & 0xffff] += 4;
            continue;
        }
        bins[four & 0xffff]++;
        bins[four >> 16 & 0xffff]++;
        bins[four >> 32 & 0xffff]++;
        bins[four >> 48]++;
    }
    for (; i < count; i++)
        bins[x[i]]++;
}

#define TOP(name, ctype)                                                                 \
    static void top_##name(const void *samples, size_t count, uint32_t *bins)            \
    {                                                                                    \
        const ctype *x = samples;                                                        \
        uint16_t top[GF_STRAND];                                                         \
                                                                                         \
        for (size_t i = 0; i < count; i++)                                               \
            top[i] = (uint16_t)(gf_key_of_##name(x[i]) >> (8 * sizeof(ctype) - 16));     \
        top_16(top, count, bins);                                                        \
    }
TOP(u32, uint32_t)
TOP(i32, int32_t)
TOP(f32, float)
TOP(f64, double)

/* The keys of keys.h for vectors of bits. */
#define KEY_UNSIGNED(v) (v)
#define KEY_SIGNED(v) ((v) ^ SIGN)
#define KEY_FLOAT(signs, vec, v) \
    (ONE_ZERO(vec, v) ^ ((vec)((signs)ONE_ZERO(vec, v) >> (8 * sizeof(B) - 1)) | SIGN))
#define ONE_ZERO(vec, v) ((v) & (vec)((v) != SIGN))

/* Bytes of a vector. */
#ifdef __AVX2__
#define VECTOR 32
#else
#define VECTOR 16
#endif

#define F u32
#define B uint32_t
#define I int32_t
#define KEY KEY_UNSIGNED
#include "below_tmpl.h"
#define F i32
#define B uint32_t
#define I int32_t
#define KEY KEY_SIGNED
#include "below_tmpl.h"
#define F f32
#define B uint32_t
#define I int32_t
#define KEY(v) KEY_FLOAT(signs_f32, vec_f32, v)
#include "below_tmpl.h"
#define F f64
#define B uint64_t
#define I int64_t
#define KEY(v) KEY_FLOAT(signs_f64, vec_f64, v)
#include "below_tmpl.h"
