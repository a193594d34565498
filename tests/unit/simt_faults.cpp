/* Failures on request, and what the environment says about devices. */
#include "simt_test.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

namespace GF_DEVICE {

static __global__ void one(int *p) { p[threadIdx.x] = 1; }

/* A small program: 0, or the number of the step that failed, and the error. */
static int program(cudaError_t *error)
{
    int *p = nullptr, host[32], step = 0;
    cudaStream_t stream = nullptr;

    (step++, *error = cudaMalloc(&p, sizeof host)) == cudaSuccess &&
        (step++, *error = cudaStreamCreate(&stream)) == cudaSuccess &&
        (step++, *error = launch(one, 1, 32, 0, stream, p)) == cudaSuccess &&
        (step++, *error = cudaMemcpyAsync(host, p, sizeof host, cudaMemcpyDeviceToHost,
                                          stream)) == cudaSuccess &&
        (step++, *error = cudaStreamSynchronize(stream)) == cudaSuccess &&
        (step = 0);
    cudaError_t freed = cudaFree(p);
    cudaError_t destroyed = stream ? cudaStreamDestroy(stream) : cudaSuccess;
    if (step == 0 && freed != cudaSuccess) {
        step = 6;
        *error = freed;
    } else if (step == 0 && destroyed != cudaSuccess) {
        step = 7;
        *error = destroyed;
    }
    return step;
}

static int write_constant_from_host()
{
    int *p;

    cudaMalloc(&p, 4);
    *static_cast<volatile int *>(p) = 1;
    return 0;
}

}

using namespace GF_DEVICE;

/* Two devices: a kernel reaches the memory of its own. */
static int two_devices()
{
    int *p, host;
    bool right = cudaSetDevice(1) == cudaSuccess && cudaMalloc(&p, 4) == cudaSuccess &&
                 launch(one, 1, 1, 0, nullptr, p) == cudaSuccess &&
                 cudaMemcpy(&host, p, 4, cudaMemcpyDeviceToHost) == cudaSuccess && host == 1;

    cudaSetDevice(0);
    launch(one, 1, 1, 0, nullptr, p);
    right = right && cudaDeviceSynchronize() == cudaErrorIllegalAddress &&
            reported("of another device's memory");
    cudaDeviceReset();
    return right && cudaFree(p) == cudaSuccess ? 0 : 1;
}

void test_faults()
{
    cudaError_t error;

    unsigned long long before = simt::calls();
    checked(program(&error) == 0 && simt::calls() - before == 7, "calls are counted");
    for (int n = 1; n <= 7; n++) {
        simt::fail_at(static_cast<unsigned>(n), cudaErrorECCUncorrectable, false);
        checked(program(&error) == n && error == cudaErrorECCUncorrectable,
                "call %d fails, and what is released is", n);
        checked(cudaGetLastError() == cudaErrorECCUncorrectable &&
                    cudaGetLastError() == cudaSuccess && simt::leaks() == 0,
                "call %d: the error is told once, nothing leaks", n);
    }
    simt::fail_at(3, cudaErrorLaunchTimeout, true);
    checked(program(&error) == 3 && error == cudaErrorLaunchTimeout &&
                cudaDeviceSynchronize() == cudaErrorLaunchTimeout && simt::leaks() == 0,
            "a sticky error stays");
    cudaDeviceReset();
    checked(program(&error) == 0, "until the device is reset");
    simt::fail_at(1, cudaErrorUnknown, false);
    checked(cudaDeviceReset() == cudaErrorUnknown && cudaDeviceReset() == cudaSuccess,
            "the reset itself fails");
    simt::fail_at(2, cudaErrorUnknown, false);
    simt::fail_at(0, cudaSuccess, false);
    checked(program(&error) == 0, "a failure is called off");
}

/* ---- children with an environment ---- */

