/* Two accesses to a byte by different threads, one of which writes, race unless something
 * orders them: __syncthreads() for all threads, __syncwarp() for the lanes of its mask.
 *
 * Time between barriers is an interval with a number that only grows, so that nothing is
 * cleared from block to block: what was recorded in an earlier interval is ordered, and what
 * was recorded before the block's first is not there. Within an interval the lanes of a warp
 * have vector clocks, as in Flanagan and Freund, FastTrack (PLDI 2009): an access carries the
 * clock of its lane, and happened before another lane that knows of that clock. */
#include "race.h"
#include "machine_internal.h"

#include <cstdio>
#include <cstring>
#include <sys/mman.h>

/* Passed by every access: inlined, whatever the compiler thinks of their size. */
#define HOT __attribute__((always_inline)) inline

namespace simt {

const char *const access_names[] = {"read", "write", "atomic access"};
static const char *const did[] = {"reads", "writes", "changes by an atomic"};

uintptr_t shared_first;
static size_t shared_bytes;

/* Accesses of one kind to one byte, of one interval. */
struct accesses {
    uint32_t interval;      /* 0: none */
    uint32_t lanes;         /* of the warp */
    uint32_t info;          /* their clock (24 bits), the warp (5 bits), and: */
    int32_t site;           /* from base() */
};
constexpr uint32_t clock_bits = (1u << 24) - 1;
constexpr uint32_t many_warps = 1u << 29;   /* also threads of other warps */
constexpr uint32_t split = 1u << 30;        /* the clock is the number of a clocks[], one a lane */
constexpr uint32_t arriving = 1u << 31;     /* a write that an async copy will make */

struct cell {
    struct accesses write, read;
};
/* For each byte; of a word whose bytes were always touched together, the first one is for all
 * four. */
static struct cell *cells;
static struct accesses *atomics;        /* the same, beside, because few kernels need them */
static unsigned char *bytewise;         /* for each word: 1 when its bytes differ */
static uint32_t atomic_interval;        /* the last one that had any */

static uint32_t interval, first_interval;   /* now, and the block's first */

/* What a warp's lanes know of each other in an interval. A lane's clock is the time of the warp
 * when it last met others; what has a clock before `full`, when all met, is known to all. */
struct warp_clocks {
    uint32_t interval;      /* another: the time is 1, all clocks too, and nothing is known */
    uint32_t time, full;
    bool parts;             /* the rest is in use */
    uint32_t own[warp_size];
    uint32_t known[warp_size][warp_size];       /* [lane][of the other] */
};
static struct warp_clocks warp_clocks[max_threads / warp_size];

/* Clocks of accesses that are `split`. */
static uint32_t (*clocks)[warp_size];
static uint32_t clocks_used;
static constexpr uint32_t clocks_max = 1 << 20;

/* A read of what nobody has written so far: a race when another thread still writes it in this
 * interval, which check_write() finds. */
static struct {
    bool set;
    enum access access;
    size_t byte;
    unsigned thread;
    const void *site;
} unwritten;

static const char *base() { return reinterpret_cast<const char *>(&base); }

static void *reserve(size_t bytes)
{
    void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? nullptr : p;
}

bool shared_begin()
{
    if (shared_first)
        return true;
    cells = static_cast<struct cell *>(reserve(max_shared * sizeof *cells));
    atomics = static_cast<struct accesses *>(reserve(max_shared * sizeof *atomics));
    bytewise = static_cast<unsigned char *>(reserve(max_shared / 4));
    clocks = static_cast<uint32_t (*)[warp_size]>(reserve(clocks_max * sizeof *clocks));
    void *span = reserve(shared_span);
    if (!cells || !atomics || !bytewise || !clocks || !span)
        return false;
    shared_first = reinterpret_cast<uintptr_t>(span);
    return true;
}

void *shared_memory() { return reinterpret_cast<void *>(shared_first + shared_margin); }

void race_launch(size_t shared) { shared_bytes = shared; }

void race_block()
{
    if (interval > 0xf0000000u) {       /* once in a long while: all numbers begin again */
        memset(cells, 0, max_shared * sizeof *cells);
        memset(atomics, 0, max_shared * sizeof *atomics);
        for (auto &w : warp_clocks)
            w.interval = 0;
        interval = atomic_interval = 0;
    }
    first_interval = ++interval;
    clocks_used = 0;
    unwritten.set = false;
}

/* ---- clocks of a warp ---- */

static uint32_t clock_of(const struct warp_clocks &w, unsigned lane)
{
    if (w.interval != interval)
        return 1;
    return w.parts && w.own[lane] > w.full ? w.own[lane] : w.full;
}

static void join(struct warp_clocks *w, unsigned mask)
{
    uint32_t joined[warp_size] = {};

    if (!w->parts) {
        memset(w->own, 0, sizeof w->own);
        memset(w->known, 0, sizeof w->known);
        w->parts = true;
    }
    for (unsigned rest = mask; rest; rest &= rest - 1) {
        unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
        w->known[lane][lane] = clock_of(*w, lane);
        w->own[lane] = w->time;
        for (unsigned i = 0; i < warp_size; i++)
            if (w->known[lane][i] > joined[i])
                joined[i] = w->known[lane][i];
    }
    for (unsigned rest = mask; rest; rest &= rest - 1)
        memcpy(w->known[__builtin_ctz(rest)], joined, sizeof joined);
}

void race_syncwarp(unsigned warp, unsigned mask, bool all)
{
    struct warp_clocks *w = &warp_clocks[warp];

    if (w->interval != interval) {
        w->interval = interval;
        w->time = w->full = 1;
        w->parts = false;
    }
    w->time++;
    if (all)
        w->full = w->time;
    else
        join(w, mask);
}

/* ---- accesses ---- */

/* The running thread. */
static struct {
    unsigned warp, lane;
    uint32_t bit, info;     /* as in struct accesses */
    uint32_t full;          /* accesses of its warp with a clock before this are known to it */
} me;

void race_thread(unsigned number)
{
    me.warp = number / warp_size;
    me.lane = number % warp_size;
    me.bit = 1u << me.lane;
    const struct warp_clocks &w = warp_clocks[me.warp];
    me.info = me.warp << 24 | (clock_of(w, me.lane) & clock_bits);
    me.full = w.interval == interval ? w.full : 0;
}

static unsigned warp_of(const struct accesses &a) { return a.info >> 24 & 31; }

/* The lanes among these of the running thread's warp that it does not come after. */
static uint32_t unordered_lanes(const struct accesses &a)
{
    const struct warp_clocks &w = warp_clocks[me.warp];
    uint32_t lanes = a.lanes & ~me.bit;

    if (w.interval != interval)
        return lanes;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
        uint32_t clock = a.info & clock_bits;
        if (a.info & split)
            clock = clocks[clock][lane];
        if (clock < w.full || (w.parts && w.known[me.lane][lane] >= clock))
            lanes &= ~(1u << lane);
    }
    return lanes;
}

