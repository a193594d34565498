/* Masks as text: the file format, inline masks, where -k looks, and `masks`. */
#include "mask_test.h"
#include "masks_command.h"

#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static enum gf_status parse(struct gf_mask *mask, const char *text, struct gf_error *e)
{
    /* A copy without a final zero, so that the sanitizer sees a step too far. */
    size_t length = strlen(text);
    char *copy = malloc(length + (length == 0));
    enum gf_status status;
    assert_non_null(copy);
    memcpy(copy, text, length);
    status = gf_mask_parse(mask, copy, length, "dir/f.mask", e);
    free(copy);
    return status;
}

static struct gf_mask good(const char *text, bool in_line)
{
    struct gf_mask mask;
    struct gf_error e = {""};
    if ((in_line ? gf_mask_parse_inline(&mask, text, &e) : parse(&mask, text, &e)) != GF_OK)
        fail_msg("'%s': %s", text, e.text);
    return mask;
}

/* size, divisor and taps are what counts; all are written the long way here. */
struct reading {
    const char *text;
    uint32_t size[3], origin[3];
    double divisor, taps[8];
    bool integer, separable;
};

static void check_readings(const struct reading *rows, size_t count, bool in_line)
{
    for (size_t r = 0; r < count; r++) {
        struct gf_mask m = good(rows[r].text, in_line);
        if (memcmp(m.size, rows[r].size, sizeof m.size) != 0 ||
            memcmp(m.origin, rows[r].origin, sizeof m.origin) != 0 ||
            !same(m.divisor, rows[r].divisor) || m.integer != rows[r].integer ||
            m.separable != rows[r].separable)
            fail_msg("'%s': wrong size, origin, divisor or kind", rows[r].text);
        for (uint64_t i = 0; i < gf_mask_count(&m); i++)
            if (!same(m.taps[i], rows[r].taps[i]))
                fail_msg("'%s': tap %u is %.17g", rows[r].text, (unsigned)i, m.taps[i]);
        gf_mask_free(&m);
    }
}

static void good_files(void **state)
{
    static const struct reading rows[] = {
        {"1 2 1\n", {3, 1, 1}, {1, 0, 0}, 1, {1, 2, 1}, true, true},
        {"1 2 1", {3, 1, 1}, {1, 0, 0}, 1, {1, 2, 1}, true, true},
        {"\xEF\xBB\xBF# c\r\n1,2\r\n\r\n 3 , 4 # x\r\n", {2, 2, 1}, {1, 1, 0}, 1,
          {1, 2, 3, 4}, true, false},
        {"divisor 4\n\t1\t2\t1\t\n", {3, 1, 1}, {1, 0, 0}, 4, {1, 2, 1}, true, true},
        {"1 2 1\ndivisor -4\n", {3, 1, 1}, {1, 0, 0}, 4, {-1, -2, -1}, true, true},
        {"divisor -2\n0 1\n", {2, 1, 1}, {1, 0, 0}, 2, {0, -1}, true, true},
        {"1/16 2/16 1/16\n", {3, 1, 1}, {1, 0, 0}, 16, {1, 2, 1}, true, true},
        {"1/2 1/3\n", {2, 1, 1}, {1, 0, 0}, 6, {3, 2}, true, true},
        {"divisor 3\n1/2 -1/-2\n", {2, 1, 1}, {1, 0, 0}, 6, {1, 1}, true, true},
        {"1/3 0.5\n", {2, 1, 1}, {1, 0, 0}, 1, {1.0 / 3, 0.5}, false, false},
        {"1e3 +2 .5e1 -0 4.\n", {5, 1, 1}, {2, 0, 0}, 1, {1000, 2, 5, 0, 4}, true, true},
        {"2147483648 1\n", {2, 1, 1}, {1, 0, 0}, 1, {2147483648.0, 1}, false, false},
        {"1/4294967296\n", {1, 1, 1}, {0, 0, 0}, 1, {0x1p-32}, false, false},
        {"origin 0 1\n1 2\n3 4\n", {2, 2, 1}, {0, 1, 0}, 1, {1, 2, 3, 4}, true, false},
        {"size 2 2\n1 2\n3 4\n", {2, 2, 1}, {1, 1, 0}, 1, {1, 2, 3, 4}, true, false},
        {"1 2\n---\n3 4\n", {2, 1, 2}, {1, 0, 1}, 1, {1, 2, 3, 4}, true, false},
        {"1\n2\n---\n3\n4\norigin 0 0 1\n", {1, 2, 2}, {0, 0, 1}, 1, {1, 2, 3, 4}, true,
          false},
        {"size 2 2 2\n1 0\n0 0\n0 0\n0 1\n", {2, 2, 2}, {1, 1, 1}, 1,
          {1, 0, 0, 0, 0, 0, 0, 1}, true, false},
        {"x 1 2\ny 1 3\n", {2, 2, 1}, {1, 1, 0}, 1, {1, 2, 3, 6}, true, true},
        {"divisor 2\nz 1/2 1/4\n", {1, 1, 2}, {0, 0, 1}, 8, {2, 1}, true, true},
        {"x 0.5 1\n", {2, 1, 1}, {1, 0, 0}, 1, {0.5, 1}, false, true},
        {"x -1\ny 0 1\n", {1, 2, 1}, {0, 1, 0}, 1, {0, -1}, true, true},
        {"sigma 1 2\nx 1\ny 0.25 0.5 0.25\n", {1, 3, 1}, {0, 1, 0}, 1, {0.25, 0.5, 0.25},
          false, true},
    };
    struct gf_mask m;
    (void)state;
    check_readings(rows, GF_COUNT(rows), false);
    m = good("sigma 1 2\nx 1\ny 0.25 0.5 0.25\n", false);
    assert_true(m.unit_sum && m.normalize && m.sigma[0] == 1 && m.sigma[1] == 2);
    assert_string_equal(m.name, "f");
    gf_mask_free(&m);
    /* Sums to 1, but nobody said that it does so by definition. */
    m = good("0.25 0.5 0.25\n", false);
    assert_true(!m.unit_sum && gf_mask_sum(&m) == 1);
    gf_mask_free(&m);
}

