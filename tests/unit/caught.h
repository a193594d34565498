/* For tests of what is printed: standard error into memory. */
#ifndef GPUFILT_TESTS_UNIT_CAUGHT_H
#define GPUFILT_TESTS_UNIT_CAUGHT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

static int caught_stderr, caught_ends[2];

/* What is printed from now on must fit into a pipe, 64 KiB. */
static inline void catch(void)
{
    fflush(stderr);
    caught_stderr = dup(2);
    assert_int_equal(pipe(caught_ends), 0);
    dup2(caught_ends[1], 2);
    close(caught_ends[1]);
}

/* All that was printed since catch(). */
static inline const char *caught(void)
{
    static char printed[20000];
    size_t size = 0;
    ssize_t got;

    dup2(caught_stderr, 2);
    close(caught_stderr);
    while ((got = read(caught_ends[0], printed + size, sizeof printed - 1 - size)) > 0)
        size += (size_t)got;
    printed[size] = '\0';
    close(caught_ends[0]);
    return printed;
}

#endif
