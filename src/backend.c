/* The list of backends. */
#include "backend.h"

const struct gf_backend *const gf_backends[] = {
    &gf_backend_cpu,
    &gf_backend_reference,
    NULL,
};
