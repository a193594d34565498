/* The simt device: every check catches a kernel that is wrong on purpose and passes its
 * corrected twin. */
#include "simt_test.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static unsigned failures, checks;

void checked(bool good, const char *format, ...)
{
    va_list list;

    checks++;
    failures += !good;
    printf("%s %u - ", good ? "ok" : "not ok", checks);
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    printf("\n");
    fflush(stdout);
}

bool reported(const char *words)
{
    if (strstr(simt::last_report(), words))
        return true;
    printf("# expected: %s\n# reported: %s\n", words, simt::last_report());
    return false;
}

int main(int argc, char **argv)
{
    static const char *const orders[] = {"0", "1", "20261"};

    if (argc > 1)
        return child(argv[1]);
    for (const char *order : orders) {
        setenv("GPUFILT_TEST_SIMT_ORDER", order, 1);
        test_wrong_kernels(strcmp(order, "0") == 0);
        test_warp_values();
        test_streams();
    }
    test_random_races();
    test_intrinsics();
    test_memory();
    test_leaks();
    test_faults();
    test_environment(argv[0]);
    printf("1..%u\n", checks);
    return failures ? 1 : 0;
}
