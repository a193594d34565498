/* Every system call of reading and of writing a file fails in turn, once and for good: the
 * old content or the whole new one stands, nothing is left behind, nothing is leaked, and
 * GF_OK is returned only where the fault did no harm. */
#include "alloc.h"
#include "io/file.h"
#include "io/sys.h"
#include "util.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "folder.h"

#define OLD "the old content"
#define NEW "Xew content that is longer, in three pieces."

static const int errors[] = {EIO, ENOSPC, EDQUOT, EMFILE, ENOMEM, EACCES, EPERM, EFBIG, EINTR,
                             EAGAIN, EINVAL, EOPNOTSUPP, EEXIST, ENOENT, ENOSYS};
static const char *const kinds[] = {"open", "fstat", "read", "pread", "write", "pwrite",
                                    "fallocate", "ftruncate", "fchmod", "fsync", "linkat",
                                    "renameat", "close"};
static unsigned points, survived;

static enum gf_status fill_output(struct gf_out *out, struct gf_error *e)
{
    char back[8];
    size_t got;

    GF_TRY(gf_out_reserve(out, 5000, e));
    GF_TRY(gf_out_write(out, "new content that ", 17, e));
    GF_TRY(gf_out_write(out, "is longer, ", 11, e));
    GF_TRY(gf_out_write_at(out, "X", 1, 0, e));
    GF_TRY(gf_out_read(out, back, 3, 0, &got, e));
    if (got != 3 || memcmp(back, "Xew", 3) != 0)
        return gf_fail(e, GF_NO, "read back wrong bytes");
    return gf_out_write(out, "in three pieces.", 16, e);
}

static enum gf_status write_new(const char *path, const struct gf_out_options *options,
                                struct gf_error *e)
{
    struct gf_out *out;
    enum gf_status status = gf_out_open(&out, path, options, e);

    if (status != GF_OK) {
        assert_null(out);
        return status;
    }
    status = fill_output(out, e);
    if (status == GF_OK)
        status = gf_out_commit(&out, e);
    else
        gf_out_abort(&out);
    assert_null(out);
    return status;
}

/* Whether an output may succeed although this call failed. */
static int harmless(const char *kind, int error, uint64_t n)
{
    if (error == EINTR || error == GF_IO_SHORT)
        return 1;
    if (strcmp(kind, "fallocate") == 0)
        return error == EOPNOTSUPP || error == ENOSYS || error == EINVAL;
    if (strcmp(kind, "fsync") == 0)
        return error == EINVAL;
    /* The folder that may not be listed, the file system without unnamed files, taken names. */
    if (strcmp(kind, "open") == 0)
        return (n == 1 && error == EACCES) || (n >= 2 && (error == EOPNOTSUPP || error == ENOENT ||
                                                         error == EINVAL || error == EEXIST));
    if (strcmp(kind, "linkat") == 0)
        return error == EEXIST;
    /* The rename that does not replace is tried in another way. */
    if (strcmp(kind, "renameat") == 0)
        return error == EINVAL || error == ENOSYS;
    /* The folder's descriptor. */
    if (strcmp(kind, "close") == 0)
        return n > 1;
    /* A pipe that is not ready is waited for. */
    return (strcmp(kind, "write") == 0 || strcmp(kind, "read") == 0) && error == EAGAIN;
}

/* The way of the output under test. */
struct way {
    const char *name;
    int exists;          /* there is an old file */
    int named;           /* the file system has no unnamed files */
    struct gf_out_options options;
};

static const struct way ways[] = {
    {"new", 0, 0, {.seekable = true}},
    {"old", 1, 0, {.seekable = true}},
    {"new, no clobber", 0, 0, {.seekable = true, .no_clobber = true}},
    {"new, named", 0, 1, {.seekable = true}},
    {"old, named", 1, 1, {.seekable = true}},
    {"new, no clobber, named", 0, 1, {.seekable = true, .no_clobber = true}},
    {"old, not synced", 1, 0, {.seekable = true, .sync = GF_SYNC_NONE}},
};

