#include "alloc.h"
#include "status.h"
#include "util.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define MIB (UINT64_C(1) << 20)

static int reset(void **state)
{
    (void)state;
    gf_memory_set_limit(UINT64_MAX);
    gf_alloc_fail_at(0, 0);
    return gf_memory_used() == 0 ? 0 : -1;
}

/* Around the change from small to large blocks as well. */
static const uint64_t sizes[] = {0, 1, 63, 64, 65, 4095, 4096, 100000, 4 * MIB - 64, 4 * MIB - 1,
                                 4 * MIB, 4 * MIB + 1, 6 * MIB - 64, 6 * MIB, 9 * MIB + 5};

static void blocks(void **state)
{
    (void)state;
    for (size_t i = 0; i < GF_COUNT(sizes); i++) {
        uint64_t size = sizes[i], before = gf_memory_used();
        unsigned char *p = gf_alloc(size, 1);
        unsigned char *z = gf_alloc_zero(1, size);

        assert_non_null(p);
        assert_non_null(z);
        assert_int_equal((uintptr_t)p % 64, 0);
        assert_int_equal((uintptr_t)z % 64, 0);
        memset(p, 0xa5, size);
        for (uint64_t k = 0; k < size; k++)
            if (z[k] != 0)
                fail_msg("byte %llu of %llu is not zero", (unsigned long long)k,
                         (unsigned long long)size);
        memset(z, 0x5a, size);
        for (uint64_t k = 0; k < size; k++)
            if (p[k] != 0xa5)
                fail_msg("blocks overlap");
        assert_in_range(gf_memory_used() - before, 2 * size, 2 * size + 256);
        gf_free(p);
        gf_free(z);
        assert_int_equal(gf_memory_used(), before);
    }
    gf_free(NULL);
    /* The header and the rounding count, or a million texts of one byte would look small. */
    void *p = gf_alloc(70, 1);
    assert_int_equal(gf_memory_used(), 192);
    gf_free(p);
}

static void growing_and_shrinking(void **state)
{
    (void)state;
    for (size_t i = 0; i < GF_COUNT(sizes); i++)
        for (size_t j = 0; j < GF_COUNT(sizes); j++) {
            uint64_t kept = gf_min(sizes[i], sizes[j]);
            unsigned char *p = gf_alloc(sizes[i], 1);

            assert_non_null(p);
            for (uint64_t k = 0; k < sizes[i]; k += 61)
                p[k] = (unsigned char)(k / 61);
            p = gf_realloc(p, sizes[j], 1);
            assert_non_null(p);
            assert_int_equal((uintptr_t)p % 64, 0);
            for (uint64_t k = 0; k < kept; k += 61)
                if (p[k] != (unsigned char)(k / 61))
                    fail_msg("content lost from %llu to %llu at %llu",
                             (unsigned long long)sizes[i], (unsigned long long)sizes[j],
                             (unsigned long long)k);
            if (sizes[j] > 0)
                memset(p, 1, sizes[j]);
            assert_in_range(gf_memory_used(), sizes[j], sizes[j] + 128);
            gf_free(p);
            assert_int_equal(gf_memory_used(), 0);
        }
}

static void overflow(void **state)
{
    struct gf_error e;
    void *p = &e;

    (void)state;
    assert_null(gf_alloc(UINT64_MAX, 1));
    assert_null(gf_alloc(UINT64_MAX - 128, 1));
    assert_null(gf_alloc(UINT64_C(1) << 63, 1));
    assert_null(gf_alloc((UINT64_C(1) << 63) - 64, 1));
    assert_null(gf_alloc(UINT64_C(1) << 32, UINT64_C(1) << 32));
    assert_null(gf_alloc_zero(UINT64_C(1) << 33, UINT64_C(1) << 31));
    assert_int_equal(gf_allocate(&p, UINT64_C(1) << 40, UINT64_C(1) << 40, "a slab", &e),
                     GF_EMEMORY);
    assert_null(p);
    assert_non_null(strstr(e.text, "a slab"));
    assert_non_null(strstr(e.text, "2^64"));
    /* 2^62 bytes fit in the type, but in no machine. */
    assert_int_equal(gf_allocate(&p, UINT64_C(1) << 31, UINT64_C(1) << 31, "a slab", &e),
                     GF_EMEMORY);
    assert_null(p);
    assert_int_equal(gf_memory_used(), 0);
}

