/* The tables of bench, of what a made-up device found; its options, and the named GPUs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "alloc.h"
#include "bench/measure.h"
#include "bench/options.h"
#include "bench/report.h"
#include "bench/table.h"
#include "util.h"

#include <stdio.h>
#include <string.h>

#include "folder.h"

/* ---- a device ---- */

static enum gf_ladder_step_id ran[GF_STEPS];
static unsigned ran_count, opened, closed;
static int fails_at = -1;               /* of the runs */
static void (*change)(enum gf_ladder_step_id step, struct gf_ladder_run *run);

static enum gf_status fake_open(unsigned gpu, const struct gf_ladder_work *work, void **state,
                                struct gf_error *e)
{
    (void)gpu;
    (void)e;
    *state = (void *)(uintptr_t)work;
    ran_count = 0;
    opened++;
    return GF_OK;
}

static enum gf_status fake_run(void *state, enum gf_ladder_step_id step, struct gf_ladder_run *run,
                               struct gf_error *e)
{
    assert_non_null(state);
    if ((int)ran_count == fails_at)
        return gf_fail(e, GF_EDEVICE, "it broke");
    *run = (struct gf_ladder_run){
        .shape = {{1048576, 1, 1}, {512, 1, 1}, 40, 49152, 0.75},
        .seconds = 0.25 / (ran_count + 1), .fastest = 0.2 / (ran_count + 1),
        .slowest = 0.3 / (ran_count + 1), .bytes = 536870912, .flops = 134217728, .error = 1.25e-8,
        .tolerance = 1e-6, .right = true, .same_bits = true,
        .counts = {.blocks = 64, .threads = 65536, .warp_instructions = 12345678,
                   .lane_operations = 123456789, .branches = 1234567, .divergent_branches = 123456,
                   .barriers = 12345, .shared_requests = 100, .shared_wavefronts = 150,
                   .global_requests = 8192, .global_sectors = 1234567, .atomics = 64}};
    if (change)
        change(step, run);
    ran[ran_count++] = step;
    return GF_OK;
}

static void fake_close(void *state)
{
    assert_non_null(state);
    closed++;
}

static const struct gf_ladder_device fake = {"fake", NULL, fake_open, fake_run, fake_close};

static struct gf_bench *bench;

static int begin(void **state)
{
    (void)state;
    change = NULL;
    fails_at = -1;
    opened = closed = 0;
    bench = gf_alloc_zero(1, sizeof *bench);
    bench->machine = (struct gf_ladder_machine){
        .name = "NVIDIA \"H200\", 141 GB", .major = 9, .processors = 132, .clock = 1.98e9,
        .peak_bytes = 4.8e12, .peak_flops = 67e12, .copy_bytes = 4.25e12};
    bench->gpu = &gf_gpus[0];
    for (unsigned i = 0; i < GF_BANK_PATTERNS; i++)
        bench->ideas.bank[i] = (struct gf_bank_pattern){"stride", 1, i + 1};
    return 0;
}

static int end(void **state)
{
    (void)state;
    gf_free(bench);
    return 0;
}

static void run_all(void)
{
    static const struct gf_bench_options none = {0};
    bench->timed = bench->counted = true;
    for (unsigned l = 0; l < GF_LADDERS; l++) {
        struct gf_ladder_work work = gf_bench_work(&none, (enum gf_ladder)l, 0);
        assert_int_equal(gf_bench_measure(&fake, 0, &work, &bench->timed_table[l], NULL), GF_OK);
        work = gf_bench_simulated(&none, (enum gf_ladder)l);
        assert_int_equal(gf_bench_measure(&fake, 0, &work, &bench->counted_table[l], NULL), GF_OK);
    }
    bench->timed_count = bench->counted_count = GF_LADDERS;
}

static void all_text(struct gf_buffer *t)
{
    gf_bench_text_machine(t, &bench->machine);
    for (unsigned l = 0; l < GF_LADDERS; l++)
        gf_bench_text_timed(t, &bench->machine, &bench->timed_table[l]);
    gf_bench_text_model(t, bench->gpu);
    for (unsigned l = 0; l < GF_LADDERS; l++)
        gf_bench_text_counted(t, bench->gpu, &bench->counted_table[l]);
    assert_false(t->failed);
}

/* ---- steps ---- */

