/* Streams keep their work until something asks for it: a synchronisation, a blocking copy, a
 * query. Then only what was asked for runs, and what that must come after; so two pieces of
 * work that nothing orders come in an order that shows it. */
#include "runtime.h"
#include "machine_internal.h"
#include "memory.h"

#include <algorithm>
#include <set>
#include <time.h>

namespace simt {

static std::vector<std::shared_ptr<struct stream>> streams;     /* oldest first */
static std::set<struct event *> events;
static std::shared_ptr<struct stream> default_streams[max_devices];

static std::shared_ptr<struct stream> make_stream(int device, bool blocking, bool is_default)
{
    auto s = std::make_shared<struct stream>();

    s->device = device;
    s->destroyed = false;
    s->blocking = blocking;
    s->is_default = is_default;
    s->queued = s->finished = 0;
    streams.push_back(s);
    return s;
}

std::shared_ptr<struct stream> stream_of(cudaStream_t handle)
{
    if (!handle) {
        auto &s = default_streams[current_device()];
        if (!s)
            s = make_stream(current_device(), true, true);
        return s;
    }
    for (const auto &s : streams)
        if (s.get() == handle && !s->destroyed)
            return s;
    return nullptr;
}

void enqueue(const std::shared_ptr<struct stream> &s, std::function<void()> run,
             const struct point *also_after)
{
    struct operation o = {std::move(run), ++s->queued, {}};

    if (s->is_default) {
        for (const auto &other : streams)
            if (other != s && other->device == s->device && other->blocking &&
                other->finished < other->queued)
                o.after.push_back({other, other->queued});
    } else if (s->blocking) {
        const auto &d = default_streams[s->device];
        if (d && d->finished < d->queued)
            o.after.push_back({d, d->queued});
    }
    if (also_after && also_after->in)
        o.after.push_back(*also_after);
    s->operations.push_back(std::move(o));
}

bool run_one(const std::shared_ptr<struct stream> &s)
{
    if (s->operations.empty())
        return false;
    struct operation o = std::move(s->operations.front());
    s->operations.pop_front();
    for (const auto &p : o.after)
        run_until(p);
    if (!poisoned())
        o.run();
    s->finished = o.number;
    return true;
}

void run_until(const struct point &p)
{
    while (p.in->finished < p.number && run_one(p.in))
        continue;
}

static void remove_finished()
{
    streams.erase(std::remove_if(streams.begin(), streams.end(),
                                 [](const std::shared_ptr<struct stream> &s) {
                                     return s->destroyed && s->operations.empty();
                                 }),
                  streams.end());
}

void run_all(const std::shared_ptr<struct stream> &s) { run_until({s, s->queued}); }

void run_device(int device)
{
    for (size_t i = streams.size(); i-- > 0;)
        if (streams[i]->device == device)
            run_all(streams[i]);
    remove_finished();
}

/* ---- what is left ---- */

size_t stream_leaks()
{
    size_t n = 0;

    for (const auto &s : streams)
        n += !s->destroyed && !s->is_default;
    if (n)
        report("leaked: %zu stream%s", n, n > 1 ? "s" : "");
    return n;
}

size_t event_leaks()
{
    size_t n = events.size();

    if (n)
        report("leaked: %zu event%s", n, n > 1 ? "s" : "");
    return n;
}

size_t waiting_work()
{
    size_t n = 0;

    for (const auto &s : streams)
        n += s->operations.size();
    if (n && !poisoned())
        report("left: %zu operation%s that nothing waited for", n, n > 1 ? "s" : "");
    return poisoned() ? 0 : n;
}

void forget_streams(int device)
{
    streams.erase(std::remove_if(streams.begin(), streams.end(),
                                 [device](const std::shared_ptr<struct stream> &s) {
                                     return s->device == device;
                                 }),
                  streams.end());
    default_streams[device].reset();
    for (auto e = events.begin(); e != events.end();) {
        if ((*e)->device == device) {
            delete *e;
            e = events.erase(e);
        } else {
            ++e;
        }
    }
}

static struct event *make_event(bool timed)
{
    return new event{{}, nullptr, current_device(), timed};
}

/* ---- the API ---- */

static double now()
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

namespace api {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    call c;

    if (c.failed())
        return c.failed();
    if (flags > cudaStreamNonBlocking)
        return c.done(cudaErrorInvalidValue);
    *stream = make_stream(current_device(), flags == cudaStreamDefault, false).get();
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int)
{
    return cudaStreamCreateWithFlags(stream, flags);
}

/* The work that is left in it still comes, when the whole device is waited for. */
cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    call c(call::RELEASE);
    auto s = stream ? stream_of(stream) : nullptr;

    if (!s)
        return c.done(cudaErrorInvalidResourceHandle);
    s->destroyed = true;
    remove_finished();
    return c.done(cudaSuccess);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    call c;

    if (c.failed())
        return c.failed();
    auto s = stream_of(stream);
    if (!s)
        return c.done(cudaErrorInvalidResourceHandle);
    run_all(s);
    return c.done(poisoned());
}

/* A step forward with each question, so that asking comes to an end. */
cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    call c;

    if (c.failed())
        return c.failed();
    auto s = stream_of(stream);
    if (!s)
        return c.done(cudaErrorInvalidResourceHandle);
    if (s->operations.empty())
        return c.done(poisoned());
    run_one(s);
    return c.done(poisoned() ? poisoned() : cudaErrorNotReady);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    call c;

    if (c.failed())
        return c.failed();
    auto s = stream_of(stream);
    if (!s || !events.count(event))
        return c.done(cudaErrorInvalidResourceHandle);
    if (event->at.in)
        enqueue(s, [] {}, &event->at);
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    call c;

    if (c.failed())
        return c.failed();
    if (flags > (cudaEventBlockingSync | cudaEventDisableTiming))
        return c.done(cudaErrorInvalidValue);
    *event = make_event(!(flags & cudaEventDisableTiming));
    events.insert(*event);
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    call c(call::RELEASE);

    if (!events.erase(event))
        return c.done(cudaErrorInvalidResourceHandle);
    delete event;
    return c.done(cudaSuccess);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    call c;

    if (c.failed())
        return c.failed();
    auto s = stream_of(stream);
    if (!s || !events.count(event) || s->device != event->device)
        return c.done(cudaErrorInvalidResourceHandle);
    auto time = std::make_shared<double>(0);
    enqueue(s, [time] { *time = now(); });
    event->at = {s, s->queued};
    event->time = time;
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    call c;

    if (c.failed())
        return c.failed();
    if (!events.count(event))
        return c.done(cudaErrorInvalidResourceHandle);
    if (event->at.in)
        run_until(event->at);
    return c.done(poisoned());
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    call c;

    if (c.failed())
        return c.failed();
    if (!events.count(event))
        return c.done(cudaErrorInvalidResourceHandle);
    if (!event->at.in || event->at.in->finished >= event->at.number)
        return c.done(poisoned());
    run_one(event->at.in);
    return c.done(poisoned() ? poisoned() : cudaErrorNotReady);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    call c;

    if (c.failed())
        return c.failed();
    for (cudaEvent_t e : {start, end}) {
        if (!events.count(e) || !e->timed || !e->at.in)
            return c.done(cudaErrorInvalidResourceHandle);
        if (e->at.in->finished < e->at.number)
            return c.done(cudaErrorNotReady);
    }
    *milliseconds = static_cast<float>(1e3 * (*end->time - *start->time));
    return cudaSuccess;
}

}
}
