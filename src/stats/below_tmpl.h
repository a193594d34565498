/* Counts the keys of a strand below some prefixes; included once for each type of 32 or 64 bits.
 * Parameters: F, the type's name; B and I, unsigned and signed integers of its width; KEY(v), the
 * keys of a vector of samples' bits. */

#define GLUE_(a, b) a##_##b
#define GLUE(a, b) GLUE_(a, b)
#define FN(name) GLUE(name, F)
#define SIGN ((B)1 << (8 * sizeof(B) - 1))

/* A block of keys: as many as are compared before anybody looks whether one was found, which in
 * a later pass is seldom so. */
enum { FN(VECTORS) = 4, FN(LANES) = VECTOR / sizeof(B), FN(BLOCK) = FN(VECTORS) * FN(LANES) };
typedef B FN(vec) __attribute__((vector_size(VECTOR)));
typedef I FN(signs) __attribute__((vector_size(VECTOR)));
/* As it lies in memory: loaded in one piece, which a memcpy is not everywhere. */
typedef B FN(stored) __attribute__((vector_size(VECTOR), aligned(1), may_alias));

/* Bit i: element i of the vectors is not 0. */
static inline uint32_t FN(which)(const FN(vec) *v)
{
    uint32_t which = 0;

#ifdef __AVX2__
    for (int k = 0; k < FN(VECTORS); k++) {
        FN(vec) some = (FN(vec))(v[k] != 0);
        int bits = sizeof(B) == 4 ? _mm256_movemask_ps((__m256)some)
                                  : _mm256_movemask_pd((__m256d)some);
        which |= (uint32_t)bits << k * FN(LANES);
    }
#else
    for (int i = 0; i < FN(BLOCK); i++)
        which |= (uint32_t)(v[i / FN(LANES)][i % FN(LANES)] != 0) << i;
#endif
    return which;
}

/* Inline, so that the vectors stay in registers where nothing is found. */
static inline __attribute__((always_inline)) void
FN(count_found)(const FN(vec) *keys, const FN(vec) *numbers, size_t count, unsigned shift,
                uint32_t *bins)
{
    uint32_t which = FN(which)(numbers) & ~UINT32_C(0) >> (32 - count);
    B key[FN(BLOCK)], number[FN(BLOCK)];

    memcpy(key, keys, sizeof key);
    memcpy(number, numbers, sizeof number);
    for (; which != 0; which &= which - 1) {
        int i = __builtin_ctz(which);
        bins[(size_t)(number[i] - 1) * GF_KEY_BINS + (key[i] >> shift & 0xffff)]++;
    }
}

static void FN(below)(const void *samples, size_t count, const struct gf_key_way *way,
                      uint32_t *bins)
{
    const unsigned up = way->shift + 16;

    for (size_t at = 0; at < count; at += FN(BLOCK)) {
        size_t size = count - at < FN(BLOCK) ? count - at : FN(BLOCK);
        const char *from = (const char *)samples + at * sizeof(B);
        FN(vec) key[FN(VECTORS)], any;
        /* Of the key's prefix, from 1; 0: none. */
        FN(vec) number[FN(VECTORS)] = {{0}, {0}, {0}, {0}};
        uint64_t word[VECTOR / 8], some = 0;
        B last[FN(BLOCK)];

        if (size < FN(BLOCK)) {
            memset(last, 0, sizeof last);
            from = memcpy(last, from, size * sizeof(B));
        }
        for (int v = 0; v < FN(VECTORS); v++) {
            FN(vec) bits = *(const FN(stored) *)(from + v * sizeof bits);
            key[v] = KEY(bits);
        }
        for (unsigned p = 0; p < way->prefixes; p++)
            for (int v = 0; v < FN(VECTORS); v++)
                number[v] |= (FN(vec))(key[v] >> up == (B)way->prefix[p]) & (B)(p + 1);
        any = number[0] | number[1] | number[2] | number[3];
        memcpy(word, &any, sizeof word);
        for (size_t i = 0; i < VECTOR / 8; i++)
            some |= word[i];
        if (some != 0)
            FN(count_found)(key, number, size, way->shift, bins);
    }
}

#undef GLUE_
#undef GLUE
#undef FN
#undef SIGN
#undef F
#undef B
#undef I
#undef KEY
