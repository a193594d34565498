/* Sums and extremes of a strand of integers, a part of kernels_tmpl.c. */

/* From the sums over y = x - offset: sum x = sum y + n * offset, and so on. */
static void integers_end(struct gf_part *found, int64_t sum, unsigned __int128 squares,
                         int64_t offset)
{
    int64_t n = (int64_t)found->n;
    __int128 moved = (__int128)squares + (__int128)(2 * sum) * offset +
                     (__int128)(n * offset) * offset;

    found->sum = sum + n * offset;
    found->squares = (unsigned __int128)moved;
}

/* A sample's y is its bits with FLIP, the sign bit or 0, turned over; `y_type` is where the sums
 * are narrowest: unsigned for types of 8 and 32 bits, signed for those of 16. Squares are added in
 * two parts, so that 4096 of them fit. FIRST takes as many of the samples as it can; the loop does
 * the rest. */
#define INTEGERS(name, ctype, y_type, FLIP, offset, square_type, part, sum_type, split, FIRST) \
    static void strand_##name(const void *samples, size_t count, struct gf_part *found)        \
    {                                                                                          \
        const ctype *x = samples;                                                              \
        y_type least = (y_type)(x[0] ^ (ctype)FLIP), most = least;                             \
        sum_type sum = 0;                                                                      \
        part low = 0, high = 0;                                                                \
                                                                                               \
        for (size_t i = FIRST; i < count; i++) {                                               \
            y_type y = (y_type)(x[i] ^ (ctype)FLIP);                                           \
            square_type square = (square_type)y * (square_type)y;                              \
            sum += (sum_type)y;                                                                \
            low += (part)square & (((part)1 << split) - 1);                                    \
            high += (part)square >> split;                                                     \
            least = y < least ? y : least;                                                     \
            most = y > most ? y : most;                                                        \
        }                                                                                      \
        *found = (struct gf_part){.n = count};                                                 \
        found->min = (double)((int64_t)least + offset);                                        \
        found->max = (double)((int64_t)most + offset);                                         \
        integers_end(found, (int64_t)sum, ((unsigned __int128)high << split) + low, offset);   \
    }

#ifdef __AVX2__
/* Sums of a vector's lanes. */
static uint32_t total_32(__m256i v)
{
    uint32_t lane[8], sum = 0;

    memcpy(lane, &v, sizeof lane);
    for (int i = 0; i < 8; i++)
        sum += lane[i];
    return sum;
}

/* Compilers widen each sample on its own; here 32 and 2 are added by one instruction. */
static size_t first_8(const void *samples, size_t count, int flip, uint32_t *sum,
                      uint32_t *squares, uint8_t *least, uint8_t *most)
{
    const __m256i *x = samples, turn = _mm256_set1_epi8((char)flip);
    __m256i sums = _mm256_setzero_si256(), square = sums;
    __m256i low = _mm256_set1_epi8((char)*least), high = low;
    uint8_t lows[32], highs[32];

    for (size_t i = 0; i < count / 32; i++) {
        __m256i y = _mm256_xor_si256(_mm256_loadu_si256(x + i), turn);
        __m256i even = _mm256_and_si256(y, _mm256_set1_epi16(0xff));
        __m256i odd = _mm256_srli_epi16(y, 8);
        sums = _mm256_add_epi64(sums, _mm256_sad_epu8(y, _mm256_setzero_si256()));
        square = _mm256_add_epi32(square, _mm256_add_epi32(_mm256_madd_epi16(even, even),
                                                           _mm256_madd_epi16(odd, odd)));
        low = _mm256_min_epu8(low, y);
        high = _mm256_max_epu8(high, y);
    }
    *sum = total_32(sums);
    *squares = total_32(square);
    memcpy(lows, &low, sizeof lows);
    memcpy(highs, &high, sizeof highs);
    for (int i = 0; i < 32; i++) {
        *least = lows[i] < *least ? lows[i] : *least;
        *most = highs[i] > *most ? highs[i] : *most;
    }
    return count / 32 * 32;
}
#define FIRST_8(flip) first_8(samples, count, flip, &sum, &low, &least, &most)
#else
#define FIRST_8(flip) 0
#endif

INTEGERS(u8, uint8_t, uint8_t, 0, 0, uint32_t, uint32_t, uint32_t, 16, FIRST_8(0))
INTEGERS(i8, int8_t, uint8_t, 0x80, -128, uint32_t, uint32_t, uint32_t, 16, FIRST_8(0x80))
INTEGERS(u16, uint16_t, int16_t, 0x8000, 32768, int32_t, uint32_t, int32_t, 16, 0)
INTEGERS(i16, int16_t, int16_t, 0, 0, int32_t, uint32_t, int32_t, 16, 0)
INTEGERS(u32, uint32_t, uint32_t, 0, 0, uint64_t, uint64_t, uint64_t, 32, 0)
INTEGERS(i32, int32_t, uint32_t, 0x80000000, INT64_C(-2147483648), uint64_t, uint64_t, uint64_t,
         32, 0)