/* Whether that is clear at a glance: its own access, or one before its whole warp met. */
static HOT bool clearly_ordered(const struct accesses &a)
{
    return a.interval != interval ||
           ((a.info ^ me.info) <= clock_bits &&
            (a.lanes == me.bit || (a.info & clock_bits) < me.full));
}

/* A thread among these that nothing orders before the running one: its number, max_threads when
 * there is one that is not known, or -1. */
static int unordered(const struct accesses &a)
{
    if (a.interval != interval)
        return -1;
    uint32_t lanes = warp_of(a) == me.warp ? unordered_lanes(a) : a.lanes;
    if (lanes)
        return static_cast<int>(warp_of(a) * warp_size) + __builtin_ctz(lanes);
    return a.info & many_warps ? static_cast<int>(max_threads) : -1;
}

static HOT void start(struct accesses *a, const void *site)
{
    a->interval = interval;
    a->lanes = me.bit;
    a->info = me.info;
    a->site = static_cast<int32_t>(static_cast<const char *>(site) - base());
}

/* The running thread's clock differs from that of others of its warp. */
static void add_split(struct accesses *a)
{
    if (!(a->info & split)) {
        if (clocks_used == clocks_max) {
            a->info |= many_warps;      /* which is never less strict */
            return;
        }
        uint32_t *c = clocks[clocks_used];
        for (unsigned lane = 0; lane < warp_size; lane++)
            c[lane] = a->info & clock_bits;
        a->info = me.warp << 24 | split | clocks_used++;
    }
    clocks[a->info & clock_bits][me.lane] = me.info & clock_bits;
    a->lanes |= me.bit;
}

