/* Inflating the samples of a file: members, checksums, truncation, bit flips and what follows the
 * end. The files are made with zlib, byte by byte where it matters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "alloc.h"
#include "folder.h"
#include "io/source.h"
#include "io/sys.h"
#include "util.h"

#include <errno.h>
#include <zlib.h>

#define WINDOW (256u << 10) /* of source.c, whose edges are crossed here */
#define MOST ((size_t)3 << 20)

static uint8_t plain[MOST], file[MOST], back[MOST];
static size_t plain_size, file_size;

static void add(const void *data, size_t size)
{
    assert_true(file_size + size <= MOST);
    memcpy(file + file_size, data, size);
    file_size += size;
}

/* Data of which deflate makes about half, the same each time. */
static void fill_plain(size_t size)
{
    uint32_t seed = 12345;
    for (size_t i = 0; i < size; i++) {
        seed = seed * 1103515245u + 12345u;
        plain[i] = (uint8_t)(seed >> 28);
    }
    plain_size = size;
}

static size_t deflated(uint8_t *to, const void *data, size_t size, int bits, int level)
{
    z_stream z = {0};
    size_t made;
    assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)data;
    z.avail_in = (uInt)size;
    z.next_out = to;
    z.avail_out = (uInt)MOST;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    made = MOST - z.avail_out;
    deflateEnd(&z);
    return made;
}

/* A member with bytes [from, to) of `plain`. */
static void add_member(size_t from, size_t to)
{
    static uint8_t packed[MOST];
    add(packed, deflated(packed, plain + from, to - from, 16 + MAX_WBITS, 6));
}

/* The same, its header made longer by a name of so many letters. */
static void add_named_member(size_t from, size_t to, size_t letters)
{
    static const uint8_t head[10] = {0x1f, 0x8b, 8, 8};
    static uint8_t packed[MOST];
    const uint32_t crc = (uint32_t)crc32(0, plain + from, (uInt)(to - from));
    add(head, sizeof head);
    for (size_t i = 0; i < letters; i++)
        add("n", 1);
    add("", 1);
    add(packed, deflated(packed, plain + from, to - from, -MAX_WBITS, 6));
    for (int i = 0; i < 4; i++)
        add(&(uint8_t){(uint8_t)(crc >> 8 * i)}, 1);
    for (int i = 0; i < 4; i++)
        add(&(uint8_t){(uint8_t)((to - from) >> 8 * i)}, 1);
}

/* Reads all in pieces of `step`, then asks for the end; whatever comes back is in `back`. */
static enum gf_status read_all(enum gf_coding coding, uint64_t offset, size_t step, size_t *got,
                               struct gf_error *e)
{
    struct gf_in *in = NULL;
    struct gf_source *s = NULL;
    enum gf_status status;
    e->text[0] = '\0';
    *got = 0;
    memset(back, 0xa5, plain_size);
    status = gf_in_open(&in, "f", e);
    if (status == GF_OK)
        status = gf_source_open(&s, in, offset, UINT64_MAX, coding, e);
    while (status == GF_OK && *got < plain_size) {
        size_t part = (size_t)gf_min(step, plain_size - *got);
        status = gf_source_read(s, back + *got, part, *got, e);
        *got += status == GF_OK ? part : 0;
    }
    if (status == GF_OK)
        status = gf_source_end(s, plain_size, e);
    gf_source_close(&s);
    gf_in_close(&in);
    if ((status == GF_OK) != (e->text[0] == '\0'))
        fail_msg("status %d with '%s'", (int)status, e->text);
    return status;
}

static void expect(enum gf_coding coding, uint64_t offset)
{
    static const size_t steps[] = {1 << 30, 100000, 4097};
    struct gf_error e;
    size_t got;
    put("f", file, file_size);
    for (size_t i = 0; i < GF_COUNT(steps); i++) {
        if (read_all(coding, offset, steps[i], &got, &e) != GF_OK)
            fail_msg("%s", e.text);
        assert_memory_equal(back, plain, plain_size);
    }
    assert_int_equal(gf_memory_used(), 0);
}

static void expect_error(enum gf_coding coding, const char *words)
{
    struct gf_error e;
    size_t got;
    put("f", file, file_size);
    assert_int_equal(read_all(coding, 0, 1000, &got, &e), GF_EINPUT);
    if (!strstr(e.text, words))
        fail_msg("'%s' is not in: %s", words, e.text);
    assert_int_equal(strncmp(e.text, "f: ", 3), 0);
}

/* ---- whole files ---- */

