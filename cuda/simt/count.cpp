/* The ways of lanes, and walking through them as a warp. */
#include "count.h"
#include "counter.h"
#include "machine_internal.h"
#include "memory.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <vector>

namespace simt {

bool counting;

static struct counts total;
static struct interval *intervals;
static size_t most_intervals, interval_count;

/* ---- ways ---- */

/* The blocks that threads went through, of all kernels, and what they were seen to go on to. The
 * ways of a thread between two meetings begin in a node of their own and end in one, so that
 * a loop with a barrier in it is none here. */
struct node {
    const void *site;
    std::vector<unsigned> next;
    uint64_t entered;               /* by warps */
    unsigned meet;                  /* where ways that part here come together */
};
enum { ENTRY, END, FIRST_NODE };    /* of kernels; of ways */
static constexpr unsigned NOWHERE = ~0u;
static std::vector<struct node> nodes;
static std::unordered_map<const void *, unsigned> node_of_site;
static bool nodes_changed;

enum what { WAY, SHARED, GLOBAL, CONSTANT, ASYNC };
struct event {
    enum what what;
    enum access access;
    unsigned bytes;                 /* ASYNC: of shared memory */
    unsigned node;                  /* WAY; ASYNC: bytes of device memory */
    uintptr_t address, from;        /* from: ASYNC, of device memory */
    const void *site;
};
struct way {
    std::vector<struct event> events;
    size_t at;                      /* walked through so far */
    unsigned node;                  /* where the thread is */
    /* Addresses of shared memory in the interval: */
    uintptr_t low, high;
    bool stored;
};
static struct way *ways;            /* max_threads */
static unsigned way_count;
static constexpr size_t many_events = 1024;     /* a way keeps no more memory than this needs */

static unsigned add_node(const void *site)
{
    nodes.push_back({site, {}, 0, NOWHERE});
    return static_cast<unsigned>(nodes.size() - 1);
}

static unsigned find_node(const void *site)
{
    auto found = node_of_site.find(site);
    if (found != node_of_site.end())
        return found->second;
    return node_of_site[site] = add_node(site);
}

static void add_edge(unsigned from, unsigned to)
{
    auto &next = nodes[from].next;
    if (std::find(next.begin(), next.end(), to) == next.end()) {
        next.push_back(to);
        nodes_changed = true;
    }
}

static void go_to(struct way *w, const void *site)
{
    unsigned to = NOWHERE;

    for (unsigned n : nodes[w->node].next)
        if (nodes[n].site == site)
            to = n;
    if (to == NOWHERE) {
        to = find_node(site);
        add_edge(w->node, to);
    }
    w->node = to;
    w->events.push_back({WAY, READ, 0, to, 0, 0, nullptr});
}

void count_way(const void *site) { go_to(&ways[self->number], site); }

void count_arrives(unsigned number, const void *site)
{
    go_to(&ways[number], site);
    add_edge(ways[number].node, END);
}

void count_goes_on(unsigned number, const void *site)
{
    /* Beside the node of arriving: no call returns to the second byte of an instruction. */
    unsigned n = find_node(static_cast<const char *>(site) + 1);

    ways[number].node = n;
    ways[number].events.push_back({WAY, READ, 0, n, 0, 0, nullptr});
}

void count_returns(unsigned number) { add_edge(ways[number].node, END); }

void count_access(enum access a, uintptr_t address, size_t bytes, const void *site)
{
    enum what what = address - shared_first < shared_span     ? SHARED
                     : address - device_first < device_span ? GLOBAL
                                                            : CONSTANT;
    auto &events = ways[self->number].events;

    /* A structure goes in pieces that a GPU can move. */
    for (size_t piece; bytes > 0; address += piece, bytes -= piece) {
        piece = bytes < 16 ? size_t(1) << (63 - __builtin_clzll(bytes)) : 16;
        while (address % piece)
            piece /= 2;
        events.push_back({what, a, static_cast<unsigned>(piece), 0, address, 0, site});
    }
}

void count_async(uintptr_t shared, uintptr_t global, size_t bytes, size_t zeros, const void *site)
{
    ways[self->number].events.push_back({ASYNC, WRITE, static_cast<unsigned>(bytes),
                                         static_cast<unsigned>(bytes - zeros), shared, global,
                                         site});
}

/* ---- where ways meet ---- */

/* Finds every node's nearest post-dominator: sets of the nodes on every way to END, as bits. */
static void find_meetings()
{
    size_t n = nodes.size(), words = (n + 63) / 64;
    std::vector<uint64_t> sets(n * words, ~uint64_t(0)), one(words);
    std::vector<size_t> sizes(n);
    auto set = [&](size_t i) { return &sets[i * words]; };
    auto has = [](const uint64_t *bits, size_t i) { return bits[i / 64] >> i % 64 & 1; };

    memset(set(END), 0, words * sizeof(uint64_t));
    set(END)[END / 64] |= uint64_t(1) << END % 64;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = n; i-- > 0;) {
            if (i == END || nodes[i].next.empty())
                continue;
            std::fill(one.begin(), one.end(), ~uint64_t(0));
            for (unsigned next : nodes[i].next)
                for (size_t k = 0; k < words; k++)
                    one[k] &= set(next)[k];
            one[i / 64] |= uint64_t(1) << i % 64;
            if (memcmp(one.data(), set(i), words * sizeof(uint64_t)) != 0) {
                memcpy(set(i), one.data(), words * sizeof(uint64_t));
                changed = true;
            }
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            sizes[i] += has(set(i), k);
    for (size_t i = 0; i < n; i++) {
        nodes[i].meet = NOWHERE;
        for (size_t k = 0; k < n; k++)
            if (k != i && has(set(i), k) && sizes[k] + 1 == sizes[i])
                nodes[i].meet = static_cast<unsigned>(k);
    }
    nodes_changed = false;
}

/* ---- what a warp's access costs ---- */

static const struct event &event_of(unsigned thread)
{
    return ways[thread].events[ways[thread].at];
}

/* Different words in each bank, or lanes where they are `serial`; the most of a bank. */
static unsigned wavefronts(const uintptr_t *words, unsigned count, bool serial)
{
    static uintptr_t in_bank[32][64];
    unsigned used[32] = {}, most = 0;

    for (unsigned i = 0; i < count; i++) {
        unsigned bank = words[i] % 32, k = 0;
        while (k < used[bank] && in_bank[bank][k] != words[i])
            k++;
        if (serial || k == used[bank])
            in_bank[bank][used[bank]++] = words[i];
        most = std::max(most, used[bank]);
    }
    return most;
}

static void touch_shared(unsigned first, unsigned lanes, unsigned bytes, bool serial)
{
    struct interval unkept = {}, *now = interval_count < most_intervals ? &intervals[interval_count]
                                                                   : &unkept;
    unsigned parts = bytes <= 4 ? 1 : bytes / 4, size = warp_size / parts;
    uintptr_t words[64];

    for (unsigned part = 0; part < parts; part++) {
        unsigned count = 0;
        for (unsigned lane = part * size; lane < (part + 1) * size; lane++) {
            if (!(lanes >> lane & 1))
                continue;
            uintptr_t address = event_of(first + lane).address;
            for (uintptr_t w = address / 4; w <= (address + bytes - 1) / 4; w++)
                words[count++] = w;
        }
        if (!count)
            continue;
        unsigned w = wavefronts(words, count, serial);
        total.shared_requests++;
        total.shared_wavefronts += w;
        now->requests++;
        now->wavefronts += w;
    }
}

static void touch_global(unsigned first, unsigned lanes, bool async)
{
    uintptr_t sectors[64];
    unsigned count = 0;

    for (unsigned rest = lanes; rest; rest &= rest - 1) {
        const struct event &e = event_of(first + static_cast<unsigned>(__builtin_ctz(rest)));
        uintptr_t address = async ? e.from : e.address;
        unsigned bytes = async ? e.node : e.bytes;
        if (!bytes)
            continue;
        for (uintptr_t s = address / 32; s <= (address + bytes - 1) / 32; s++)
            if (std::find(sectors, sectors + count, s) == sectors + count)
                sectors[count++] = s;
    }
    total.global_requests += count > 0;
    total.global_sectors += count;
}

/* Keeps what the interval's line needs. */
static void note_shared(unsigned first, unsigned lanes, enum access a)
{
    struct interval *now = &intervals[interval_count];

    for (unsigned rest = lanes; rest; rest &= rest - 1) {
        struct way *w = &ways[first + static_cast<unsigned>(__builtin_ctz(rest))];
        const struct event &e = w->events[w->at];
        w->low = std::min(w->low, e.address);
        w->high = std::max(w->high, e.address);
        w->stored |= a == WRITE;
        now->loads += a == READ;
        now->stores += a == WRITE;
    }
    now->store_requests += a == WRITE;
}

/* The lanes' next events are one instruction. */
static void step(unsigned first, unsigned lanes)
{
    const struct event &e = event_of(first + static_cast<unsigned>(__builtin_ctz(lanes)));

    total.warp_instructions++;
    total.lane_operations += static_cast<unsigned>(__builtin_popcount(lanes));
    total.atomics += e.access == ATOMIC;
    if (e.what == SHARED || e.what == ASYNC)
        touch_shared(first, lanes, e.bytes, e.access == ATOMIC);
    if (e.what == GLOBAL || e.what == ASYNC)
        touch_global(first, lanes, e.what == ASYNC);
    if ((e.what == SHARED || e.what == ASYNC) && interval_count < most_intervals)
        note_shared(first, lanes, e.access);
}

/* ---- the walk ---- */

/* Which of these lanes come to an access next, or (`way`) to a block. */
static unsigned coming(unsigned first, unsigned lanes, bool way)
{
    unsigned r = 0;

    for (unsigned rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
        const struct way &w = ways[first + lane];
        if (w.at < w.events.size() && (w.events[w.at].what == WAY) == way)
            r |= 1u << lane;
    }
    return r;
}

/* Those whose next event is like that of the first of them. */
static unsigned alike(unsigned first, unsigned lanes)
{
    const struct event &e = event_of(first + static_cast<unsigned>(__builtin_ctz(lanes)));
    unsigned r = 0;

    for (unsigned rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
        const struct event &other = event_of(first + lane);
        if (other.what == e.what && other.site == e.site && other.access == e.access &&
            (e.what == WAY ? other.node == e.node : other.bytes == e.bytes))
            r |= 1u << lane;
    }
    return r;
}

static void advance(unsigned first, unsigned lanes)
{
    for (unsigned rest = lanes; rest; rest &= rest - 1)
        ways[first + static_cast<unsigned>(__builtin_ctz(rest))].at++;
}

/* Takes lanes that are together as far as the node `until`, or to the end of their ways. */
static void walk(unsigned first, unsigned lanes, unsigned until)
{
    unsigned in = NOWHERE;      /* the block that these lanes are in together */

    for (;;) {
        for (unsigned busy; (busy = coming(first, lanes, false)) != 0;) {
            unsigned group = alike(first, busy);
            step(first, group);
            advance(first, group);
        }
        lanes = coming(first, lanes, true);
        if (!lanes)
            return;
        unsigned to = event_of(first + static_cast<unsigned>(__builtin_ctz(lanes))).node;
        if (alike(first, lanes) == lanes) {
            if (to == until)
                return;
            nodes[to].entered++;
            advance(first, lanes);
            in = to;
            continue;
        }
        total.divergent_branches += in != NOWHERE;
        unsigned meet = in != NOWHERE ? nodes[in].meet : until;
        for (unsigned rest = lanes; rest;) {
            unsigned group = alike(first, rest);
            to = event_of(first + static_cast<unsigned>(__builtin_ctz(group))).node;
            rest &= ~group;
            if (to != meet)
                walk(first, group, meet);
        }
        in = NOWHERE;
    }
}

static void forget(struct way *w)
{
    w->at = 0;
    if (w->events.capacity() > many_events)
        std::vector<struct event>().swap(w->events);
    else
        w->events.clear();
}

void count_met(unsigned warp)
{
    unsigned first = warp * warp_size, lanes = 0;

    if (nodes_changed)
        find_meetings();
    for (unsigned i = first; i < first + warp_size && i < way_count; i++)
        if (!ways[i].events.empty())
            lanes |= 1u << (i - first);
    if (lanes)
        walk(first, lanes, END);
    for (unsigned i = first; i < first + warp_size && i < way_count; i++)
        forget(&ways[i]);
}

/* ---- meetings, intervals, blocks ---- */

void count_together(unsigned mask)
{
    total.warp_instructions++;
    total.lane_operations += static_cast<unsigned>(__builtin_popcount(mask));
}

static void forget_interval()
{
    for (unsigned i = 0; i < way_count; i++) {
        ways[i].low = UINTPTR_MAX;
        ways[i].high = 0;
        ways[i].stored = false;
    }
}

static void end_interval()
{
    if (interval_count >= most_intervals)
        return;
    struct interval *now = &intervals[interval_count++];
    for (unsigned i = 0; i < way_count; i += warp_size) {
        bool any = false;
        for (unsigned k = i; k < i + warp_size && k < way_count; k++) {
            if (!ways[k].stored)
                continue;
            any = true;
            now->threads++;
            now->reach = std::max(now->reach, static_cast<size_t>(ways[k].high - ways[k].low));
        }
        now->warps += any;
    }
    forget_interval();
}

void count_barrier()
{
    total.barriers++;
    total.warp_instructions += (way_count + warp_size - 1) / warp_size;
    total.lane_operations += way_count;
    end_interval();
}

void count_block_begins()
{
    total.blocks++;
    total.threads += thread_count;
    way_count = thread_count;
    for (unsigned i = 0; i < thread_count; i++) {
        forget(&ways[i]);
        ways[i].node = ENTRY;
    }
    forget_interval();
}

void count_block_ends() { end_interval(); }

/* ---- count.h ---- */

static void drop()
{
    delete[] ways;
    ways = nullptr;
    nodes = {};
    node_of_site = {};
}

void count_begin(struct interval *kept, size_t most)
{
    drop();
    total = {};
    intervals = kept;
    most_intervals = kept ? most : 0;
    interval_count = 0;
    for (size_t i = 0; i < most_intervals; i++)
        kept[i] = {};
    ways = new struct way[max_threads]();
    add_node(nullptr);
    add_node(nullptr);
    nodes_changed = false;
    counting = true;
}

size_t count_end(struct counts *counts)
{
    counting = false;
    for (size_t i = FIRST_NODE; i < nodes.size(); i++)
        if (nodes[i].next.size() > 1)
            total.branches += nodes[i].entered;
    *counts = total;
    drop();
    return interval_count;
}

}
