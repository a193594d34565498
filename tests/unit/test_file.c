/* Reading and writing where nothing goes wrong, and every kind of path. */
#include "alloc.h"
#include "io/file.h"
#include "io/sys.h"
#include "util.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "folder.h"

static const struct gf_out_options plain, keep = {.no_clobber = true},
                                          seekable = {.seekable = true};

static enum gf_status write_text(const char *path, const char *text,
                                 const struct gf_out_options *options, struct gf_error *e)
{
    struct gf_out *out;

    GF_TRY(gf_out_open(&out, path, options, e));
    enum gf_status status = gf_out_write(out, text, strlen(text), e);
    if (status == GF_OK)
        return gf_out_commit(&out, e);
    gf_out_abort(&out);
    return status;
}

static void refused(const char *path, const struct gf_out_options *options, const char *words)
{
    struct gf_error e = {""};

    assert_int_equal(write_text(path, "new", options, &e), GF_EOUTPUT);
    if (!strstr(e.text, words))
        fail_msg("\"%s\" does not say \"%s\"", e.text, words);
}

/* ---- input ---- */

static void reading(void **state)
{
    struct gf_error e;
    struct gf_in *in;
    char b[16];
    size_t got;

    (void)state;
    put_text("a", "0123456789");
    assert_int_equal(gf_in_open(&in, "a", &e), GF_OK);
    assert_string_equal(gf_in_name(in), "a");
    assert_int_equal(gf_in_size(in), 10);
    assert_int_equal(gf_in_read(in, b, 10, 0, &e), GF_OK);
    assert_memory_equal(b, "0123456789", 10);
    assert_int_equal(gf_in_read(in, b, 3, 7, &e), GF_OK);
    assert_memory_equal(b, "789", 3);
    assert_int_equal(gf_in_read(in, b, 0, 10, &e), GF_OK);
    assert_int_equal(gf_in_read(in, b, 4, 7, &e), GF_EINPUT);
    assert_non_null(strstr(e.text, "a: truncated"));
    assert_int_equal(gf_in_read(in, b, 1, UINT64_MAX, &e), GF_EINPUT);
    assert_int_equal(gf_in_read(in, b, 4, UINT64_MAX - 1, &e), GF_EINPUT);
    assert_int_equal(gf_in_read_some(in, b, 16, 8, &got, &e), GF_OK);
    assert_int_equal(got, 2);
    assert_int_equal(gf_in_read_some(in, b, 16, 11, &got, &e), GF_OK);
    assert_int_equal(got, 0);
    assert_int_equal(gf_in_unchanged(in, &e), GF_OK);
    /* Growth is not seen while reading, but it is told. */
    put_text("a", "0123456789abc");
    assert_int_equal(gf_in_read_some(in, b, 16, 8, &got, &e), GF_OK);
    assert_int_equal(got, 2);
    assert_int_equal(gf_in_unchanged(in, &e), GF_EINPUT);
    assert_int_equal(truncate("a", 5), 0);
    assert_int_equal(gf_in_read(in, b, 10, 0, &e), GF_EINPUT);
    assert_non_null(strstr(e.text, "ends after 5 bytes"));
    gf_in_close(&in);
    assert_null(in);
    gf_in_close(&in);
}

static void same_size_other_time(void **state)
{
    struct timespec times[2] = {{1000, 0}, {1000, 0}};
    struct gf_in *in;

    (void)state;
    put_text("a", "0123456789");
    assert_int_equal(gf_in_open(&in, "a", NULL), GF_OK);
    assert_int_equal(utimensat(AT_FDCWD, "a", times, 0), 0);
    assert_int_equal(gf_in_unchanged(in, NULL), GF_EINPUT);
    gf_in_close(&in);
}

static void same_time_other_size(void **state)
{
    struct gf_in *in;
    struct stat info;

    (void)state;
    put_text("a", "0123456789");
    assert_int_equal(stat("a", &info), 0);
    assert_int_equal(gf_in_open(&in, "a", NULL), GF_OK);
    assert_int_equal(truncate("a", 11), 0);
    struct timespec times[2] = {info.st_atim, info.st_mtim};
    assert_int_equal(utimensat(AT_FDCWD, "a", times, 0), 0);
    assert_int_equal(gf_in_unchanged(in, NULL), GF_EINPUT);
    gf_in_close(&in);
}

