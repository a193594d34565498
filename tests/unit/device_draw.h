/* Random circumstances for the backends on devices, which must not change the result. */
#ifndef GPUFILT_TESTS_UNIT_DEVICE_DRAW_H
#define GPUFILT_TESTS_UNIT_DEVICE_DRAW_H

#include "random_plan.h"

struct device_draw {
    const char *family, *pitched;
    char chunk[32];
};

static inline void device_variable(const char *name, const char *value)
{
    if (value[0] != '\0')
        setenv(name, value, 1);
    else
        unsetenv(name);
}

/* Draws layout, memory, chunks and kernel family, by hooks where the plan has no word for
 * it; nothing unless `device`. A family that does not take the plan is not taken. */
static inline void device_draw(struct device_draw *draw, struct gf_plan *p, bool device)
{
    static const char *const families[] = {"general", "sweep2d", "sweep3d_direct",
                                           "sweep3d_separable"};

    *draw = (struct device_draw){.family = "", .pitched = ""};
    p->packed = device && one_in(3);
    p->gpu_memory = 0;
    if (device && one_in(4))
        p->gpu_memory = 1 + below(gf_image_bytes(&p->in) + gf_image_bytes(&p->out) + 4096);
    if (device && one_in(2))
        snprintf(draw->chunk, sizeof draw->chunk, "%ux%u",
                 1 + (unsigned)below(one_in(3) ? 2 : 40), 1 + (unsigned)below(one_in(3) ? 1 : 9));
    if (device && one_in(2))
        draw->family = families[below(sizeof families / sizeof families[0])];
    if (device && !one_in(4))
        draw->pitched = "1";
    device_variable("GPUFILT_TEST_PITCHED", draw->pitched);
    device_variable("GPUFILT_TEST_CHUNK", draw->chunk);
    device_variable("GPUFILT_TEST_FAMILY", draw->family);
}

static inline void device_describe(const struct device_draw *draw, const struct gf_plan *p)
{
    fprintf(stderr, "  chunk %s family %s memory %llu%s pitched %s\n", draw->chunk, draw->family,
            (unsigned long long)p->gpu_memory, p->packed ? " packed" : "", draw->pitched);
}

#endif
