/* What the simt device counts, against counts found with pencil and paper: the reasoning stands
 * beside each. */
#include "bench/simulate.h"
#include "count_kernels.h"
#include "util.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Loops that a compiler may unroll have more branches or fewer. */
#define ANY UINT64_MAX

static const struct {
    enum counted_kernel kernel;
    unsigned blocks, threads;
    struct gf_ladder_counts wanted;
} cases[] = {
    /* Four warps, each a load and a store of 128 bytes. */
    {COUNTED_COPY, 2, 64,
     {.blocks = 2, .threads = 128, .warp_instructions = 8, .lane_operations = 256,
      .global_requests = 8, .global_sectors = 32}},
    /* The second warp is 5 lanes short of a sector: 5 words, one sector. */
    {COUNTED_COPY, 1, 37,
     {.blocks = 1, .threads = 37, .warp_instructions = 4, .lane_operations = 74,
      .global_requests = 4, .global_sectors = 10}},
    /* All of the first warp pass, and 8 lanes of the second: 32 bytes. */
    {COUNTED_GUARD, 1, 64,
     {.blocks = 1, .threads = 64, .warp_instructions = 4, .lane_operations = 80, .branches = 2,
      .divergent_branches = 1, .global_requests = 4, .global_sectors = 10}},
    /* 16 lanes an atomic on one word, 16 a store to words 1, 3, ... 31. */
    {COUNTED_TWO_WAYS, 1, 32,
     {.blocks = 1, .threads = 32, .warp_instructions = 2, .lane_operations = 32, .branches = 1,
      .divergent_branches = 1, .global_requests = 2, .global_sectors = 5, .atomics = 1}},
    /* Turns of 32, 24, 16 and 8 lanes, of which 8 leave each time, the last ones together; then a
     * store to words 1 ... 32 by all. */
    {COUNTED_TRIPS, 1, 32,
     {.blocks = 1, .threads = 32, .warp_instructions = 5, .lane_operations = 112, .branches = 4,
      .divergent_branches = 3, .global_requests = 5, .global_sectors = 9, .atomics = 4}},
    /* Twice: a turn of 32 lanes, 4 sectors, and one of 2, 1 sector. */
    {COUNTED_NESTED, 1, 32,
     {.blocks = 1, .threads = 32, .warp_instructions = 4, .lane_operations = 68, .branches = ANY,
      .divergent_branches = 2, .global_requests = 4, .global_sectors = 10}},
    /* Twice: an atomic by 16 lanes, not the same ones, and a store by 32. */
    {COUNTED_SKIPPED_TURN, 1, 32,
     {.blocks = 1, .threads = 32, .warp_instructions = 4, .lane_operations = 96, .branches = ANY,
      .divergent_branches = 2, .global_requests = 4, .global_sectors = 10, .atomics = 2}},
    /* Of each warp: load, store to shared memory, barrier, load from it, shuffle, store. */
    {COUNTED_EXCHANGE, 1, 64,
     {.blocks = 1, .threads = 64, .warp_instructions = 12, .lane_operations = 384, .barriers = 1,
      .shared_requests = 4, .shared_wavefronts = 4, .global_requests = 4, .global_sectors = 16}},
    /* A vote of the last 8 lanes, a store of 32. */
    {COUNTED_PART_OF_WARP, 1, 32,
     {.blocks = 1, .threads = 32, .warp_instructions = 2, .lane_operations = 40, .branches = 1,
      .divergent_branches = 1, .global_requests = 1, .global_sectors = 4}},
    /* __syncwarp() and a store of 16 lanes, 64 bytes. */
    {COUNTED_EARLY_RETURN, 1, 32,
     {.blocks = 1, .threads = 32, .warp_instructions = 2, .lane_operations = 32, .branches = 1,
      .divergent_branches = 1, .global_requests = 1, .global_sectors = 2}},
    /* A store and the barrier; 32 turns on one word, one turn on 32 words, one sector. */
    {COUNTED_ATOMICS, 1, 32,
     {.blocks = 1, .threads = 32, .warp_instructions = 5, .lane_operations = 160, .barriers = 1,
      .shared_requests = 3, .shared_wavefronts = 34, .global_requests = 1, .global_sectors = 1,
      .atomics = 3}},
    /* Of each warp: the copy, a quarter of the warp at a time to all banks, the barrier, a load, a
     * store. Half of the first warp's copy is read, 8 sectors; of the second one's nothing. */
    {COUNTED_ASYNC, 1, 64,
     {.blocks = 1, .threads = 64, .warp_instructions = 8, .lane_operations = 256, .barriers = 1,
      .shared_requests = 10, .shared_wavefronts = 10, .global_requests = 3,
      .global_sectors = 16}},
    /* Constant memory has neither sectors nor banks. */
    {COUNTED_CONSTANT, 1, 32,
     {.blocks = 1, .threads = 32, .warp_instructions = 2, .lane_operations = 64,
      .global_requests = 1, .global_sectors = 4}},
    /* A sector for each lane, then 4 for all. */
    {COUNTED_FAR_APART, 1, 32,
     {.blocks = 1, .threads = 32, .warp_instructions = 2, .lane_operations = 64,
      .global_requests = 2, .global_sectors = 36}},
    /* 16 stores of words, and 2 of eight bytes with two requests each; the barrier; a load of 16
     * words of bank 0; one where lanes 8 apart share banks, in each half of the warp; a store. */
    {COUNTED_BANKS, 1, 32,
     {.blocks = 1, .threads = 32, .warp_instructions = 22, .lane_operations = 704, .branches = ANY,
      .barriers = 1, .shared_requests = 23, .shared_wavefronts = 40, .global_requests = 1,
      .global_sectors = 4}},
    /* Two warps load and store; 6 barriers; rounds of 32, 16, ... 1 lanes of the first warp, two
     * loads and a store each; the sum is loaded and stored by one lane. Ways part in the rounds
     * from 16 lanes on, and at the end. */
    {COUNTED_ROUNDS, 1, 64,
     {.blocks = 1, .threads = 64, .warp_instructions = 2 + 2 + 12 + 18 + 2,
      .lane_operations = 64 + 64 + 384 + 3 * 63 + 2, .branches = ANY, .divergent_branches = 6,
      .barriers = 6, .shared_requests = 21, .shared_wavefronts = 21, .global_requests = 3,
      .global_sectors = 9}},
};

