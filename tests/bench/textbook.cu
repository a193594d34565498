/* The convolution kernels that courses and books teach, to be compared with: float32, clamped
 * border, mask in constant memory, compiled with every freedom the compiler asks for.
 *
 *   textbook [--small]
 *
 * naive: one thread a sample, all reads from global memory. tiled: a block loads a tile with its
 * halo into shared memory, one sample a thread; the threads over the halo then rest. coarsened:
 * the block loads in a loop and a thread computes 2 x 2 samples. In 3D naive and tiled (loading in
 * a loop). One line of JSON a result; --small only checks. */
#include "gpu_timer.cuh"

#include <cmath>
#include <vector>

namespace {

enum { MOST_TAPS = 729 };
__constant__ float mask[MOST_TAPS];

struct volume {
    const float *in;
    float *out;
    int width, height, depth;
};

__device__ int clamped(int i, int n) { return min(max(i, 0), n - 1); }

__device__ size_t at(const struct volume &v, int x, int y, int z)
{
    return (static_cast<size_t>(clamped(z, v.depth)) * v.height + clamped(y, v.height)) * v.width +
           clamped(x, v.width);
}

/* ---- 2D ---- */

template <int W> __global__ void naive2d(struct volume v)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;

    if (x >= v.width || y >= v.height)
        return;
    for (int j = 0; j < W; j++)
        for (int i = 0; i < W; i++)
            sum += mask[j * W + i] * v.in[at(v, x + i - W / 2, y + j - W / 2, 0)];
    v.out[at(v, x, y, 0)] = sum;
}

template <int W> __global__ void tiled2d(struct volume v)
{
    constexpr int BLOCK = 32, TILE = BLOCK - W + 1;
    __shared__ float tile[BLOCK][BLOCK];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * TILE + tx - W / 2, y = blockIdx.y * TILE + ty - W / 2;
    bool inner = tx >= W / 2 && tx < W / 2 + TILE && ty >= W / 2 && ty < W / 2 + TILE;
    float sum = 0;

    tile[ty][tx] = v.in[at(v, x, y, 0)];
    __syncthreads();
    if (!inner || x >= v.width || y >= v.height)
        return;
    for (int j = 0; j < W; j++)
        for (int i = 0; i < W; i++)
            sum += mask[j * W + i] * tile[ty - W / 2 + j][tx - W / 2 + i];
    v.out[at(v, x, y, 0)] = sum;
}

template <int W> __global__ void coarsened2d(struct volume v)
{
    constexpr int BLOCK = 16, TILE = 2 * BLOCK, SIDE = TILE + W - 1;
    __shared__ float tile[SIDE][SIDE];
    int x0 = blockIdx.x * TILE, y0 = blockIdx.y * TILE;
    float sum[2][2] = {};

    for (int i = threadIdx.y * BLOCK + threadIdx.x; i < SIDE * SIDE; i += BLOCK * BLOCK)
        tile[i / SIDE][i % SIDE] =
            v.in[at(v, x0 + i % SIDE - W / 2, y0 + i / SIDE - W / 2, 0)];
    __syncthreads();
    for (int j = 0; j < W; j++)
        for (int i = 0; i < W; i++)
            for (int b = 0; b < 2; b++)
                for (int a = 0; a < 2; a++)
                    sum[b][a] += mask[j * W + i] * tile[threadIdx.y + b * BLOCK + j]
                                                       [threadIdx.x + a * BLOCK + i];
    for (int b = 0; b < 2; b++)
        for (int a = 0; a < 2; a++) {
            int x = x0 + threadIdx.x + a * BLOCK, y = y0 + threadIdx.y + b * BLOCK;
            if (x < v.width && y < v.height)
                v.out[at(v, x, y, 0)] = sum[b][a];
        }
}

/* ---- 3D ---- */

template <int W> __global__ void naive3d(struct volume v)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    float sum = 0;

    if (x >= v.width || y >= v.height || z >= v.depth)
        return;
    for (int k = 0; k < W; k++)
        for (int j = 0; j < W; j++)
            for (int i = 0; i < W; i++)
                sum += mask[(k * W + j) * W + i] *
                       v.in[at(v, x + i - W / 2, y + j - W / 2, z + k - W / 2)];
    v.out[at(v, x, y, z)] = sum;
}

