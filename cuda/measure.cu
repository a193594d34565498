/* The measurer on a GPU: samples go to the device in chunks, through two buffers, so that one is
 * uploaded while the other is measured, and everything that was asked for is done to a chunk
 * while it is there. What a chunk leaves is small and is put together here, in order.
 *
 *     upload  | chunk 0 | chunk 1 | chunk 2 |         a set's samples are overwritten when its
 *     compute           | chunk 0 | chunk 1 | ...     results have been collected */
#include "errors.h"
#include "measure.h"

extern "C" {
#include "signals.h"
}

#include <cmath>
#include <cstdlib>
#include <cstring>

#ifdef GF_SIMT
#define GF_MEASURER gf_measurer_simt
#else
#define GF_MEASURER gf_measurer_cuda
#endif

namespace GF_DEVICE {
namespace {

/* Bytes of one of the two buffers, where memory is not limited: long enough transfers. */
constexpr uint64_t MOST_CHUNK = 64 << 20;
constexpr unsigned SETS = 2;

__extension__ using wide = __int128;
__extension__ using unsigned_wide = unsigned __int128;

/* What a run of samples leaves. */
struct results {
    uint64_t room;              /* pieces that there is memory for */
    struct piece *pieces;       /* on the device, as the next two are */
    struct found *found;        /* two, and behind them, to be copied at once, */
    struct piece *groups;
    struct found *host_found;   /* the same, then the pieces of incomplete groups */
    struct piece *host;
};

/* A run of samples on its way. */
struct set {
    void *samples;              /* a chunk on the device */
    struct results results;
    cudaEvent_t uploaded, measured;
    bool busy;                  /* its results have not been collected */
    uint64_t first, pieces;     /* its place in the sequence, and its pieces */
    unsigned lead;              /* pieces of its first group that were before */
};

struct state {
    const struct gf_measure *measure;
    struct gf_key_count count;  /* the keys that are counted on the device; see choose_keys() */
    struct device device;
    struct key_device key_device;
    bool is_float;
    cudaStream_t upload, compute;
    struct set set[SETS];
    unsigned turn;
    uint64_t limit;             /* samples of a chunk, at most */
    uint64_t chunk;             /* samples that the sets' buffers hold */
    uint64_t fed;
    bool torn;                  /* some samples are in some of the counters alone: to try again
                                 * would count them twice */
    struct gather gather;
    uint64_t *prefix;           /* on the device, as the next two are */
    unsigned long long *keys, *range;
    /* What has been collected: */
    struct gf_measured found;
    bool any;                   /* there was a finite sample */
    struct gf_moments_tree tree;
    unsigned_wide sum, squares; /* of integers' keys */
};

uint64_t key_bins(const struct state *s)
{
    return static_cast<uint64_t>(s->count.prefixes) * GF_KEY_BINS;
}

uint64_t range_bins(const struct gf_measure *m)
{
    return m->range.bins > 0 ? m->range.bins + UINT64_C(2) : 0; /* below, above */
}

/* ---- memory ---- */

template <typename T> cudaError_t device_memory(T **to, uint64_t count)
{
    void *block = nullptr;

    GF_CALL(cudaMalloc(&block, gf_max(count, 1) * sizeof(T)));
    *to = static_cast<T *>(block);
    return cudaSuccess;
}

uint64_t groups_of(uint64_t pieces) { return pieces / GROUP + 2; }

/* The extremes found, then pieces. */
uint64_t summary_bytes(uint64_t pieces)
{
    return 2 * sizeof(struct found) + pieces * sizeof(struct piece);
}
struct piece *behind(struct found *found) { return reinterpret_cast<struct piece *>(found + 2); }

void results_free(struct results *r)
{
    void *const blocks[] = {r->pieces, r->found};

    for (void *block : blocks)
        if (block != nullptr)
            (void)cudaFree(block);
    if (r->host_found != nullptr)
        (void)cudaFreeHost(r->host_found);
    *r = {};
}

/* Makes room for `pieces`. */
cudaError_t results_make(struct results *r, uint64_t pieces)
{
    void *block = nullptr;

    if (pieces <= r->room)
        return cudaSuccess;
    results_free(r);
    GF_CALL(device_memory(&r->pieces, pieces));
    GF_CALL(cudaMalloc(&block, summary_bytes(groups_of(pieces))));
    r->found = static_cast<struct found *>(block);
    r->groups = behind(r->found);
    GF_CALL(cudaMallocHost(&block, summary_bytes(groups_of(pieces) + 2 * GROUP)));
    r->host_found = static_cast<struct found *>(block);
    r->host = behind(r->host_found);
    r->room = pieces;
    return cudaSuccess;
}

uint64_t results_bytes(uint64_t pieces)
{
    return pieces * sizeof(struct piece) + summary_bytes(groups_of(pieces));
}

/* Bytes on the device for chunks of so many samples. */
uint64_t chunk_bytes(const struct state *s, uint64_t samples)
{
    enum gf_type type = s->measure->type;
    uint64_t pieces = gf_ceil_div(samples, piece_samples(type));

    return SETS * (samples * gf_type_bytes(type) +
                   (s->measure->moments ? results_bytes(pieces) : 0));
}

uint64_t fixed_bytes(const struct state *s)
{
    return (key_bins(s) + range_bins(s->measure) + s->count.prefixes) * 8;
}

void chunks_free(struct state *s)
{
    for (struct set &set : s->set) {
        if (set.samples != nullptr)
            (void)cudaFree(set.samples);
        set.samples = nullptr;
        results_free(&set.results);
    }
    s->chunk = 0;
}

cudaError_t chunks_allocate(struct state *s, uint64_t samples)
{
    enum gf_type type = s->measure->type;

    for (struct set &set : s->set) {
        GF_CALL(cudaMalloc(&set.samples, samples * gf_type_bytes(type)));
        if (s->measure->moments)
            GF_CALL(results_make(&set.results, gf_ceil_div(samples, piece_samples(type))));
    }
    s->chunk = samples;
    return cudaSuccess;
}

/* Whole groups where there are several, so that the next chunk begins with one, else pieces. */
uint64_t rounded_chunk(enum gf_type type, uint64_t samples)
{
    uint64_t piece = piece_samples(type), group = piece * GROUP;

    return samples >= group ? samples / group * group : gf_max(samples / piece, 1) * piece;
}

/* Makes the sets' buffers large enough for a feed of `count`, or as large as there is memory for;
 * nothing may be in them. */
cudaError_t chunks_make(struct state *s, uint64_t count)
{
    enum gf_type type = s->measure->type;
    uint64_t least = piece_samples(type);
    uint64_t samples = gf_min(s->limit, gf_ceil_div(count, least) * least);

    if (samples <= s->chunk)
        return cudaSuccess;
    for (;;) {
        chunks_free(s);
        cudaError_t error = chunks_allocate(s, samples);
        if (error == cudaSuccess)
            return cudaSuccess;
        chunks_free(s);
        if (error != cudaErrorMemoryAllocation || samples <= least)
            return error;
        (void)cudaGetLastError();
        samples = s->limit = rounded_chunk(type, samples / 2);
    }
}

/* The chunk that --gpu-memory allows; 0 when it allows none. */
uint64_t chunk_limit(const struct state *s)
{
    const struct gf_measure *m = s->measure;
    uint64_t least = piece_samples(m->type), fixed = fixed_bytes(s);
    uint64_t samples = MOST_CHUNK / gf_type_bytes(m->type);

#ifdef GPUFILT_TEST_HOOKS
    const char *text = getenv("GPUFILT_TEST_MEASURE_CHUNK");
    if (text != nullptr)
        samples = strtoull(text, nullptr, 10) * least;
#endif
    samples = rounded_chunk(m->type, samples);
    if (m->gpu_memory == 0)
        return samples;
    while (fixed + chunk_bytes(s, samples) > m->gpu_memory) {
        if (samples <= least)
            return 0;
        samples = rounded_chunk(m->type, samples / 2);
    }
    return samples;
}

/* ---- open and close ---- */

cudaError_t make_streams(struct state *s)
{
    GF_CALL(cudaStreamCreateWithFlags(&s->upload, cudaStreamNonBlocking));
    GF_CALL(cudaStreamCreateWithFlags(&s->compute, cudaStreamNonBlocking));
    for (struct set &set : s->set)
        for (cudaEvent_t *event : {&set.uploaded, &set.measured})
            GF_CALL(cudaEventCreateWithFlags(event,
                                             cudaEventDisableTiming | cudaEventBlockingSync));
    return cudaSuccess;
}

/* With the highest bits only the prefix 0 can be there, and nothing but zeros are above a key:
 * then its highest bits are counted and added up in the end. */
void choose_keys(struct state *s)
{
    static const uint64_t none = 0;
    const struct gf_key_count *keys = &s->measure->keys;
    const unsigned width = 8 * gf_type_bytes(s->measure->type);
    const unsigned top = width > 16 ? width - 16 : 0;

    s->count = *keys;
    if (keys->prefixes == 0 || keys->shift < top)
        return;
    s->count.shift = top;
    s->count.prefix = &none;
    s->count.prefixes = keys->prefix[0] == 0 ? 1 : 0;
}

/* What launches depend on. */
cudaError_t find_limits(struct state *s)
{
    int processors = 0, shared = 0;

    GF_CALL(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, s->device.index));
    GF_CALL(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                   s->device.index));
#ifdef GPUFILT_TEST_HOOKS
    const char *text = getenv("GPUFILT_TEST_MEASURE_SHARED");
    if (text != nullptr)
        shared = atoi(text);
#endif
    s->key_device.processors = static_cast<unsigned>(processors);
    s->key_device.shared = static_cast<size_t>(shared);
    return cudaSuccess;
}

