/* The list of backends. */
#include "backend.h"

#include <string.h>

/* The build says whether the simt device is in the program. */
#ifdef GPUFILT_SIMT
#define SIMT &gf_backend_simt,
#else
#define SIMT
#endif

const struct gf_backend *const gf_backends[] = {
    &gf_backend_cpu,
    &gf_backend_cuda,
    SIMT
    &gf_backend_reference,
    NULL,
};

const struct gf_backend *gf_backend_by_name(const char *name)
{
    for (const struct gf_backend *const *b = gf_backends; *b != NULL; b++)
        if (strcmp((*b)->name, name) == 0)
            return *b;
    return NULL;
}