static void steps_run_in_order(void **state)
{
    unsigned of[GF_LADDERS] = {0};
    struct gf_error e;
    (void)state;
    for (unsigned i = 0; i < GF_STEPS; i++) {
        const struct gf_ladder_step *s = &gf_ladder_steps[i];
        of[s->ladder]++;
        assert_true(strlen(s->key) > 0 && strlen(s->key) <= 20 && strcspn(s->key, " ,\"") > 0);
        assert_int_equal(strcspn(s->key, " ,\""), strlen(s->key));
        for (unsigned k = 0; k < i; k++)
            if (gf_ladder_steps[k].ladder == s->ladder)
                assert_string_not_equal(gf_ladder_steps[k].key, s->key);
    }
    run_all();
    assert_int_equal(opened, 2 * GF_LADDERS);
    assert_int_equal(closed, opened);
    for (unsigned l = 0; l < GF_LADDERS; l++) {
        const struct gf_bench_table *t = &bench->timed_table[l];
        assert_int_equal(t->count, of[l]);
        for (unsigned i = 0; i < of[l]; i++) {
            assert_int_equal(gf_ladder_steps[t->row[i].step].ladder, l);
            if (i > 0)
                assert_true(t->row[i].step > t->row[i - 1].step);
        }
    }
    assert_int_equal(gf_bench_verdict(bench, &e), GF_OK);
    /* What was opened is closed after an error as well. */
    fails_at = 2;
    assert_int_equal(gf_bench_measure(&fake, 0, &bench->timed_table[GF_REDUCE].work,
                                      &bench->timed_table[GF_REDUCE], &e), GF_EDEVICE);
    assert_string_equal(e.text, "it broke");
    assert_int_equal(bench->timed_table[GF_REDUCE].count, 2);
    assert_int_equal(closed, opened);
}

/* ---- wrong answers ---- */

static void odd_steps(enum gf_ladder_step_id step, struct gf_ladder_run *run)
{
    if (step == GF_STEP_REDUCE_PAIRS)
        *run = (struct gf_ladder_run){.skipped = "n, \"above\" 4194304"};
    if (step == GF_STEP_REDUCE_STRIDED)
        run->error = (double)NAN;       /* though it claims to be right */
    if (step == GF_STEP_REDUCE_SEQUENTIAL) {
        run->error = (double)INFINITY;
        run->right = run->same_bits = false;
    }
}

static void wrong_answers_are_the_status(void **state)
{
    struct gf_error e;
    (void)state;
    change = odd_steps;
    run_all();
    bench->counted_count = 0;
    assert_int_equal(gf_bench_verdict(bench, &e), GF_NO);
    assert_non_null(strstr(e.text, "bench: 2 of "));
    assert_non_null(strstr(e.text, "steps FAILED: reduce strided, reduce sequential"));
    assert_null(strstr(e.text, "pairs"));
    /* A thousand names do not overflow. */
    for (unsigned l = 0; l < GF_LADDERS; l++)
        for (unsigned i = 0; i < bench->timed_table[l].count; i++)
            bench->timed_table[l].row[i].run.right = false;
    bench->counted_count = GF_LADDERS;
    memcpy(bench->counted_table, bench->timed_table, sizeof bench->timed_table);
    assert_int_equal(gf_bench_verdict(bench, &e), GF_NO);
    assert_string_equal(e.text + strlen(e.text) - 5, ", ...");
}

static void speed_is_relative_to_the_first_that_ran(void **state)
{
    const struct gf_bench_table *t = &bench->timed_table[GF_REDUCE];
    (void)state;
    change = odd_steps;
    run_all();
    assert_non_null(t->row[0].run.skipped);
    assert_true(gf_bench_speedup(t, &t->row[1]) == 1);
    assert_true(fabs(gf_bench_speedup(t, &t->row[3]) - 2) < 1e-12);
    assert_true(isnan(gf_bench_speedup(t, &t->row[0])));
}

/* ---- JSON and CSV ---- */

