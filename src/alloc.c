#include "alloc.h"

#include "text.h"
#include "util.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(SANITIZED)
#define SANITIZED
#endif

/* More than a process can have; below it sums of a size and our own extras cannot overflow.
 * The sanitizers end the process when they are asked for more than they can give. */
#ifdef SANITIZED
#define MOST (UINT64_C(1) << 39)
#else
#define MOST (UINT64_C(1) << 47)
#endif
#define ALIGNMENT 64
#define HUGE_PAGE (UINT64_C(2) << 20)
#define LARGE (UINT64_C(4) << 20)
#define PAGE UINT64_C(4096)

/* Stands in the first 64 bytes of what was taken from the system, the block right after it,
 * so that one alignment serves both. */
struct header {
    uint64_t size;    /* as asked for */
    uint64_t mapped;  /* bytes from mmap, 0 when from the C library */
};

enum reason { FITS, NO_PRODUCT, OVER_LIMIT, NO_MEMORY };

static atomic_ullong limit = UINT64_MAX, used, peak;
static atomic_ullong calls, fail_at;
static atomic_int fail_sticky;

void gf_alloc_fail_at(uint64_t n, int sticky)
{
    atomic_store(&fail_at, 0);
    atomic_store(&calls, 0);
    atomic_store(&fail_sticky, sticky);
    atomic_store(&fail_at, n);
}

uint64_t gf_alloc_calls(void) { return atomic_load(&calls); }

static bool must_fail(void)
{
    unsigned long long n = atomic_fetch_add(&calls, 1) + 1;
    unsigned long long at = atomic_load(&fail_at);

    return at != 0 && (n == at || (n > at && atomic_load(&fail_sticky)));
}

#ifdef GPUFILT_TEST_HOOKS
__attribute__((constructor)) static void read_environment(void)
{
    const char *text = getenv("GPUFILT_TEST_ALLOC");
    char *end;
    unsigned long long n;

    if (!text)
        return;
    n = strtoull(text, &end, 10);
    gf_alloc_fail_at(n, *end == '+');
}
#endif

/* What a block of `size` bytes takes, header included. Counting the bytes asked for alone
 * would let a million one-byte texts pass as one megabyte. */
static bool gross(uint64_t size, uint64_t *bytes)
{
    if (!gf_add(size, 2 * ALIGNMENT - 1, bytes))
        return false;
    *bytes &= ~(uint64_t)(ALIGNMENT - 1);
    return true;
}

static bool count_up(uint64_t bytes)
{
    unsigned long long now = atomic_load(&used), next, top;

    do {
        unsigned long long most = atomic_load(&limit);
        if (now > most || bytes > most - now)
            return false;
        next = now + bytes;
    } while (!atomic_compare_exchange_weak(&used, &now, next));
    top = atomic_load(&peak);
    while (next > top && !atomic_compare_exchange_weak(&peak, &top, next))
        ;
    return true;
}

static void count_down(uint64_t bytes) { atomic_fetch_sub(&used, bytes); }

static struct header *header_of(void *block)
{
    return (struct header *)((char *)block - ALIGNMENT);
}

static void *block_of(struct header *h) { return (char *)h + ALIGNMENT; }

/* Large blocks come from mmap, already zero. Address sanitizer sees only the C library's
 * blocks, so under it everything comes from there. */
static bool from_mmap(uint64_t size)
{
#ifdef SANITIZED
    (void)size;
    return false;
#else
    return size >= LARGE;
#endif
}

static uint64_t mapped_bytes(uint64_t size)
{
    return (size + ALIGNMENT + PAGE - 1) & ~(PAGE - 1);
}

static struct header *map(uint64_t size)
{
    uint64_t wanted = mapped_bytes(size), spare;
    char *base, *start;
    struct header *h;

    base = mmap(NULL, wanted + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    spare = (HUGE_PAGE - (uintptr_t)base % HUGE_PAGE) % HUGE_PAGE;
    start = base + spare;
    if (spare > 0)
        munmap(base, spare);
    munmap(start + wanted, HUGE_PAGE - spare);
    /* Advice only: where it is refused the block is as good, but slower. */
    madvise(start, wanted, MADV_HUGEPAGE);
    h = (struct header *)start;
    h->mapped = wanted;
    return h;
}

static struct header *take(uint64_t size, bool zero)
{
    void *memory = NULL;
    struct header *h;