static void good_inline(void **state)
{
    static const struct reading rows[] = {
        {"1,2,1;2,4,2 /16", {3, 2, 1}, {1, 1, 0}, 16, {1, 2, 1, 2, 4, 2}, true, true},
        {"1 2 1 / 4", {3, 1, 1}, {1, 0, 0}, 4, {1, 2, 1}, true, true},
        {"-1,0,1", {3, 1, 1}, {1, 0, 0}, 1, {-1, 0, 1}, true, true},
        {"7", {1, 1, 1}, {0, 0, 0}, 1, {7}, true, true},
        {"1/9", {1, 1, 1}, {0, 0, 0}, 9, {1}, true, true},
        {"1/4,1/2,1/4", {3, 1, 1}, {1, 0, 0}, 4, {1, 2, 1}, true, true},
        {"1/4, 1/2 / 2", {2, 1, 1}, {1, 0, 0}, 8, {1, 2}, true, true},
        {"1;;2", {1, 1, 2}, {0, 0, 1}, 1, {1, 2}, true, true},
        {"1,2;3,4;;5,6;7,8", {2, 2, 2}, {1, 1, 1}, 1, {1, 2, 3, 4, 5, 6, 7, 8}, true,
          false},
        {"2x2+0+1: 1 2 3 4", {2, 2, 1}, {0, 1, 0}, 1, {1, 2, 3, 4}, true, false},
        {" 2x2 : 1,2; 3,4", {2, 2, 1}, {1, 1, 0}, 1, {1, 2, 3, 4}, true, false},
        {"+0+0:1,2", {2, 1, 1}, {0, 0, 0}, 1, {1, 2}, true, true},
        {"1x2x2+0+0+1:1,2,3,4", {1, 2, 2}, {0, 0, 1}, 1, {1, 2, 3, 4}, true, false},
        {"2x1x2:1,2;3,4", {2, 1, 2}, {1, 0, 1}, 1, {1, 2, 3, 4}, true, false},
        {".5 1e-1", {2, 1, 1}, {1, 0, 0}, 1, {0.5, 0.1}, false, false},
    };
    (void)state;
    check_readings(rows, GF_COUNT(rows), true);
}

struct refusal {
    const char *text, *says;
};

