/* What tests ask of the simt device, beside the CUDA API. */
#ifndef GPUFILT_SIMT_CONTROL_H
#define GPUFILT_SIMT_CONTROL_H

#include "api.h"

namespace simt {

/* API calls so far, launches included; those that cannot fail are not counted. */
unsigned long long calls();
/* The n-th call from now on (1 is the next) fails with this error; with `sticky` all later ones
 * too, until cudaDeviceReset(). 0: none. A call that releases something does so all the same. */
void fail_at(unsigned long long n, api::cudaError_t error, bool sticky);
/* Device memory, streams, events and pinned memory that are still there, and work that nothing
 * waited for: how many. Each kind is printed on a line. Also done when the process ends, whose
 * exit status then is 97. */
size_t leaks();
/* Bytes of device memory from now on. */
void limit_memory(size_t bytes);
/* The last line that began with "simt: ", without that; "" after clear_report(). */
const char *last_report();
void clear_report();

}

#endif