static void assert_counts(size_t i, const struct gf_ladder_counts *found)
{
    const struct gf_ladder_counts *wanted = &cases[i].wanted;
#define SAME(member)                                                                    \
    if (wanted->member != ANY && found->member != wanted->member)                       \
        fail_msg("case %zu: %" PRIu64 " " #member ", not %" PRIu64, i, found->member,   \
                 wanted->member)
    SAME(blocks);
    SAME(threads);
    SAME(warp_instructions);
    SAME(lane_operations);
    SAME(branches);
    SAME(divergent_branches);
    SAME(barriers);
    SAME(shared_requests);
    SAME(shared_wavefronts);
    SAME(global_requests);
    SAME(global_sectors);
    SAME(atomics);
#undef SAME
}

static void counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < GF_COUNT(cases); i++) {
        struct gf_ladder_counts found, again;
        assert_true(run_counted(cases[i].kernel, cases[i].blocks, cases[i].threads, true, &found));
        assert_counts(i, &found);
        assert_true(run_counted(cases[i].kernel, cases[i].blocks, cases[i].threads, true, &again));
        assert_memory_equal(&again, &found, sizeof found);
    }
}

static void off(void **state)
{
    static const struct gf_ladder_counts zero;
    struct gf_ladder_counts found;
    (void)state;
    assert_true(run_counted(COUNTED_ROUNDS, 1, 64, false, &found));
    assert_memory_equal(&found, &zero, sizeof found);
}

/* What a block that was given up had done is not left to the next one. */
static void after_failure(void **state)
{
    struct gf_ladder_counts found;
    (void)state;
    assert_false(run_counted(COUNTED_RACE, 1, 64, true, &found));
    assert_true(run_counted(cases[0].kernel, cases[0].blocks, cases[0].threads, true, &found));
    assert_counts(0, &found);
}