static void check_refusals(const struct refusal *rows, size_t count, bool in_line)
{
    for (size_t r = 0; r < count; r++) {
        struct gf_mask m = {.name = ""};
        struct gf_error e = {""};
        enum gf_status want = in_line ? GF_EUSAGE : GF_EINPUT;
        uint64_t before = gf_memory_used();
        enum gf_status status = in_line ? gf_mask_parse_inline(&m, rows[r].text, &e)
                                        : parse(&m, rows[r].text, &e);
        if (status != want || strstr(e.text, rows[r].says) == NULL || strchr(e.text, '\n') != NULL)
            fail_msg("'%s': status %d, '%s'", rows[r].text, (int)status, e.text);
        assert_true(m.taps == NULL && gf_memory_used() == before);
    }
}

static void bad_files(void **state)
{
    static const struct refusal rows[] = {
        {"", "dir/f.mask: no taps"},
        {"# only\n\n", "no taps"},
        {"divisor 3\n", "no taps"},
        {"1 2 1\n1 2\n", "dir/f.mask:2: this row has 2 taps, needed 3"},
        {"1\n\n#\n1 2\n", "dir/f.mask:4: this row has 2 taps, needed 1"},
        {"1 nan\n", ":1: 'nan' is not finite"},
        {"nan 1\n", ":1: 'nan' is not finite"},
        {"-Inf\n", "'-Inf' is not finite"},
        {"INFINITY 2\n", "'INFINITY' is not finite"},
        {"1e999\n", "'1e999' is not a number, or too large"},
        {"0x10\n", "'0x10' is not a number"},
        {"1.2.3\n", "'1.2.3' is not a number"},
        {"1;2\n", "'1;2' is not a number"},
        {"1/0\n", "'1/0' divides by zero"},
        {"1.5/2\n", "not a fraction of two whole"},
        {"1//2\n", "is not a number"},
        {"/2\n", "is not a number"},
        {"1,,2\n", "',' without a tap before"},
        {",1\n", "',' without a tap before"},
        {"1,\n", "',' without a tap after"},
        {"divisor 0\n1\n", ":1: the divisor is zero"},
        {"divisor 0.0e5\n1\n", "the divisor is zero"},
        {"divisor nan\n1\n", "is not finite"},
        {"divisor\n1\n", "'divisor' needs 1 number after it, found 0"},
        {"divisor 1 2\n1\n", "more than 1 number after 'divisor'"},
        {"divisor 1/2\n1\n", "'1/2' is not a number"},
        {"divisor 2\ndivisor 3\n1\n", ":2: 'divisor' a second time, the first is in line 1"},
        {"divsor 2\n1\n", "unknown word 'divsor'; did you mean 'divisor'?"},
        {"orgin 1 1\n1\n", "did you mean 'origin'?"},
        {"hello\n", "unknown word 'hello'"},
        {"size 3 3\n1 2 1\n",
          ":1: size 3x3x1 does not match the taps, which are 3x1x1"},
        {"size 3\n1 2 1\n", "'size' needs 2 numbers after it, found 1"},
        {"size 0 1\n1\n", "size 0 along x"},
        {"size 1 1.5\n1\n", "size 1.5 along y"},
        {"size 1e9 1\n1\n", "size 1e+09 along x"},
        {"origin 3 0\n1 2 1\n",
          ":1: origin 3 along x lies outside the mask; it must be from 0 to 2"},
        {"1 2 1\norigin 0 1\n",
          ":2: origin 1 along y lies outside the mask; it must be from 0 to 0"},
        {"origin -1 0\n1\n", "origin -1 along x"},
        {"origin 1\n1 2\n", "'origin' needs 2 numbers"},
        {"origin 0 0\n1\n---\n2\n", "the origin has 2 numbers, needed 3 (x, y, z)"},
        {"---\n1\n", ":1: the plane that ends here is empty"},
        {"1\n---\n", ":2: the plane that ends here is empty"},
        {"1\n---\n---\n1\n", ":3: the plane that ends here is empty"},
        {"1\n2\n---\n1\n", "has 1 row, needed 2 as in the first plane"},
        {"x 1\n1 2\n", ":2: a row of taps after x, y or z lines"},
        {"1 2\nx 1\n", "'x' among rows of taps"},
        {"y 1\nx 1\n", "'x' after 'y'; the order is x, y, z"},
        {"x\n", "no taps after 'x'"},
        {"x 1\n---\nx 1\n", "plane that ends here is empty"},
        {"sigma 1 1\n1 2\n", "sigma stands before x, y and z lines"},
        {"sigma 1 1\nx 0.5 0.4\n", "along x to 0.9"},
        {"sigma -1 1\nx 1\n", "sigma -1"},
        {"1e308 1e308\n", "add up to more than a number can hold"},
        {"divisor 1e-300\n1e200\n", "add up to more than a number can hold"},
        {"\x89PNG\n", "is not a number"},
        {"1 \x01\n", "byte 0x01"},
        {"1\r2\n", "byte 0x0d"},
    };
    struct gf_mask m;
    struct gf_error e = {""};
    (void)state;
    check_refusals(rows, GF_COUNT(rows), false);
    assert_int_equal(gf_mask_parse(&m, "1 \0 2", 5, "f", &e), GF_EINPUT);
    assert_non_null(strstr(e.text, "byte 0x00"));
}

