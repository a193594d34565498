/* Damaged NRRDs and MetaImages: every truncation, mutated headers, memory that runs out and system
 * calls that fail. (What sound files hold is checked in tests/cli/nrrd_metaimage.bats.) */
#include "io_test.h"

#include "io/sys.h"

#include <zlib.h>

/* A file made up of a header and bytes. */
struct made {
    uint8_t bytes[2048];
    size_t size, header;
};

static struct made make(const char *header, const void *samples, size_t size)
{
    struct made m = {.header = strlen(header)};
    memcpy(m.bytes, header, m.header);
    memcpy(m.bytes + m.header, samples, size);
    m.size = m.header + size;
    return m;
}

/* 24 samples, deflated with zlib's header or gzip's. */
static struct made make_deflated(const char *header, int window)
{
    uint8_t samples[24], packed[128];
    z_stream z = {.next_in = samples, .avail_in = sizeof samples, .next_out = packed,
                  .avail_out = sizeof packed};
    for (size_t i = 0; i < sizeof samples; i++)
        samples[i] = (uint8_t)(7 * i + i % 3);
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return make(header, packed, z.total_out);
}

#define NRRD_HEAD                                                                                \
    "NRRD0005\n# seed\ncontent: c\ntype: uchar\ndimension: 5\nspace: LPS\nsizes: 2 3 2 2 1\n"    \
    "space directions: none (0.5,0,0) (0,1,0) (0,0,2) none\nkinds: vector space space space "    \
    "list\nlabels: \"a\" \"b\" \"c\" \"d\" \"e\"\ncenterings: none cell cell cell none\n"         \
    "space units: \"mm\" \"um\" \"mm\"\nspace origin: (1,2,3)\n"                                  \
    "measurement frame: (1,0,0) (0,1,0) (0,0,1)\nendian: little\nk:=v\\\\w\n"
#define PLAIN_HEAD                                                                               \
    "NRRD0001\ntype: uchar\ndimension: 2\nsizes: 6 4\nspacings: 1 2\naxis mins: 1 2\n"           \
    "axis maxs: 6 8\nunits: \"um\" \"mm\"\n"
#define META_HEAD                                                                                \
    "ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\n"         \
    "TransformMatrix = 1 0 0 0 1 0 0 0 1\nOffset = 1 2 3\nCenterOfRotation = 0 0 0\n"            \
    "AnatomicalOrientation = RAI\nElementSpacing = 1 2 3\nDimSize = 2 3 4\nMine = yes\n"         \
    "DistanceUnits = mm\nElementNumberOfChannels = 1\nElementType = MET_UCHAR\n"

#define SEEDS 6

static struct made seed(int which)
{
    static const char numbers[] = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 240";
    static const char bytes[] = "abcdefghijklmnopqrstuvwx";
    switch (which) {
    case 0:
        return make(NRRD_HEAD "encoding: raw\n\n", bytes, 24);
    case 1:
        return make_deflated(NRRD_HEAD "encoding: gzip\nline skip: 0\nbyte skip: 0\n\n", 31);
    case 2:
        return make(PLAIN_HEAD "encoding: ascii\n\n", numbers, sizeof numbers - 1);
    case 3:
        return make(META_HEAD "ElementDataFile = LOCAL\n", bytes, 24);
    case 4:
        return make_deflated(META_HEAD "CompressedData = True\nElementDataFile = LOCAL\n", 15);
    default:
        return make(META_HEAD "HeaderSize = -1\nElementDataFile = LOCAL\n", bytes, 24);
    }
}

/* Of all samples that read_all read last. */
static uLong checksum;

static enum gf_status read_image(struct gf_reader *r, uint64_t index, struct gf_error *e)
{
    struct gf_image image;
    void *rows = NULL;
    enum gf_status status = gf_reader_select(r, index, &image, e);