static void members(void **state)
{
    (void)state;
    fill_plain(700000);
    file_size = 0;
    add_member(0, plain_size);
    expect(GF_GZIP, 0);

    file_size = 0;
    add("header", 6);
    add_member(0, 0);
    add_member(0, 1);
    add_member(1, 300000);
    for (int i = 0; i < 1000; i++)
        add_member(0, 0);
    add_member(300000, plain_size);
    add_member(0, 0);
    expect(GF_GZIP, 6);

    /* With zeros to the end of a block. */
    memset(file + file_size, 0, 10240);
    file_size += 10240;
    expect(GF_GZIP, 6);

    file_size = deflated(file, plain, plain_size, MAX_WBITS, 6);
    expect(GF_ZLIB, 0);

    file_size = 0;
    add(plain, plain_size);
    expect(GF_PLAIN, 0);
}

/* The second member's first bytes on both sides of each edge of the window. */
static void window_edges(void **state)
{
    size_t first;
    (void)state;
    fill_plain(5000);
    file_size = 0;
    add_named_member(0, 2500, 0);
    first = file_size;
    for (size_t at = WINDOW - 12; at <= WINDOW + 2; at++) {
        struct gf_error e;
        size_t got;
        file_size = 0;
        add_named_member(0, 2500, at - first);
        assert_int_equal(file_size, at);
        add_named_member(2500, 5000, 3);
        put("f", file, file_size);
        if (read_all(GF_GZIP, 0, 1 << 20, &got, &e) != GF_OK)
            fail_msg("at %zu: %s", at, e.text);
        assert_memory_equal(back, plain, plain_size);
    }
}

static void any_order(void **state)
{
    struct gf_in *in;
    struct gf_source *s;
    size_t got;
    (void)state;
    fill_plain(400000);
    file_size = 0;
    add_member(0, 150000);
    add_member(150000, plain_size);
    put("f", file, file_size);
    assert_int_equal(gf_in_open(&in, "f", NULL), GF_OK);
    assert_int_equal(gf_source_open(&s, in, 0, UINT64_MAX, GF_GZIP, NULL), GF_OK);
    assert_false(gf_source_random(s));
    for (uint64_t at = 0, i = 0; i < 50; i++, at = (at + 170001) % 399000) {
        assert_int_equal(gf_source_read(s, back, 1000, at, NULL), GF_OK);
        assert_memory_equal(back, plain + at, 1000);
    }
    /* To the end and beyond. */
    assert_int_equal(gf_source_read_some(s, back, 1000, 399900, &got, NULL), GF_OK);
    assert_int_equal(got, 100);
    assert_memory_equal(back, plain + 399900, 100);
    assert_int_equal(gf_source_read_some(s, back, 1000, 500000, &got, NULL), GF_OK);
    assert_int_equal(got, 0);
    assert_int_equal(gf_source_end(s, plain_size, NULL), GF_OK);
    assert_int_equal(gf_source_read(s, back, 1000, 0, NULL), GF_OK);
    assert_memory_equal(back, plain, 1000);
    gf_source_close(&s);

    assert_int_equal(gf_gunzip_head(in, back, 200000, &got, NULL), GF_OK);
    assert_int_equal(got, 200000);
    assert_memory_equal(back, plain, 200000);
    assert_int_equal(gf_gunzip_head(in, back, 500000, &got, NULL), GF_OK);
    assert_int_equal(got, plain_size);

    /* Plain bytes end where they are said to. */
    assert_int_equal(gf_source_open(&s, in, 10, 20, GF_PLAIN, NULL), GF_OK);
    assert_true(gf_source_random(s));
    assert_int_equal(gf_source_read(s, back, 20, 0, NULL), GF_OK);
    assert_memory_equal(back, file + 10, 20);
    assert_int_equal(gf_source_read(s, back, 20, 1, NULL), GF_EINPUT);
    assert_int_equal(gf_source_read(s, back, 1, UINT64_MAX, NULL), GF_EINPUT);
    assert_int_equal(gf_source_end(s, 20, NULL), GF_OK);
    assert_int_equal(gf_source_end(s, UINT64_MAX, NULL), GF_OK);
    assert_int_equal(gf_source_end(s, 19, NULL), GF_EINPUT);
    gf_source_close(&s);
    assert_int_equal(gf_source_open(&s, in, UINT64_MAX, UINT64_MAX, GF_PLAIN, NULL), GF_OK);
    assert_int_equal(gf_source_read(s, back, 1, 0, NULL), GF_EINPUT);
    gf_source_close(&s);
    gf_in_close(&in);
    assert_int_equal(gf_memory_used(), 0);
}

/* ---- faults ---- */

static void truncations(void **state)
{
    struct gf_error e;
    size_t got, whole;
    (void)state;
    fill_plain(600);
    for (int zlib = 0; zlib < 2; zlib++) {
        file_size = 0;
        if (zlib) {
            file_size = deflated(file, plain, plain_size, MAX_WBITS, 6);
        } else {
            add_member(0, 250);
            add_named_member(250, plain_size, 5);
        }
        whole = file_size;
        for (size_t n = 1; n < whole; n++) {
            put("f", file, n);
            if (read_all(zlib ? GF_ZLIB : GF_GZIP, 0, 100, &got, &e) != GF_EINPUT)
                fail_msg("the first %zu of %zu bytes are accepted", n, whole);
        }
    }
    file_size = whole - 1;
    expect_error(GF_ZLIB, "truncated");
}