cudaError_t make_counters(struct state *s)
{
    const struct gf_measure *m = s->measure;

    if (s->count.prefixes > 0) {
        GF_CALL(device_memory(&s->prefix, s->count.prefixes));
        GF_CALL(device_memory(&s->keys, key_bins(s)));
        GF_CALL(cudaMemcpyAsync(s->prefix, s->count.prefix, s->count.prefixes * sizeof *s->prefix,
                                cudaMemcpyHostToDevice, s->compute));
        GF_CALL(cudaMemsetAsync(s->keys, 0, key_bins(s) * sizeof *s->keys, s->compute));
    }
    if (m->range.bins > 0) {
        GF_CALL(device_memory(&s->range, range_bins(m)));
        GF_CALL(cudaMemsetAsync(s->range, 0, range_bins(m) * sizeof *s->range, s->compute));
    }
    return cudaSuccess;
}

cudaError_t start(struct state *s)
{
    GF_CALL(device_start(&s->device));
    if (s->limit == 0)
        return cudaErrorMemoryAllocation;
    GF_CALL(make_streams(s));
    GF_CALL(find_limits(s));
    GF_CALL(make_counters(s));
    return cudaStreamSynchronize(s->compute); /* measure_queue() has streams of its caller */
}

/* Waits until nothing is in flight, whatever went wrong. */
void settle(struct state *s)
{
    for (cudaStream_t stream : {s->upload, s->compute})
        if (stream != nullptr)
            (void)cudaStreamSynchronize(stream);
}