template <int W> __global__ void tiled3d(struct volume v)
{
    constexpr int TILE = 8, SIDE = TILE + W - 1;
    __shared__ float tile[SIDE][SIDE][SIDE];
    int x0 = blockIdx.x * TILE, y0 = blockIdx.y * TILE, z0 = blockIdx.z * TILE;
    int tx = threadIdx.x, ty = threadIdx.y, tz = threadIdx.z;
    float sum = 0;

    for (int i = (tz * TILE + ty) * TILE + tx; i < SIDE * SIDE * SIDE; i += TILE * TILE * TILE)
        tile[i / (SIDE * SIDE)][i / SIDE % SIDE][i % SIDE] =
            v.in[at(v, x0 + i % SIDE - W / 2, y0 + i / SIDE % SIDE - W / 2,
                    z0 + i / (SIDE * SIDE) - W / 2)];
    __syncthreads();
    if (x0 + tx >= v.width || y0 + ty >= v.height || z0 + tz >= v.depth)
        return;
    for (int k = 0; k < W; k++)
        for (int j = 0; j < W; j++)
            for (int i = 0; i < W; i++)
                sum += mask[(k * W + j) * W + i] * tile[tz + k][ty + j][tx + i];
    v.out[at(v, x0 + tx, y0 + ty, z0 + tz)] = sum;
}

/* ---- one row each ---- */

struct variant {
    const char *name, *row;
    int w;
    bool volume;
    void (*kernel)(struct volume);
    dim3 block;
    unsigned tile[3]; /* of output samples a block */
};

#define TILED(w) {32 - w + 1, 32 - w + 1, 1}
const struct variant variants[] = {
    {"naive", "f32 3x3", 3, false, naive2d<3>, {32, 8, 1}, {32, 8, 1}},
    {"naive", "f32 5x5", 5, false, naive2d<5>, {32, 8, 1}, {32, 8, 1}},
    {"naive", "f32 7x7", 7, false, naive2d<7>, {32, 8, 1}, {32, 8, 1}},
    {"naive", "f32 9x9", 9, false, naive2d<9>, {32, 8, 1}, {32, 8, 1}},
    {"tiled", "f32 3x3", 3, false, tiled2d<3>, {32, 32, 1}, TILED(3)},
    {"tiled", "f32 5x5", 5, false, tiled2d<5>, {32, 32, 1}, TILED(5)},
    {"tiled", "f32 7x7", 7, false, tiled2d<7>, {32, 32, 1}, TILED(7)},
    {"tiled", "f32 9x9", 9, false, tiled2d<9>, {32, 32, 1}, TILED(9)},
    {"coarsened", "f32 3x3", 3, false, coarsened2d<3>, {16, 16, 1}, {32, 32, 1}},
    {"coarsened", "f32 5x5", 5, false, coarsened2d<5>, {16, 16, 1}, {32, 32, 1}},
    {"coarsened", "f32 7x7", 7, false, coarsened2d<7>, {16, 16, 1}, {32, 32, 1}},
    {"coarsened", "f32 9x9", 9, false, coarsened2d<9>, {16, 16, 1}, {32, 32, 1}},
    {"naive", "f32 3x3x3", 3, true, naive3d<3>, {32, 4, 4}, {32, 4, 4}},
    {"naive", "f32 5x5x5", 5, true, naive3d<5>, {32, 4, 4}, {32, 4, 4}},
    {"tiled", "f32 3x3x3", 3, true, tiled3d<3>, {8, 8, 8}, {8, 8, 8}},
    {"tiled", "f32 5x5x5", 5, true, tiled3d<5>, {8, 8, 8}, {8, 8, 8}},
};