static void json_has_no_nan(void **state)
{
    struct gf_buffer t = {0};
    (void)state;
    change = odd_steps;
    run_all();
    bench->machine.peak_flops = 0;
    gf_bench_json(&t, bench);
    assert_false(t.failed);
    assert_null(strstr(t.data, "nan"));
    assert_null(strstr(t.data, "inf"));
    assert_null(strstr(t.data, "{,"));
    assert_null(strstr(t.data, ", ,"));
    assert_non_null(strstr(t.data, "\"skipped\": \"n, \\\"above\\\" 4194304\"}"));
    assert_non_null(strstr(t.data, "\"error\": null, \"tolerance\": 1e-06, \"pass\": false, "
                                   "\"same_bits\": true"));
    assert_non_null(strstr(t.data, "\"error\": null, \"tolerance\": 1e-06, \"pass\": false, "
                                   "\"same_bits\": false"));
    assert_non_null(strstr(t.data, "\"of_peak_flops\": null"));
    assert_non_null(strstr(t.data, "\"peak_flops_per_second\": null"));
    assert_non_null(strstr(t.data, "\"name\": \"NVIDIA \\\"H200\\\", 141 GB\""));
    /* Counted: nothing was compared. */
    assert_non_null(strstr(t.data, "\"pass\": true, \"same_bits\": null}"));
    assert_int_equal(t.data[t.size - 1], '\n');
    gf_buffer_free(&t);

    bench->timed = bench->counted = false;
    gf_bench_json(&t, bench);
    assert_string_equal(t.data, "{\"schema\": \"gpufilt-bench-1\",\n\"gpu\": null,\n"
                                "\"simulation\": null}\n");
    gf_buffer_free(&t);
}

/* Fields of a line, after which *line is the next one. */
static unsigned fields(const char **line)
{
    unsigned count = 1;
    bool quoted = false;
    const char *c = *line;
    for (; *c && (quoted || *c != '\n'); c++) {
        quoted ^= *c == '"';
        count += *c == ',' && !quoted;
    }
    *line = c + (*c == '\n');
    return count;
}

static void csv_has_all_columns(void **state)
{
    struct gf_buffer t = {0};
    const char *line;
    unsigned columns, lines = 0;
    (void)state;
    change = odd_steps;
    run_all();
    gf_bench_csv(&t, bench);
    assert_false(t.failed);
    line = t.data;
    columns = fields(&line);
    assert_int_equal(columns, 48);
    for (; *line; lines++)
        assert_int_equal(fields(&line), columns);
    assert_int_equal(lines, 2 * GF_STEPS);
    assert_non_null(strstr(t.data, "gpu,\"NVIDIA \"\"H200\"\", 141 GB\",reduce,pairs,134217728,"
                                   ",,,,no,no,\"n, \"\"above\"\" 4194304\",,"));
    /* Of a step that was skipped there is nothing else. */
    line = strstr(t.data, "\"\"above\"\" 4194304\"");
    line += strlen("\"\"above\"\" 4194304\"");
    assert_int_equal(strspn(line, ","), 36);
    assert_int_equal(line[36], '\n');
    assert_non_null(strstr(t.data, ",nan,1e-06,no,yes,"));
    assert_non_null(strstr(t.data, ",inf,1e-06,no,no,"));
    assert_non_null(strstr(t.data, "simulation,NVIDIA H200,conv3d,"));
    gf_buffer_free(&t);
}

/* ---- text ---- */

static void large_numbers(enum gf_ladder_step_id step, struct gf_ladder_run *run)
{
    const enum gf_ladder ladder = gf_ladder_steps[step].ladder;
    run->seconds = run->slowest = 123.4567;
    run->fastest = 0;
    run->bytes = 8e12 * run->seconds;
    run->flops = 99999e9 * run->seconds;
    if (ladder == GF_CONV2D || ladder == GF_CONV3D) {
        run->reads = 342.12;
        run->reuse = 12.34;
    }
    run->right = false;
    run->error = 1.2e-100;
}

static void lines_fit_a_terminal(void **state)
{
    struct gf_buffer t = {0};
    (void)state;
    change = large_numbers;
    run_all();
    for (unsigned k = 0; k < bench->timed_table[GF_CONV3D].count; k++) {
        struct gf_ladder_shape *s = &bench->timed_table[GF_CONV3D].row[k].run.shape;
        *s = (struct gf_ladder_shape){{128, 128, 64}, {32, 8, 4}, 255, 232448, 1};
    }
    all_text(&t);
    for (char *line = strtok(t.data, "\n"); line; line = strtok(NULL, "\n")) {
        if (strlen(line) > 112)
            fail_msg("%zu columns: %s", strlen(line), line);
        assert_int_not_equal(line[strlen(line) - 1], ' ');
    }
    gf_buffer_free(&t);
}

