/* What its users ask of the simt device, beside the CUDA API; count.h is about counting. In builds
 * with test hooks the environment says the same to a whole program:
 *     GPUFILT_TEST_CUDA=N[:ERROR[:sticky]]  call number N fails with this error, by its name or
 *                                           number (cudaErrorMemoryAllocation)
 *     GPUFILT_TEST_CUDA_MEMORY=BYTES        memory of each device (2 GiB)
 *     GPUFILT_TEST_CUDA_DEVICES=N|driver    how many there are (1); a driver that is too old
 *     GPUFILT_TEST_SIMT_ORDER=SEED          threads take turns in another order
 *     CUDA_VISIBLE_DEVICES                  as CUDA has it */
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
 * waited for: how many. Each kind is printed on a line. With test hooks also done when the
 * process ends, whose exit status then is 97. */
size_t leaks();
/* Asked before each block: when it answers true, the launch ends with cudaErrorLaunchFailure and
 * nothing is printed. NULL: nobody is asked. */
void stop_when(bool (*asked)());
/* Bytes of device memory from now on. */
void limit_memory(size_t bytes);
/* The last line that began with "simt: ", without that; "" after clear_report(). */
const char *last_report();
void clear_report();
/* For who runs a kernel that does wrong to show it: from now on that is not printed (false), and
 * last_report() has it without places in the source, so that it is the same in every build; or
 * printed again (true). */
void print_failures(bool print);
/* Ends the error that a kernel left behind, with which every call fails. */
void recover();
/* One device, whatever CUDA_VISIBLE_DEVICES says about those of the machine. Before the first
 * call of the API, or the devices stay as they are. */
void ignore_visible();

}

#endif