void launch(const struct variant &t, const struct volume &v)
{
    dim3 grid((v.width + t.tile[0] - 1) / t.tile[0], (v.height + t.tile[1] - 1) / t.tile[1],
              (v.depth + t.tile[2] - 1) / t.tile[2]);
    t.kernel<<<grid, t.block>>>(v);
    GPU(cudaGetLastError());
}

float clamped_sample(const std::vector<float> &in, const struct volume &v, int x, int y, int z)
{
    x = x < 0 ? 0 : x >= v.width ? v.width - 1 : x;
    y = y < 0 ? 0 : y >= v.height ? v.height - 1 : y;
    z = z < 0 ? 0 : z >= v.depth ? v.depth - 1 : z;
    return in[(static_cast<size_t>(z) * v.height + y) * v.width + x];
}

bool right(const struct variant &t, const struct volume &v, const std::vector<float> &taps)
{
    size_t count = static_cast<size_t>(v.width) * v.height * v.depth;
    std::vector<float> in(count), out(count);
    int r = t.w / 2, rz = t.volume ? r : 0;

    GPU(cudaMemcpy(in.data(), v.in, count * sizeof(float), cudaMemcpyDeviceToHost));
    GPU(cudaMemcpy(out.data(), v.out, count * sizeof(float), cudaMemcpyDeviceToHost));
    for (int z = 0; z < v.depth; z++)
        for (int y = 0; y < v.height; y++)
            for (int x = 0; x < v.width; x++) {
                double sum = 0;
                size_t tap = 0;
                for (int k = -rz; k <= rz; k++)
                    for (int j = -r; j <= r; j++)
                        for (int i = -r; i <= r; i++)
                            sum += static_cast<double>(taps[tap++]) *
                                   static_cast<double>(clamped_sample(in, v, x + i, y + j, z + k));
                double got = static_cast<double>(
                    out[(static_cast<size_t>(z) * v.height + y) * v.width + x]);
                if (!(fabs(got - sum) <= 1e-4)) {
                    fprintf(stderr, "%s %s: %g, not %g at %d,%d,%d\n", t.name, t.row, got, sum,
                            x, y, z);
                    return false;
                }
            }
    return true;
}

/* Checks at a small size, times at the table's. */
bool measure(const struct variant &t, bool small)
{
    struct volume v = {};
    std::vector<float> taps(t.volume ? t.w * t.w * t.w : t.w * t.w);
    size_t bytes;
    float *in;

    v.width = small ? 101 : t.volume ? 1024 : 16384;
    v.height = small ? 67 : t.volume ? 1024 : 16384;
    v.depth = !t.volume ? 1 : small ? 19 : 1024;
    bytes = static_cast<size_t>(v.width) * v.height * v.depth * sizeof(float);
    for (size_t i = 0; i < taps.size(); i++)
        taps[i] = static_cast<float>(i * 7 % 11 + 1) / (6.0f * static_cast<float>(taps.size()));
    GPU(cudaMemcpyToSymbol(mask, taps.data(), taps.size() * sizeof(float)));
    GPU(cudaMalloc(&in, bytes));
    GPU(cudaMalloc(&v.out, bytes));
    GPU(cudaMemset(v.out, 0xff, bytes));
    fill_random(in, bytes / sizeof(float));
    v.in = in;
    bool fine = true;
    if (small) {
        launch(t, v);
        fine = right(t, v, taps);
    } else {
        struct gpu_time time = timed([&] { launch(t, v); });
        print_result("textbook", t.name, t.row, time, 2.0 * static_cast<double>(bytes),
                     2.0 * static_cast<double>(taps.size() * (bytes / sizeof(float))), "right");
    }
    GPU(cudaDeviceSynchronize());
    GPU(cudaFree(in));
    GPU(cudaFree(v.out));
    return fine;
}

}

int main(int argc, char **argv)
{
    bool small = argc == 2 && strcmp(argv[1], "--small") == 0;

    if (argc > 1 && !small) {
        fprintf(stderr, "usage: textbook [--small]\n");
        return 2;
    }
    for (const struct variant &t : variants)
        if (!measure(t, true) || (!small && !measure(t, false)))
            return 1;
    return 0;
}