static void words_of_the_tables(void **state)
{
    struct gf_buffer t = {0};
    (void)state;
    change = odd_steps;
    run_all();
    all_text(&t);
    assert_non_null(strstr(t.data, "reduce: 134217728 samples, 512 MiB; 20 runs timed, 20 "
                                   "compared\n"));
    assert_non_null(strstr(t.data, "reduce: 65536 samples, 256 KiB\n"));
    assert_non_null(strstr(t.data, "  pairs "));
    assert_non_null(strstr(t.data, "n, \"above\" 4194304\n"));
    assert_non_null(strstr(t.data, " nan   FAIL   yes\n"));
    assert_non_null(strstr(t.data, " inf   FAIL    no\n"));
    assert_non_null(strstr(t.data, "memory 4800 GB/s peak, by its clock and width\n"
                                   "memory 4250 GB/s in cudaMemcpy, read and written\n"));
    gf_buffer_free(&t);
}

static void a_table_leaves_out_what_says_nothing(void **state)
{
    static const char *const titles[] = {"<name", "no", "number", "<rest"};
    struct gf_buffer t = {0};
    struct gf_table table;
    (void)state;
    gf_table_begin(&table, titles, 4);
    gf_table_cell(&table, "a");
    gf_table_cell(&table, "-");
    gf_table_real(&table, 1, 1.25, "");
    gf_table_cell(&table, "first");
    gf_table_cell(&table, "longer");
    gf_table_rest(&table, "why not");
    gf_table_cell(&table, "b");
    gf_table_real(&table, 1, (double)NAN, "");
    gf_table_real(&table, 1, (double)NAN, "");
    gf_table_cell(&table, "last");
    gf_table_end(&table, &t);
    assert_string_equal(t.data, "  name    number  rest\n"
                                "  a          1.2  first\n"
                                "  longer  why not\n"
                                "  b            -  last\n");
    gf_buffer_free(&t);
    gf_table_begin(&table, titles, 4);
    gf_table_end(&table, &t);
    assert_int_equal(t.size, 0);
    gf_buffer_free(&t);
}

/* Out of memory anywhere: the text says so, and nothing is left. */
static void memory_runs_out(void **state)
{
    const struct gf_out_options quick = {.sync = GF_SYNC_NONE};
    bool done = false;
    (void)state;
    run_all();
    for (uint64_t at = 1, used = gf_memory_used(); !done; at++) {
        struct gf_buffer t = {0};
        gf_alloc_fail_at(at, 1);
        gf_bench_json(&t, bench);
        gf_bench_csv(&t, bench);
        for (unsigned l = 0; l < GF_LADDERS; l++) {
            gf_bench_text_timed(&t, &bench->machine, &bench->timed_table[l]);
            gf_bench_text_counted(&t, bench->gpu, &bench->counted_table[l]);
        }
        gf_bench_text_ideas(&t, &bench->ideas);
        done = !t.failed && gf_bench_plot("a.svg", bench, &quick, NULL) == GF_OK &&
               gf_bench_plot("a.png", bench, &quick, NULL) == GF_OK;
        gf_buffer_free(&t);
        gf_alloc_fail_at(0, 0);
        assert_int_equal(gf_memory_used(), used);
    }
}

/* ---- pictures ---- */

static void a_picture_has_a_bar_a_step(void **state)
{
    const struct gf_out_options quick = {.sync = GF_SYNC_NONE};
    static char text[200000];
    unsigned bars = 0;
    ssize_t size;
    struct stat s;
    (void)state;
    change = odd_steps;
    run_all();
    assert_int_equal(gf_bench_plot("bench.svg", bench, &quick, NULL), GF_OK);
    size = get("bench.svg", text, sizeof text - 1);
    assert_true(size > 0);
    text[size] = '\0';
    for (const char *c = text; (c = strstr(c, "fill=\"#3b6ea5\"")) != NULL; c++)
        bars++;
    assert_int_equal(bars, 2 * GF_STEPS);
    assert_null(strstr(text, "nan"));
    assert_non_null(strstr(text, "conv2d GFLOP/s</text>"));
    assert_non_null(strstr(text, "copy GB/s at most by the model</text>"));
    assert_int_equal(gf_bench_plot("bench.png", bench, &quick, NULL), GF_OK);
    assert_int_equal(stat("bench.png", &s), 0);
    assert_true(s.st_size > 1000);
}

/* ---- options ---- */

static enum gf_status parse(struct gf_request *r, const char *line, struct gf_error *e)
{
    static char copy[256];
    char *argv[32];
    int argc = 0;
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok(copy, " "); word && argc < 31; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    return gf_cli_parse(r, argc, argv, e);
}