static void bad_inline(void **state)
{
    static const struct refusal rows[] = {
        {"1,2;3", "row 2: this row has 1 tap, needed 2"},
        {"1,2,1;2,4,2;1,2,1/16", "write ' / N' with a blank before it"},
        {"1,2;", "row 2: no taps"},
        {";1", "row 1: no taps"},
        {"1;;;2", "no taps"},
        {"1;2;;3", "has 1 row, needed 2"},
        {"1,2 / 0", "the divisor is zero"},
        {"1,2 /", "'' after '/' is not a number"},
        {"1,2 / 3,4", "'3,4' after '/' is not a number"},
        {"1,nan", "'nan' is not finite"},
        {"1,x", "'x' is not a number"},
        {"3x3:1,2,1", "size 3x3x1 does not match the taps, which are 3x1x1"},
        {"2x2:1;2;3;4", "does not match"},
        {"2x1+2+0:1,2", "origin 2 along x lies outside the mask; it must be from 0 to 1"},
        {"3:1,2,1", "'3' before ':'"},
        {"3x:1,2,1", "'3x' before ':'"},
        {"3x1 +0+0:1,2,1", "'3x1 +0+0' before ':'"},
        {"x3:1,2,1", "before ':'"},
        {"3x3+1:1", "before ':'"},
        {"1x1x1x1:1", "before ':'"},
        {"0x1:1", "size 0 along x"},
        {"9999999999x1:1", "before ':'"},
        {"1x1:1:1", "is not a number"},
        {"1,2\n3,4", "byte 0x0a"},
        {" ", "no taps"},
    };
    (void)state;
    check_refusals(rows, GF_COUNT(rows), true);
}

static void too_large(void **state)
{
    const size_t count = GF_MASK_MAX_AXIS + 1;
    char *text = malloc(2 * count);
    struct gf_mask m;
    struct gf_error e = {""};
    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < count; i++)
        memcpy(text + 2 * i, "1 ", 2);
    assert_int_equal(gf_mask_parse(&m, text, 2 * count, "f", &e), GF_EINPUT);
    assert_non_null(strstr(e.text, "more than 1048576 taps in a row"));
    for (size_t i = 0; i < count; i++)
        text[2 * i + 1] = '\n';
    assert_int_equal(gf_mask_parse(&m, text, 2 * count, "f", &e), GF_EINPUT);
    assert_non_null(strstr(e.text, "more than 1048576 rows"));
    assert_int_equal(gf_mask_parse(&m, text, 2 * count - 2, "f", &e), GF_OK);
    assert_true(m.size[1] == GF_MASK_MAX_AXIS && m.separable);
    gf_mask_free(&m);
    memset(text, '1', 2 * count);
    assert_int_equal(gf_mask_parse(&m, text, 2 * count, "f", &e), GF_EINPUT);
    assert_non_null(strstr(e.text, "longer than a number"));
    free(text);
}

/* ---- printing ---- */

