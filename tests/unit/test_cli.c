/* The parser: what argv becomes, and the one line every wrong argv gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "backend.h"
#include "cli.h"
#include "util.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Parses a blank-separated line (no quoting). */
static enum gf_status parse(struct gf_request *r, const char *line, struct gf_error *e)
{
    static char copy[512];
    char *argv[32];
    int argc = 0;
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok(copy, " "); word && argc < 31; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    e->text[0] = '\0';
    return gf_cli_parse(r, argc, argv, e);
}

static void takes_options_anywhere(void **state)
{
    static const char *const lines[] = {
        "gpufilt blur -k gauss5 -b wrap in out",
        "gpufilt blur in out --kernel=gauss5 --border=wrap",
        "gpufilt -k gauss5 blur in -bwrap out", "gpufilt blur -kgauss5 -b wrap -- in out"};
    (void)state;
    for (size_t i = 0; i < GF_COUNT(lines); i++) {
        struct gf_request r;
        struct gf_error e;
        assert_int_equal(parse(&r, lines[i], &e), GF_OK);
        assert_string_equal(r.command->name, "blur");
        assert_string_equal(r.kernel, "gauss5");
        assert_int_equal(r.border, GF_BORDER_WRAP);
        assert_int_equal(r.operand_count, 2);
        assert_string_equal(r.operands[0], "in");
        assert_string_equal(r.operands[1], "out");
        gf_request_free(&r);
    }
}

static void takes_lengths_with_units(void **state)
{
    static const struct {
        const char *sigma;
        unsigned count;
        double value[3];
        bool physical[3];
    } rows[] = {
        {"2", 1, {2}, {false}},
        {"2px", 1, {2}, {false}},
        {"1.5mm", 1, {1.5}, {true}},
        {"800um", 1, {0.8}, {true}},
        {"1,2,3", 3, {1, 2, 3}, {false, false, false}},
        {"1,1,0.5mm", 3, {1, 1, 0.5}, {true, true, true}},
        {"1px,1px,0.5mm", 3, {1, 1, 0.5}, {false, false, true}},
        {"100,200um", 2, {0.1, 0.2}, {true, true}},
        {"0", 1, {0}, {false}},
    };
    (void)state;
    for (size_t i = 0; i < GF_COUNT(rows); i++) {
        struct gf_request r;
        struct gf_error e;
        char line[128];
        snprintf(line, sizeof line, "gpufilt blur --sigma %s in out", rows[i].sigma);
        assert_int_equal(parse(&r, line, &e), GF_OK);
        assert_int_equal(r.sigma_count, rows[i].count);
        for (unsigned a = 0; a < rows[i].count; a++) {
            assert_true(fabs(r.sigma[a].value - rows[i].value[a]) <= 1e-12);
            assert_int_equal(r.sigma[a].physical, rows[i].physical[a]);
        }
        gf_request_free(&r);
    }
}

static void turns_fwhm_into_sigma(void **state)
{
    struct gf_request r;
    struct gf_error e;
    (void)state;
    assert_int_equal(parse(&r, "gpufilt blur --fwhm 2.3548200450309493 in out", &e), GF_OK);
    assert_true(fabs(r.sigma[0].value - 1) <= 1e-15);
    gf_request_free(&r);
}

static void takes_a_region(void **state)
{
    struct gf_request r;
    struct gf_error e;
    (void)state;
    assert_int_equal(parse(&r, "gpufilt convert --roi 1,2,3+40x50x60 in out", &e), GF_OK);
    assert_int_equal(r.roi_axes, 3);
    for (int a = 0; a < 3; a++) {
        assert_int_equal(r.roi_origin[a], a + 1);
        assert_int_equal(r.roi_size[a], 40 + 10 * a);
    }
    gf_request_free(&r);
}