    if (status != GF_OK)
        return status;
    if (gf_image_bytes(&image) < 1 << 20) { /* else a gzip bomb: the rows stay where they are */
        const uint64_t count = image.height * image.depth;
        rows = malloc((size_t)gf_row_bytes(&image) * 3);
        assert_non_null(rows);
        for (uint64_t y = 0; y < count && status == GF_OK; y += 3) {
            const uint64_t part = gf_min(3, count - y);
            status = gf_reader_rows(r, y, part, rows, e);
            if (status == GF_OK)
                checksum = crc32(checksum, rows, (uInt)(part * gf_row_bytes(&image)));
        }
    }
    free(rows);
    gf_meta_free(&image.meta);
    return status;
}

/* Reads to the end whatever comes; a failure has words. */
static enum gf_status read_all(const struct made *m)
{
    struct gf_error e = {{0}};
    struct gf_reader *r = NULL;
    enum gf_status status;

    checksum = crc32(0, NULL, 0);
    put_file(scratch("in"), m->bytes, m->size);
    status = gf_reader_open(&r, scratch("in"), NULL, &e);
    for (uint64_t i = 0; status == GF_OK && i < gf_min(r->images, 100); i++)
        status = read_image(r, i, &e);
    if (status == GF_OK)
        status = gf_reader_finish(r, &e);
    gf_reader_close(&r);
    assert_int_equal(status == GF_OK, e.text[0] == '\0');
    assert_int_equal(gf_memory_used(), 0);
    return status;
}

static void seeds_are_sound(void **state)
{
    (void)state;
    for (int s = 0; s < SEEDS; s++) {
        struct made m = seed(s);
        assert_int_equal(read_all(&m), GF_OK);
    }
}

static void truncations(void **state)
{
    (void)state;
    for (int s = 0; s < SEEDS; s++) {
        const struct made whole = seed(s);
        for (size_t size = 0; size < whole.size; size++) {
            struct made m = whole;
            enum gf_status status;
            m.size = size;
            status = read_all(&m);
            /* Text may lose the last digit of its last number unseen. */
            if (status != GF_EINPUT && !(status == GF_EFEATURE && size < 8) &&
                !(s == 2 && status == GF_OK && size >= whole.size - 2))
                fail_msg("seed %d cut to %zu of %zu bytes: status %d", s, size, whole.size,
                         (int)status);
        }
    }
}

