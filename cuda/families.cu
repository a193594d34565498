/* The kernel families, the fastest first. */
#include "family.h"

#include <cstdlib>
#include <cstring>

namespace GF_DEVICE {

const struct gf_family *const families[] = {
    &sweep2d,
    &sweep3d_direct,
    &sweep3d_separable,
    &general,
    nullptr,
};

const struct gf_family *family_for(const struct gf_plan *plan, bool aligned)
{
    const struct gf_family *const *f = families;

#ifdef GPUFILT_TEST_HOOKS
    const char *name = getenv("GPUFILT_TEST_FAMILY");
    for (; name != nullptr && *f != nullptr; f++)
        if (strcmp((*f)->name, name) == 0 && (*f)->takes(plan, aligned))
            return *f;
    f = families;
#endif
    while (!(*f)->takes(plan, aligned))
        f++;
    return *f;
}

}