static void check_writing(const struct way *way, const char *kind, uint64_t n, int error,
                          int sticky, enum gf_status status, const struct gf_error *e)
{
    char content[128];
    ssize_t got = get("out", content, sizeof content - 1);
    int whole_new, whole_old;

    content[got > 0 ? got : 0] = '\0';
    whole_new = got >= 0 && strcmp(content, NEW) == 0;
    whole_old = way->exists ? got >= 0 && strcmp(content, OLD) == 0 : got < 0;
    if (!whole_new && !whole_old)
        fail_msg("%s, %s:%llu:%d:%d left \"%s\"", way->name, kind, (unsigned long long)n, error,
                 sticky, content);
    if (status == GF_OK && !whole_new)
        fail_msg("%s, %s:%llu:%d:%d: success, but not the new content", way->name, kind,
                 (unsigned long long)n, error, sticky);
    if (status == GF_OK && !harmless(kind, error, n))
        fail_msg("%s, %s:%llu:%d:%d was not noticed", way->name, kind, (unsigned long long)n,
                 error, sticky);
    if (status != GF_OK && whole_new && !strstr(e->text, "the file is complete"))
        fail_msg("%s, %s:%llu:%d:%d: \"%s\", but replaced", way->name, kind,
                 (unsigned long long)n, error, sticky, e->text);
    if (status != GF_OK && (status != GF_EOUTPUT || !strstr(e->text, "out")))
        fail_msg("status %d, \"%s\"", (int)status, e->text);
    if (entries(".") != (got >= 0))
        fail_msg("%s, %s:%llu:%d:%d left a file behind", way->name, kind, (unsigned long long)n,
                 error, sticky);
}

static void sweep_writing(const struct way *way, const char *kind, int error, int sticky)
{
    for (uint64_t n = 1;; n++) {
        struct gf_error e = {""};
        enum gf_status status;
        int descriptors = entries("/proc/self/fd");
        uint64_t calls;

        unlink("out");
        if (way->exists) {
            put_text("out", OLD);
            assert_int_equal(chmod("out", 0640), 0);
        }
        gf_io_fail_at(kind, n, error, sticky);
        if (way->named)
            gf_io_fail_also("open", 2, EOPNOTSUPP, 0);
        status = write_new("out", &way->options, &e);
        calls = gf_io_calls(kind);
        gf_io_fail_at("open", 0, 0, 0);
        assert_int_equal(entries("/proc/self/fd"), descriptors);
        assert_int_equal(gf_memory_used(), 0);
        if (calls < n) {
            assert_int_equal(status, GF_OK);
            assert_file("out", NEW);
            break;
        }
        points++;
        survived += status == GF_OK;
        check_writing(way, kind, n, error, sticky, status, &e);
        assert_true(n < 2000);
    }
}

static void every_call_of_writing(void **state)
{
    (void)state;
    points = survived = 0;
    for (size_t w = 0; w < GF_COUNT(ways); w++)
        for (size_t k = 0; k < GF_COUNT(kinds); k++)
            for (size_t i = 0; i < GF_COUNT(errors); i++)
                for (int sticky = 0; sticky <= 1; sticky++)
                    /* Interrupted for ever is not a fault that exists. */
                    if (!(sticky && (errors[i] == EINTR || errors[i] == EAGAIN)))
                        sweep_writing(&ways[w], kinds[k], errors[i], sticky);
    print_message("%u failing calls, %u without harm\n", points, survived);
    assert_true(points > 1000 && survived > 10 && survived < points / 2);
}

static void every_call_of_streaming(void **state)
{
    static const struct gf_out_options plain, seekable = {.seekable = true};
    int saved = dup(1);

    (void)state;
    fflush(stdout);
    points = survived = 0;
    for (int spool = 0; spool <= 1; spool++)
        for (size_t k = 0; k < GF_COUNT(kinds); k++)
            for (size_t i = 0; i < GF_COUNT(errors); i++)
                for (uint64_t n = 1;; n++) {
                    struct gf_error e = {""};
                    struct gf_out *out;
                    enum gf_status status;
                    char content[128];
                    ssize_t got;
                    uint64_t calls;
                    int fd = open("to", O_CREAT | O_TRUNC | O_WRONLY, 0600);

                    dup2(fd, 1);
                    close(fd);
                    gf_io_fail_at(kinds[k], n, errors[i], 0);
                    status = gf_out_open(&out, "-", spool ? &seekable : &plain, &e);
                    if (status == GF_OK) {
                        status = gf_out_write(out, NEW, sizeof NEW - 1, &e);
                        if (status == GF_OK)
                            status = gf_out_commit(&out, &e);
                        else
                            gf_out_abort(&out);
                    }
                    calls = gf_io_calls(kinds[k]);
                    gf_io_fail_at("open", 0, 0, 0);
                    dup2(saved, 1);
                    got = get("to", content, sizeof content);
                    if (status == GF_OK &&
                        (got != sizeof NEW - 1 || memcmp(content, NEW, (size_t)got) != 0))
                        fail_msg("success, but not the new content");
                    if (calls < n)
                        break;
                    points++;
                    survived += status == GF_OK;
                    if (status == GF_OK && !harmless(kinds[k], errors[i], n + 1) &&
                        /* The spool's descriptor, when everything has been copied. */
                        !(spool && n > 1 && strcmp(kinds[k], "close") == 0))
                        fail_msg("%s:%llu:%d was not noticed", kinds[k], (unsigned long long)n,
                                 errors[i]);
                }
    close(saved);
    print_message("%u failing calls, %u without harm\n", points, survived);
    assert_true(points > 60);
}