/* Adds the running thread to others of its warp. Those that it comes after are left out: who
 * comes after it comes after them too. */
__attribute__((noinline)) static void add_later(struct accesses *a, const void *site)
{
    a->lanes = unordered_lanes(*a);
    if (a->lanes)
        add_split(a);
    else
        start(a, site);
}

static HOT void add(struct accesses *a, const void *site)
{
    if (a->interval != interval) {
        start(a, site);
    } else if (a->info == me.info) {
        a->lanes |= me.bit;
    } else if (a->info & many_warps) {
        return;
    } else if (warp_of(*a) != me.warp) {
        start(a, site);
        a->info |= many_warps;
    } else {
        add_later(a, site);
    }
}

/* ---- checks ---- */

__attribute__((noinline)) static void race(enum access now, enum access before,
                                           const struct accesses &a, size_t byte,
                                           const void *site)
{
    int other = unordered(a);
    char name[100] = "another thread";

    if (other < 0)
        return;
    if (other < static_cast<int>(max_threads))
        snprintf(name, sizeof name, "%s (warp %d)", thread_of(&threads[other]),
                 other / static_cast<int>(warp_size));
    unwritten.set = false;
    failure.other = base() + a.site;
    failure.other_text = "at";
    fail(cudaErrorLaunchFailure, site,
         "race on shared memory: %s (warp %u) %s byte %zu, %s %s it, with no barrier between",
         name_of(self), me.warp, did[now], byte, name, did[before]);
}

[[noreturn]] static void arrives(enum access a, const struct accesses &w, size_t byte,
                                 const void *site)
{
    failure.other = base() + w.site;
    failure.other_text = "at";
    fail(cudaErrorLaunchFailure, site,
         "%s of byte %zu of shared memory, which an async copy fills that was not waited for: "
         "%s; the copy is",
         access_names[a], byte, name_of(self));
}

[[noreturn]] static void outside(enum access a, ptrdiff_t offset, size_t bytes, const void *site)
{
    fail(cudaErrorIllegalAddress, site,
         "%s of %zu bytes at byte %td of shared memory, of which the block has %zu bytes: %s",
         access_names[a], bytes, offset, shared_bytes, name_of(self));
}

/* The offset of an access that lies in the block's shared memory. */
static HOT size_t offset_of(enum access a, uintptr_t address, size_t bytes, const void *site)
{
    size_t offset = address - shared_first - shared_margin;

    if (offset > shared_bytes || bytes > shared_bytes - offset)
        outside(a, static_cast<ptrdiff_t>(offset), bytes, site);
    return offset;
}

__attribute__((noinline)) static void read_unwritten(enum access a, struct cell *c, size_t byte,
                                                     const void *site)
{
    if (!unwritten.set)
        unwritten = {true, a, byte, self->number, site};
    add(&c->read, site);
}

void fail_if_unwritten()
{
    if (!unwritten.set)
        return;
    unwritten.set = false;
    failure.other = nullptr;
    fail(cudaErrorLaunchFailure, unwritten.site,
         "%s of byte %zu of shared memory, which no thread of the block wrote: %s",
         access_names[unwritten.access], unwritten.byte, name_of(&threads[unwritten.thread]));
}