static void unreadable(void **state)
{
    static const struct { const char *path, *words; } cases[] = {
        {"missing", "missing: cannot be opened for reading: No such file"},
        {".", ".: is a folder"},
        {"empty", "empty: the file is empty"},
        {"a/b", "Not a directory"},
        {"loop", "Too many levels"},
        {"/dev/null", "/dev/null: the file is empty"},
        {"/dev/zero", "is a device"},
        {"", "is empty"}};
    struct gf_error e;
    struct gf_in *in;

    (void)state;
    put_text("a", "x");
    put_text("empty", "");
    assert_int_equal(symlink("loop", "loop"), 0);
    for (size_t i = 0; i < GF_COUNT(cases); i++) {
        assert_int_equal(gf_in_open(&in, cases[i].path, &e), GF_EINPUT);
        assert_null(in);
        if (!strstr(e.text, cases[i].words))
            fail_msg("\"%s\" does not say \"%s\"", e.text, cases[i].words);
    }
}

/* Bytes that tell where they are. */
static void fill(uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)(i * 2654435761u >> 13);
}

static void *feed(void *fd)
{
    static uint8_t data[3000001];
    size_t done = 0;
    int to = *(int *)fd;

    fill(data, sizeof data);
    while (done < sizeof data) {
        ssize_t n = write(to, data + done, gf_min(sizeof data - done, 77777));
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    close(to);
    return NULL;
}

static void standard_input(void **state)
{
    static uint8_t expected[3000001], got[3000001];
    int saved = dup(0), ends[2];
    struct gf_error e;
    struct gf_in *in;
    pthread_t thread;

    (void)state;
    fill(expected, sizeof expected);
    /* A pipe is read whole. */
    assert_int_equal(pipe(ends), 0);
    dup2(ends[0], 0);
    close(ends[0]);
    assert_int_equal(pthread_create(&thread, NULL, feed, &ends[1]), 0);
    assert_int_equal(gf_in_open(&in, "-", &e), GF_OK);
    pthread_join(thread, NULL);
    assert_string_equal(gf_in_name(in), "standard input");
    assert_int_equal(gf_in_size(in), sizeof expected);
    assert_int_equal(gf_in_read(in, got, sizeof got, 0, &e), GF_OK);
    assert_memory_equal(got, expected, sizeof got);
    assert_int_equal(gf_in_read(in, got, 2, sizeof got - 1, &e), GF_EINPUT);
    assert_int_equal(gf_in_unchanged(in, &e), GF_OK);
    assert_true(gf_memory_used() >= sizeof expected);
    gf_in_close(&in);
    assert_int_equal(gf_memory_used(), 0);
    /* More than the limit. */
    assert_int_equal(pipe(ends), 0);
    dup2(ends[0], 0);
    close(ends[0]);
    assert_int_equal(pthread_create(&thread, NULL, feed, &ends[1]), 0);
    gf_memory_set_limit(1000000);
    assert_int_equal(gf_in_open(&in, "-", &e), GF_EMEMORY);
    gf_memory_set_limit(UINT64_MAX);
    dup2(saved, 0);
    pthread_join(thread, NULL);
    /* A file that was read from before starts where that ended. */
    put_text("a", "headerBODY");
    int fd = open("a", O_RDONLY);
    assert_int_equal(lseek(fd, 6, SEEK_SET), 6);
    dup2(fd, 0);
    assert_int_equal(gf_in_open(&in, "-", &e), GF_OK);
    assert_int_equal(gf_in_size(in), 4);
    assert_int_equal(gf_in_read(in, got, 4, 0, &e), GF_OK);
    assert_memory_equal(got, "BODY", 4);
    gf_in_close(&in);
    dup2(saved, 0);
    close(saved);
    close(fd);
}

/* ---- output ---- */

static void writing(void **state)
{
    struct gf_error e;
    struct gf_out *out;
    struct stat info;
    mode_t old = umask(027);
    char b[16];
    size_t got;

    (void)state;
    assert_int_equal(gf_out_open(&out, "new", &seekable, &e), GF_OK);
    assert_string_equal(gf_out_name(out), "new");
    assert_int_equal(gf_out_reserve(out, 100000, &e), GF_OK);
    assert_int_equal(gf_out_write(out, "abcdef", 6, &e), GF_OK);
    assert_int_equal(gf_out_write_at(out, "XY", 2, 1, &e), GF_OK);
    assert_int_equal(gf_out_size(out), 6);
    assert_int_equal(gf_out_write(out, "g", 1, &e), GF_OK);
    assert_int_equal(gf_out_write_at(out, "j", 1, 9, &e), GF_OK);
    assert_int_equal(gf_out_size(out), 10);
    assert_int_equal(gf_out_write(out, "k", 1, &e), GF_OK);
    assert_int_equal(gf_out_read(out, b, 16, 0, &got, &e), GF_OK);
    assert_int_equal(got, 11);
    assert_memory_equal(b, "aXYdefg\0\0jk", 11);
    assert_int_equal(gf_out_write_at(out, "j", 1, UINT64_MAX, &e), GF_EOUTPUT);
    assert_int_equal(gf_out_write_at(out, "j", 1, UINT64_MAX - 1, &e), GF_EOUTPUT);
    /* Nothing is seen before the end. */
    assert_int_equal(entries("."), 0);
    assert_int_equal(gf_out_commit(&out, &e), GF_OK);
    assert_null(out);
    assert_int_equal(get("new", b, 16), 11);
    assert_int_equal(stat("new", &info), 0);
    assert_int_equal(info.st_mode & 07777, 0640);
    assert_int_equal(info.st_size, 11);
    assert_true(info.st_blocks * 512 <= 8192);
    assert_int_equal(entries("."), 1);
    assert_int_equal(gf_out_open(&out, "other", &plain, &e), GF_OK);
    assert_int_equal(gf_out_write(out, "x", 1, &e), GF_OK);
    gf_out_abort(&out);
    gf_out_abort(&out);
    assert_int_equal(entries("."), 1);
    umask(old);
    assert_int_equal(gf_memory_used(), 0);
}

static void replacing(void **state)
{
    struct gf_error e;
    struct stat info, before;
    struct gf_in *in;
    char b[4];

    (void)state;
    put_text("a", "old");
    assert_int_equal(chmod("a", 0604), 0);
    if (geteuid() == 0)
        assert_int_equal(chown("a", 12, 34), 0);
    assert_int_equal(link("a", "hard"), 0);
    assert_int_equal(stat("a", &before), 0);
    assert_int_equal(gf_in_open(&in, "a", &e), GF_OK);
    assert_int_equal(write_text("a", "newer", &plain, &e), GF_OK);
    assert_file("a", "newer");
    assert_int_equal(stat("a", &info), 0);
    assert_int_equal(info.st_mode, before.st_mode);
    assert_int_equal(info.st_uid, before.st_uid);
    assert_int_equal(info.st_gid, before.st_gid);
    /* The old file lives on where it is still used: an input, a second name. */
    assert_int_equal(gf_in_read(in, b, 3, 0, &e), GF_OK);
    assert_memory_equal(b, "old", 3);
    assert_int_equal(gf_in_unchanged(in, &e), GF_OK);
    gf_in_close(&in);
    assert_file("hard", "old");
    assert_int_equal(chmod("a", 0444), 0);
    refused("a", &plain, "a: exists and is read-only");
    assert_file("a", "newer");
    refused("hard", &keep, "hard: exists already");
    assert_file("hard", "old");
    assert_int_equal(write_text("b", "new", &keep, &e), GF_OK);
    assert_file("b", "new");
    assert_int_equal(entries("."), 3);
}

/* What the old file's group might do is not for the group of the new one. */
static void group_that_cannot_be_kept(void **state)
{
    static const mode_t modes[][2] = {{0660, 0600}, {0640, 0600}, {0664, 0644}, {0666, 0666},
                                      {0755, 0755}, {0674, 0644}, {0604, 0604}, {0277, 0277}};
    struct gf_error e;
    struct stat info;

    (void)state;
    if (geteuid() != 0)
        skip();
    for (size_t i = 0; i < GF_COUNT(modes); i++)
        for (int fails = 0; fails < 2; fails++) {
            put_text("a", "old");
            assert_int_equal(chown("a", 12, 34), 0);
            assert_int_equal(chmod("a", modes[i][0]), 0);
            gf_io_fail_at("fchown", fails ? 1 : 0, EPERM, 1);
            assert_int_equal(write_text("a", "new", &plain, &e), GF_OK);
            gf_io_fail_at("fchown", 0, 0, 0);
            assert_int_equal(stat("a", &info), 0);
            assert_int_equal(info.st_mode & 0777, modes[i][fails]);
            assert_int_equal(info.st_gid, fails ? getegid() : 34);
            assert_int_equal(info.st_uid, fails ? geteuid() : 12);
            assert_int_equal(unlink("a"), 0);
        }
    /* The owner cannot be kept, the group can. */
    put_text("a", "old");
    assert_int_equal(chown("a", 12, 34), 0);
    assert_int_equal(chmod("a", 0660), 0);
    gf_io_fail_at("fchown", 2, EPERM, 1);
    assert_int_equal(write_text("a", "new", &plain, &e), GF_OK);
    gf_io_fail_at("fchown", 0, 0, 0);
    assert_int_equal(stat("a", &info), 0);
    assert_int_equal(info.st_mode & 0777, 0660);
    assert_int_equal(info.st_gid, 34);
    assert_int_equal(info.st_uid, geteuid());
}

static void links(void **state)
{
    struct stat info;
    char path[128];

    (void)state;
    assert_int_equal(mkdir("d", 0755), 0);
    assert_int_equal(mkdir("d/e", 0755), 0);
    put_text("d/real", "old");
    assert_int_equal(symlink("../real", "d/e/two"), 0);
    assert_int_equal(symlink("d/e/two", "one"), 0);
    assert_int_equal(write_text("one", "new", &plain, NULL), GF_OK);
    assert_file("d/real", "new");
    assert_int_equal(lstat("one", &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(lstat("d/e/two", &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    /* Absolute, through a folder's link, dangling. */
    snprintf(path, sizeof path, "%s/d/made", folder);
    assert_int_equal(symlink(path, "dangling"), 0);
    assert_int_equal(symlink("d", "dlink"), 0);
    assert_int_equal(write_text("dangling", "made", &plain, NULL), GF_OK);
    assert_file("d/made", "made");
    assert_int_equal(write_text("dlink/e/two", "again", &plain, NULL), GF_OK);
    assert_file("d/real", "again");
    refused("one", &keep, "exists already");
    assert_int_equal(symlink("loop2", "loop"), 0);
    assert_int_equal(symlink("loop", "loop2"), 0);
    refused("loop", &plain, "Too many levels");
    assert_int_equal(symlink("nowhere/x", "lost"), 0);
    refused("lost", &plain, "does not exist");
    assert_int_equal(symlink("d", "tofolder"), 0);
    refused("tofolder", &plain, "is a folder");
    assert_int_equal(entries("."), 8);
    assert_int_equal(entries("d"), 3);
}

static void wrong_places(void **state)
{
    struct gf_error e;
    char name[300];

    (void)state;
    assert_int_equal(mkdir("d", 0755), 0);
    put_text("file", "old");
    refused("", &plain, "is empty");
    refused("d", &plain, "d: is a folder");
    refused("d/", &plain, "is a folder");
    refused("..", &plain, "is a folder");
    refused("no/x", &plain, "the folder no/ does not exist; create it first");
    refused("no/", &plain, "names a folder that does not exist");
    refused("file/x", &plain, "Not a directory");
    memset(name, 'n', 256);
    name[256] = '\0';
    refused(name, &plain, "name too long");
    name[255] = '\0';
    assert_int_equal(write_text(name, "long", &plain, &e), GF_OK);
    assert_file(name, "long");
    assert_int_equal(write_text("-x\n\x1b\xff y", "odd", &plain, &e), GF_OK);
    assert_file("-x\n\x1b\xff y", "odd");
    assert_int_equal(write_text("d/../d/./z", "dots", &plain, &e), GF_OK);
    assert_file("d/z", "dots");
    assert_int_equal(entries("."), 4);
}

/* Root may write anywhere, so as somebody else. */
static void no_permission(void **state)
{
    int result;
    pid_t child;

    (void)state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(chmod(".", 0755), 0);
    assert_int_equal(mkdir("open", 0777), 0);
    assert_int_equal(chmod("open", 0777), 0);
    assert_int_equal(mkdir("blind", 0755), 0);
    assert_int_equal(chmod("blind", 0733), 0);
    put_text("open/theirs", "old");
    put_text("secret", "x");
    assert_int_equal(chmod("secret", 0600), 0);
    child = fork();
    if (child == 0) {
        struct gf_error e;
        struct gf_in *in;
        int bad = 0;
        if (setgid(65534) != 0 || setuid(65534) != 0)
            _exit(99);
        bad |= (write_text("mine", "x", &plain, &e) != GF_EOUTPUT) << 0;
        bad |= (!strstr(e.text, "Permission denied")) << 1;
        bad |= (write_text("open/mine", "x", &plain, &e) != GF_OK) << 2;
        bad |= (write_text("open/theirs", "x", &plain, &e) != GF_EOUTPUT) << 3;
        bad |= (!strstr(e.text, "read-only")) << 4;
        bad |= (write_text("blind/mine", "x", &plain, &e) != GF_OK) << 5;
        bad |= (gf_in_open(&in, "secret", &e) != GF_EINPUT) << 6;
        _exit(bad);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
    assert_file("open/theirs", "old");
    assert_file("open/mine", "x");
    assert_file("blind/mine", "x");
    assert_int_equal(entries("open"), 2);
}

static void *drain(void *path)
{
    static char text[64];
    int fd = open(path, O_RDONLY);
    ssize_t got, sum = 0;

    while ((got = read(fd, text + sum, sizeof text - 1 - (size_t)sum)) > 0)
        sum += got;
    text[sum] = '\0';
    close(fd);
    return text;
}

static void streams(void **state)
{
    struct gf_error e;
    struct gf_out *out;
    pthread_t thread;
    char fifo[] = "fifo";
    void *text;
    struct stat info;

    (void)state;
    assert_int_equal(write_text("/dev/null", "x", &plain, &e), GF_OK);
    refused("/dev/full", &plain, "No space left");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    for (int spool = 0; spool <= 1; spool++) {
        assert_int_equal(pthread_create(&thread, NULL, drain, fifo), 0);
        assert_int_equal(gf_out_open(&out, fifo, spool ? &seekable : &plain, &e), GF_OK);
        assert_int_equal(gf_out_reserve(out, 1000, &e), GF_OK);
        assert_int_equal(gf_out_write(out, "abc", 3, &e), GF_OK);
        assert_int_equal(gf_out_write_at(out, "X", 1, 0, &e), spool ? GF_OK : GF_EOUTPUT);
        assert_int_equal(gf_out_write(out, "d", 1, &e), GF_OK);
        assert_int_equal(gf_out_size(out), 4);
        assert_int_equal(gf_out_commit(&out, &e), GF_OK);
        pthread_join(thread, &text);
        assert_string_equal(text, spool ? "Xbcd" : "abcd");
        assert_int_equal(lstat(fifo, &info), 0);
        assert_true(S_ISFIFO(info.st_mode));
    }
    assert_int_equal(entries("."), 1);
}

/* Standard output and its other names continue where it stands and are not replaced. */
static void standard_output(void **state)
{
    static const char *const names[] = {"-", "/dev/stdout", "/proc/self/fd/1", "/dev/fd/1"};
    struct gf_error e;
    int saved;

    (void)state;
    fflush(stdout);
    saved = dup(1);
    for (size_t i = 0; i < GF_COUNT(names); i++)
        for (int spool = 0; spool <= 1; spool++) {
            int fd = open("out", O_CREAT | O_TRUNC | O_WRONLY, 0644);
            enum gf_status status;
            assert_int_equal(write(fd, "head ", 5), 5);
            dup2(fd, 1);
            close(fd);
            status = write_text(names[i], "body", spool ? &seekable : &plain, &e);
            dup2(saved, 1);
            assert_int_equal(status, GF_OK);
            assert_file("out", "head body");
        }
    close(1);
    int status = (int)write_text("-", "body", &plain, &e);
    dup2(saved, 1);
    close(saved);
    assert_int_equal(status, GF_EOUTPUT);
    assert_non_null(strstr(e.text, "standard output"));
}

static void terminals(void **state)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    struct gf_error e;
    int saved, slave, status;

    (void)state;
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) {
        print_message("no pseudo-terminal here: not tested\n");
        skip();
    }
    assert_int_equal(write_text(ptsname(master), "x", &plain, &e), GF_EUSAGE);
    slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_true(slave >= 0);
    fflush(stdout);
    saved = dup(1);
    dup2(slave, 1);
    status = (int)write_text("-", "x", &plain, &e);
    dup2(saved, 1);
    close(saved);
    assert_int_equal(status, GF_EUSAGE);
    assert_string_equal(e.text, "standard output is a terminal, image bytes were not written; "
                                "redirect it or name a file");
    close(slave);
    close(master);
}

/* With the standard streams closed, no file may get their numbers. */
static void closed_streams(void **state)
{
    pid_t child = fork();
    int result;

    (void)state;
    if (child == 0) {
        struct gf_out *out;
        ssize_t n;
        close(0);
        close(1);
        close(2);
        if (gf_out_open(&out, "out", &plain, NULL) != GF_OK)
            _exit(1);
        n = write(2, "gpufilt: warning", 16) + write(1, "text", 4);
        if (n != -2 || gf_out_write(out, "data", 4, NULL) != GF_OK ||
            gf_out_commit(&out, NULL) != GF_OK)
            _exit(2);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    assert_file("out", "data");
}

static void leftovers(void **state)
{
    pid_t dead = fork();
    char stale[64], second[64], alive[64];

    (void)state;
    if (dead == 0)
        _exit(0);
    waitpid(dead, NULL, 0);
    snprintf(stale, sizeof stale, ".out.%d.gpufilt-tmp", (int)dead);
    snprintf(second, sizeof second, ".other name.png.%d-3.gpufilt-tmp", (int)dead);
    snprintf(alive, sizeof alive, ".out.%d.gpufilt-tmp", (int)getppid());
    put_text(stale, "half");
    put_text(second, "half");
    put_text(alive, "half");
    put_text(".out.gpufilt-tmp", "not ours");
    put_text(".out.x1.gpufilt-tmp", "not ours");
    put_text(".7.gpufilt-tmp", "not ours");
    put_text(".a.99999999999999999999.gpufilt-tmp", "not ours");
    assert_int_equal(write_text("out", "new", &plain, NULL), GF_OK);
    assert_int_equal(access(stale, F_OK), -1);
    assert_int_equal(access(second, F_OK), -1);
    assert_int_equal(access(alive, F_OK), 0);
    assert_int_equal(entries("."), 6);
}

/* The clean-up of a folder spares what this process is writing there. */
static void two_at_once(void **state)
{
    struct gf_out *a, *b, *c;
    struct gf_error e;

    (void)state;
    assert_int_equal(mkdir("d", 0755), 0);
    gf_io_fail_at("open", 2, EOPNOTSUPP, 0);
    assert_int_equal(gf_out_open(&a, "x", &plain, &e), GF_OK);
    gf_io_fail_at("open", 2, EOPNOTSUPP, 0);
    assert_int_equal(gf_out_open(&b, "d/x", &plain, &e), GF_OK);
    gf_io_fail_at("open", 2, EOPNOTSUPP, 0);
    assert_int_equal(gf_out_open(&c, "x", &plain, &e), GF_OK);
    gf_io_fail_at("open", 0, 0, 0);
    assert_int_equal(entries("."), 3);
    assert_int_equal(gf_out_write(a, "a", 1, &e), GF_OK);
    assert_int_equal(gf_out_write(b, "b", 1, &e), GF_OK);
    assert_int_equal(gf_out_write(c, "c", 1, &e), GF_OK);
    assert_int_equal(gf_out_commit(&c, &e), GF_OK);
    assert_file("x", "c");
    assert_int_equal(gf_out_commit(&b, &e), GF_OK);
    assert_int_equal(gf_out_commit(&a, &e), GF_OK);
    assert_file("x", "a");
    assert_file("d/x", "b");
    assert_int_equal(entries("."), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, folder_enter, folder_leave)
        T(reading), T(same_size_other_time),
        T(same_time_other_size), T(unreadable), T(standard_input), T(writing),
        T(replacing), T(group_that_cannot_be_kept), T(links), T(wrong_places),
        T(no_permission), T(streams),
        T(standard_output), T(terminals), T(closed_streams), T(leftovers),
        T(two_at_once),
#undef T
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