static void limits(void **state)
{
    struct gf_error e;
    void *a, *b, *c;

    (void)state;
    gf_memory_set_limit(10 * MIB);
    assert_int_equal(gf_memory_limit(), 10 * MIB);
    assert_int_equal(gf_memory_check(10 * MIB - 4096, "an image", &e), GF_OK);
    assert_int_equal(gf_memory_check(10 * MIB + 1, "an image", &e), GF_EMEMORY);
    assert_int_equal(gf_memory_check(UINT64_MAX, "an image", &e), GF_EMEMORY);
    a = gf_alloc(6 * MIB, 1);
    assert_non_null(a);
    assert_null(gf_alloc(5 * MIB, 1));
    assert_int_equal(gf_allocate(&b, 5, MIB, "the picture", &e), GF_EMEMORY);
    assert_null(b);
    assert_string_equal(e.text, "not enough memory for the picture: 5 MiB needed, 4 MiB of 10 MiB "
                                "left; raise --max-memory");
    b = gf_alloc(3 * MIB, 1);
    assert_non_null(b);
    /* On NULL the old block stays. */
    memset(a, 7, 6 * MIB);
    assert_null(gf_realloc(a, 8 * MIB, 1));
    assert_null(gf_realloc(b, 4 * MIB, 1));
    assert_int_equal(((unsigned char *)a)[6 * MIB - 1], 7);
    gf_free(b);
    /* Small enough to be copied: old and new must fit together, at first they do not. */
    b = gf_alloc(2 * MIB, 1);
    assert_non_null(b);
    memset(b, 9, 2 * MIB);
    assert_null(gf_realloc(b, 3 * MIB, 1));
    gf_free(a);
    c = gf_realloc(b, 3 * MIB, 1);
    assert_non_null(c);
    assert_int_equal(((unsigned char *)c)[2 * MIB - 1], 9);
    gf_free(c);
    gf_memory_set_limit(0);
    assert_null(gf_alloc(0, 1));
}

/* Runs first: the peak is never set back. */
static void peak(void **state)
{
    void *a = gf_alloc(3, MIB), *b = gf_alloc(5, MIB);

    (void)state;
    gf_free(a);
    a = gf_alloc(1, MIB);
    gf_free(a);
    gf_free(b);
    assert_int_equal(gf_memory_used(), 0);
    assert_in_range(gf_memory_peak(), 8 * MIB, 8 * MIB + 256);
}

static void failures_on_request(void **state)
{
    (void)state;
    for (uint64_t at = 1; at <= 4; at++)
        for (int sticky = 0; sticky <= 1; sticky++) {
            gf_alloc_fail_at(at, sticky);
            for (uint64_t n = 1; n <= 5; n++) {
                void *p = n % 2 ? gf_alloc(10, 1) : gf_alloc_zero(10, 1);
                assert_int_equal(p == NULL, n == at || (sticky && n > at));
                gf_free(p);
            }
            assert_int_equal(gf_alloc_calls(), 5);
        }
    gf_alloc_fail_at(2, 0);
    void *p = gf_alloc(3, 1);
    assert_null(gf_realloc(p, 4, 1));
    p = gf_realloc(p, 4, 1);
    assert_non_null(p);
    assert_int_equal(gf_alloc_calls(), 3);
    gf_free(p);
}

static void *hammer(void *seed)
{
    uint64_t s = (uintptr_t)seed;
    void *kept[16] = {0};

    for (int k = 0; k < 20000; k++) {
        s = s * UINT64_C(6364136223846793005) + 1442695040888963407u;
        size_t i = s >> 60;
        gf_free(kept[i]);
        kept[i] = gf_alloc((s >> 40) % 5000, 1);
    }
    for (size_t i = 0; i < 16; i++)
        gf_free(kept[i]);
    return NULL;
}

static void threads(void **state)
{
    pthread_t t[4];

    (void)state;
    gf_memory_set_limit(100000);
    for (uintptr_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&t[i], NULL, hammer, (void *)(i + 1)), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    assert_int_equal(gf_memory_used(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(peak, reset),
        cmocka_unit_test_setup(blocks, reset),
        cmocka_unit_test_setup(growing_and_shrinking, reset),
        cmocka_unit_test_setup(overflow, reset),
        cmocka_unit_test_setup(limits, reset),
        cmocka_unit_test_setup(failures_on_request, reset),
        cmocka_unit_test_setup(threads, reset),
    };

    return cmocka_run_group_tests_name("alloc", tests, NULL, reset);
}