/* In a member's header: the time, what the compressor tells of itself, and whether it is text. */
static bool harmless(size_t byte, unsigned bit)
{
    return (byte == 3 && bit == 0) || (byte >= 4 && byte < 10);
}

/* Bits above the end of the deflated data in the last byte of these belong to nothing. */
static bool padding(size_t byte, size_t end, size_t trailer)
{
    return byte + trailer + 1 == end;
}

static void bit_flips(void **state)
{
    struct gf_error e;
    size_t got, second;
    unsigned passed = 0;
    (void)state;
    fill_plain(300);
    file_size = 0;
    add_member(0, 120);
    second = file_size;
    add_member(120, plain_size);
    for (size_t i = 0; i < file_size * 8; i++) {
        const size_t byte = i / 8 < second ? i / 8 : i / 8 - second;
        file[i / 8] ^= (uint8_t)(1u << i % 8);
        put("f", file, file_size);
        file[i / 8] ^= (uint8_t)(1u << i % 8);
        if (read_all(GF_GZIP, 0, 64, &got, &e) == GF_OK) {
            assert_memory_equal(back, plain, plain_size);
            if (harmless(byte, i % 8))
                passed++;
            else if (!padding(byte, i / 8 < second ? second : file_size - second, 8))
                fail_msg("bit %zu of byte %zu is not noticed", i % 8, i / 8);
        }
    }
    assert_int_equal(passed, 2 * (6 * 8 + 1));

    file_size = deflated(file, plain, plain_size, MAX_WBITS, 6);
    for (size_t i = 0; i < file_size * 8; i++) {
        file[i / 8] ^= (uint8_t)(1u << i % 8);
        put("f", file, file_size);
        file[i / 8] ^= (uint8_t)(1u << i % 8);
        if (read_all(GF_ZLIB, 0, 64, &got, &e) != GF_EINPUT && !padding(i / 8, file_size, 4))
            fail_msg("bit %zu of byte %zu is not noticed", i % 8, i / 8);
    }
}

static void what_follows(void **state)
{
    static const char *const tails[] = {"x", "\x1f", "garbage behind the end", "\x1f\x8b",
                                        "\0\0\1"};
    static const size_t sizes[] = {1, 1, 22, 2, 3};
    size_t whole;
    (void)state;
    fill_plain(2000);
    file_size = 0;
    add_member(0, plain_size);
    whole = file_size;
    for (size_t i = 0; i < GF_COUNT(tails); i++) {
        char place[64];
        file_size = whole;
        add(tails[i], sizes[i]);
        snprintf(place, sizeof place, "%zu bytes from byte %zu on are behind the end",
                 i == 4 ? 1 : sizes[i], i == 4 ? whole + 2 : whole);
        expect_error(GF_GZIP, i == 3 ? "truncated" : place);
    }
    /* The zeros that are accepted do not hide what is behind them, however far. */
    file_size = whole;
    memset(file + file_size, 0, 2 * WINDOW);
    file_size += 2 * WINDOW;
    add("x", 1);
    expect_error(GF_GZIP, "1 bytes from byte");
    file_size = deflated(file, plain, plain_size, MAX_WBITS, 6);
    add("x", 1);
    expect_error(GF_ZLIB, "behind the end of the zlib data");
    /* Another member is more samples. */
    file_size = 0;
    add_member(0, plain_size);
    add_member(0, 1);
    expect_error(GF_GZIP, "more than the 2000 bytes");
    file_size = 0;
    add_member(0, 1999);
    expect_error(GF_GZIP, "inflate to 1999 bytes");
}

/* Whatever number of bytes there is: the checksum counts. */
static void any_total(void **state)
{
    struct gf_in *in;
    struct gf_source *s;
    struct gf_error e;
    (void)state;
    fill_plain(200000);
    for (int damaged = 0; damaged < 2; damaged++) {
        file_size = 0;
        add_member(0, plain_size);
        file[file_size - 6] ^= (uint8_t)damaged;
        put("f", file, file_size);
        assert_int_equal(gf_in_open(&in, "f", NULL), GF_OK);
        assert_int_equal(gf_source_open(&s, in, 0, UINT64_MAX, GF_GZIP, NULL), GF_OK);
        assert_int_equal(gf_source_read(s, back, 100, 0, NULL), GF_OK);
        assert_int_equal(gf_source_end(s, UINT64_MAX, &e), damaged ? GF_EINPUT : GF_OK);
        if (damaged)
            assert_non_null(strstr(e.text, "incorrect data check"));
        gf_source_close(&s);
        gf_in_close(&in);
    }
}