static void flipped_bits(void **state)
{
    (void)state;
    for (int s = 0; s < SEEDS; s++) {
        struct made m = seed(s);
        uLong right;
        assert_int_equal(read_all(&m), GF_OK);
        right = checksum;
        for (size_t bit = 0; bit < 8 * m.size; bit++) {
            m.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            /* A header in which something else became true may be sound; other samples not. */
            if (read_all(&m) == GF_OK && bit / 8 >= m.header && (s == 1 || s == 4) &&
                checksum != right)
                fail_msg("seed %d: bit %zu of packed byte %zu went unseen", s, bit % 8,
                         bit / 8 - m.header);
            m.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
    }
}

/* Pieces of headers, numbers at their limits among them, in each other's places. */
static void mutations(void **state)
{
    static const char *const pieces[] = {
        "0", "-1", "1", "18446744073709551615", "9223372036854775807", "4294967296", "1e308", "nan",
        "inf", "none", "(", ")", ",", "\"", "\\", "\n", "\n\n", "\r\n", ": ", ":=", " = ", "#",
        "%d",
        "LIST", "LOCAL", "list", "domain", "vector", "space: RAS\n", "space dimension: 3\n",
        "kinds: ", "sizes: ", "HeaderSize = ", "encoding: raw\n", "encoding: gzip\n",
        "line skip: 1\n",
        "byte skip: -1\n", "data file: in\n", "data file: LIST\nin\nin\n",
        "data file: in%d 0 1 1\n",
        "ElementDataFile = in\n", "ElementDataFile = LIST\nin\n", "CompressedData = True\n",
        "BinaryData = False\n", "\xff", "\xc2\xb5m"};
    const char *variable = getenv("GPUFILT_TEST_MUTATIONS");
    const long rounds = variable ? strtol(variable, NULL, 10) : 6000;
    uint32_t random = 5;
    long good = 0;
    (void)state;

    for (long i = 0; i < rounds; i++) {
        struct made m = seed((int)(i % SEEDS));
        for (uint32_t n = 1 + next_random(&random) % 4; n > 0; n--) {
            const char *piece = pieces[next_random(&random) % GF_COUNT(pieces)];
            size_t at = next_random(&random) % (m.header + 1), length = strlen(piece);
            size_t cut = gf_min(next_random(&random) % 12, m.size - at);
            memmove(m.bytes + at + length, m.bytes + at + cut, m.size - at - cut);
            memcpy(m.bytes + at, piece, length);
            m.size += length - cut;
        }
        good += read_all(&m) == GF_OK;
    }
    /* Some stay sound, most do not. */
    assert_in_range(good, 1, rounds / 2);
}

static void reading_memory(void **state)
{
    (void)state;
    for (int s = 0; s < SEEDS; s++) {
        struct made m = seed(s);
        check_read_memory(m.bytes, m.size);
    }
}

/* ---- writing ---- */

static const char *const outputs[] = {"out.nrrd", "out.nhdr", "out.mha", "out.mhd"};

/* What a seed is when it has been read. */
static void load_seed(int which, struct loaded *l)
{
    struct made m = seed(which);
    put_file(scratch("in"), m.bytes, m.size);
    assert_int_equal(load(scratch("in"), 0, l), GF_OK);
}

static void writing_memory(void **state)
{
    (void)state;
    gf_message_set_verbosity(GF_QUIET);
    for (int s = 0; s < 4; s += 3) { /* an NRRD and a MetaImage */
        struct loaded l;
        load_seed(s, &l);
        l.image.depth = 1; /* save() writes rows of one plane */
        for (size_t o = 0; o < GF_COUNT(outputs); o++)
            check_write_memory(scratch(outputs[o]), &l.image, l.samples, 1);
        unload(&l);
    }
    unlink(scratch("out.raw"));
}

#ifdef GPUFILT_TEST_HOOKS
/* Each system call fails in turn: both files of a detached output are there or none, and GF_OK is
 * returned only when they are. */
static void writing_faults(void **state)
{
    static const char *const kinds[] = {"open", "pwrite", "write", "fallocate", "ftruncate",
                                        "fsync", "linkat", "renameat", "close"};
    static const char *const data[] = {NULL, "out.raw", NULL, "out.raw"};
    struct loaded l;
    unsigned points = 0;
    (void)state;
    load_seed(0, &l);
    l.image.depth = 1;
    for (size_t o = 0; o < GF_COUNT(outputs); o++)
        for (size_t k = 0; k < GF_COUNT(kinds); k++)
            for (unsigned n = 1; n < 12; n++) {
                struct gf_error e = {{0}};
                enum gf_status status;
                unlink(scratch(outputs[o]));
                unlink(scratch("out.raw"));
                gf_io_fail_at(kinds[k], n, EIO, 0);
                status = save(scratch(outputs[o]), &l.image, l.samples, -1, 1, &e);
                gf_io_fail_at(kinds[k], 0, 0, 0);
                assert_int_equal(status == GF_OK, e.text[0] == '\0');
                if (status == GF_OK) {
                    assert_int_equal(access(scratch(outputs[o]), F_OK), 0);
                    assert_true(!data[o] || access(scratch(data[o]), F_OK) == 0);
                } else if (strcmp(kinds[k], "fsync") != 0 && strcmp(kinds[k], "close") != 0) {
                    assert_int_equal(access(scratch(outputs[o]), F_OK), -1);
                }
                points += status != GF_OK;
            }
    unload(&l);
    assert_true(points > 20);
}
#endif

static int remove_all(void **state)
{
    for (size_t o = 0; o < GF_COUNT(outputs); o++)
        unlink(scratch(outputs[o]));
    return remove_scratch(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seeds_are_sound), cmocka_unit_test(truncations),
        cmocka_unit_test(flipped_bits),    cmocka_unit_test(mutations),
        cmocka_unit_test(reading_memory),  cmocka_unit_test(writing_memory),
#ifdef GPUFILT_TEST_HOOKS
        cmocka_unit_test(writing_faults),
#endif
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_all);
}