void close(void *state)
{
    struct state *s = static_cast<struct state *>(state);

    if (s == nullptr)
        return;
    /* After an error that ended the context these calls do nothing but say so again. */
    (void)cudaSetDevice(s->device.index);
    settle(s);
    chunks_free(s);
    gather_free(&s->gather);
    void *const blocks[] = {s->prefix, s->keys, s->range};
    for (void *block : blocks)
        if (block != nullptr)
            (void)cudaFree(block);
    for (struct set &set : s->set)
        for (cudaEvent_t event : {set.uploaded, set.measured})
            if (event != nullptr)
                (void)cudaEventDestroy(event);
    for (cudaStream_t stream : {s->upload, s->compute})
        if (stream != nullptr)
            (void)cudaStreamDestroy(stream);
    (void)cudaGetLastError();
    gf_free(s);
}

/* Too little memory for the smallest chunk. */
enum gf_status no_room(const struct state *s, struct gf_error *e)
{
    const struct gf_measure *m = s->measure;

    return no_memory(e, &s->device, "statistics take",
                     fixed_bytes(s) + chunk_bytes(s, piece_samples(m->type)), "at least",
                     m->gpu_memory);
}

enum gf_status failure(const struct state *s, cudaError_t error, struct gf_error *e)
{
    return error == cudaErrorMemoryAllocation ? no_room(s, e) : failed(e, &s->device, error);
}