/* zlib's header may ask for a dictionary, which nobody has. */
static void dictionary(void **state)
{
    z_stream z = {0};
    (void)state;
    fill_plain(500);
    assert_int_equal(deflateInit(&z, 6), Z_OK);
    assert_int_equal(deflateSetDictionary(&z, plain, 100), Z_OK);
    z.next_in = plain;
    z.avail_in = (uInt)plain_size;
    z.next_out = file;
    z.avail_out = (uInt)MOST;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    file_size = MOST - z.avail_out;
    deflateEnd(&z);
    expect_error(GF_ZLIB, "dictionary");
}

static void allocations(void **state)
{
    struct gf_error e;
    uint64_t calls;
    size_t got;
    (void)state;
    fill_plain(100000);
    file_size = 0;
    add_member(0, plain_size);
    put("f", file, file_size);
    gf_alloc_fail_at(0, 0);
    assert_int_equal(read_all(GF_GZIP, 0, 1000, &got, &e), GF_OK);
    calls = gf_alloc_calls();
    assert_true(calls >= 5); /* the source, the window, and what zlib takes */
    for (int sticky = 0; sticky < 2; sticky++)
        for (uint64_t n = 1; n <= calls; n++) {
            enum gf_status status;
            gf_alloc_fail_at(n, sticky);
            status = read_all(GF_GZIP, 0, 1000, &got, &e);
            gf_alloc_fail_at(0, 0);
            if (status != GF_EMEMORY || !strstr(e.text, "f: "))
                fail_msg("allocation %llu: status %d, %s", (unsigned long long)n, (int)status,
                         e.text);
            assert_int_equal(gf_memory_used(), 0);
        }
}

static void failing_reads(void **state)
{
    static const int errors[] = {EIO, EINTR, GF_IO_SHORT, EINVAL};
    struct gf_error e;
    size_t got;
    uint64_t calls;
    (void)state;
    fill_plain(900000);
    file_size = 0;
    add_member(0, plain_size);
    put("f", file, file_size);
    gf_io_fail_at("pread", 0, 0, 0);
    assert_int_equal(read_all(GF_GZIP, 0, 100000, &got, &e), GF_OK);
    calls = gf_io_calls("pread");
    assert_true(calls >= 2);
    for (uint64_t n = 1; n <= calls; n++)
        for (size_t i = 0; i < GF_COUNT(errors); i++) {
            enum gf_status status;
            gf_io_fail_at("pread", n, errors[i], 0);
            status = read_all(GF_GZIP, 0, 100000, &got, &e);
            gf_io_fail_at("pread", 0, 0, 0);
            if (errors[i] != EIO && errors[i] != EINVAL) {
                assert_int_equal(status, GF_OK);
                assert_memory_equal(back, plain, plain_size);
            } else {
                assert_int_equal(status, GF_EINPUT);
            }
            assert_int_equal(gf_memory_used(), 0);
        }
}

/* Damage at random to a file with every kind of block: an error or the very bytes. */
static void random_damage(void **state)
{
    uint32_t seed = 99;
    struct gf_error e;
    size_t got;
    static uint8_t whole[1 << 16];
    size_t size;
    (void)state;
    fill_plain(6000);
    file_size = 0;
    for (int level = 0; level < 10; level += 3) {
        static uint8_t packed[MOST];
        add(packed, deflated(packed, plain + level * 500, 1500, 16 + MAX_WBITS, level));
    }
    size = file_size;
    memcpy(whole, file, size);
    for (int round = 0; round < 3000; round++) {
        memcpy(file, whole, size);
        file_size = size;
        for (int k = 0; k < 1 + round % 3; k++) {
            seed = seed * 1664525u + 1013904223u;
            switch (seed >> 30) {
            case 0: file[(seed >> 8) % file_size] = (uint8_t)seed; break;
            case 1: file_size = 1 + (seed >> 8) % file_size; break;
            case 2: memmove(file + (seed >> 12) % 100, file, file_size / 2); break;
            default: file[(seed >> 8) % file_size] ^= (uint8_t)(1u << (seed & 7)); break;
            }
        }
        put("f", file, file_size);
        if (read_all(GF_GZIP, 0, 777, &got, &e) == GF_OK)
            assert_memory_equal(back, plain, plain_size);
        assert_int_equal(gf_memory_used(), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members),       cmocka_unit_test(window_edges),
        cmocka_unit_test(any_order),     cmocka_unit_test(truncations),
        cmocka_unit_test(bit_flips),     cmocka_unit_test(what_follows),
        cmocka_unit_test(any_total),     cmocka_unit_test(dictionary),
        cmocka_unit_test(allocations),   cmocka_unit_test(failing_reads),
        cmocka_unit_test(random_damage),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