/* Runs this program with one variable set; its exit status, 128 + n for a signal. */
static int run_child(const char *self, const char *what, const char *name, const char *value)
{
    int status;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        unsetenv("GPUFILT_TEST_SIMT_ORDER");
        if (name)
            setenv(name, value, 1);
        execl("/proc/self/exe", self, what, static_cast<char *>(nullptr));
        _exit(126);
    }
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int child(const char *what)
{
    cudaError_t error = cudaSuccess;
    int count, version;
    size_t free, total;
    void *p;

    if (strcmp(what, "step") == 0)
        return program(&error);
    if (strcmp(what, "error") == 0)
        return program(&error) ? static_cast<int>(error) & 127 : 0;
    if (strcmp(what, "twice") == 0) {
        program(&error);
        cudaGetLastError();
        return program(&error);
    }
    if (strcmp(what, "count") == 0) {
        error = cudaGetDeviceCount(&count);
        return error ? 100 + static_cast<int>(error) % 100 : count;
    }
    if (strcmp(what, "set") == 0)
        return static_cast<int>(cudaSetDevice(1));
    if (strcmp(what, "driver") == 0)
        return cudaDriverGetVersion(&version) == cudaSuccess ? version / 1000 : 99;
    if (strcmp(what, "memory") == 0) {
        cudaMemGetInfo(&free, &total);
        return total == 5000 && cudaMalloc(&p, 5001) == cudaErrorMemoryAllocation &&
                       cudaMalloc(&p, 5000) == cudaSuccess && cudaFree(p) == cudaSuccess
                   ? 0 : 1;
    }
    if (strcmp(what, "devices") == 0)
        return two_devices();
    if (strcmp(what, "leak") == 0)
        return static_cast<int>(cudaMalloc(&p, 10));
    if (strcmp(what, "host") == 0) {
        freopen("/dev/null", "w", stderr);
        return write_constant_from_host();
    }
    return 125;
}

void test_environment(const char *self)
{
    static const struct {
        const char *what, *name, *value;
        int status;
    } rows[] = {
        {"step", nullptr, nullptr, 0},
        {"step", "GPUFILT_TEST_CUDA", "1", 1},
        {"error", "GPUFILT_TEST_CUDA", "1", cudaErrorMemoryAllocation},
        {"step", "GPUFILT_TEST_CUDA", "4:cudaErrorNotSupported", 4},
        {"error", "GPUFILT_TEST_CUDA", "4:cudaErrorNotReady", cudaErrorNotReady & 127},
        {"error", "GPUFILT_TEST_CUDA", "5:46", 46},
        {"twice", "GPUFILT_TEST_CUDA", "5:46", 0},
        {"twice", "GPUFILT_TEST_CUDA", "5:46:sticky", 1},
        {"step", "GPUFILT_TEST_CUDA", "1000", 0},
        {"count", nullptr, nullptr, 1},
        {"count", "GPUFILT_TEST_CUDA_DEVICES", "3", 3},
        {"count", "GPUFILT_TEST_CUDA_DEVICES", "0", 100 + cudaErrorNoDevice % 100},
        {"count", "GPUFILT_TEST_CUDA_DEVICES", "driver", 100 + cudaErrorInsufficientDriver},
        {"driver", "GPUFILT_TEST_CUDA_DEVICES", "driver", 11},
        {"driver", nullptr, nullptr, 13},
        {"step", "GPUFILT_TEST_CUDA_DEVICES", "0", 1},
        {"set", nullptr, nullptr, cudaErrorInvalidDevice},
        {"set", "GPUFILT_TEST_CUDA_DEVICES", "2", 0},
        {"devices", "GPUFILT_TEST_CUDA_DEVICES", "2", 0},
        {"count", "CUDA_VISIBLE_DEVICES", "0", 1},
        {"count", "CUDA_VISIBLE_DEVICES", "", 100 + cudaErrorNoDevice % 100},
        {"count", "CUDA_VISIBLE_DEVICES", "-1", 100 + cudaErrorNoDevice % 100},
        {"count", "CUDA_VISIBLE_DEVICES", "0,7", 1},
        {"memory", "GPUFILT_TEST_CUDA_MEMORY", "5000", 0},
        {"leak", nullptr, nullptr, 97},
        {"host", nullptr, nullptr, 128 + 6},
    };

    for (const auto &row : rows) {
        int status = run_child(self, row.what, row.name, row.value);
        checked(status == row.status, "%s with %s=%s: %d", row.what, row.name ? row.name : "",
                row.value ? row.value : "", status);
    }
}
