#include "simt_control.h"

#include "../../cuda/simt/control.h"

unsigned long long simt_calls(void) { return simt::calls(); }

void simt_fail_at(unsigned long long n, int error, bool sticky)
{
    simt::fail_at(n, static_cast<simt::api::cudaError_t>(error), sticky);
}

void simt_reset(void)
{
    simt::fail_at(0, simt::api::cudaSuccess, false);
    (void)simt::api::cudaDeviceReset();
}

size_t simt_leaks(void) { return simt::leaks(); }

void simt_limit_memory(size_t bytes) { simt::limit_memory(bytes); }
