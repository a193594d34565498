/* The number of processors follows what the process is allowed. */
#include "processors.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void follows_the_affinity(void **state)
{
    cpu_set_t all, one;
    unsigned count = 0;
    int first = -1;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &all)) {
            first = first < 0 ? i : first;
            count++;
        }
    assert_true(count >= 1);
    assert_int_equal(gf_processors(), count);
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(gf_processors(), 1);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(follows_the_affinity)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