/* Lanes at work in a round of so many active threads: what there is to find. */
static void assert_round(const struct gf_round *r, uint32_t stride, uint32_t active, uint32_t warps)
{
    assert_int_equal(r->stride, stride);
    assert_int_equal(r->active, active);
    assert_int_equal(r->warps, warps);
    assert_int_equal(r->useful, active);
    assert_int_equal(r->slots, 32 * warps);
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* Every `apart`-th thread works, so each warp does while they are 32 apart or less. */
static uint32_t scattered(uint32_t threads, uint32_t apart)
{
    return least(threads / 32, threads / apart);
}

static void rounds_of(unsigned threads)
{
    struct gf_rounds r;
    struct gf_error e;
    unsigned i = 0;
    assert_int_equal(gf_simulate_rounds(GF_STEP_REDUCE_PAIRS, threads, &r, &e), GF_OK);
    for (uint32_t stride = 1; stride <= threads; stride *= 2, i++)
        assert_round(&r.round[i], stride, threads / stride, scattered(threads, stride));
    assert_int_equal(r.count, i);

    i = 0;
    assert_int_equal(gf_simulate_rounds(GF_STEP_REDUCE_MODULO, threads, &r, &e), GF_OK);
    for (uint32_t stride = 1; stride < threads; stride *= 2, i++)
        assert_round(&r.round[i], stride, threads / stride / 2, scattered(threads, 2 * stride));
    assert_int_equal(r.count, i);

    i = 0;
    assert_int_equal(gf_simulate_rounds(GF_STEP_REDUCE_SEQUENTIAL, threads, &r, &e), GF_OK);
    for (uint32_t half = threads / 2; half > 0; half /= 2, i++)
        assert_round(&r.round[i], half, half, (half + 31) / 32);
    assert_int_equal(r.count, i);
}

static void rounds(void **state)
{
    (void)state;
    for (unsigned threads = 32; threads <= 1024; threads *= 2)
        rounds_of(threads);
}

/* The sums of 1024 threads, as they are known. */
static void known_sums(void **state)
{
    static const struct {
        enum gf_ladder_step_id form;
        uint32_t useful, slots;
    } known[] = {
        {GF_STEP_REDUCE_PAIRS, 2047, 7136},
        {GF_STEP_REDUCE_MODULO, 1023, 6112},
        {GF_STEP_REDUCE_SEQUENTIAL, 1023, 1152},
    };
    (void)state;
    for (size_t i = 0; i < GF_COUNT(known); i++) {
        struct gf_rounds r;
        struct gf_error e;
        uint32_t useful = 0, slots = 0;
        assert_int_equal(gf_simulate_rounds(known[i].form, 1024, &r, &e), GF_OK);
        for (unsigned k = 0; k < r.count; k++) {
            useful += r.round[k].useful;
            slots += r.round[k].slots;
        }
        assert_int_equal(useful, known[i].useful);
        assert_int_equal(slots, known[i].slots);
    }
}

static void banks(void **state)
{
    static const struct gf_bank_pattern known[GF_BANK_PATTERNS] = {
        {"stride 1", 1, 1}, {"stride 2", 1, 2},   {"stride 4", 1, 4},   {"stride 8", 1, 8},
        {"stride 16", 1, 16}, {"stride 32", 1, 32}, {"stride 33", 1, 1}, {"stride 3", 1, 1},
        {"broadcast", 1, 1}, {"pairs", 2, 2},
    };
    struct gf_bank_pattern found[GF_BANK_PATTERNS];
    struct gf_error e;
    (void)state;
    assert_int_equal(gf_simulate_banks(found, &e), GF_OK);
    for (unsigned i = 0; i < GF_BANK_PATTERNS; i++) {
        assert_string_equal(found[i].name, known[i].name);
        assert_int_equal(found[i].requests, known[i].requests);
        assert_int_equal(found[i].wavefronts, known[i].wavefronts);
    }
}

static void reversal(void **state)
{
    struct gf_reversal r;
    struct gf_error e;
    (void)state;
    /* Again and again: the race ends a launch, and nothing else. */
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(gf_simulate_reversal(false, &r, &e), GF_OK);
        assert_false(r.right);
        assert_non_null(strstr(r.report, "race on shared memory: thread ("));
        assert_non_null(strstr(r.report, "(warp "));
        assert_non_null(strstr(r.report, " byte "));
        assert_int_equal(gf_simulate_reversal(true, &r, &e), GF_OK);
        assert_true(r.right);
        assert_string_equal(r.report, "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts),     cmocka_unit_test(off),   cmocka_unit_test(after_failure),
        cmocka_unit_test(rounds),     cmocka_unit_test(known_sums),
        cmocka_unit_test(banks),      cmocka_unit_test(reversal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
