/* Small kernels whose counts can be found with pencil and paper; run and counted on the simt
 * device. */
#ifndef GPUFILT_TESTS_UNIT_COUNT_KERNELS_H
#define GPUFILT_TESTS_UNIT_COUNT_KERNELS_H

#include "bench/ladder.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum counted_kernel {
    COUNTED_COPY, COUNTED_GUARD, COUNTED_TWO_WAYS, COUNTED_TRIPS, COUNTED_NESTED,
    COUNTED_SKIPPED_TURN, COUNTED_EXCHANGE, COUNTED_PART_OF_WARP, COUNTED_EARLY_RETURN,
    COUNTED_ATOMICS, COUNTED_ASYNC, COUNTED_CONSTANT, COUNTED_FAR_APART, COUNTED_BANKS,
    COUNTED_ROUNDS, COUNTED_RACE, COUNTED_KERNELS
};

/* One launch, fresh arrays; the result is whether CUDA's calls went well. `counted` false: as
 * users run kernels, and *counts are those of nothing. */
bool run_counted(enum counted_kernel kernel, unsigned blocks, unsigned threads, bool counted,
                 struct gf_ladder_counts *counts);

#ifdef __cplusplus
}
#endif
#endif
