/* A block's threads as fibers. A thread runs until it waits or returns, then the next one that
 * can: in the order of their numbers, or shuffled by the seed GPUFILT_TEST_SIMT_ORDER (with an
 * odd one the last block comes first). A fiber whose thread has returned takes the next one that
 * has not begun, so that a kernel without barriers needs one fiber. */
#include "async.h"
#include "control.h"
#include "counter.h"
#include "machine_internal.h"
#include "memory.h"
#include "race.h"
#include "runtime.h"

#include <cstdlib>
#include <cstring>

namespace simt {

const struct place *here;
struct thread *self;
struct thread threads[max_threads];
unsigned thread_count;

static struct fiber host_fiber, fibers[max_threads];
static struct fiber *idle[max_threads];         /* made, and between threads */
static unsigned idle_count, made_count;

static const struct kernel_call *running;
static uint64_t ready[max_threads / 64];        /* can run and does not */
static unsigned returned_count, barrier_count;  /* threads */
static unsigned last;                           /* whose turn it was */
static uint64_t order_seed, order_state;        /* 0: in order */

struct warp_state {
    unsigned exists, returned, waiting;     /* lanes */
    /* The lanes that wait in the same operation as this thread: */
    unsigned together;
    const struct thread *first;
    unsigned stopped;                       /* lanes at the barrier or returned; where counted */
};
static struct warp_state warps[max_threads / warp_size];

static uint64_t random_number()
{
    order_state ^= order_state << 13;
    order_state ^= order_state >> 7;
    order_state ^= order_state << 17;
    return order_state;
}

/* The next thread that can run after thread `last`, round and round; NULL: none can. */
static struct thread *next_ready()
{
    unsigned words = (thread_count + 63) / 64;
    unsigned from = last + 1;
    if (order_seed)
        from = static_cast<unsigned>(random_number() % thread_count);
    if (from >= thread_count)
        from = 0;

