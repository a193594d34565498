/* The fast deflate coder against zlib's inflate. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/deflate_runs.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define MOST 200000
#define GUARD 0x5a

/* Codes `size` bytes as one piece or as two, inflates them and compares. The size coded. */
static size_t check(uint8_t *data, size_t size, bool halves)
{
    const size_t first = halves ? size / 2 : 0, second = size - first;
    const size_t bound = gf_deflate_runs_bound(first) + gf_deflate_runs_bound(second);
    uint8_t *packed = malloc(bound + 16), *back = malloc(size + 1);
    z_stream z = {0};
    size_t n = 0, part;
    int code;

    assert_true(packed && back);
    memset(packed, GUARD, bound + 16);
    if (halves) {
        n = gf_deflate_runs(data, first, false, packed);
        assert_true(n <= gf_deflate_runs_bound(first));
        /* Not a bit is left over: an empty stored block ends it. */
        assert_memory_equal(packed + n - 4, "\0\0\xff\xff", 4);
    }
    part = gf_deflate_runs(data + first, second, true, packed + n);
    assert_true(part <= gf_deflate_runs_bound(second));
    n += part;
    for (size_t i = 0; i < 16; i++)
        assert_int_equal(packed[bound + i], GUARD);
    assert_int_equal(inflateInit2(&z, -MAX_WBITS), Z_OK);
    z.next_in = packed;
    z.avail_in = (uInt)n;
    z.next_out = back;
    z.avail_out = (uInt)size + 1;
    code = inflate(&z, Z_FINISH);
    if (code != Z_STREAM_END || z.total_out != size || z.avail_in != 0 ||
        (size > 0 && memcmp(back, data, size) != 0))
        fail_msg("%zu bytes: inflate says %d (%s), %lu bytes, %u left", size, code,
                 z.msg ? z.msg : "", z.total_out, z.avail_in);
    inflateEnd(&z);
    free(packed);
    free(back);
    return n;
}

static uint32_t next_random(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed >> 8;
}

static uint8_t *buffer(void)
{
    uint8_t *data = calloc(1, MOST);
    assert_non_null(data);
    return data;
}

static void every_small_size(void **state)
{
    uint8_t *data = buffer();
    uint32_t seed = 1;
    (void)state;
    for (size_t size = 0; size <= 700; size++)
        for (unsigned kind = 0; kind < 4; kind++) {
            for (size_t i = 0; i < size; i++)
                data[i] = (uint8_t)(kind == 0 ? 0 : next_random(&seed) % (kind == 1 ? 256 : kind));
            check(data, size, false);
            check(data, size, true);
        }
    free(data);
}

/* Runs of every length, between bytes that differ and at both ends. */
static void every_run_length(void **state)
{
    uint8_t *data = buffer();
    (void)state;
    for (size_t run = 1; run <= 800; run++) {
        data[0] = 7;
        memset(data + 1, 9, run);
        data[run + 1] = 8;
        for (size_t from = 0; from < 2; from++)
            for (size_t to = 0; to < 2; to++)
                check(data + from, run + 2 - from - to, run % 2);
    }
    free(data);
}

static void around_the_parts(void **state)
{
    uint8_t *data = buffer();
    uint32_t seed = 77;
    (void)state;
    for (size_t i = 0; i < MOST; i++) {
        uint32_t r = next_random(&seed);
        data[i] = (uint8_t)(i / 5000 % 3 == 0 ? 0 : i / 5000 % 3 == 1 ? r : (r & 3) * (r >> 2 & 1));
    }
    for (size_t size = 32768 - 12; size <= 32768 + 12; size++) {
        check(data, size, false);
        check(data + 4990, size, true);
    }
    check(data, MOST, false);
    check(data, 65536, true);
    free(data);
}

/* Counts that grow like Fibonacci's numbers ask for codes longer than are allowed. */
static void steep_counts(void **state)
{
    uint8_t *data = buffer();
    (void)state;
    for (unsigned symbols = 2; symbols <= 24; symbols++) {
        size_t size = 0, a = 1, b = 1;
        for (unsigned s = 0; s < symbols && size + a <= 32768; s++) {
            size_t next = a + b;
            memset(data + size, (int)(s * 11), a);
            size += a;
            a = b;
            b = next;
        }
        /* Apart from each other, so that they are no runs. */
        for (size_t i = size - 1, seed = 1; i > 0; i--) {
            size_t k = (seed = seed * 1103515245 + 12345) / 65536 % (i + 1);
            uint8_t kept = data[i];
            data[i] = data[k];
            data[k] = kept;
        }
        check(data, size, false);
    }
    free(data);
}

/* Noise grows by a few bytes only; runs shrink to a few. */
static void sizes(void **state)
{
    uint8_t *data = buffer();
    uint32_t seed = 5;
    (void)state;
    assert_true(check(data, MOST, false) < MOST / 500);
    for (size_t i = 0; i < MOST; i++)
        data[i] = (uint8_t)next_random(&seed);
    assert_true(check(data, MOST, false) <= MOST + 50);
    for (size_t i = 0; i < MOST; i++)
        data[i] = (uint8_t)(next_random(&seed) % 4);
    /* Two bits of eight, but that one of the four shares its code with the end of a part. */
    assert_true(check(data, MOST, false) <= MOST * 9 / 32 + 1000);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_small_size), cmocka_unit_test(every_run_length),
        cmocka_unit_test(around_the_parts), cmocka_unit_test(steep_counts),
        cmocka_unit_test(sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