static enum gf_status read_old(const char *path, struct gf_error *e)
{
    struct gf_in *in;
    char content[sizeof OLD];
    enum gf_status status = gf_in_open(&in, path, e);

    if (status != GF_OK)
        return status;
    status = gf_in_read(in, content, 4, 0, e);
    if (status == GF_OK)
        status = gf_in_read(in, content + 4, sizeof OLD - 5, 4, e);
    if (status == GF_OK)
        status = gf_in_unchanged(in, e);
    if (status == GF_OK && memcmp(content, OLD, sizeof OLD - 1) != 0)
        status = gf_fail(e, GF_NO, "read wrong bytes");
    gf_in_close(&in);
    return status;
}

static void every_call_of_reading(void **state)
{
    int saved = dup(0);

    (void)state;
    points = 0;
    put_text("in", OLD);
    for (int pipe_in = 0; pipe_in <= 1; pipe_in++)
        for (size_t k = 0; k < GF_COUNT(kinds); k++)
            for (size_t i = 0; i < GF_COUNT(errors); i++)
                for (int sticky = 0; sticky <= (errors[i] != EINTR && errors[i] != EAGAIN);
                     sticky++)
                    for (uint64_t n = 1;; n++) {
                        struct gf_error e = {""};
                        enum gf_status status;
                        uint64_t calls;
                        int ends[2], descriptors;

                        if (pipe_in) {
                            assert_int_equal(pipe(ends), 0);
                            assert_int_equal(write(ends[1], OLD, sizeof OLD - 1), sizeof OLD - 1);
                            close(ends[1]);
                            dup2(ends[0], 0);
                            close(ends[0]);
                        }
                        descriptors = entries("/proc/self/fd");
                        gf_io_fail_at(kinds[k], n, errors[i], sticky);
                        status = read_old(pipe_in ? "-" : "in", &e);
                        calls = gf_io_calls(kinds[k]);
                        gf_io_fail_at("open", 0, 0, 0);
                        assert_int_equal(entries("/proc/self/fd"), descriptors);
                        assert_int_equal(gf_memory_used(), 0);
                        if (calls < n) {
                            assert_int_equal(status, GF_OK);
                            break;
                        }
                        points++;
                        /* Closing an input loses nothing. */
                        if (strcmp(kinds[k], "close") != 0 && errors[i] != EINTR &&
                            !(errors[i] == EAGAIN && strcmp(kinds[k], "read") == 0)) {
                            assert_int_equal(status, GF_EINPUT);
                            assert_non_null(strstr(e.text, "in"));
                        } else {
                            assert_int_equal(status, GF_OK);
                        }
                    }
    dup2(saved, 0);
    close(saved);
    print_message("%u failing calls\n", points);
    assert_true(points > 150);
}