static void refuses_with_one_line(void **state)
{
    static const struct {
        const char *line, *says;
        enum gf_status status;
    } rows[] = {
        {"gpufilt", "no command", GF_EUSAGE},
        {"gpufilt blurr in out", "did you mean 'blur'", GF_EUSAGE},
        {"gpufilt -q frobnicate", "unknown command", GF_EUSAGE},
        {"gpufilt blur -k gauss5 --bordr wrap in out", "did you mean --border", GF_EUSAGE},
        {"gpufilt convert -k gauss5 in out", "-k", GF_EUSAGE},
        {"gpufilt blur -k gauss5 -b reflect in out", "reflect101 (d c b | a b c d | c b a)",
         GF_EUSAGE},
        {"gpufilt blur -k gauss5 -b mirror in out", "symmetric (c b a | a b c d | d c b)",
         GF_EUSAGE},
        {"gpufilt blur -k gauss5 -b clmp in out", "did you mean 'clamp'", GF_EUSAGE},
        {"gpufilt blur -k gauss5 --sigma 2 in out", "exclude each other", GF_EUSAGE},
        {"gpufilt blur --sigma 2 --fwhm 2 in out", "exclude each other", GF_EUSAGE},
        {"gpufilt blur -k gauss5 -k box3 in out", "given twice", GF_EUSAGE},
        {"gpufilt blur -k gauss5 --truncate 2 in out", "goes with --sigma", GF_EUSAGE},
        {"gpufilt blur -k gauss5 -b zero --fill 7 in out", "--border constant", GF_EUSAGE},
        {"gpufilt blur -sigma 2 in out", "did you mean --sigma", GF_EUSAGE},
        {"gpufilt blur --kernl=gauss5 in out", "did you mean --kernel", GF_EUSAGE},
        {"gpufilt correlate --sigma 2 in out", "not an option of correlate but of blur", GF_EUSAGE},
        {"gpufilt -o convert blurr -k gauss5 in", "'blurr': unknown command", GF_EUSAGE},
        {"gpufilt -v blurr a.png", "'blurr': unknown command", GF_EUSAGE},
        {"gpufilt convert --spacing 1px in out", "--spacing '1px'", GF_EUSAGE},
        {"gpufilt masks make box --size 3px,5mm", "--size '3px,5mm'", GF_EUSAGE},
        {"gpufilt convert -t uint8 in out", "called u8 here", GF_EUSAGE},
        {"gpufilt blur -k gauss5 --device cudafoo in out", "--device 'cudafoo'", GF_EUSAGE},
        {"gpufilt blur -k gauss5 --device cuda: in out", "--device 'cuda:'", GF_EUSAGE},
        {"gpufilt blur -k gauss5 --device cuda:x in out", "--device 'cuda:x'", GF_EUSAGE},
        {"gpufilt blur -k gauss5 --device cuda:1:2 in out", "--device 'cuda:1:2'", GF_EUSAGE},
        {"gpufilt blur -k gauss5 --device cuda:99999999999 in out", "--device", GF_EUSAGE},
        {"gpufilt blur -k gauss5 --device cpu:1 in out", "--device 'cpu:1'", GF_EUSAGE},
        {"gpufilt blur -k gauss5 --device reference in out", "--device 'reference'", GF_EUSAGE},
        {"gpufilt blur -k gauss5 --gpu-memory 0 in out", "--gpu-memory '0'", GF_EUSAGE},
        {"gpufilt blur -k gauss5 --layout flat in out", "pitched packed", GF_EUSAGE},
        {"gpufilt devices 1", "devices: takes no operand", GF_EUSAGE},
        {"gpufilt selftest in.png", "selftest: takes no operand", GF_EUSAGE},
        {"gpufilt blur in out", "needs -k", GF_EUSAGE},
        {"gpufilt correlate in out", "needs -k", GF_EUSAGE},
        {"gpufilt blur -k gauss5 in", "no output", GF_EUSAGE},
        {"gpufilt blur -k gauss5", "no input", GF_EUSAGE},
        {"gpufilt blur -k gauss5 a b c", "-o DIR", GF_EUSAGE},
        {"gpufilt blur -k", "needs MASK", GF_EUSAGE},
        {"gpufilt blur --sigma -1 in out", "--sigma '-1'", GF_EUSAGE},
        {"gpufilt blur --sigma nan in out", "--sigma 'nan'", GF_EUSAGE},
        {"gpufilt blur --sigma 1ft in out", "--sigma '1ft'", GF_EUSAGE},
        {"gpufilt blur --sigma 1,2,3,4 in out", "--sigma '1,2,3,4'", GF_EUSAGE},
        {"gpufilt blur --sigma 1 --truncate 0 in out", "--truncate '0'", GF_EUSAGE},
        {"gpufilt blur -k gauss5 --fill 3 in out", "--border constant", GF_EUSAGE},
        {"gpufilt blur -k gauss5 --2d --3d in out", "exclude", GF_EUSAGE},
        {"gpufilt blur -k gauss5 -t u12 in out", "u8 i8 u16", GF_EUSAGE},
        {"gpufilt blur -k gauss5 -j 0 in out", "from 1 to 1024", GF_EUSAGE},
        {"gpufilt blur -k gauss5 --quiet=yes in out", "takes no value", GF_EUSAGE},
        {"gpufilt blur -k gauss5 --max-memory lots in out", "512M", GF_EUSAGE},
        {"gpufilt blur -k gauss5 -f jpeg in out", "is only read", GF_EUSAGE},
        {"gpufilt blur -k gauss5 -f xyz in out", "unknown", GF_EUSAGE},
        {"gpufilt blur -k gauss5 --device tpu in out", "cuda:N", GF_EUSAGE},
        {"gpufilt convert --roi 1,2+3 in out", "--roi '1,2+3'", GF_EUSAGE},
        {"gpufilt convert --roi= in out", "--roi", GF_EUSAGE},
        {"gpufilt convert --roi 1,2+0x3 in out", "--roi", GF_EUSAGE},
        {"gpufilt convert --roi 99999999999999999999,2+1x3 in out", "--roi", GF_EUSAGE},
        {"gpufilt convert --raw 0x3:u8 in out", "--raw '0x3:u8'", GF_EUSAGE},
        {"gpufilt convert --raw 3x3:u9 in out", "--raw '3x3:u9'", GF_EUSAGE},
        {"gpufilt convert --raw 3x3:u8+ in out", "--raw '3x3:u8+'", GF_EUSAGE},
        {"gpufilt convert --level 10 in out", "--level '10'", GF_EUSAGE},
        {"gpufilt info", "no file", GF_EUSAGE},
    };
    (void)state;
    for (size_t i = 0; i < GF_COUNT(rows); i++) {
        struct gf_request r;
        struct gf_error e;
        enum gf_status status = parse(&r, rows[i].line, &e);
        if (status != rows[i].status || !strstr(e.text, rows[i].says) || strchr(e.text, '\n'))
            fail_msg("%s: status %d, '%s', expected %d and '%s'", rows[i].line, (int)status, e.text,
                     (int)rows[i].status, rows[i].says);
        gf_request_free(&r);
    }
}