static double random_tap(int kind)
{
    switch (kind) {
    case 0: return (int)random_below(7) - 3;
    case 1: return (int)random_below(2001) - 1000;
    case 2: return ldexp((double)random_below(1u << 30) - 5e8, -(int)random_below(80)) + 0.0;
    default: return 0.1 * ((int)random_below(21) - 10) + 0.0;
    }
}

/* A name that is too long is not cut inside a character. */
static void long_names(void **state)
{
    char path[80] = "folder/", want[64] = "";
    struct gf_mask m;
    struct gf_error e = {""};
    (void)state;
    memset(want, 'a', 62);
    memcpy(path + 7, want, 62);
    strcpy(path + 69, "\xC3\xA9.mask");
    assert_int_equal(gf_mask_parse(&m, "1\n", 2, path, &e), GF_OK);
    assert_string_equal(m.name, want);
    gf_mask_free(&m);
}

static void print_and_parse(void **state)
{
    struct gf_error e = {""};
    (void)state;
    for (int round = 0; round < 4000; round++) {
        uint32_t size[3] = {1 + random_below(6), 1 + random_below(6), 1 + random_below(3)};
        struct gf_mask m, again;
        char *text;
        bool factors = random_below(2);
        int kind = (int)random_below(4);
        assert_int_equal(gf_mask_begin(&m, "m", size, !factors, &e), GF_OK);
        for (uint64_t i = 0; !factors && i < gf_mask_count(&m); i++)
            m.taps[i] = random_tap(kind);
        for (int a = 0; factors && a < 3; a++)
            for (uint32_t i = 0; i < size[a]; i++)
                m.factor[a][i] = random_tap(kind);
        for (int a = 0; a < 3; a++)
            m.origin[a] = random_below(size[a]);
        m.divisor = random_below(2) ? 1 : random_below(2) ? 1 + random_below(100) : 0.37;
        assert_int_equal(gf_mask_complete(&m, &e), GF_OK);
        assert_int_equal(gf_mask_factor(&m, &e), GF_OK);
        assert_int_equal(gf_mask_print(&m, &text, &e), GF_OK);
        if (gf_mask_parse(&again, text, strlen(text), "m", &e) != GF_OK)
            fail_msg("%s\n%s", e.text, text);
        if (!masks_equal(&m, &again))
            fail_msg("%s", text);
        gf_free(text);
        gf_mask_free(&m);
        gf_mask_free(&again);
    }
}

static void print_gaussians(void **state)
{
    struct gf_error e = {""};
    (void)state;
    for (int i = 1; i <= 60; i++) {
        /* The first few are so narrow that a single tap is left. */
        double narrow[3] = {0.01 * i, 0.02, 0}, wide[3] = {i * 0.37, i % 4 * 0.9, i % 3};
        const double *sigma = i < 4 ? narrow : wide;
        struct gf_mask m, again;
        char *text;
        assert_int_equal(gf_mask_gaussian(&m, sigma, 2 + i % 2, 4, &e), GF_OK);
        assert_int_equal(gf_mask_print(&m, &text, &e), GF_OK);
        assert_int_equal(gf_mask_parse(&again, text, strlen(text), "m", &e), GF_OK);
        assert_true(masks_equal(&m, &again));
        gf_free(text);
        gf_mask_free(&m);
        gf_mask_free(&again);
    }
}

/* ---- files, and where they are looked for ---- */