static void short_counts(void **state)
{
    static const struct gf_out_options seekable = {.seekable = true};
    static const char *const moving[] = {"read", "pread", "write", "pwrite"};
    struct gf_error e = {""};
    int saved = dup(0), saved_out = dup(1), ends[2];

    (void)state;
    fflush(stdout);
    put_text("in", OLD);
    for (size_t k = 0; k < GF_COUNT(moving); k++)
        for (int sticky = 0; sticky <= 1; sticky++) {
            unlink("out");
            gf_io_fail_at(moving[k], 1, GF_IO_SHORT, sticky);
            assert_int_equal(write_new("out", &seekable, &e), GF_OK);
            assert_file("out", NEW);
            assert_int_equal(read_old("in", &e), GF_OK);
            assert_int_equal(pipe(ends), 0);
            dup2(ends[1], 1);
            assert_int_equal(write_new("-", &seekable, &e), GF_OK);
            dup2(saved_out, 1);
            close(ends[1]);
            dup2(ends[0], 0);
            close(ends[0]);
            struct gf_in *in;
            char content[sizeof NEW] = "";
            assert_int_equal(gf_in_open(&in, "-", &e), GF_OK);
            assert_int_equal(gf_in_read(in, content, sizeof NEW - 1, 0, &e), GF_OK);
            assert_int_equal(gf_in_size(in), sizeof NEW - 1);
            assert_string_equal(content, NEW);
            gf_in_close(&in);
            dup2(saved, 0);
        }
    gf_io_fail_at("open", 0, 0, 0);
    close(saved);
    close(saved_out);
}

static void no_memory(void **state)
{
    static const struct gf_out_options seekable = {.seekable = true};
    struct gf_error e;
    uint64_t calls;

    (void)state;
    put_text("out", OLD);
    for (uint64_t n = 1;; n++) {
        gf_alloc_fail_at(n, 1);
        enum gf_status status = read_old("out", &e);
        calls = gf_alloc_calls();
        assert_int_equal(status, calls < n ? GF_OK : GF_EMEMORY);
        if (calls < n)
            break;
    }
    for (uint64_t n = 1;; n++) {
        put_text("out", OLD);
        gf_alloc_fail_at(n, 1);
        enum gf_status status = write_new("out", &seekable, &e);
        calls = gf_alloc_calls();
        assert_int_equal(status, calls < n ? GF_OK : GF_EMEMORY);
        assert_file("out", calls < n ? NEW : OLD);
        if (calls < n)
            break;
    }
    gf_alloc_fail_at(0, 0);
    assert_int_equal(entries("."), 1);
}

/* Two made one name meanwhile: the second, which may not replace, notices. */
static void created_meanwhile(void **state)
{
    static const struct gf_out_options keep = {.no_clobber = true};

    (void)state;
    /* With the rename that does not replace, and with the link where there is none. */
    for (int old_way = 0; old_way <= 1; old_way++) {
        struct gf_error e;
        struct gf_out *out;
        unlink("out");
        gf_io_fail_at("renameat", old_way, EINVAL, 1);
        assert_int_equal(gf_out_open(&out, "out", &keep, &e), GF_OK);
        assert_int_equal(gf_out_write(out, "new", 3, &e), GF_OK);
        put_text("out", OLD);
        assert_int_equal(gf_out_commit(&out, &e), GF_EOUTPUT);
        gf_io_fail_at("open", 0, 0, 0);
        assert_non_null(strstr(e.text, "meanwhile"));
        assert_file("out", OLD);
        assert_int_equal(entries("."), 1);
    }
}

/* One process' content: its letter, as often as its length says. */
static void write_letter(char letter, int rounds, int named)
{
    static char data[40000];

    memset(data, letter, sizeof data);
    for (int i = 0; i < rounds; i++) {
        const struct gf_out_options options = {.sync = i % 8 ? GF_SYNC_NONE : GF_SYNC_EACH};
        size_t size = 1000 * (size_t)(letter - '@');
        struct gf_out *out;
        if (named)
            gf_io_fail_at("open", 2, EOPNOTSUPP, 0);
        if (gf_out_open(&out, "out", &options, NULL) != GF_OK)
            _exit(1);
        if (gf_out_write(out, data, size / 2, NULL) != GF_OK ||
            gf_out_write(out, data, size - size / 2, NULL) != GF_OK)
            _exit(2);
        if (gf_out_commit(&out, NULL) != GF_OK)
            _exit(3);
    }
    _exit(0);
}

static void concurrent_writers(void **state)
{
    static char content[40000];
    pid_t children[8];
    int left = 8, result;

    (void)state;
    put("out", "", 0);
    for (int i = 0; i < 8; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0)
            write_letter((char)('A' + i), 100, i & 1);
    }
    while (left > 0) {
        ssize_t got = get("out", content, sizeof content);
        if (got != 0)
            assert_int_equal(got, 1000 * (content[0] - '@'));
        for (ssize_t k = 1; k < got; k++)
            if (content[k] != content[0])
                fail_msg("a mixture of two results");
        if (waitpid(-1, &result, WNOHANG) > 0) {
            assert_int_equal(result, 0);
            left--;
        }
    }
    assert_int_equal(entries("."), 1);
}

