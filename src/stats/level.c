#include "level.h"

#include "../cpu/kernels.h"
#include "../util.h"

enum gf_status gf_stats_kernels_choose(const struct gf_stats_kernels **kernels,
                                       struct gf_error *e)
{
    static const struct {
        const struct gf_kernels *filters;
        const struct gf_stats_kernels *kernels;
    } levels[] = {
        {&gf_kernels_baseline, &gf_stats_kernels_baseline},
#if defined(__x86_64__)
        {&gf_kernels_avx2, &gf_stats_kernels_avx2},
        {&gf_kernels_avx512, &gf_stats_kernels_avx512},
#endif
    };
    const struct gf_kernels *filters;

    GF_TRY(gf_kernels_choose(&filters, e));
    for (size_t i = 0; i < GF_COUNT(levels); i++)
        if (levels[i].filters == filters)
            *kernels = levels[i].kernels;
    return GF_OK;
}