enum gf_status open(const struct gf_measure *measure, void **state, struct gf_error *e)
{
    struct state *s;
    void *block;
    enum gf_status status = GF_OK;

    GF_TRY(gf_allocate(&block, 1, sizeof *s, "the statistics", e));
    memset(block, 0, sizeof *s);
    s = static_cast<struct state *>(block);
    s->measure = measure;
    s->is_float = gf_type_row(measure->type)->is_float;
    s->device.index = static_cast<int>(measure->gpu);
    choose_keys(s);
    s->limit = chunk_limit(s);
    cudaError_t error = start(s);
    if (error != cudaSuccess)
        status = failure(s, error, e);
    if (status == GF_OK)
        *state = s;
    else
        close(s);
    return status;
}

/* ---- measuring a run of samples that are on the device ---- */

/* Pieces of the first group and of the last one where these are not complete: their moments go
 * into the tree one by one. Integers need no such care. */
void loose_pieces(const struct state *s, const struct set *set, uint64_t *head, uint64_t *tail)
{
    *head = set->lead > 0 ? gf_min(GROUP - set->lead, set->pieces) : 0;
    *tail = (set->pieces - *head) % GROUP;
    if (!s->is_float)
        *head = *tail = 0;
}

cudaError_t queue_moments(struct state *s, struct set *set, const void *samples, uint64_t count,
                          cudaStream_t stream)
{
    enum gf_type type = s->measure->type;
    struct results *r = &set->results;
    uint64_t groups, head, tail;

    set->pieces = gf_ceil_div(count, piece_samples(type));
    set->lead = s->is_float ? set->first / GF_LEAF % GROUP : 0;
    groups = gf_ceil_div(set->lead + set->pieces, GROUP);
    loose_pieces(s, set, &head, &tail);
    if (s->is_float)
        GF_CALL(launch_floats(&s->key_device, type, samples, count, r->pieces, stream));
    else
        GF_CALL(launch_integers(type, samples, count, r->pieces, stream));
    GF_CALL(launch_groups(r->pieces, set->pieces, set->lead, r->groups, stream));
    GF_CALL(launch_extremes(type, samples, count, r->pieces, r->groups, set->lead, r->found,
                            stream));
    GF_CALL(cudaMemcpyAsync(r->host_found, r->found, summary_bytes(groups),
                            cudaMemcpyDeviceToHost, stream));
    if (head > 0)
        GF_CALL(cudaMemcpyAsync(r->host + groups, r->pieces, head * sizeof *r->host,
                                cudaMemcpyDeviceToHost, stream));
    if (tail > 0)
        GF_CALL(cudaMemcpyAsync(r->host + groups + head, r->pieces + set->pieces - tail,
                                tail * sizeof *r->host, cudaMemcpyDeviceToHost, stream));
    return cudaSuccess;
}