/* Every file of masks/ is exactly the named mask, begins with a comment and is built in. */
static void mask_folder(void **state)
{
    DIR *folder = opendir(MASKS_FOLDER);
    struct dirent *entry;
    unsigned files = 0, built_in = 0;
    (void)state;
    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL) {
        char path[PATH_MAX], name[64] = "";
        size_t length = strlen(entry->d_name);
        const struct gf_mask_file *file = gf_mask_files;
        struct gf_mask want, from_file, inside;
        struct gf_error e = {""};
        int dimensions;
        if (length < 5 || length > 60 || strcmp(entry->d_name + length - 5, ".mask") != 0)
            continue;
        memcpy(name, entry->d_name, length - 5);
        while (file->name != NULL && strcmp(file->name, name) != 0)
            file++;
        if (file->name == NULL)
            fail_msg("%s is not built in", name);
        assert_true(file->text[0] == '#');
        snprintf(path, sizeof path, "%s/%s", MASKS_FOLDER, entry->d_name);
        if (gf_mask_find(&from_file, path, 2, &e) != GF_OK)
            fail_msg("%s", e.text);
        assert_string_equal(from_file.name, name);
        assert_int_equal(gf_mask_parse(&inside, (const char *)file->text, file->length, name, &e),
                         GF_OK);
        dimensions = from_file.size[2] > 1 ? 3 : 2;
        if (strstr(name, "-3d") != NULL)
            *strstr(name, "-3d") = '\0';
        assert_int_equal(gf_mask_named(&want, name, dimensions, &e), GF_OK);
        assert_int_equal(gf_mask_factor(&want, &e), GF_OK);
        assert_true(masks_equal(&want, &from_file) && masks_equal(&want, &inside));
        gf_mask_free(&want);
        gf_mask_free(&from_file);
        gf_mask_free(&inside);
        files++;
    }
    closedir(folder);
    while (gf_mask_files[built_in].name != NULL)
        built_in++;
    assert_int_equal(files, built_in);
    for (unsigned i = 0; gf_mask_row(i) != NULL; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s.mask", MASKS_FOLDER, gf_mask_row(i)->name);
        assert_int_equal(access(path, R_OK), 0);
    }
}

static char folder[64];

