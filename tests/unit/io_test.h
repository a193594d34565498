/* What the tests of file formats share: whole files in and out of memory. */
#ifndef GPUFILT_TESTS_UNIT_IO_TEST_H
#define GPUFILT_TESTS_UNIT_IO_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "alloc.h"
#include "io/format.h"
#include "message.h"
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder of the test's own; scratch("x.png") is a path in it. */
static char scratch_folder[256];

static inline const char *scratch(const char *name)
{
    static char paths[8][512];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", scratch_folder, name);
    return path;
}

static inline int make_scratch(void **state)
{
    const char *base = getenv("TMPDIR");
    (void)state;
    snprintf(scratch_folder, sizeof scratch_folder, "%s/gpufilt-test-XXXXXX",
             base ? base : "/tmp");
    gf_message_set_verbosity(GF_QUIET);
    return mkdtemp(scratch_folder) ? 0 : -1;
}

/* Removes the files the test named, then the folder; fails when anything is left, as a
 * temporary file of an output would be. */
static inline int remove_scratch(void **state)
{
    static const char *const names[] = {"in", "out.png", "out2.png", "out.pgm", "out.ppm",
                                        "out.pnm", "out.pam", "out.pfm", "out.tif", "out.raw",
                                        "out.nii"};
    (void)state;
    for (size_t i = 0; i < GF_COUNT(names); i++)
        unlink(scratch(names[i]));
    return rmdir(scratch_folder);
}

static inline void put_file(const char *path, const void *data, size_t size)
{
    /* Not O_TRUNC: some file systems flush a file to disk that was emptied and rewritten. */
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), (ssize_t)size);
    assert_int_equal(ftruncate(fd, (off_t)size), 0);
    assert_int_equal(close(fd), 0);
}

/* The bytes of a file, to be freed. */
static inline uint8_t *get_file(const char *path, size_t *size)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    uint8_t *data;
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    *size = (size_t)st.st_size;
    data = malloc(*size + 1);
    assert_non_null(data);
    assert_int_equal(read(fd, data, *size), (ssize_t)*size);
    assert_int_equal(close(fd), 0);
    return data;
}

/* One image as it came out of a reader. */
struct loaded {
    struct gf_image image;
    uint8_t *samples; /* from malloc, so that the allocator's failures do not hit it */
    uint64_t images;
    struct gf_error error;
};

/* Reads image `index` through all steps, in bands of an odd number of rows. */
static inline enum gf_status load(const char *path, uint64_t index, struct loaded *l)
{
    struct gf_reader *r = NULL;
    enum gf_status status;
    memset(l, 0, sizeof *l);
    status = gf_reader_open(&r, path, NULL, &l->error);
    if (status == GF_OK) {
        l->images = r->images;
        status = gf_reader_select(r, index, &l->image, &l->error);
    }
    if (status == GF_OK) {
        size_t bytes = gf_row_bytes(&l->image);
        l->samples = malloc((size_t)gf_image_bytes(&l->image));
        assert_non_null(l->samples);
        memset(l->samples, 0xa5, (size_t)gf_image_bytes(&l->image));
        for (uint64_t y = 0; y < l->image.height && status == GF_OK; y += 3)
            status = gf_reader_rows(r, y, gf_min(3, l->image.height - y), l->samples + y * bytes,
                                    &l->error);
    }
    if (status == GF_OK)
        status = gf_reader_finish(r, &l->error);
    gf_reader_close(&r);
    if (status == GF_OK)
        assert_string_equal(l->error.text, "");
    else
        assert_string_not_equal(l->error.text, "");
    return status;
}

static inline void unload(struct loaded *l)
{
    gf_meta_free(&l->image.meta);
    free(l->samples);
    l->samples = NULL;
}

static inline enum gf_status load_bytes(const void *data, size_t size, struct loaded *l)
{
    put_file(scratch("in"), data, size);
    return load(scratch("in"), 0, l);
}