    if (size > MOST)
        return NULL;
    if (from_mmap(size)) {
        h = map(size);
    } else {
        /* Not aligned_alloc, which would want the size rounded up and so hide overruns. */
        if (posix_memalign(&memory, size >= LARGE ? HUGE_PAGE : ALIGNMENT, size + ALIGNMENT) != 0)
            return NULL;
        h = memory;
        h->mapped = 0;
        if (zero)
            memset(block_of(h), 0, size);
    }
    if (h)
        h->size = size;
    return h;
}

static void *allocate(uint64_t count, uint64_t size, bool zero, enum reason *why)
{
    uint64_t bytes, taken;
    struct header *h;

    *why = NO_PRODUCT;
    if (!gf_mul(count, size, &bytes) || !gross(bytes, &taken))
        return NULL;
    *why = NO_MEMORY;
    if (must_fail())
        return NULL;
    *why = OVER_LIMIT;
    if (!count_up(taken))
        return NULL;
    *why = NO_MEMORY;
    h = take(bytes, zero);
    if (!h) {
        count_down(taken);
        return NULL;
    }
    *why = FITS;
    return block_of(h);
}

void *gf_alloc(uint64_t count, uint64_t size)
{
    enum reason why;

    return allocate(count, size, false, &why);
}

void *gf_alloc_zero(uint64_t count, uint64_t size)
{
    enum reason why;

    return allocate(count, size, true, &why);
}

/* Moves the pages of a mapped block instead of its bytes; NULL when that cannot be done. */
static void *remap(struct header *h, uint64_t size)
{
    uint64_t wanted = mapped_bytes(size);
    void *moved = mremap(h, h->mapped, wanted, MREMAP_MAYMOVE);

    if (moved == MAP_FAILED)
        return NULL;
    h = moved;
    h->mapped = wanted;
    h->size = size;
    madvise(h, wanted, MADV_HUGEPAGE);
    return block_of(h);
}

void *gf_realloc(void *block, uint64_t count, uint64_t size)
{
    uint64_t bytes, taken, had;
    struct header *h;
    void *copy;

    if (!block)
        return gf_alloc(count, size);
    h = header_of(block);
    if (h->mapped > 0 && gf_mul(count, size, &bytes) && from_mmap(bytes) &&
        bytes <= MOST && gross(bytes, &taken) && gross(h->size, &had)) {
        if (must_fail() || (taken > had && !count_up(taken - had)))
            return NULL;
        copy = remap(h, bytes);
        if (copy && taken < had)
            count_down(had - taken);
        else if (!copy && taken > had)
            count_down(taken - had);
        return copy;
    }
    copy = gf_alloc(count, size);
    if (!copy)
        return NULL;
    memcpy(copy, block, gf_min(h->size, header_of(copy)->size));
    gf_free(block);
    return copy;
}

void gf_free(void *block)
{
    struct header *h;
    uint64_t taken;

    if (!block)
        return;
    h = header_of(block);
    gross(h->size, &taken);
    if (h->mapped > 0)
        munmap(h, h->mapped);
    else
        free(h);
    count_down(taken);
}

static uint64_t bytes_left(void)
{
    uint64_t most = gf_memory_limit(), now = gf_memory_used();

    return most > now ? most - now : 0;
}

static enum gf_status refuse(enum reason why, uint64_t count, uint64_t size, const char *what,
                             struct gf_error *e)
{
    char need[GF_NUMBER_TEXT], left[GF_NUMBER_TEXT], most[GF_NUMBER_TEXT];
    uint64_t bytes;

    if (why == NO_PRODUCT || !gf_mul(count, size, &bytes))
        return gf_fail(e, GF_EMEMORY, "not enough memory for %s: more than 2^64 bytes are needed",
                       what);
    gf_format_bytes(need, bytes);
    if (why == OVER_LIMIT)
        return gf_fail(e, GF_EMEMORY,
                       "not enough memory for %s: %s needed, %s of %s left; raise --max-memory",
                       what, need, gf_format_bytes(left, bytes_left()),
                       gf_format_bytes(most, gf_memory_limit()));
    return gf_fail(e, GF_EMEMORY,
                   "not enough memory for %s: %s needed, the system has too little left; use a "
                   "smaller --max-memory or end other programs", what, need);
}

enum gf_status gf_allocate(void **block, uint64_t count, uint64_t size, const char *what,
                           struct gf_error *e)
{
    enum reason why;

    *block = allocate(count, size, false, &why);
    return *block ? GF_OK : refuse(why, count, size, what, e);
}

enum gf_status gf_memory_check(uint64_t bytes, const char *what, struct gf_error *e)
{
    uint64_t taken;

    if (!gross(bytes, &taken) || taken > bytes_left())
        return refuse(OVER_LIMIT, bytes, 1, what, e);
    return GF_OK;
}

void gf_memory_set_limit(uint64_t bytes) { atomic_store(&limit, bytes); }
uint64_t gf_memory_limit(void) { return atomic_load(&limit); }
uint64_t gf_memory_used(void) { return atomic_load(&used); }
uint64_t gf_memory_peak(void) { return atomic_load(&peak); }
