/* Which instruction set to use: asked of the processor once for each filter. */
#include "kernels.h"

#include "../util.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>

/* Whether the operating system keeps the registers is part of __builtin_cpu_supports. */
static bool has_avx2(void)
{
    unsigned a, b, c, d;

    /* F16C is asked by hand: not every compiler's builtin knows the name. */
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
#endif

static bool always(void) { return true; }

/* Best last. */
static const struct {
    const struct gf_kernels *kernels;
    bool (*supported)(void);
} levels[] = {
    {&gf_kernels_baseline, always},
#if defined(__x86_64__)
    {&gf_kernels_avx2, has_avx2},
    {&gf_kernels_avx512, has_avx512},
#endif
};

enum gf_status gf_kernels_choose(const struct gf_kernels **kernels, struct gf_error *e)
{
    size_t best = 0;

    for (size_t i = 0; i < GF_COUNT(levels); i++)
        if (levels[i].supported())
            best = i;
    *kernels = levels[best].kernels;
#ifdef GPUFILT_TEST_HOOKS
    const char *wanted = getenv("GPUFILT_CPU");
    if (wanted == NULL || *wanted == '\0')
        return GF_OK;
    for (size_t i = 0; i < GF_COUNT(levels); i++) {
        if (strcmp(levels[i].kernels->name, wanted) != 0)
            continue;
        if (!levels[i].supported())
            return gf_fail(e, GF_EDEVICE,
                           "GPUFILT_CPU: this processor lacks %s; its best is %s", wanted,
                           levels[best].kernels->name);
        *kernels = levels[i].kernels;
        return GF_OK;
    }
    return gf_fail(e, GF_EUSAGE,
                   "GPUFILT_CPU: '%s' is not a level of this build; use baseline, avx2 or avx512",
                   wanted);
#else
    (void)e;
    return GF_OK;
#endif
}