/* Writes one image, in bands; the format is by the path. */
static inline enum gf_status save(const char *path, const struct gf_image *image,
                                  const void *samples, int level, unsigned threads,
                                  struct gf_error *e)
{
    const struct gf_write_options options = {.level = level, .threads = threads};
    const struct gf_out_options out_options = {.sync = GF_SYNC_NONE};
    const size_t bytes = gf_row_bytes(image);
    struct gf_writer *w = NULL;
    enum gf_status status = gf_writer_open(&w, path, gf_format_by_path(path), 1,
                                           gf_image_bytes(image), &options, &out_options, e);
    if (status == GF_OK)
        status = gf_writer_begin(w, image, e);
    for (uint64_t y = 0; y < image->height && status == GF_OK; y += 5)
        status = gf_writer_rows(w, (const uint8_t *)samples + y * bytes,
                                gf_min(5, image->height - y), e);
    if (status == GF_OK)
        status = gf_writer_end(w, e);
    if (status == GF_OK)
        status = gf_writer_commit(&w, e);
    gf_writer_abort(&w);
    return status;
}

/* A repeatable stream of numbers. */
static inline uint32_t next_random(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

static inline struct gf_image make_image(uint64_t width, uint64_t height, uint32_t channels,
                                         enum gf_type type)
{
    struct gf_image image = {.width = width, .height = height, .depth = 1, .channels = channels,
                             .type = type};
    image.color = channels < 3 ? GF_GRAY : GF_RGB;
    image.alpha = channels % 2 == 0 ? (int)channels - 1 : -1;
    return image;
}

/* The file `data` cut off at every length is refused. */
static inline void check_truncations(const uint8_t *data, size_t size)
{
    for (size_t n = 0; n < size; n++) {
        struct loaded l;
        enum gf_status status = load_bytes(data, n, &l);
        if (status != GF_EINPUT && status != GF_EFEATURE)
            fail_msg("the first %zu of %zu bytes gave status %d", n, size, (int)status);
        unload(&l);
    }
}

/* Every allocation of reading `data` fails in turn, once and for good: GF_EMEMORY, no leak. */
static inline void check_read_memory(const uint8_t *data, size_t size)
{
    struct loaded l;
    uint64_t used = gf_memory_used(), calls;
    gf_alloc_fail_at(0, 0);
    assert_int_equal(load_bytes(data, size, &l), GF_OK);
    unload(&l);
    calls = gf_alloc_calls();
    assert_true(calls > 0);
    for (int sticky = 0; sticky < 2; sticky++) {
        for (uint64_t n = 1; n <= calls; n++) {
            enum gf_status status;
            gf_alloc_fail_at(n, sticky);
            status = load_bytes(data, size, &l);
            gf_alloc_fail_at(0, 0);
            unload(&l);
            if (status != GF_EMEMORY)
                fail_msg("allocation %llu of %llu failed and the status was %d",
                         (unsigned long long)n, (unsigned long long)calls, (int)status);
            assert_int_equal(gf_memory_used(), used);
        }
    }
}

/* The same for writing; the output must not appear. */
static inline void check_write_memory(const char *path, const struct gf_image *image,
                                      const void *samples, unsigned threads)
{
    struct gf_error e = {{0}};
    uint64_t used = gf_memory_used(), calls;
    gf_alloc_fail_at(0, 0);
    assert_int_equal(save(path, image, samples, -1, threads, &e), GF_OK);
    calls = gf_alloc_calls();
    assert_true(calls > 0);
    for (int sticky = 0; sticky < 2; sticky++) {
        for (uint64_t n = 1; n <= calls; n++) {
            enum gf_status status;
            unlink(path);
            gf_alloc_fail_at(n, sticky);
            status = save(path, image, samples, -1, threads, &e);
            gf_alloc_fail_at(0, 0);
            if (status != GF_EMEMORY)
                fail_msg("allocation %llu of %llu failed and the status was %d",
                         (unsigned long long)n, (unsigned long long)calls, (int)status);
            assert_int_equal(access(path, F_OK), -1);
            assert_int_equal(gf_memory_used(), used);
        }
    }
}

#endif