/* Everything that is asked for, of the next `count` samples. */
cudaError_t queue(struct state *s, struct set *set, const void *samples, uint64_t count,
                  cudaStream_t stream)
{
    const struct gf_measure *m = s->measure;

    if (s->torn)
        return cudaErrorMemoryAllocation;
    set->first = s->fed;
    if (m->moments)
        GF_CALL(queue_moments(s, set, samples, count, stream));
    s->torn = s->count.prefixes > 0 || m->range.bins > 0;
    if (s->count.prefixes > 0)
        GF_CALL(launch_keys(&s->key_device, m->type, &s->count, samples, count, s->prefix, s->keys,
                            stream));
    if (m->range.bins > 0)
        GF_CALL(launch_range(&s->key_device, m->type, &m->range, samples, count, s->range,
                             stream));
    GF_CALL(cudaEventRecord(set->measured, stream));
    set->busy = true;
    s->torn = false;
    s->fed += count;
    return cudaSuccess;
}

/* ---- collecting ---- */

/* Earlier extremes stay unless these are beyond them. */
void collect_extremes(struct state *s, const struct set *set)
{
    const struct found *least = &set->results.host_found[0], *greatest = least + 1;
    struct gf_measured *m = &s->found;

    if (least->at == NOWHERE)
        return;
    if (!s->any || least->value < m->min) {
        m->min = least->value;
        m->min_at = set->first + least->at;
    }
    if (!s->any || greatest->value > m->max) {
        m->max = greatest->value;
        m->max_at = set->first + greatest->at;
    }
    s->any = true;
}

/* The moments of a set, in order: head pieces, whole groups, tail pieces. */
void collect_moments(struct state *s, const struct set *set)
{
    const struct piece *host = set->results.host;
    uint64_t groups = gf_ceil_div(set->lead + set->pieces, GROUP), head, tail;

    loose_pieces(s, set, &head, &tail);
    for (uint64_t i = 0; i < head; i++)
        gf_moments_tree_add(&s->tree, 0, host[groups + i].moments);
    for (uint64_t g = head > 0; g < groups - (tail > 0); g++)
        gf_moments_tree_add(&s->tree, GROUP_LEVEL, host[g].moments);
    for (uint64_t i = 0; i < tail; i++)
        gf_moments_tree_add(&s->tree, 0, host[groups + head + i].moments);
}

void collect_results(struct state *s, const struct set *set)
{
    const struct piece *host = set->results.host;
    struct gf_measured *m = &s->found;
    uint64_t groups = gf_ceil_div(set->lead + set->pieces, GROUP);

    collect_extremes(s, set);
    for (uint64_t g = 0; g < groups; g++) {
        m->nan += host[g].nan;
        m->plus_inf += host[g].plus_inf;
        m->minus_inf += host[g].minus_inf;
        m->n += host[g].moments.n;
        if (!s->is_float) {
            s->sum += host[g].sum;
            s->squares += host[g].square_low;
            s->squares += static_cast<unsigned_wide>(host[g].square_high) << 32;
        }
    }
    if (s->is_float)
        collect_moments(s, set);
}

cudaError_t collect(struct state *s, struct set *set)
{
    if (!set->busy)
        return cudaSuccess;
    GF_CALL(cudaEventSynchronize(set->measured));
    set->busy = false;
    if (s->measure->moments)
        collect_results(s, set);
    return cudaSuccess;
}

/* Of all sets, the older first. */
cudaError_t collect_all(struct state *s)
{
    for (unsigned i = 0; i < SETS; i++)
        GF_CALL(collect(s, &s->set[(s->turn + i) % SETS]));
    return cudaSuccess;
}

/* ---- feeding ---- */

