/* Separable masks without negative taps over bytes, small enough that every sum fits 16 bits:
 * two sums in a 32-bit register, added to with one multiplication. */
#include "sweep2d.cuh"

namespace GF_DEVICE {
namespace {

constexpr int VX = 16; /* columns a thread */

/* Along x four taps are a word, as __dp4a takes them: across[p] is the mask whose first tap is
 * byte p of its first word, with zeros around. Along y a tap is a number. */
struct packed_taps {
    uint32_t across[4][(3 + SWEEP_MOST_PACKED + 3) / 4];
    uint32_t down[SWEEP_MOST_PACKED];
};
__constant__ struct packed_taps taps;

template <int SIZE> using packed_strip = strip<uint8_t, WARP * VX, SIZE / 2, 4, 3>;

/* The sum along x for column `o` of the window. */
template <int SIZE, typename Window> __device__ inline uint32_t across(const Window &w, int o)
{
    int first = w.aside + o;
    uint32_t acc = 0;

    GF_UNROLL
    for (int i = first / 4; i <= (first + SIZE - 1) / 4; i++)
        acc = __dp4a(w.words[i], taps.across[first % 4][i - first / 4], acc);
    return acc;
}

/* From sums, of which each register holds two, to samples: acc / 256 rounded to nearest even.
 * The sums began as 127, so that a quotient is one up when the rest was above 128; when the rest
 * was 128 the sum ends in 255, and an odd quotient makes it one up. */
template <int PAIRS> __device__ inline void shifted(const uint32_t *acc, uint32_t *words)
{
    GF_UNROLL
    for (int i = 0; i < PAIRS; i += 2) {
        uint32_t a = acc[i] + ((acc[i] & 0x01000100u) >> 8);
        uint32_t b = acc[i + 1] + ((acc[i + 1] & 0x01000100u) >> 8);
        words[i / 2] = __byte_perm(a, b, 0x7531);
    }
}

/* The same for an odd divisor d < 256. The sums began as (d - 1) / 2, which makes rounding the
 * integer part of a sum n < 255.5 d over d. With m = 2^24 / d, rounded up, n * m / 2^24 is
 * above n / d by less than n d / (d 2^24) < 1 / d, so that its integer part is the same. */
template <int PAIRS>
__device__ inline void divided(const uint32_t *acc, uint32_t m, uint32_t *words)
{
    GF_UNROLL
    for (int i = 0; i < PAIRS; i += 2) {
        uint32_t a = __byte_perm((acc[i] & 0xffffu) * m, (acc[i] >> 16) * m, 0x0073);
        uint32_t b = __byte_perm((acc[i + 1] & 0xffffu) * m, (acc[i + 1] >> 16) * m, 0x0073);
        words[i / 2] = __byte_perm(a, b, 0x5410);
    }
}

template <bool ODD, int SIZE>
__global__ void __launch_bounds__(SWEEP_WARPS *WARP, 4)
packed_kernel(const struct sweep2d_params p)
{
    constexpr int pairs = VX / 2;
    /* acc[k]: of the output row that is k + 1 rows away from its last. */
    uint32_t acc[SIZE][pairs] = {};

    sweep2d_walk<GF_U8, packed_strip<SIZE>, VX, SIZE>(
        p,
        [&](const unsigned char *row, int lane) {
            struct window<GF_U8, VX, SIZE> w;
            window_read<packed_strip<SIZE>>(w, row, 0, lane);
            GF_UNROLL
            for (int i = 0; i < pairs; i++) {
                uint32_t sums = __byte_perm(across<SIZE>(w, 2 * i), across<SIZE>(w, 2 * i + 1),
                                            0x5410);
                GF_UNROLL
                for (int k = 0; k + 1 < SIZE; k++)
                    acc[k][i] = acc[k + 1][i] + sums * taps.down[SIZE - 1 - k];
                acc[SIZE - 1][i] = p.packed_start + sums * taps.down[0];
            }
        },
        [&](uint32_t *words, uint32_t) {
            if constexpr (ODD)
                divided<pairs>(acc[0], p.packed_multiplier, words);
            else
                shifted<pairs>(acc[0], words);
            return false;
        });
}

template <bool ODD, int SIZE> struct sweep2d_kernel kernel_of()
{
    using shape = packed_strip<SIZE>;
    return {packed_kernel<ODD, SIZE>, shape::columns, shape::bytes};
}

template <bool ODD> struct sweep2d_kernel of_size(int size)
{
    switch (size) {
    case 3: return kernel_of<ODD, 3>();
    case 5: return kernel_of<ODD, 5>();
    case 7: return kernel_of<ODD, 7>();
    case 9: return kernel_of<ODD, 9>();
    default: return {};
    }
}

}

struct sweep2d_kernel sweep2d_packed(bool odd_divisor, int size)
{
    return odd_divisor ? of_size<true>(size) : of_size<false>(size);
}

cudaError_t sweep2d_packed_taps(const int32_t *from, int size, cudaStream_t stream)
{
    struct packed_taps t = {};

    for (int i = 0; i < size; i++) {
        for (int p = 0; p < 4; p++)
            t.across[p][(p + i) / 4] |= static_cast<uint32_t>(from[i]) << (8 * ((p + i) % 4));
        t.down[i] = static_cast<uint32_t>(from[size + i]);
    }
    return cudaMemcpyToSymbolAsync(taps, &t, sizeof t, 0, cudaMemcpyHostToDevice, stream);
}

}
