/* Kernel launches: the arguments are copied at the call, and the kernel runs when the stream
 * comes to it. */
#ifndef GPUFILT_SIMT_LAUNCH_H
#define GPUFILT_SIMT_LAUNCH_H

#include "api.h"

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace simt {

/* A kernel with its arguments; run() is what every thread does. */
struct kernel_call {
    const void *kernel;
    void (*run)(const void *arguments);
    std::shared_ptr<const void> arguments;
};

/* Launches the kernel; file and line are the launch's. */
api::cudaError_t launch(const api::cudaLaunchConfig_t *config, struct kernel_call call);

template <typename... Parameters> struct arguments {
    void (*kernel)(Parameters...);
    std::tuple<std::decay_t<Parameters>...> values;
};

/* Reading the arguments is the machine's work, not the kernel's: not instrumented. */
template <typename... Parameters, size_t... I>
__attribute__((always_inline)) inline void call_with(const struct arguments<Parameters...> *a,
                                                     std::index_sequence<I...>)
{
    a->kernel(std::get<I>(a->values)...);
}
template <typename... Parameters>
__attribute__((no_sanitize("thread"), noinline)) void run_thread(const void *a)
{
    call_with(static_cast<const struct arguments<Parameters...> *>(a),
              std::index_sequence_for<Parameters...>());
}

namespace api {

template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...),
                               Arguments &&...values)
{
    using block = struct arguments<Parameters...>;
    static_assert(sizeof(std::tuple<std::decay_t<Parameters>...>) <= 4096,
                  "kernel parameters are at most 4 KiB");
    static_assert((std::is_trivially_copyable_v<std::decay_t<Parameters>> && ...),
                  "kernel parameters are copied as bytes");
    auto copy = std::make_shared<block>(
        block{kernel, {static_cast<Parameters>(std::forward<Arguments>(values))...}});
    return launch(config,
                  {reinterpret_cast<const void *>(kernel), run_thread<Parameters...>, copy});
}

}
}

#endif