static HOT void check_read(struct cell *c, size_t byte, bool with_atomics, const void *site)
{
    if (c->write.interval < first_interval) {
        read_unwritten(READ, c, byte, site);
        return;
    }
    if (c->write.info & arriving)
        arrives(READ, c->write, byte, site);
    if (!clearly_ordered(c->write))
        race(READ, WRITE, c->write, byte, site);
    if (with_atomics)
        race(READ, ATOMIC, atomics[byte], byte, site);
    add(&c->read, site);
}

static HOT void check_write(struct cell *c, size_t byte, bool with_atomics, const void *site)
{
    if (c->write.interval >= first_interval && c->write.info & arriving)
        arrives(WRITE, c->write, byte, site);
    if (!clearly_ordered(c->write))
        race(WRITE, WRITE, c->write, byte, site);
    if (!clearly_ordered(c->read))
        race(WRITE, READ, c->read, byte, site);
    if (with_atomics) {
        race(WRITE, ATOMIC, atomics[byte], byte, site);
        atomics[byte].interval = 0;
    }
    c->read.interval = 0;
    start(&c->write, site);
}

static void check_atomic(struct cell *c, size_t byte, const void *site)
{
    if (c->write.interval < first_interval) {
        read_unwritten(ATOMIC, c, byte, site);
        return;
    }
    if (c->write.info & arriving)
        arrives(ATOMIC, c->write, byte, site);
    race(ATOMIC, WRITE, c->write, byte, site);
    race(ATOMIC, READ, c->read, byte, site);
    add(&atomics[byte], site);
}

static HOT void check_byte(enum access a, size_t byte, bool with_atomics, const void *site)
{
    if (a == READ)
        check_read(&cells[byte], byte, with_atomics, site);
    else if (a == WRITE)
        check_write(&cells[byte], byte, with_atomics, site);
    else
        check_atomic(&cells[byte], byte, site);
}

/* From now on each byte of the word has its own cell. */
static void spread(size_t word)
{
    for (size_t i = 4 * word + 1; i < 4 * word + 4; i++) {
        cells[i] = cells[4 * word];
        atomics[i] = atomics[4 * word];
    }
    bytewise[word] = 1;
}

void check_shared(enum access a, uintptr_t address, size_t bytes, const void *site)
{
    size_t offset = offset_of(a, address, bytes, site), end = offset + bytes;
    bool with_atomics = atomic_interval == interval;

    if (a == ATOMIC)
        atomic_interval = interval;
    for (size_t i = offset; i < end;) {
        bool whole = i % 4 == 0 && end - i >= 4;
        if (whole && !bytewise[i / 4]) {
            check_byte(a, i, with_atomics, site);
            i += 4;
            continue;
        }
        if (!bytewise[i / 4])
            spread(i / 4);
        if (whole && a == WRITE)
            bytewise[i / 4] = 0;        /* after this, that is */
        for (size_t next = i - i % 4 + 4; i < end && i < next; i++)
            check_byte(a, i, with_atomics, site);
    }
}

void race_barrier()
{
    fail_if_unwritten();
    interval++;
    clocks_used = 0;
}

void check_async_begin(uintptr_t address, size_t bytes, const void *site)
{
    size_t offset = offset_of(WRITE, address, bytes, site);

    check_shared(WRITE, address, bytes, site);
    for (size_t i = offset; i < offset + bytes; i += 4)
        cells[i].write.info |= arriving;
}

void check_async_end(uintptr_t address, size_t bytes)
{
    size_t offset = address - shared_first - shared_margin;

    /* Nobody touched them meanwhile: the words are whole. */
    for (size_t i = offset; i < offset + bytes; i += 4)
        start(&cells[i].write, base() + cells[i].write.site);
}

}
