/* What every function of the API does first and last, and the order of work in streams. */
#ifndef GPUFILT_SIMT_RUNTIME_H
#define GPUFILT_SIMT_RUNTIME_H

#include "api.h"

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace simt {

using namespace api;

/* ---- runtime.cpp ---- */

/* Held by every API function. */
class call {
public:
    /* A call that releases does its work even when it was made to fail. */
    enum kind { ORDINARY, RELEASE };
    explicit call(enum kind kind = ORDINARY);
    /* What the call is to return at once, where that is not cudaSuccess. */
    cudaError_t failed() const { return error; }
    /* What the call returns: the earlier failure, or this; kept for cudaGetLastError(). */
    cudaError_t done(cudaError_t result);

private:
    std::lock_guard<std::recursive_mutex> lock;
    cudaError_t error;
};

/* Of the environment, in builds with test hooks; NULL in others. */
const char *test_variable(const char *name);
int visible_devices();
int current_device();
size_t memory_limit();
/* A kernel did wrong: every later call fails with this. */
void poison(cudaError_t error);
cudaError_t poisoned();

/* ---- stream.cpp ---- */

/* That the stream has come as far as its operation number `number`. */
struct point {
    std::shared_ptr<struct stream> in;
    uint64_t number;
};

struct operation {
    std::function<void()> run;
    uint64_t number;
    std::vector<struct point> after;
};

struct stream {
    int device;
    bool destroyed;                         /* but not without its work */
    bool blocking;                          /* ordered with the default stream */
    bool is_default;
    uint64_t queued, finished;              /* operation numbers */
    std::deque<struct operation> operations;
};

struct event {
    struct point at;                        /* in.get() is NULL before it is recorded */
    std::shared_ptr<double> time;           /* seconds, when it came */
    int device;
    bool timed;
};

/* NULL is the current device's default stream; NULL comes back for a handle that is none. */
std::shared_ptr<struct stream> stream_of(cudaStream_t handle);
void enqueue(const std::shared_ptr<struct stream> &s, std::function<void()> run,
             const struct point *also_after = nullptr);
/* Runs the stream's work, and what that waits for, up to the operation. */
void run_until(const struct point &p);
void run_all(const std::shared_ptr<struct stream> &s);
void run_device(int device);
/* One more operation; false when there is none. */
bool run_one(const std::shared_ptr<struct stream> &s);
/* Counts and prints what is there; forget_all() drops it. */
size_t stream_leaks();
size_t event_leaks();
size_t waiting_work();
void forget_streams(int device);

/* ---- memory of the host that copies know; allocate.cpp ---- */

bool is_pinned(const void *p, size_t bytes);
size_t pinned_leaks();

}

#endif