static void write_text(const char *name, const char *text)
{
    char path[PATH_MAX];
    FILE *file;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* The first tap of what is found, NAN with the message checked when nothing is. */
static double first_tap(const char *spec, int dimensions, enum gf_status want, const char *says)
{
    struct gf_mask m;
    struct gf_error e = {""};
    double tap = NAN;
    enum gf_status status = gf_mask_find(&m, spec, dimensions, &e);
    if (status != want || strstr(e.text, says) == NULL)
        fail_msg("'%s': status %d, '%s'", spec, (int)status, e.text);
    if (status == GF_OK)
        tap = gf_mask_tap(&m, 0, 0, 0);
    gf_mask_free(&m);
    return tap;
}

static void finding(void **state)
{
    char spec[PATH_MAX], list[PATH_MAX];
    (void)state;
    strcpy(folder, "/tmp/gpufilt-mask-XXXXXX");
    assert_non_null(mkdtemp(folder));
    write_text("mine.mask", "11 1\n");
    write_text("both.mask", "12 1\n");
    write_text("both-3d.mask", "13\n---\n1\n");
    write_text("gauss5.mask", "14 1\n");
    write_text("bad.mask", "1 2\n3\n");
    write_text("empty.mask", "");
    write_text("3 4,5", "15\n");
    snprintf(spec, sizeof spec, "%s/dir.mask", folder);
    assert_int_equal(mkdir(spec, 0700), 0);

    unsetenv("GPUFILT_MASK_PATH");
    first_tap("mine", 2, GF_EUSAGE, "mine: no such mask");
    assert_true(first_tap("gauss5", 2, GF_OK, "") == 1);
    assert_true(first_tap("gauss5-3d", 3, GF_OK, "") == 1);
    first_tap("", 2, GF_EUSAGE, "empty mask");

    snprintf(list, sizeof list, ":/nonexistent::%s:", folder);
    setenv("GPUFILT_MASK_PATH", list, 1);
    assert_true(first_tap("mine", 2, GF_OK, "") == 11);
    assert_true(first_tap("mine", 3, GF_OK, "") == 11);
    assert_true(first_tap("both", 2, GF_OK, "") == 12);
    assert_true(first_tap("both", 3, GF_OK, "") == 13);
    assert_true(first_tap("gauss5", 2, GF_OK, "") == 14);
    assert_true(first_tap("gauss5", 3, GF_OK, "") == 1); /* not hidden by the 2D file */
    first_tap("bad", 2, GF_EINPUT, "bad.mask:2: this row has 1 tap");
    first_tap("empty", 2, GF_EINPUT, "empty.mask");
    first_tap("dir", 2, GF_EINPUT, "dir.mask");
    assert_true(first_tap("20,1", 2, GF_OK, "") == 20);
    assert_true(first_tap("21 / 4", 2, GF_OK, "") == 21);
    assert_true(first_tap("22/7", 2, GF_OK, "") == 22);
    assert_true(first_tap("-3", 2, GF_OK, "") == -3);
    first_tap("1,2,1;2,4", 2, GF_EUSAGE, "row 2");
    first_tap("1,a/2", 2, GF_EUSAGE, "'a/2' is not a number");
    unsetenv("GPUFILT_MASK_PATH");

    snprintf(spec, sizeof spec, "%s/mine.mask", folder);
    assert_true(first_tap(spec, 2, GF_OK, "") == 11);
    snprintf(spec, sizeof spec, "@%s/3 4,5", folder);
    assert_true(first_tap(spec, 2, GF_OK, "") == 15);
    first_tap("@/nonexistent/x", 2, GF_EINPUT, "/nonexistent/x");
    first_tap("nothere.mask", 2, GF_EINPUT, "nothere.mask");
    first_tap("no/such", 2, GF_EINPUT, "no/such");

    snprintf(spec, sizeof spec, "rm -r %s", folder);
    assert_int_equal(system(spec), 0);
}

/* ---- the command ---- */

static void command(void **state)
{
    const double sigma[3] = {1.5, 1.5, 1.5}, none[3] = {0, 0, 0};
    const uint32_t size[3] = {5, 3, 2}, no_size[3] = {0, 0, 0};
    static const char *const kinds[] = {"gauss", "log", "box"};
    struct gf_buffer out = {0};
    struct gf_error e = {""};
    struct gf_mask m;
    (void)state;
    assert_int_equal(gf_masks_list(&out, &e), GF_OK);
    for (unsigned i = 0; gf_mask_row(i) != NULL; i++)
        assert_non_null(strstr(out.data, gf_mask_row(i)->name));
    gf_buffer_free(&out);
    for (unsigned i = 0; gf_mask_row(i) != NULL; i++) {
        int d = gf_mask_row(i)->dimensions == 3 ? 3 : 2;
        assert_int_equal(gf_masks_show(gf_mask_row(i)->name, d, &out, &e), GF_OK);
        gf_buffer_free(&out);
    }
    assert_int_equal(gf_masks_show("sobel-z", 0, &out, &e), GF_OK);
    assert_non_null(strstr(out.data, "size       3x3x3\n"));
    gf_buffer_free(&out);
    assert_int_equal(gf_masks_show("gauss3", 0, &out, &e), GF_OK);
    assert_non_null(strstr(out.data, "size       3x3\n"));
    gf_buffer_free(&out);
    assert_int_equal(gf_masks_show("sobel-z", 2, &out, &e), GF_EUSAGE);
    assert_int_equal(gf_masks_show("1,2,1;2,4,2;1,2,1 / 16", 2, &out, &e), GF_OK);
    assert_non_null(strstr(out.data, "divisor    16\nsum        1\nseparable  yes\n"));
    assert_non_null(strstr(out.data, "\n  1  2  1\n  2  4  2\n  1  2  1\n"));
    gf_buffer_free(&out);
    for (int d = 2; d <= 3; d++)
        for (size_t k = 0; k < GF_COUNT(kinds); k++) {
            assert_int_equal(gf_masks_make(kinds[k], sigma, size, 4, d, &out, &e), GF_OK);
            assert_int_equal(gf_mask_parse(&m, out.data, out.size, kinds[k], &e), GF_OK);
            assert_true((m.size[2] > 1) == (d == 3));
            assert_true(m.unit_sum == (k != 1) && (k != 1 || fabs(gf_mask_sum(&m)) <= 1e-15));
            gf_mask_free(&m);
            gf_buffer_free(&out);
        }
    assert_int_equal(gf_masks_make("gauss", none, size, 4, 2, &out, &e), GF_EUSAGE);
    assert_non_null(strstr(e.text, "--sigma"));
    assert_int_equal(gf_masks_make("box", sigma, no_size, 4, 2, &out, &e), GF_EUSAGE);
    assert_non_null(strstr(e.text, "--size"));
    assert_int_equal(gf_masks_make("gaus", sigma, size, 4, 2, &out, &e), GF_EUSAGE);
    assert_non_null(strstr(e.text, "did you mean 'gauss'?"));
    gf_buffer_free(&out);
}

/* ---- faults ---- */

static const char *const seeds[] = {
    "# c\ndivisor 16\norigin 1 1\n1 2 1\n2 4 2\n1 2 1\n",
    "size 2 2 2\n1 0\n0 1\n---\n1/3 -2\n.5 1e3\n",
    "sigma 1 1\nx 0.25 0.5 0.25\ny 0.25 0.5 0.25\nz 1\n",
    "3x3+1+1: 0,1,0, 1,-4,1, 0,1,0 / 4",
    "1,2;3,4;;5,6;7,8 /9",
};

static void allocation_failures(void **state)
{
    (void)state;
    for (size_t s = 0; s < GF_COUNT(seeds); s++)
        for (int sticky = 0; sticky <= 1; sticky++)
            for (uint64_t n = 1;; n++) {
                struct gf_mask m = {.name = ""};
                struct gf_error e = {""};
                uint64_t before = gf_memory_used();
                char *text = NULL;
                enum gf_status status;
                gf_alloc_fail_at(n, sticky);
                status = s < 3 ? gf_mask_parse(&m, seeds[s], strlen(seeds[s]), "f", &e)
                               : gf_mask_parse_inline(&m, seeds[s], &e);
                if (status == GF_OK)
                    status = gf_mask_print(&m, &text, &e);
                gf_alloc_fail_at(0, 0);
                assert_true(status == GF_OK || (status == GF_EMEMORY && e.text[0] != '\0'));
                gf_free(text);
                gf_mask_free(&m);
                assert_true(gf_memory_used() == before);
                if (status == GF_OK)
                    break;
            }
}

/* Mutated texts: no crash, and what is accepted prints to a text that reads back. */
static void mutations(void **state)
{
    static const char letters[] = "0123456789+-./,;:x \n#e\ryz\t";
    const char *rounds = getenv("GPUFILT_TEST_FUZZ");
    long count = rounds != NULL ? atol(rounds) : 40000;
    unsigned accepted = 0;
    (void)state;
    for (long round = 0; round < count; round++) {
        char text[200];
        const char *start = seeds[random_below(GF_COUNT(seeds))];
        size_t length = strlen(start);
        struct gf_mask m = {.name = ""}, again;
        struct gf_error e = {""};
        enum gf_status status;
        bool in_line = random_below(2);
        memcpy(text, start, length + 1);
        for (uint32_t n = random_below(6); n > 0 && length > 1; n--) {
            uint32_t at = random_below((uint32_t)length);
            if (random_below(3) == 0 && length < 190) {
                memmove(text + at + 1, text + at, length - at);
                length++;
            } else if (random_below(2)) {
                memmove(text + at, text + at + 1, length - at - 1);
                length--;
                continue;
            }
            text[at] = random_below(9) ? letters[random_below(sizeof letters - 1)]
                                       : (char)(1 + random_below(255));
        }
        text[length] = '\0';
        status = in_line ? gf_mask_parse_inline(&m, text, &e)
                         : gf_mask_parse(&m, text, length, "f", &e);
        assert_true(status == (in_line ? GF_EUSAGE : GF_EINPUT) || status == GF_OK);
        if (status == GF_OK) {
            char *printed;
            accepted++;
            assert_int_equal(gf_mask_print(&m, &printed, &e), GF_OK);
            if (gf_mask_parse(&again, printed, strlen(printed), "f", &e) != GF_OK)
                fail_msg("'%s': %s", text, e.text);
            if (!masks_equal(&m, &again))
                fail_msg("'%s' became '%s'", text, printed);
            gf_mask_free(&again);
            gf_free(printed);
        }
        gf_mask_free(&m);
    }
    assert_true(accepted > count / 20);
    assert_true(gf_memory_used() == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_files),      cmocka_unit_test(good_inline),
        cmocka_unit_test(bad_files),       cmocka_unit_test(bad_inline),
        cmocka_unit_test(too_large),       cmocka_unit_test(long_names),
        cmocka_unit_test(print_and_parse), cmocka_unit_test(print_gaussians),
        cmocka_unit_test(mask_folder),     cmocka_unit_test(finding),
        cmocka_unit_test(command),         cmocka_unit_test(allocation_failures),
        cmocka_unit_test(mutations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
