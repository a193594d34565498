/* Values of shuffles, votes, barriers that vote, and intrinsics. */
#include "simt_test.h"

#include <cfloat>
#include <cmath>

namespace GF_DEVICE {

static constexpr int kinds = 4;

/* Every shuffle of every lane for one width; lane v gives 100 + v. */
static __global__ void shuffles(int *out, int argument, int width)
{
    int lane = static_cast<int>(threadIdx.x), v = 100 + lane;
    unsigned n = static_cast<unsigned>(argument);

    out[lane] = __shfl_sync(0xffffffffu, v, argument, width);
    out[32 + lane] = __shfl_up_sync(0xffffffffu, v, n, width);
    out[64 + lane] = __shfl_down_sync(0xffffffffu, v, n, width);
    out[96 + lane] = __shfl_xor_sync(0xffffffffu, v, argument, width);
}

/* As the programming guide has it: lanes of a group of `width`. */
static int expected(int kind, int lane, int n, int width)
{
    int first = lane / width * width, at = lane - first, source = lane;

    if (kind == 0)
        source = first + n % width;
    else if (kind == 1)
        source = at - n >= 0 ? lane - n : lane;
    else if (kind == 2)
        source = at + n < width ? lane + n : lane;
    else if ((lane ^ n) < first + width)
        source = lane ^ n;
    return 100 + source;
}

static bool shuffles_right(int width, int argument)
{
    int *out, host[32 * kinds];
    bool right = true;

    cudaMalloc(&out, sizeof host);
    launch(shuffles, 1, 32, 0, nullptr, out, argument, width);
    right = cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess;
    cudaFree(out);
    for (int i = 0; i < 32 * kinds; i++)
        right = right && host[i] == expected(i / 32, i % 32, argument, width);
    return right;
}

static __global__ void wide(double *out, const double *in)
{
    double v = in[threadIdx.x];

    for (unsigned d = 16; d > 0; d /= 2)
        v += __shfl_down_sync(0xffffffffu, v, d);
    long long last = __shfl_sync(0xffffffffu, static_cast<long long>(threadIdx.x) << 40, 31);
    out[threadIdx.x] = threadIdx.x % 32 == 0 ? v : static_cast<double>(last);
}

static __global__ void votes(unsigned *out)
{
    int odd = static_cast<int>(threadIdx.x % 2);
    unsigned *mine = out + threadIdx.x * 12;

    mine[0] = __ballot_sync(0xffffffffu, odd);
    mine[1] = static_cast<unsigned>(__all_sync(0xffffffffu, odd));
    mine[2] = static_cast<unsigned>(__any_sync(0xffffffffu, odd));
    mine[3] = static_cast<unsigned>(__syncthreads_count(odd));
    mine[4] = static_cast<unsigned>(__syncthreads_and(threadIdx.x < 64));
    mine[5] = static_cast<unsigned>(__syncthreads_or(threadIdx.x == 63));
    mine[6] = __reduce_add_sync(0xffffffffu, threadIdx.x);
    mine[7] = static_cast<unsigned>(__reduce_min_sync(0xffffffffu, -static_cast<int>(threadIdx.x)));
    mine[8] = __reduce_max_sync(0xffffffffu, threadIdx.x);
    mine[9] = __match_any_sync(0xffffffffu, threadIdx.x % 4);
    mine[10] = __activemask();
    mine[11] = threadIdx.x % 32 < 8 ? __ballot_sync(0xffu, odd) : 0;
}

static bool votes_right()
{
    static unsigned host[64 * 12];
    unsigned *out;

    cudaMalloc(&out, sizeof host);
    launch(votes, 1, 64, 0, nullptr, out);
    bool right = cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess;
    cudaFree(out);
    for (unsigned t = 0; t < 64; t++) {
        const unsigned *v = host + t * 12;
        unsigned first = t / 32 * 32;
        right = right && v[0] == 0xaaaaaaaau && v[1] == 0 && v[2] == 1 && v[3] == 32 &&
                v[4] == 1 && v[5] == 1 && v[6] == 32 * first + 496 &&
                static_cast<int>(v[7]) == -static_cast<int>(first + 31) && v[8] == first + 31 &&
                v[9] == 0x11111111u << t % 4 && (v[10] >> t % 32 & 1) &&
                v[11] == (t % 32 < 8 ? 0xaau : 0u);
    }
    return right;
}

/* threadIdx and its kin: each thread writes all of it at its own place. */
static __global__ void places(uint4 *out)
{
    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    uint4 v = make_uint4(threadIdx.x, threadIdx.y, threadIdx.z, block);

    out[block * (blockDim.x * blockDim.y * blockDim.z) + thread] = v;
}

static bool places_right()
{
    static uint4 host[5 * 2 * 3 * 7 * 3 * 2];
    uint4 *out;

    cudaMalloc(&out, sizeof host);
    launch(places, dim3(5, 2, 3), dim3(7, 3, 2), 0, nullptr, out);
    bool right = cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess;
    cudaFree(out);
    for (unsigned i = 0; i < 5 * 2 * 3 * 7 * 3 * 2; i++)
        right = right && host[i].x == i % 7 && host[i].y == i / 7 % 3 && host[i].z == i / 21 % 2 &&
                host[i].w == i / 42;
    return right;
}

static __global__ void atomics(int *i, unsigned *u, unsigned long long *l, float *f, double *d)
{
    int v = static_cast<int>(threadIdx.x);

    atomicAdd(&i[0], v);
    atomicMin(&i[1], -v);
    atomicMax(&i[2], v);
    atomicSub(&i[3], v);
    atomicOr(&u[0], 1u << threadIdx.x % 32);
    atomicAnd(&u[1], ~(1u << threadIdx.x % 32));
    atomicXor(&u[2], 1u << threadIdx.x % 32);
    atomicInc(&u[3], 9);
    atomicAdd(&l[0], 1ull << 40);
    atomicMax(&l[1], static_cast<unsigned long long>(v) << 33);
    atomicAdd(f, 0.5f);
    atomicAdd(d, 0.25);
    if (atomicCAS(&i[4], 0, v + 1) == 0)
        atomicExch(&i[5], 77);
}

static bool atomics_right()
{
    struct {
        double d;
        unsigned long long l[2];
        int i[6];
        unsigned u[4];
        float f;
    } host, *device;

    cudaMalloc(&device, sizeof host);
    cudaMemset(device, 0, sizeof host);
    cudaMemset(&device->u[1], 0xff, 4);
    launch(atomics, 1, 64, 0, nullptr, device->i, device->u, device->l, &device->f, &device->d);
    bool right = cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess;
    cudaFree(device);
    return right && host.i[0] == 2016 && host.i[1] == -63 && host.i[2] == 63 &&
           host.i[3] == -2016 && host.i[4] > 0 && host.i[5] == 77 && host.u[0] == 0xffffffffu &&
           host.u[1] == 0 && host.u[2] == 0 && host.u[3] == 4 && host.l[0] == 64ull << 40 &&
           host.l[1] == 63ull << 33 && host.f == 32 && host.d == 16;
}

static void test_bits()
{
    CHECK(__popc(0xf0f0u) == 8 && __clz(1) == 31 && __clz(0) == 32 && __ffs(8) == 4);
    CHECK(__brev(1) == 0x80000000u && __ffsll(1ll << 40) == 41 && __clzll(1) == 63);
    CHECK(__umulhi(0x80000000u, 6) == 3 && __mulhi(-1, 1) == -1);
    CHECK(__umul64hi(1ull << 63, 6) == 3);
    CHECK(__byte_perm(0x33221100u, 0x77665544u, 0x7531) == 0x77553311u);
    CHECK(__byte_perm(0x00800000u, 0, 0x000a) == 0x000000ffu);
    CHECK(__funnelshift_l(0x80000000u, 1, 1) == 3 && __funnelshift_r(2, 1, 1) == 0x80000001u);
    CHECK(__funnelshift_l(5, 7, 32) == 7 && __funnelshift_lc(5, 7, 32) == 5);
    CHECK(__funnelshift_r(5, 7, 32) == 5 && __funnelshift_rc(5, 7, 32) == 7);
    CHECK(__dp4a(0x01ff7f80, 0x02030405, 10) == 10 + 2 - 3 + 127 * 4 - 128 * 5);
    CHECK(__dp4a(0x01ff7f80u, 0x02030405u, 10u) == 10u + 2 + 255 * 3 + 127 * 4 + 128 * 5);
    CHECK(__dp2a_lo(static_cast<int>(0xffff0003u), 0x7f800204, 1) == 1 + 3 * 4 - 2);
    CHECK(__dp2a_hi(static_cast<int>(0xffff0003u), 0x7f800204, 1) == 1 - 3 * 128 - 127);
    CHECK(__dp2a_lo(0xffff0003u, 0x7f800204u, 1u) == 1u + 12 + 65535 * 2);
}

static void test_conversions()
{
    float nan = NAN, infinity = INFINITY;

    CHECK(__float2int_rn(2.5f) == 2 && __float2int_rn(-3.5f) == -4 && __float2int_rz(-3.5f) == -3);
    CHECK(__float2int_rd(-3.5f) == -4 && __float2int_ru(3.25f) == 4);
    CHECK(__float2int_rn(infinity) == INT32_MAX && __float2int_rn(-infinity) == INT32_MIN);
    CHECK(__float2int_rn(3e9f) == INT32_MAX && __float2int_rn(nan) == 0);
    CHECK(__float2uint_rn(-1) == 0 && __float2uint_rn(5e9f) == UINT32_MAX);
    CHECK(__float2uint_rn(4294967040.0f) == 4294967040u);
    CHECK(__double2int_rn(nan) == INT32_MIN && __double2ll_rn(1e300) == INT64_MAX);
    CHECK(__double2uint_rn(4294967294.5) == 4294967294u);
    CHECK(__float2ull_rn(-1) == 0 && __float2ll_rn(nan) == INT64_MIN);
    CHECK(__float_as_uint(1) == 0x3f800000u && __int_as_float(0x40000000) == 2);
    CHECK(__hiloint2double(__double2hiint(1.1), __double2loint(1.1)) == 1.1);
    CHECK(__fmaf_rn(1 + FLT_EPSILON, 1 - FLT_EPSILON, -1) == -FLT_EPSILON * FLT_EPSILON);
    CHECK(max(-1, 1u) == 0xffffffffu && min(2.0f, nan) == 2 && max(1ll, 5ll) == 5);
}

}

using namespace GF_DEVICE;

void test_warp_values()
{
    bool right = true;

    for (int width = 1; width <= 32; width *= 2)
        for (int n = 0; n < 32; n++)
            right = right && shuffles_right(width, n);
    checked(right, "shuffles of all widths and lanes");

    double host[32], *in, *out;
    for (int i = 0; i < 32; i++)
        host[i] = 0.5 * i;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    launch(wide, 1, 32, 0, nullptr, out, static_cast<const double *>(in));
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    checked(host[0] == 248 && host[5] == static_cast<double>(31ll << 40),
            "shuffles of eight bytes");
    cudaFree(in);
    cudaFree(out);
    checked(votes_right(), "votes and reductions of a warp, and barriers that vote");
    checked(places_right(), "threadIdx, blockIdx, blockDim, gridDim");
    checked(atomics_right(), "atomics");
}

void test_intrinsics()
{
    test_bits();
    test_conversions();
}
