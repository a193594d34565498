/* Kernels that are wrong on purpose, for the checks of the simt device; GOOD makes the
 * corrected twin of each. */
#ifndef GPUFILT_TESTS_WRONG_KERNELS_CUH
#define GPUFILT_TESTS_WRONG_KERNELS_CUH

#include "launch.cuh"

#include <cstring>

namespace GF_DEVICE {

constexpr unsigned full = 0xffffffffu;

/* What kernels work on: `in` is written, `out` is not. */
struct arrays {
    const int *in;
    int *out;
    int n;
};

__device__ inline int rank() { return static_cast<int>(threadIdx.x); }

/* ---- races ---- */

template <bool GOOD> __global__ void reverse_block(arrays a)
{
    int *s = shared_memory<int>();

    s[rank()] = a.in[rank()];
    if (GOOD)
        __syncthreads();
    a.out[rank()] = s[a.n - 1 - rank()];
}

/* The sum comes back into what others still read. */
template <bool GOOD> __global__ void overwrite_neighbour(arrays a)
{
    int *s = shared_memory<int>();

    s[rank()] = a.in[rank()];
    __syncthreads();
    int v = s[(rank() + 1) % a.n];
    if (GOOD)
        __syncthreads();
    s[rank()] = v;
    a.out[rank()] = v;
}

template <bool GOOD> __global__ void two_writers(arrays a)
{
    int *s = shared_memory<int>();

    s[GOOD ? rank() : rank() / 2] = rank();
    __syncthreads();
    a.out[rank()] = s[rank() / 2];
}

/* Bytes of one word belong to different threads, then halves, then the word to one. */
template <bool GOOD> __global__ void neighbour_bytes(arrays a)
{
    unsigned char *bytes = shared_memory<unsigned char>();
    unsigned short *halves = shared_memory<unsigned short>();
    unsigned *words = shared_memory<unsigned>();

    bytes[rank()] = static_cast<unsigned char>(a.in[rank()]);
    __syncthreads();
    unsigned short v = static_cast<unsigned short>(halves[rank() / 2] + 1);
    __syncthreads();
    if (rank() % 2 == 0)
        halves[rank() / 2] = v;
    if (GOOD)
        __syncthreads();
    if (rank() % 4 == 0)
        words[rank() / 4] += 3;
    __syncthreads();
    a.out[rank()] = bytes[rank()];
}

/* A sum over 32 lanes in shared memory. */
template <bool GOOD> __global__ void sum_of_warp(arrays a)
{
    volatile int *s = shared_memory<int>();
    int lane = rank() % 32;

    s[rank()] = a.in[rank()];
    __syncwarp();
    for (int step = 16; step > 0; step /= 2) {
        if (lane < step)
            s[rank()] = s[rank()] + s[rank() + step];
        if (GOOD)
            __syncwarp();
    }
    a.out[rank()] = s[rank() - lane];
}

/* The lower and the upper half meet apart from each other: each may read its own half. */
template <bool GOOD> __global__ void halves_of_warp(arrays a)
{
    int *s = shared_memory<int>();
    bool upper = rank() >= 16;

    s[rank()] = a.in[rank()];
    __syncwarp(upper ? 0xffff0000u : 0x0000ffffu);
    int other = GOOD ? (upper ? 16 + (rank() + 1) % 16 : (rank() + 1) % 16) : 31 - rank();
    a.out[rank()] = s[other];
}

/* All lanes read one word at different clocks of theirs; then one of them writes it. */
template <bool GOOD, int WRITER> __device__ inline void write_after_readers(arrays a)
{
    int *s = shared_memory<int>();
    bool upper = rank() >= 16;

    if (rank() == 0)
        s[0] = 1;
    __syncwarp();
    if (upper) {
        __syncwarp(0xffff0000u);
        __syncwarp(0xffff0000u);
    }
    a.out[rank()] = s[0];
    __syncwarp(GOOD ? full : upper ? 0xffff0000u : 0x0000ffffu);
    if (rank() == WRITER)
        s[0] = 2;
}
template <bool GOOD> __global__ void write_by_lower_half(arrays a)
{
    write_after_readers<GOOD, 0>(a);
}
template <bool GOOD> __global__ void write_by_upper_half(arrays a)
{
    write_after_readers<GOOD, 31>(a);
}

/* Thread 0 and 32 are in different warps; the second reader is the writer. */
template <bool GOOD> __global__ void reader_of_other_warp(arrays a)
{
    int *s = shared_memory<int>();

    if (rank() == 0)
        s[0] = 1;
    __syncthreads();
    if (rank() % 32 == 0)
        a.out[rank()] = s[0];
    if (GOOD)
        __syncthreads();
    if (rank() == 32)
        s[0] = 2;
}

/* A word by one thread, its bytes by others. */
template <bool GOOD> __global__ void bytes_of_word(arrays a)
{
    const unsigned char *bytes = shared_memory<unsigned char>();
    unsigned *words = shared_memory<unsigned>();

    if (rank() % 4 == 0)
        words[rank() / 4] = static_cast<unsigned>(rank());
    if (GOOD)
        __syncthreads();
    a.out[rank()] = bytes[rank()];
}

/* Lane 0 knows of lane 2 through lane 1. */
template <bool GOOD> __global__ void order_through_another_lane(arrays a)
{
    int *s = shared_memory<int>();

    if (rank() == 2)
        s[0] = 5;
    if (rank() == 1 || rank() == 2)
        __syncwarp(0x6);
    if (rank() == 0 || rank() == 1)
        __syncwarp(0x3);
    if (rank() == (GOOD ? 0 : 3))
        a.out[0] = s[0];
}

/* A shuffle moves registers; it does not order memory. */
template <bool GOOD> __global__ void shuffle_as_barrier(arrays a)
{
    int *s = shared_memory<int>();

    s[rank()] = a.in[rank()];
    int v = __shfl_sync(full, rank(), 0);
    if (GOOD)
        __syncwarp();
    a.out[rank()] = s[31 - rank()] + v;
}

template <bool GOOD> __global__ void counter_not_ready(arrays a)
{
    int *s = shared_memory<int>();

    if (rank() == 0)
        s[0] = 0;
    if (GOOD)
        __syncthreads();
    atomicAdd(&s[0], 1);
    __syncthreads();
    a.out[rank()] = s[0];
}

template <bool GOOD> __global__ void counter_read_early(arrays a)
{
    int *s = shared_memory<int>();

    if (rank() == 0)
        s[0] = 0;
    __syncthreads();
    atomicAdd(&s[0], 1);
    if (GOOD)
        __syncthreads();
    a.out[rank()] = s[0];
}

/* The last thread does it after all others, where nothing but luck puts them in order. */
enum deed { READS, WRITES, COUNTS };
__device__ inline int act(int *p, deed d)
{
    if (d == COUNTS)
        return atomicAdd(p, 1);
    if (d == WRITES)
        *p = 3;
    return d == READS ? *p : 0;
}
template <bool GOOD, deed OTHERS, deed LAST> __device__ inline void last_thread(arrays a)
{
    int *s = shared_memory<int>();
    bool last = rank() == a.n - 1;
    int v = 0;

    if (rank() == 0)
        s[0] = 0;
    __syncthreads();
    if (!last)
        v = act(s, OTHERS);
    if (GOOD)
        __syncthreads();
    if (last)
        v = act(s, LAST);
    a.out[rank()] = v;
}
template <bool GOOD> __global__ void write_after_reads(arrays a)
{
    last_thread<GOOD, READS, WRITES>(a);
}
template <bool GOOD> __global__ void count_after_reads(arrays a)
{
    last_thread<GOOD, READS, COUNTS>(a);
}
template <bool GOOD> __global__ void read_after_counts(arrays a)
{
    last_thread<GOOD, COUNTS, READS>(a);
}
template <bool GOOD> __global__ void write_after_counts(arrays a)
{
    last_thread<GOOD, COUNTS, WRITES>(a);
}

/* Two tiles in turns; one barrier a turn is enough for two, not for one. */
template <bool GOOD> __global__ void tiles_in_turns(arrays a)
{
    int *s = shared_memory<int>();
    int sum = 0;

    for (int turn = 0; turn < 4; turn++) {
        int *tile = s + (GOOD ? turn % 2 * a.n : 0);
        tile[rank()] = a.in[rank()] + turn;
        __syncthreads();
        sum += tile[a.n - 1 - rank()];
    }
    a.out[rank()] = sum;
}

/* ---- barriers ---- */

template <bool GOOD> __global__ void barrier_after_return(arrays a)
{
    if (!GOOD && rank() < 3)
        return;
    __syncthreads();
    a.out[rank()] = 1;
}

/* The early return comes after others wait. */
template <bool GOOD> __global__ void return_before_barrier(arrays a)
{
    if (GOOD || rank() < a.n - 3)
        __syncthreads();
    a.out[rank()] = 1;
}

template <bool GOOD> __global__ void two_barriers(arrays a)
{
    if (GOOD) {
        __syncthreads();
    } else if (rank() % 2) {
        __syncthreads();
    } else {
        __syncthreads();
    }
    a.out[rank()] = 1;
}

template <bool GOOD> __global__ void barrier_against_shuffle(arrays a)
{
    int v = rank();

    if (GOOD || rank() != 5)
        v = __shfl_xor_sync(full, v, 1);
    __syncthreads();
    a.out[rank()] = v;
}

/* ---- warps ---- */

template <bool GOOD> __global__ void lane_returned(arrays a)
{
    if (!GOOD && rank() == 7)
        return;
    a.out[rank()] = __shfl_down_sync(full, rank(), 1);
}

/* A block of 20 threads. */
template <bool GOOD> __global__ void lane_does_not_exist(arrays a)
{
    a.out[rank()] = __popc(__ballot_sync(GOOD ? 0xfffffu : full, 1));
}

template <bool GOOD> __global__ void lane_outside_own_mask(arrays a)
{
    a.out[rank()] = __any_sync(GOOD || rank() % 2 ? full : full << 1, 1);
}

template <bool GOOD> __global__ void source_outside_mask(arrays a)
{
    if (rank() < 16)
        a.out[rank()] = __shfl_sync(0xffffu, rank(), GOOD ? 15 : 16);
}

template <bool GOOD> __global__ void different_operations(arrays a)
{
    int v = rank();

    if (GOOD || rank() < 16)
        v = __shfl_xor_sync(full, v, 1);
    else
        v = __shfl_xor_sync(full, v, 1);
    a.out[rank()] = v;
}

template <bool GOOD> __global__ void different_masks(arrays a)
{
    __syncwarp(GOOD || rank() < 16 ? full : 0xffffff00u);
    a.out[rank()] = 1;
}

template <bool GOOD> __global__ void lane_does_not_come(arrays a)
{
    if (rank() != 9)
        __syncwarp(GOOD ? full & ~(1u << 9) : full);
    else if (!GOOD)
        __syncwarp(1u << 9 | 1u << 8);
    a.out[rank()] = 1;
}

/* ---- memory ---- */

template <bool GOOD> __global__ void read_beyond(arrays a)
{
    a.out[rank()] = a.in[GOOD ? rank() : rank() + 1];
}

template <bool GOOD> __global__ void read_before(arrays a)
{
    a.out[rank()] = a.in[GOOD ? rank() : rank() - 1];
}

template <bool GOOD> __global__ void write_beyond(arrays a)
{
    a.out[GOOD ? rank() : rank() + 1] = 1;
}

template <bool GOOD> __global__ void copy_beyond(arrays a)
{
    if (rank() == 0)
        memcpy(a.out, a.in, static_cast<size_t>(a.n) * 4 + (GOOD ? 0 : 1));
}

struct row {
    int v[17];
};
template <bool GOOD> __global__ void struct_beyond(arrays a)
{
    const row *rows = reinterpret_cast<const row *>(a.in);
    row *to = reinterpret_cast<row *>(a.out);

    if (rank() == 0)
        to[0] = rows[GOOD ? 0 : a.n / 17];
}

template <bool GOOD> __global__ void misaligned(arrays a)
{
    int4 v = *reinterpret_cast<const int4 *>(a.in + (GOOD ? 4 : 2));

    a.out[rank()] = v.x + v.y + v.z + v.w;
}

template <bool GOOD> __global__ void atomic_beyond(arrays a)
{
    atomicMax(&a.out[GOOD ? rank() : rank() + a.n], 1);
}

template <bool GOOD> __global__ void shared_beyond(arrays a)
{
    int *s = shared_memory<int>();

    s[GOOD ? rank() : rank() + 1] = 1;
    a.out[rank()] = 1;
}

template <bool GOOD> __global__ void shared_before(arrays a)
{
    int *s = shared_memory<int>();

    s[rank()] = 1;
    a.out[rank()] = GOOD ? s[rank()] : s[rank() - 1];
}

/* Two blocks; the second finds what the first left. */
template <bool GOOD> __global__ void shared_of_other_block(arrays a)
{
    int *s = shared_memory<int>();

    if (GOOD || blockIdx.x == 0)
        s[rank()] = 1;
    a.out[rank()] = s[rank()];
}

template <bool GOOD> __global__ void shared_unwritten(arrays a)
{
    unsigned char *s = shared_memory<unsigned char>();
    const unsigned *words = shared_memory<unsigned>();

    for (int i = 0; i < (GOOD ? 4 : 3); i++)
        s[4 * rank() + i] = 1;
    a.out[rank()] = static_cast<int>(words[rank()]);
}

template <bool GOOD> __global__ void device_unwritten(arrays a)
{
    if (GOOD)
        a.out[rank()] = 0;
    a.out[rank()] += a.in[rank()];
}

__constant__ int constant[4];

template <bool GOOD> __global__ void write_constant(arrays a)
{
    int *p = const_cast<int *>(&constant[0]);

    if (!GOOD)
        p[rank() % 4] = 1;
    a.out[rank()] = constant[rank() % 4];
}

/* `out` here is memory of the host. */
template <bool GOOD> __global__ void host_memory(arrays a, const int *host)
{
    a.out[rank()] = GOOD ? a.in[rank()] : host[rank()];
}

/* ---- copies into shared memory ---- */

template <bool GOOD> __global__ void async_not_awaited(arrays a)
{
    int *s = shared_memory<int>();

    __pipeline_memcpy_async(&s[rank()], &a.in[rank()], 4);
    __pipeline_commit();
    if (GOOD)
        __pipeline_wait_prior(0);
    a.out[rank()] = s[rank()];
}

/* Each thread waits for its own copies only. */
template <bool GOOD> __global__ void async_of_neighbour(arrays a)
{
    int *s = shared_memory<int>();

    __pipeline_memcpy_async(&s[rank()], &a.in[rank()], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    if (GOOD)
        __syncthreads();
    a.out[rank()] = s[a.n - 1 - rank()];
}

/* Two groups: waiting for all but one leaves the second. */
template <bool GOOD> __global__ void async_second_group(arrays a)
{
    int *s = shared_memory<int>();

    __pipeline_memcpy_async(&s[rank()], &a.in[rank()], 4);
    __pipeline_commit();
    __pipeline_memcpy_async(&s[a.n + rank()], &a.in[rank()], 4, 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    int v = s[rank()];
    if (GOOD)
        __pipeline_wait_prior(0);
    a.out[rank()] = v + s[a.n + rank()];
}

template <bool GOOD> __global__ void async_uncommitted(arrays a)
{
    int *s = shared_memory<int>();

    __pipeline_memcpy_async(&s[rank()], &a.in[rank()], 4);
    if (GOOD)
        __pipeline_commit();
    __pipeline_wait_prior(0);
    a.out[rank()] = s[rank()];
}

template <bool GOOD> __global__ void async_overwritten(arrays a)
{
    int *s = shared_memory<int>();

    __pipeline_memcpy_async(&s[rank()], &a.in[rank()], 4);
    __pipeline_commit();
    if (GOOD)
        __pipeline_wait_prior(0);
    s[rank()] = 3;
    a.out[rank()] = s[rank()];
}

template <bool GOOD> __global__ void async_misaligned(arrays a)
{
    int *s = shared_memory<int>();

    if (rank() == 0)
        __pipeline_memcpy_async(&s[0], &a.in[GOOD ? 4 : 1], 16);
    a.out[rank()] = 1;
}

}

#endif
