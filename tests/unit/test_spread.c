/* gf_spread: the pieces make up the whole, each byte once, and the first failure wins. */
#include "io/spread.h"
#include "util.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static enum gf_status touch(void *context, size_t begin, size_t end, struct gf_error *e)
{
    unsigned char *bytes = context;
    (void)e;
    for (size_t i = begin; i < end; i++)
        bytes[i]++;
    return GF_OK;
}

static void every_byte_once(void **state)
{
    static const size_t sizes[] = {0, 1, 4095, (4u << 20) - 1, (8u << 20), (8u << 20) + 1,
                                   (37u << 20) + 12345};
    (void)state;
    for (size_t i = 0; i < GF_COUNT(sizes); i++) {
        unsigned char *bytes = calloc(sizes[i] + 1, 1);
        assert_non_null(bytes);
        assert_int_equal(gf_spread(sizes[i], touch, bytes, NULL), GF_OK);
        for (size_t b = 0; b < sizes[i]; b++)
            if (bytes[b] != 1)
                fail_msg("byte %zu of %zu was moved %u times", b, sizes[i], bytes[b]);
        assert_int_equal(bytes[sizes[i]], 0);
        free(bytes);
    }
}

static enum gf_status refuse(void *context, size_t begin, size_t end, struct gf_error *e)
{
    (void)context;
    (void)end;
    return gf_fail(e, begin == 0 ? GF_EINPUT : GF_EOUTPUT, "at %zu", begin);
}

static void first_failure(void **state)
{
    struct gf_error e = {""};
    (void)state;
    assert_int_equal(gf_spread((size_t)64 << 20, refuse, NULL, &e), GF_EINPUT);
    assert_string_equal(e.text, "at 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_once),
        cmocka_unit_test(first_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