static void samples_are_counted_in_many_ways(void **state)
{
    static const struct {
        const char *text;
        uint64_t n;                     /* 0: refused */
    } rows[] = {{"1", 1}, {"100000000", 100000000}, {"2^27", 1 << 27}, {"1e8", 100000000},
                {"128Mi", 1 << 27}, {"3Ki", 3072}, {"10^8", 100000000}, {"1Gi", 1 << 30},
                {"2^48", UINT64_C(1) << 48}, {"25E3", 25000},
                {"0", 0}, {"", 0}, {"2^49", 0}, {"2^64", 0}, {"2^", 0}, {"^3", 0}, {"1e", 0},
                {"1e99999999999", 0}, {"128M", 0}, {"1.5Gi", 0}, {"-1", 0}, {"1e8x", 0},
                {"2^27Mi", 0}, {"99999999999999999999", 0},
                {"9e18446744073709551615", 0}, {"0e5", 0}};
    (void)state;
    for (size_t i = 0; i < GF_COUNT(rows); i++) {
        struct gf_request r;
        struct gf_error e = {""};
        char line[64];
        enum gf_status status;
        snprintf(line, sizeof line, "gpufilt bench reduce --number=%s", rows[i].text);
        status = parse(&r, line, &e);
        assert_int_equal(status, rows[i].n ? GF_OK : GF_EUSAGE);
        if (rows[i].n)
            assert_true(r.bench.n == rows[i].n);
        else
            assert_non_null(strstr(e.text, "128Mi"));
        gf_request_free(&r);
    }
}

static void options_that_do_not_go_together(void **state)
{
    static const char *const good[] = {
        "reduce", "-n 5 reduce", "conv2d --size 10x20 --taps 9",
        "conv3d --size 7x7x7 --taps 7 --valid",
        "all --taps 3 --valid -n 2^20 --gpu a100", "copy --device cuda:1", "all --size 20x20x20",
        "reduce --simulate --gpu RTX-4090", "reduce copy --plot a.PNG --csv"};
    static const char *const bad[][2] = {
        {"", "which ladder"}, {"reduc", "did you mean 'reduce'"},
        {"reduce --taps 3", "goes with conv2d"}, {"conv2d -n 5", "goes with reduce"},
        {"conv2d --size 3x3x3", "two sizes"}, {"conv3d --size 3x3", "three sizes"},
        {"conv3d --taps 9", "3, 5 or 7"}, {"all --taps 9", "3, 5 or 7"},
        {"conv2d --taps 4", "expected 3"}, {"conv2d --valid", "conv3d"},
        {"conv2d --size 3", "WxH"}, {"conv2d --size 3x", "WxH"}, {"conv2d --size 3x0", "WxH"},
        {"conv2d --size 3x3x3x3", "WxH"}, {"conv3d --size 4x9x9 --valid", "nothing is left"},
        {"reduce --repeat 0", "whole number"}, {"reduce --simulate --device cuda", "exclude"},
        {"reduce --simulate --repeat 3", "counts"}, {"reduce --gpu H200", "goes with --simulate"},
        {"reduce --gpu H999 --simulate", "RTX4090"}, {"reduce --device cpu", "--simulate"},
        {"reduce --plot a.jpg", ".svg"}, {"reduce --json --csv", "exclude"}};
    (void)state;
    for (size_t i = 0; i < GF_COUNT(good) + GF_COUNT(bad); i++) {
        const bool is_bad = i >= GF_COUNT(good);
        struct gf_request r;
        struct gf_error e = {""};
        char line[128];
        snprintf(line, sizeof line, "gpufilt bench %s",
                 is_bad ? bad[i - GF_COUNT(good)][0] : good[i]);
        if (parse(&r, line, &e) != (is_bad ? GF_EUSAGE : GF_OK))
            fail_msg("%s: %s", line, e.text);
        if (is_bad && !strstr(e.text, bad[i - GF_COUNT(good)][1]))
            fail_msg("%s: %s", line, e.text);
        gf_request_free(&r);
    }
}

/* -n and --plot take a value here and none elsewhere. */
static void options_before_the_command(void **state)
{
    static const char *const lines[][2] = {
        {"gpufilt -n 7 bench reduce", "bench"}, {"gpufilt -qn 7 bench reduce", "bench"},
        {"gpufilt --number 7 bench reduce", "bench"},
        {"gpufilt --plot a.svg bench reduce", "bench"},
        {"gpufilt -n blur -k gauss3 a b", "blur"}, {"gpufilt -qn blur -k gauss3 a b", "blur"},
        {"gpufilt -n -k gauss3 blur a b", "blur"}, {"gpufilt --plot stats a", "stats"},
        {"gpufilt --json bench reduce", "bench"}, {"gpufilt --size 9x9 bench conv2d", "bench"}};
    (void)state;
    for (size_t i = 0; i < GF_COUNT(lines); i++) {
        struct gf_request r;
        struct gf_error e = {""};
        if (parse(&r, lines[i][0], &e) != GF_OK)
            fail_msg("%s: %s", lines[i][0], e.text);
        assert_string_equal(r.command->name, lines[i][1]);
        gf_request_free(&r);
    }
}