static void takes_a_device(void **state)
{
    static const struct {
        const char *line, *device;
        unsigned gpu;
    } rows[] = {{"gpufilt convert in out", "auto", 0},
                {"gpufilt convert --device auto in out", "auto", 0},
                {"gpufilt convert --device cpu in out", "cpu", 0},
                {"gpufilt convert --device cuda in out", "cuda", 0},
                {"gpufilt convert --device cuda:3 in out", "cuda", 3},
                {"gpufilt convert --device cuda:3 --device cuda in out", "cuda", 0},
                {"gpufilt selftest --device cuda:1", "cuda", 1}};
    struct gf_request r;
    struct gf_error e;
    bool simt = gf_backend_by_name("simt") != NULL;
    (void)state;
    for (size_t i = 0; i < GF_COUNT(rows); i++) {
        assert_int_equal(parse(&r, rows[i].line, &e), GF_OK);
        assert_string_equal(r.device, rows[i].device);
        assert_int_equal(r.gpu, rows[i].gpu);
        gf_request_free(&r);
    }
    assert_int_equal(parse(&r, "gpufilt convert --device simt in out", &e),
                     simt ? GF_OK : GF_EUSAGE);
    gf_request_free(&r);
    assert_int_equal(parse(&r, "gpufilt convert --gpu-memory 2G --layout packed in out", &e),
                     GF_OK);
    assert_true(r.gpu_memory == UINT64_C(2) << 30 && r.packed);
    gf_request_free(&r);
}

/* Every option of the table is reachable by its long name and by its letter. */
static void knows_its_table(void **state)
{
    (void)state;
    for (unsigned i = 0; i < GF_OPTION_COUNT; i++) {
        const struct gf_option *o = &gf_options[i];
        assert_true(o->commands != 0 && o->help[0] && o->section[0]);
        for (unsigned j = 0; j < i; j++) {
            if (!(gf_options[j].commands & o->commands))
                continue;
            assert_string_not_equal(gf_options[j].name, o->name);
            assert_true(!o->letter || gf_options[j].letter != o->letter);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_options_anywhere), cmocka_unit_test(takes_lengths_with_units),
        cmocka_unit_test(turns_fwhm_into_sigma),  cmocka_unit_test(takes_a_region),
        cmocka_unit_test(refuses_with_one_line),  cmocka_unit_test(knows_its_table),
        cmocka_unit_test(takes_a_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