static void full_disk(void **state)
{
    static char data[300000];
    struct gf_error e;
    struct gf_out *out;
    static const struct gf_out_options plain;

    (void)state;
    assert_int_equal(mkdir("disk", 0755), 0);
    if (mount("none", "disk", "tmpfs", 0, "size=100k") != 0) {
        print_message("a small disk cannot be mounted here (%s): not tested\n", strerror(errno));
        skip();
    }
    put_text("disk/out", OLD);
    for (size_t size = 1000; size < sizeof data; size += 9999)
        for (int reserve = 0; reserve <= 1; reserve++) {
            enum gf_status status;
            assert_int_equal(gf_out_open(&out, "disk/out", &plain, &e), GF_OK);
            status = reserve ? gf_out_reserve(out, size, &e) : GF_OK;
            if (status == GF_OK)
                status = gf_out_write(out, data, size, &e);
            if (status == GF_OK) {
                assert_true(size < 100 * 1024);
                assert_int_equal(gf_out_commit(&out, &e), GF_OK);
                put_text("disk/out", OLD);
            } else {
                assert_true(size > 80000);
                assert_int_equal(status, GF_EOUTPUT);
                assert_non_null(strstr(e.text, "No space left"));
                gf_out_abort(&out);
            }
            assert_file("disk/out", OLD);
            assert_int_equal(entries("disk"), 1);
        }
    assert_int_equal(umount("disk"), 0);
}

/* Much space is reserved by a thread: that there is not enough is said by whatever comes next, and
 * by nothing when that is to give up; a file system that cannot do it is no failure. */
static void much_reserved(void **state)
{
    static const struct gf_out_options plain;
    const uint64_t much = UINT64_C(100) << 20;
    struct gf_out *out;
    struct gf_error e;
    struct stat info;

    (void)state;
    put_text("out", OLD);
    for (int next = 0; next < 4; next++) {
        gf_io_fail_at("fallocate", 1, ENOSPC, 0);
        assert_int_equal(gf_out_open(&out, "out", &plain, &e), GF_OK);
        assert_int_equal(gf_out_reserve(out, much, &e), GF_OK);
        e.text[0] = '\0';
        if (next == 0)
            assert_int_equal(gf_out_write(out, "abc", 3, &e), GF_EOUTPUT);
        if (next == 1)
            assert_int_equal(gf_out_write_at(out, "abc", 3, 0, &e), GF_EOUTPUT);
        if (next == 2)
            assert_int_equal(gf_out_commit(&out, &e), GF_EOUTPUT);
        if (next < 3)
            assert_non_null(strstr(e.text, "out: space for it cannot be reserved: No space"));
        gf_out_abort(&out);
        assert_file("out", OLD);
        assert_int_equal(entries("."), 1);
    }
    for (int able = 0; able <= 1; able++) {
        gf_io_fail_at("fallocate", able ? 0 : 1, EOPNOTSUPP, 0);
        assert_int_equal(gf_out_open(&out, "out", &plain, &e), GF_OK);
        assert_int_equal(gf_out_reserve(out, much, &e), GF_OK);
        assert_int_equal(gf_out_write(out, "abc", 3, &e), GF_OK);
        assert_int_equal(gf_out_commit(&out, &e), GF_OK);
        assert_int_equal(stat("out", &info), 0);
        assert_int_equal(info.st_size, 3);
        assert_true(info.st_blocks * 512 <= 8192);
        assert_file("out", "abc");
    }
}

/* After a failure, too, the disk must not stay. */
static int unmount_and_leave(void **state)
{
    umount2("disk", MNT_DETACH);
    return folder_leave(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, folder_enter, folder_leave)
        T(every_call_of_writing), T(every_call_of_streaming), T(every_call_of_reading),
        T(short_counts), T(no_memory), T(much_reserved), T(created_meanwhile),
        T(concurrent_writers),
        cmocka_unit_test_setup_teardown(full_disk, folder_enter, unmount_and_leave),
#undef T
    };

    return cmocka_run_group_tests_name("file faults", tests, NULL, NULL);
}