cudaError_t feed_chunk(struct state *s, const void *samples, uint64_t count)
{
    struct set *set = &s->set[s->turn % SETS];

    GF_CALL(collect(s, set));
    GF_CALL(cudaMemcpyAsync(set->samples, samples, count * gf_type_bytes(s->measure->type),
                            cudaMemcpyHostToDevice, s->upload));
    GF_CALL(cudaEventRecord(set->uploaded, s->upload));
    GF_CALL(cudaStreamWaitEvent(s->compute, set->uploaded, 0));
    s->turn++;
    return queue(s, set, set->samples, count, s->compute);
}

cudaError_t feed_chunks(struct state *s, const char *samples, uint64_t count, bool *stopped)
{
    uint64_t bytes = gf_type_bytes(s->measure->type);

    GF_CALL(cudaSetDevice(s->device.index));
    if (gf_min(count, s->limit) > s->chunk) {
        GF_CALL(collect_all(s));
        GF_CALL(chunks_make(s, count));
    }
    for (uint64_t at = 0; at < count; at += s->chunk) {
        *stopped = gf_signal_pending() != 0;
        if (*stopped)
            return cudaSuccess;
        GF_CALL(feed_chunk(s, samples + at * bytes, gf_min(s->chunk, count - at)));
    }
    return cudaStreamSynchronize(s->upload); /* the caller's samples are free again */
}

enum gf_status feed(void *state, const void *samples, uint64_t count, struct gf_error *e)
{
    struct state *s = static_cast<struct state *>(state);
    bool stopped = false;
    cudaError_t error;

    if (count == 0)
        return GF_OK;
    error = feed_chunks(s, static_cast<const char *>(samples), count, &stopped);
    if (error == cudaSuccess && !stopped)
        return GF_OK;
    settle(s);
    return error != cudaSuccess ? failure(s, error, e) : GF_ESIGNAL;
}

/* ---- the end ---- */

/* Whether a bin of keys is of finite samples; all of a bin are or none, since a bin's 16 bits
 * and those above hold the exponent. */
bool finite_bin(enum gf_type type, uint64_t bin, unsigned shift)
{
    unsigned width = 8 * gf_type_bytes(type);
    uint64_t sign = UINT64_C(1) << (width - 1), infinite = 0;

    if (!gf_type_row(type)->is_float)
        return true;
    infinite = type == GF_F16 ? GF_INFINITE_BITS_2
                              : type == GF_F32 ? GF_INFINITE_BITS_4 : GF_INFINITE_BITS_8;
    return bin << shift >= sign - infinite && bin << shift < (sign | infinite);
}

/* Adds counters on the device to the caller's. */
cudaError_t add_counts(uint64_t *to, const unsigned long long *from, uint64_t count,
                       unsigned long long *buffer)
{
    GF_CALL(cudaMemcpy(buffer, from, count * sizeof *from, cudaMemcpyDeviceToHost));
    for (uint64_t i = 0; i < count; i++)
        to[i] += buffer[i];
    return cudaSuccess;
}

cudaError_t add_keys(const struct state *s, unsigned long long *buffer)
{
    const struct gf_key_count *counted = &s->count;
    const bool apart = counted->shift == s->measure->keys.shift;

    for (unsigned p = 0; p < counted->prefixes; p++) {
        const uint64_t first = static_cast<uint64_t>(p) * GF_KEY_BINS;
        uint64_t *to = s->measure->keys.count + first;
        GF_CALL(cudaMemcpy(buffer, s->keys + first, GF_KEY_BINS * sizeof *buffer,
                           cudaMemcpyDeviceToHost));
        for (uint64_t i = 0; i < GF_KEY_BINS; i++)
            if (finite_bin(s->measure->type, counted->prefix[p] << 16 | i, counted->shift))
                to[apart ? i : 0] += buffer[i];
    }
    return cudaSuccess;
}

