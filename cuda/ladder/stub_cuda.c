/* In place of the ladders on a GPU in a build without CUDA. */
#define GF_LADDER_DEVICE gf_ladder_cuda
#define GF_LADDER_NAME "cuda"
#define GF_LADDER_WHY                                                                           \
    "this gpufilt was built without CUDA; build it where nvcc is (12.4 or newer), or use "      \
    "--simulate"
#include "stub.h"