    uint64_t w = ready[from / 64] >> from % 64 << from % 64;
    for (unsigned i = 0, at = from / 64; i <= words; i++) {
        if (w) {
            unsigned n = at * 64 + static_cast<unsigned>(__builtin_ctzll(w));
            ready[n / 64] &= ~(uint64_t(1) << n % 64);
            last = n;
            return &threads[n];
        }
        at = at + 1 == words ? 0 : at + 1;
        w = ready[at];
    }
    return nullptr;
}

static void set_ready(struct thread *t)
{
    t->state = thread::READY;
    ready[t->number / 64] |= uint64_t(1) << t->number % 64;
}

static void become(struct thread *t)
{
    self = t;
    here = &t->place;
    race_thread(t->number);
}

/* ---- waiting ---- */

static const char *const warp_names[] = {
    "__syncwarp", "__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync",
    "__ballot_sync", "__all_sync", "__any_sync", "__match_any_sync", "__reduce_add_sync",
    "__reduce_min_sync", "__reduce_max_sync", "__reduce_min_sync", "__reduce_max_sync",
    "__reduce_and_sync", "__reduce_or_sync", "__reduce_xor_sync"
};

static const char *short_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

/* No thread can run and not all have returned. */
[[noreturn]] static void deadlock()
{
    const struct thread *at_barrier = nullptr, *at_warp = nullptr;

    for (unsigned i = thread_count; i-- > 0;) {
        if (threads[i].state == thread::AT_BARRIER)
            at_barrier = &threads[i];
        else if (threads[i].state == thread::AT_WARP)
            at_warp = &threads[i];
    }
    if (at_barrier && at_warp)
        fail_at_line(at_barrier->file, at_barrier->line,
                     "barrier not reached by all threads of the block: %s waits at it, "
                     "%s in %s at %s:%d",
                     name_of(at_barrier), thread_of(at_warp), warp_names[at_warp->kind],
                     short_name(at_warp->file), at_warp->line);
    /* Where threads returned, the barrier they leave out was reported then. */
    const struct thread *t = at_warp ? at_warp : at_barrier;
    fail_at_line(t->file, t->line, "%s waits for lanes of mask 0x%08x that do not come: %s",
                 at_warp ? warp_names[t->kind] : "__syncthreads", t->mask, name_of(t));
}

/* This thread's way ends here for now: counts what its warp did, once all lanes have come. */
static void stop(const struct thread *t)
{
    struct warp_state *w = &warps[t->number / warp_size];

    if (++w->stopped == static_cast<unsigned>(__builtin_popcount(w->exists)))
        count_met(t->number / warp_size);
}

static void thread_loop();

/* Lets others run until this thread is ready again. */
static void wait()
{
    struct thread *me = self, *t = next_ready();

    if (!t)
        deadlock();
    become(t);
    if (t == me)
        return;
    if (!t->fiber)
        t->fiber = idle_count ? idle[--idle_count] : nullptr;
    if (!t->fiber) {
        t->fiber = &fibers[made_count];
        make_fiber(t->fiber, made_count++, thread_loop);
    }
    switch_fiber(me->fiber, t->fiber);
}

/* What a fiber does: threads, one after another. */
static void thread_loop()
{
    fiber_entered();
    for (;;) {
        struct fiber *mine = self->fiber;
        running->run(running->arguments.get());
        self->state = thread::RETURNED;
        returned_count++;
        warps[self->number / warp_size].returned |= 1u << self->number % warp_size;
        if (counting) {
            count_returns(self->number);
            stop(self);
        }
        if (barrier_count) {
            const struct thread *t = threads;
            while (t->state != thread::AT_BARRIER)
                t++;
            fail_at_line(t->file, t->line,
                         "barrier not reached by all threads of the block: %s waits at it, "
                         "%s has returned",
                         name_of(t), thread_of(self));
        }
        struct thread *t = next_ready();
        if (t && !t->fiber) {
            t->fiber = mine;
            become(t);
            continue;
        }
        if (!t && returned_count < thread_count)
            deadlock();
        if (!t)
            fail_if_unwritten();
        idle[idle_count++] = mine;
        if (t) {
            become(t);
            switch_fiber(mine, t->fiber);
        } else {
            switch_fiber(mine, &host_fiber);
        }
    }
}

/* ---- barriers ---- */

static void count_whole_barrier()
{
    count_barrier();
    for (unsigned i = 0; i < thread_count; i++)
        count_goes_on(i, threads[i].site);
    for (auto &w : warps)
        w.stopped = 0;
}

int barrier(enum barrier_kind kind, int predicate, const char *file, int line)
{
    static unsigned votes;
    static int result;
    struct thread *me = self;

    me->state = thread::AT_BARRIER;
    me->kind = kind;
    me->file = file;
    me->line = line;
    me->site = __builtin_return_address(0);
    if (returned_count) {
        const struct thread *t = threads;
        while (t->state != thread::RETURNED)
            t++;
        fail_at_line(file, line,
                     "barrier not reached by all threads of the block: %s waits at it, "
                     "%s has returned",
                     name_of(me), thread_of(t));
    }
    if (barrier_count == 0) {
        votes = 0;
    } else {
        const struct thread *t = threads;
        while (t == me || t->state != thread::AT_BARRIER)
            t++;
        if (t->line != line || t->kind != kind || (t->file != file && strcmp(t->file, file) != 0))
            fail_at_line(file, line,
                         "threads of a block wait at different barriers: %s here, %s at %s:%d",
                         name_of(me), thread_of(t), short_name(t->file), t->line);
    }
    votes += predicate != 0;
    if (counting) {
        count_arrives(me->number, me->site);
        stop(me);
    }
    if (++barrier_count == thread_count) {
        barrier_count = 0;
        result = kind == BARRIER_COUNT ? static_cast<int>(votes)
                 : kind == BARRIER_AND ? votes == thread_count
                                       : votes > 0;
        race_barrier();
        if (counting)
            count_whole_barrier();
        for (unsigned i = 0; i < thread_count; i++)
            set_ready(&threads[i]);
    }
    wait();
    return result;
}

/* ---- what a warp does together ---- */

static struct thread *lane_of(const struct thread *t, unsigned lane)
{
    return &threads[t->number / warp_size * warp_size + lane];
}

/* Which lane a shuffle reads. */
static unsigned source_lane(const struct thread *t)
{
    unsigned me = t->number % warp_size, width = static_cast<unsigned>(t->width);
    unsigned first = me & ~(width - 1), source;

    switch (t->kind) {
    case WARP_UP:
        return me - first < t->lane ? me : me - t->lane;
    case WARP_DOWN:
        source = me - first + t->lane;
        return t->lane >= width || source >= width ? me : first + source;
    case WARP_XOR:
        source = me ^ t->lane;
        return source >= first + width ? me : source & (warp_size - 1);
    default:
        return first + (t->lane & (width - 1));
    }
}

static uint64_t shuffled(const struct thread *t)
{
    unsigned source = source_lane(t);

    if (!(t->mask >> source & 1))
        fail_at_line(t->file, t->line,
                     "%s reads lane %u, which is not in the mask 0x%08x: %s",
                     warp_names[t->kind], source, t->mask, name_of(t));
    return lane_of(t, source)->value;
}

/* One value for all lanes of the mask. */
static uint64_t combined(const struct thread *t)
{
    uint64_t r = 0;
    bool first = true;

    for (unsigned lane = 0; lane < warp_size; lane++) {
        if (!(t->mask >> lane & 1))
            continue;
        uint64_t v = lane_of(t, lane)->value;
        uint32_t a = static_cast<uint32_t>(r), b = static_cast<uint32_t>(v);
        int32_t signed_a = static_cast<int32_t>(a), signed_b = static_cast<int32_t>(b);
        bool truth = static_cast<int32_t>(b) != 0;
        switch (t->kind) {
        case WARP_BALLOT: r |= static_cast<uint64_t>(truth) << lane; break;
        case WARP_ALL: r = first ? truth : r && truth; break;
        case WARP_ANY: r = r || truth; break;
        case WARP_ADD: r = a + b; break;
        case WARP_BIT_AND: r = first ? b : a & b; break;
        case WARP_BIT_OR: r = a | b; break;
        case WARP_BIT_XOR: r = a ^ b; break;
        case WARP_MIN_UNSIGNED: r = first || b < a ? b : a; break;
        case WARP_MAX_UNSIGNED: r = first || b > a ? b : a; break;
        case WARP_MIN_INT: r = first || signed_b < signed_a ? b : a; break;
        case WARP_MAX_INT: r = first || signed_b > signed_a ? b : a; break;
        default: break;
        }
        first = false;
    }
    return r;
}

static uint64_t matching(const struct thread *t)
{
    uint64_t r = 0;

    for (unsigned lane = 0; lane < warp_size; lane++)
        if ((t->mask >> lane & 1) && lane_of(t, lane)->value == t->value)
            r |= uint64_t(1) << lane;
    return r;
}

/* Where all lanes take part, the warp has met. Not where some have returned: a GPU would let them
 * wait for the others at what they still had to do together. */
static void count_operation(const struct thread *me, const struct warp_state *w)
{
    unsigned warp = me->number / warp_size, first = warp * warp_size;

    count_together(me->mask);
    if (me->mask != w->exists)
        return;
    for (unsigned rest = me->mask; rest; rest &= rest - 1) {
        unsigned n = first + static_cast<unsigned>(__builtin_ctz(rest));
        count_arrives(n, threads[n].site);
    }
    count_met(warp);
    for (unsigned rest = me->mask; rest; rest &= rest - 1) {
        unsigned n = first + static_cast<unsigned>(__builtin_ctz(rest));
        count_goes_on(n, threads[n].site);
    }
}

/* The lanes of the mask are there: gives each its result. */
static void complete(const struct thread *me, struct warp_state *w)
{
    uint64_t common = me->kind >= WARP_BALLOT && me->kind != WARP_MATCH_ANY ? combined(me) : 0;

    if (counting)
        count_operation(me, w);
    if (me->kind == WARP_SYNC)
        race_syncwarp(me->number / warp_size, me->mask, me->mask == w->exists);
    w->waiting &= ~me->mask;
    w->together &= ~me->mask;
    for (unsigned rest = me->mask; rest; rest &= rest - 1) {
        struct thread *t = lane_of(me, static_cast<unsigned>(__builtin_ctz(rest)));
        if (me->kind == WARP_MATCH_ANY)
            t->result = matching(t);
        else if (me->kind >= WARP_SHUFFLE && me->kind <= WARP_XOR)
            t->result = shuffled(t);
        else
            t->result = common;
    }
    for (unsigned rest = me->mask; rest; rest &= rest - 1)
        set_ready(lane_of(me, static_cast<unsigned>(__builtin_ctz(rest))));
}

static bool same_operation(const struct thread *a, const struct thread *b)
{
    return a->kind == b->kind && a->mask == b->mask && a->line == b->line &&
           (a->file == b->file || strcmp(a->file, b->file) == 0);
}

/* Whether all lanes of the mask wait in the same operation. Two that wait for each other in
 * different ones will not meet. */
static bool all_wait(const struct thread *me)
{
    unsigned my_lane = me->number % warp_size;
    bool all = true;

    for (unsigned rest = me->mask; rest; rest &= rest - 1) {
        const struct thread *t = lane_of(me, static_cast<unsigned>(__builtin_ctz(rest)));
        if (t->state == thread::AT_WARP && same_operation(t, me))
            continue;
        all = false;
        if (t->state == thread::AT_WARP && (t->mask >> my_lane & 1))
            fail_at_line(me->file, me->line,
                         "lanes of a warp meet in different operations: %s in %s with mask "
                         "0x%08x, %s in %s at %s:%d with mask 0x%08x",
                         name_of(me), warp_names[me->kind], me->mask, thread_of(t),
                         warp_names[t->kind], short_name(t->file), t->line, t->mask);
    }
    return all;
}

uint64_t warp(enum warp_kind kind, unsigned mask, uint64_t value, unsigned lane, int width,
              const char *file, int line)
{
    struct thread *me = self;
    struct warp_state *w = &warps[me->number / warp_size];
    unsigned my_lane = me->number % warp_size, absent = mask & (w->returned | ~w->exists);

    if (!(mask >> my_lane & 1))
        fail_at_line(file, line, "%s by lane %u, which is not in its mask 0x%08x: %s",
                     warp_names[kind], my_lane, mask, name_of(me));
    if (absent)
        fail_at_line(file, line, "%s with an absent lane: lane %d of mask 0x%08x %s: %s",
                     warp_names[kind], __builtin_ctz(absent), mask,
                     absent & -absent & w->exists ? "has returned" : "does not exist",
                     name_of(me));
    if (width < 1 || width > 32 || (width & (width - 1)))
        fail_at_line(file, line, "%s of width %d: %s", warp_names[kind], width, name_of(me));

    me->state = thread::AT_WARP;
    me->kind = kind;
    me->mask = mask;
    me->value = value;
    me->lane = lane;
    me->width = width;
    me->file = file;
    me->line = line;
    me->site = __builtin_return_address(0);

    w->waiting |= 1u << my_lane;
    if (!w->together)
        w->first = me;
    bool usual = same_operation(w->first, me);
    if (usual)
        w->together |= 1u << my_lane;
    /* Without a look at each lane where they are all in one operation, as they should be. */
    if (usual && !(w->waiting & mask & ~w->together) ? w->together == mask : all_wait(me))
        complete(me, w);
    wait();
    return me->result;
}

unsigned active_lanes()
{
    const struct warp_state *w = &warps[self->number / warp_size];
    return w->exists & ~w->returned;
}

void trap(const char *what, const char *file, int line)
{
    fail_at_line(file, line, "%s: %s", what, name_of(self));
}

/* ---- blocks ---- */

/* Goes back to run_block(); the other threads stay where they are for ever. */
void abandon_block()
{
    made_count = idle_count = 0;
    switch_fiber(self->fiber, &host_fiber);
    __builtin_unreachable();
}

static void set_threads(dim3 grid, dim3 block)
{
    unsigned n = 0;

    for (unsigned z = 0; z < block.z; z++)
        for (unsigned y = 0; y < block.y; y++)
            for (unsigned x = 0; x < block.x; x++, n++) {
                threads[n].place.thread = {x, y, z};
                threads[n].place.block_dim = block;
                threads[n].place.grid_dim = grid;
                threads[n].number = n;
            }
    thread_count = n;
}

static bool run_block(uint3 block)
{
    for (unsigned i = 0; i < thread_count; i++) {
        threads[i].place.block = block;
        threads[i].fiber = nullptr;
        set_ready(&threads[i]);
    }
    memset(warps, 0, sizeof warps);
    for (unsigned i = 0; i < thread_count; i += warp_size) {
        unsigned lanes = thread_count - i;
        warps[i / warp_size].exists = lanes >= 32 ? 0xffffffffu : (1u << lanes) - 1;
    }
    returned_count = barrier_count = 0;
    last = thread_count - 1;
    race_block();
    forget_async();
    if (counting)
        count_block_begins();

    struct thread *t = next_ready();
    if (!idle_count) {
        make_fiber(&fibers[made_count], made_count, thread_loop);
        idle[idle_count++] = &fibers[made_count++];
    }
    t->fiber = idle[--idle_count];
    become(t);
    failure.error = cudaSuccess;
    switch_fiber(&host_fiber, t->fiber);
    self = nullptr;
    if (counting)
        count_block_ends();
    memset(ready, 0, sizeof ready);
    return failure.error == cudaSuccess;
}

static bool (*stop_asked)();

void stop_when(bool (*asked)()) { stop_asked = asked; }

cudaError_t run_grid(const struct kernel_call *call, dim3 grid, dim3 block, size_t shared)
{
    const char *seed = test_variable("GPUFILT_TEST_SIMT_ORDER");

    if (!reserve_fibers(max_threads))
        return cudaErrorMemoryAllocation;
    order_seed = order_state = seed ? strtoull(seed, nullptr, 10) : 0;
    running = call;
    set_threads(grid, block);
    race_launch(shared);
    uint64_t count = uint64_t(grid.x) * grid.y * grid.z;
    for (uint64_t i = 0; i < count; i++) {
        if (stop_asked != nullptr && stop_asked())
            return cudaErrorLaunchFailure;
        uint64_t n = order_seed % 2 ? count - 1 - i : i;
        uint3 at = {static_cast<unsigned>(n % grid.x), static_cast<unsigned>(n / grid.x % grid.y),
                    static_cast<unsigned>(n / grid.x / grid.y)};
        if (!run_block(at)) {
            report_failure();
            return failure.error;
        }
    }
    return cudaSuccess;
}

}
