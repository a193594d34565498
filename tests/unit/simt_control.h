/* The controls of the simt device (cuda/simt/control.h) for tests in C. */
#ifndef GPUFILT_TESTS_UNIT_SIMT_CONTROL_H
#define GPUFILT_TESTS_UNIT_SIMT_CONTROL_H

#include "devices.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* CUDA calls so far. */
unsigned long long simt_calls(void);
/* The n-th call from now on fails with this cudaError_t, with `sticky` all later ones too. */
void simt_fail_at(unsigned long long n, int error, bool sticky);
/* Ends all failing, and what the device still holds. */
void simt_reset(void);
/* What has not been released; printed. */
size_t simt_leaks(void);
/* Bytes of device memory from now on. */
void simt_limit_memory(size_t bytes);

/* gf_devices_list of the simt device. */
enum gf_status gf_simt_devices_list(struct gf_gpu_info **list, unsigned *count,
                                    struct gf_error *e);

#ifdef __cplusplus
}
#endif
#endif
