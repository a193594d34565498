/* Checks one a line, for the tests of the simt device. */
#ifndef GPUFILT_TESTS_SIMT_TEST_H
#define GPUFILT_TESTS_SIMT_TEST_H

#include "control.h"
#include "launch.cuh"

/* Prints the line of a check; a failed one makes the program fail. */
void checked(bool good, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define CHECK(condition) checked(condition, "%s: %s", __func__, #condition)

/* Whether the last report has all these words, and where it does not, prints it. */
bool reported(const char *words);

/* `in_order`: threads run in the order of their numbers. */
void test_wrong_kernels(bool in_order);
void test_random_races();
void test_warp_values();
void test_intrinsics();
void test_streams();
void test_memory();
void test_leaks();
void test_faults();
void test_environment(const char *program);
/* What a child of test_environment() does: the exit status. */
int child(const char *what);

#endif