static void work_is_what_was_asked_for(void **state)
{
    struct gf_bench_options o = {.n = 1000, .size = {9, 1000, 1}, .axes = 2, .stress = true};
    struct gf_ladder_work w = gf_bench_work(&o, GF_REDUCE, 1);
    (void)state;
    assert_true(w.n == 1000 && w.stress && w.repeats == 20 && w.same_runs == 20 && w.taps == 0);
    w = gf_bench_work(&o, GF_CONV2D, 1);
    assert_true(w.n == 0 && w.size[0] == 9 && w.size[1] == 1000 && w.size[2] == 1 && w.taps == 5);
    /* The limit of a default that the simulation takes over. */
    w = gf_bench_simulated(&o, GF_CONV2D);
    assert_true(w.size[0] == 9 && w.size[1] == 128 && w.size[2] == 1);
    assert_true(w.repeats == 0 && w.same_runs == 1);
    o.simulate = true;
    w = gf_bench_simulated(&o, GF_CONV2D);
    assert_true(w.size[0] == 9 && w.size[1] == 1000);
    /* Defaults fit into the memory. */
    o = (struct gf_bench_options){.valid = true};
    assert_true(gf_bench_work(&o, GF_COPY, 0).n == 1 << 27);
    assert_true(gf_bench_work(&o, GF_COPY, UINT64_C(1) << 30).n == 1 << 26);
    assert_true(gf_bench_work(&o, GF_CONV2D, UINT64_C(1) << 29).size[1] == 4096);
    w = gf_bench_work(&o, GF_CONV3D, UINT64_C(1) << 29);
    assert_true(w.size[0] == 256 && w.size[2] == 256 && w.valid);
    assert_false(gf_bench_work(&o, GF_CONV2D, 0).valid);
}

/* ---- GPUs ---- */

static void gpus_by_name(void **state)
{
    const struct gf_ladder_counts c = {.warp_instructions = 1000000, .global_sectors = 1000000};
    const struct gf_gpu *gpu = NULL;
    struct gf_error e;
    (void)state;
    assert_int_equal(gf_gpu_find(&gpu, "nvidia rtx 4090", &e), GF_OK);
    assert_string_equal(gpu->key, "RTX4090");
    assert_int_equal(gf_gpu_find(&gpu, "a100-40", &e), GF_OK);
    assert_string_equal(gpu->name, "NVIDIA A100 40 GB");
    assert_int_equal(gf_gpu_find(&gpu, "", &e), GF_EUSAGE);
    for (const struct gf_gpu *g = gf_gpus; g->key; g++) {
        assert_int_equal(gf_gpu_find(&gpu, g->key, &e), GF_OK);
        assert_ptr_equal(gpu, g);
        assert_true(g->processors >= 20 && g->processors <= 200 && g->schedulers == 4);
        assert_true(g->clock >= 1e9 && g->clock < 3e9 && g->bytes >= 1e11 && g->bytes < 1e13);
    }
    /* 10^6 / (132 * 4 * 1.98e9) s and 32e6 / 4.8e12 s. */
    assert_true(fabs(gf_gpu_issue_time(&gf_gpus[0], &c) - 9.5653e-7) < 1e-11);
    assert_true(fabs(gf_gpu_memory_time(&gf_gpus[0], &c) - 6.66667e-6) < 1e-11);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(steps_run_in_order), TEST(wrong_answers_are_the_status),
        TEST(speed_is_relative_to_the_first_that_ran), TEST(json_has_no_nan),
        TEST(csv_has_all_columns), TEST(lines_fit_a_terminal), TEST(words_of_the_tables),
        TEST(a_table_leaves_out_what_says_nothing), TEST(memory_runs_out),
        TEST(a_picture_has_a_bar_a_step),
        TEST(samples_are_counted_in_many_ways), TEST(options_that_do_not_go_together),
        TEST(options_before_the_command), TEST(work_is_what_was_asked_for), TEST(gpus_by_name)};
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