cudaError_t add_range(struct state *s, unsigned long long *buffer)
{
    const struct gf_range_count *range = &s->measure->range;

    for (uint64_t at = 0; at < range->bins; at += GF_KEY_BINS)
        GF_CALL(add_counts(range->count + at, s->range + at,
                           gf_min(GF_KEY_BINS, range->bins - at), buffer));
    GF_CALL(add_counts(&s->found.below, s->range + range->bins, 1, buffer));
    return add_counts(&s->found.above, s->range + range->bins + 1, 1, buffer);
}

struct gf_i128 as_i128(wide v)
{
    return {static_cast<uint64_t>(v), static_cast<uint64_t>(static_cast<unsigned_wide>(v) >> 64)};
}

/* From sums of keys k to sums of samples k + least. */
void finish_integers(struct state *s)
{
    wide n = static_cast<wide>(s->fed), sum = static_cast<wide>(s->sum);
    wide least = static_cast<wide>(gf_type_row(s->measure->type)->lowest);

    s->found.n = s->fed;
    s->found.sum = as_i128(sum + n * least);
    s->found.squares = as_i128(static_cast<wide>(s->squares) + 2 * least * sum +
                               n * least * least);
}

cudaError_t finish_counts(struct state *s, unsigned long long *buffer)
{
    GF_CALL(cudaSetDevice(s->device.index));
    GF_CALL(gather_end(s, s->compute));
    GF_CALL(collect_all(s));
    /* Work that measure_queue() queued on other streams has ended with that. */
    GF_CALL(cudaStreamSynchronize(s->compute));
    if (s->count.prefixes > 0)
        GF_CALL(add_keys(s, buffer));
    if (s->measure->range.bins > 0)
        GF_CALL(add_range(s, buffer));
    return cudaSuccess;
}

enum gf_status finish(void *state, struct gf_measured *measured, struct gf_error *e)
{
    struct state *s = static_cast<struct state *>(state);
    cudaError_t error;
    void *buffer;

    GF_TRY(gf_allocate(&buffer, GF_KEY_BINS, sizeof(unsigned long long), "the statistics", e));
    error = finish_counts(s, static_cast<unsigned long long *>(buffer));
    gf_free(buffer);
    if (error != cudaSuccess) {
        settle(s);
        return failure(s, error, e);
    }
    if (s->measure->moments && s->is_float)
        s->found.moments = gf_moments_tree_total(&s->tree);
    else if (s->measure->moments)
        finish_integers(s);
    *measured = s->found;
    return GF_OK;
}

cudaError_t queue_resident(struct state *s, const void *samples, uint64_t count,
                           cudaStream_t stream)
{
    struct set *set = &s->set[s->turn % SETS];

    GF_CALL(cudaSetDevice(s->device.index));
    GF_CALL(collect(s, set));
    if (s->measure->moments)
        GF_CALL(results_make(&set->results,
                             gf_ceil_div(count, piece_samples(s->measure->type))));
    s->turn++;
    return queue(s, set, samples, count, stream);
}

}

cudaError_t measure_queue(void *state, const void *samples, uint64_t count, cudaStream_t stream)
{
    return count > 0 ? queue_resident(static_cast<struct state *>(state), samples, count, stream)
                     : cudaSuccess;
}

struct gather *measure_gather(void *state) { return &static_cast<struct state *>(state)->gather; }

uint64_t measure_bytes(const void *state)
{
    return gf_type_bytes(static_cast<const struct state *>(state)->measure->type);
}

uint64_t measure_memory(const void *state, uint64_t samples)
{
    const struct state *s = static_cast<const struct state *>(state);
    const uint64_t pieces = gf_ceil_div(samples, piece_samples(s->measure->type));

    return fixed_bytes(s) + (s->measure->moments ? SETS * results_bytes(pieces) : 0);
}

}

extern "C" const struct gf_measurer GF_MEASURER = {
    GF_BACKEND_NAME, GF_DEVICE::open, GF_DEVICE::feed, nullptr, GF_DEVICE::finish,
    GF_DEVICE::close,
};
