/* Signals while files are read and written: what the parent sees, and what is left. */
#include "alloc.h"
#include "io/file.h"
#include "io/sys.h"
#include "signals.h"
#include "util.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

#include "folder.h"

#define OLD "the old content"

static const struct gf_out_options plain, unsynced = {.sync = GF_SYNC_NONE};

static void rest(long microseconds)
{
    struct timespec t = {0, microseconds * 1000};

    nanosleep(&t, NULL);
}

/* Waits, not for ever. */
static int result_of(pid_t child)
{
    int result;

    for (int i = 0; i < 10000; i++) {
        if (waitpid(child, &result, WNOHANG) == child)
            return result;
        rest(1000);
    }
    kill(child, SIGKILL);
    waitpid(child, &result, 0);
    fail_msg("hung");
    return -1;
}

/* A child with the signals' usual actions, whatever the test was started with. */
static pid_t start(void)
{
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGXFSZ, SIGPIPE};
        struct rlimit none = {0, 0};
        for (size_t i = 0; i < GF_COUNT(numbers); i++)
            signal(numbers[i], SIG_DFL);
        setrlimit(RLIMIT_CORE, &none);
    }
    return child;
}

/* Writes `size` letters again and again until something ends it. */
static void write_for_ever(const char *path, int named)
{
    static char data[200000];

    for (;;) {
        struct gf_out *out;
        enum gf_status status;
        if (named)
            gf_io_fail_at("open", 2, EOPNOTSUPP, 0);
        memset(data, data[0] == 'a' ? 'b' : 'a', sizeof data);
        status = gf_out_open(&out, path, &unsynced, NULL);
        for (int i = 0; status == GF_OK && i < 10; i++)
            status = gf_out_write(out, data + i * 20000, 20000, NULL);
        if (status == GF_OK)
            status = gf_out_commit(&out, NULL);
        else
            gf_out_abort(&out);
        if (status == GF_ESIGNAL)
            gf_signal_raise();
        if (status != GF_OK)
            _exit(10 + (int)status);
    }
}

static void assert_whole(const char *path)
{
    static char content[300000];
    ssize_t got = get(path, content, sizeof content);

    if (got == (ssize_t)strlen(OLD) && memcmp(content, OLD, strlen(OLD)) == 0)
        return;
    assert_int_equal(got, 200000);
    for (ssize_t i = 1; i < got; i++)
        if (content[i] != content[0])
            fail_msg("torn");
}

static void ended_while_writing(void **state)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU};

    (void)state;
    for (int k = 0; k < 100; k++) {
        int number = numbers[k % 5], result;
        pid_t child = start();
        if (child == 0) {
            gf_signals_install();
            put_text("ready", "");
            write_for_ever("out", k & 1);
        }
        while (access("ready", F_OK) != 0)
            rest(200);
        rest(37 * k);
        kill(child, number);
        result = result_of(child);
        assert_true(WIFSIGNALED(result));
        assert_int_equal(WTERMSIG(result), number);
        unlink("ready");
        if (access("out", F_OK) == 0)
            assert_whole("out");
        assert_true(entries(".") <= 1);
    }
}

static void killed_while_writing(void **state)
{
    int strays = 0;

    (void)state;
    put_text("out", OLD);
    for (int k = 0; k < 100; k++) {
        pid_t child = start();
        if (child == 0) {
            put_text("ready", "");
            write_for_ever("out", k & 1);
        }
        while (access("ready", F_OK) != 0)
            rest(200);
        rest(31 * k);
        kill(child, SIGKILL);
        result_of(child);
        unlink("ready");
        assert_whole("out");
        /* At most one temporary name, which the next run in that folder removes. */
        assert_true(entries(".") <= 2);
        strays += entries(".") - 1;
        child = start();
        if (child == 0) {
            struct gf_out *out;
            _exit(gf_out_open(&out, "other", &plain, NULL) == GF_OK && entries(".") == 1 ? 0 : 1);
        }
        assert_int_equal(result_of(child), 0);
        assert_int_equal(entries("."), 1);
    }
    print_message("%d of 100 left a temporary name\n", strays);
    assert_true(strays > 0);
}

/* The second signal does not wait for anybody: not even temporary names stay. */
static void second_signal(void **state)
{
    pid_t child = start();
    int result;

    (void)state;
    put_text("out", OLD);
    if (child == 0) {
        struct gf_out *out;
        gf_signals_install();
        gf_io_fail_at("open", 2, EOPNOTSUPP, 0);
        if (gf_out_open(&out, "out", &plain, NULL) != GF_OK || entries(".") != 2)
            _exit(1);
        raise(SIGTERM);
        if (gf_signal_pending() != SIGTERM)
            _exit(2);
        raise(SIGINT);
        _exit(3);
    }
    result = result_of(child);
    assert_true(WIFSIGNALED(result));
    assert_int_equal(WTERMSIG(result), SIGINT);
    assert_int_equal(entries("."), 1);
    assert_file("out", OLD);
}

static void ignored_stays_ignored(void **state)
{
    pid_t child = start();

    (void)state;
    if (child == 0) {
        signal(SIGHUP, SIG_IGN);
        gf_signals_install();
        raise(SIGHUP);
        if (gf_signal_pending() != 0)
            _exit(1);
        gf_signal_raise();
        raise(SIGXFSZ);
        _exit(0);
    }
    assert_int_equal(result_of(child), 0);
}

/* Ends of pipes where nothing happens any more. */
static void blocked(void **state)
{
    (void)state;
    for (int writing = 0; writing <= 1; writing++)
        for (int k = 0; k < 20; k++) {
            int ends[2], result;
            pid_t child;
            assert_int_equal(pipe(ends), 0);
            child = start();
            if (child == 0) {
                static char data[1 << 20];
                enum gf_status status;
                gf_signals_install();
                dup2(ends[!writing ? 0 : 1], !writing ? 0 : 1);
                put_text("ready", "");
                if (writing) {
                    struct gf_out *out;
                    status = gf_out_open(&out, "-", &plain, NULL);
                    if (status == GF_OK)
                        status = gf_out_write(out, data, sizeof data, NULL);
                } else {
                    struct gf_in *in;
                    status = gf_in_open(&in, "-", NULL);
                }
                if (status == GF_ESIGNAL)
                    gf_signal_raise();
                _exit(10 + (int)status);
            }
            while (access("ready", F_OK) != 0)
                rest(200);
            /* The writer must have filled the pipe before; reading has no such moment. */
            rest(writing ? 50000 : 100 * k);
            kill(child, SIGTERM);
            result = result_of(child);
            assert_true(WIFSIGNALED(result));
            assert_int_equal(WTERMSIG(result), SIGTERM);
            unlink("ready");
            close(ends[0]);
            close(ends[1]);
        }
}

static void reader_has_gone(void **state)
{
    (void)state;
    for (int ignored = 0; ignored <= 1; ignored++) {
        int ends[2], result;
        pid_t child;
        assert_int_equal(pipe(ends), 0);
        /* Before there are two of it. */
        close(ends[0]);
        child = start();
        if (child == 0) {
            struct gf_error e = {""};
            struct gf_out *out;
            enum gf_status status;
            gf_signals_install();
            if (ignored)
                signal(SIGPIPE, SIG_IGN);
            dup2(ends[1], 1);
            status = gf_out_open(&out, "-", &plain, &e);
            if (status == GF_OK)
                status = gf_out_write(out, "x", 1, &e);
            _exit(status == GF_EOUTPUT && strstr(e.text, "Broken pipe") ? 0 : 1);
        }
        close(ends[1]);
        result = result_of(child);
        if (ignored)
            assert_int_equal(result, 0);
        else
            assert_true(WIFSIGNALED(result) && WTERMSIG(result) == SIGPIPE);
    }
}

static void size_limit(void **state)
{
    (void)state;
    put_text("out", OLD);
    for (int reserve = 0; reserve <= 1; reserve++) {
        pid_t child = start();
        if (child == 0) {
            static char data[30000];
            struct rlimit limit = {10000, 10000};
            struct gf_error e = {""};
            struct gf_out *out;
            enum gf_status status;
            gf_signals_install();
            setrlimit(RLIMIT_FSIZE, &limit);
            status = gf_out_open(&out, "out", &plain, &e);
            if (status == GF_OK)
                status = reserve ? gf_out_reserve(out, sizeof data, &e)
                                 : gf_out_write(out, data, sizeof data, &e);
            gf_out_abort(&out);
            _exit(status == GF_EOUTPUT && strstr(e.text, "File too large") ? 0 : 1);
        }
        assert_int_equal(result_of(child), 0);
        assert_file("out", OLD);
        assert_int_equal(entries("."), 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, folder_enter, folder_leave)
        T(ended_while_writing), T(killed_while_writing), T(second_signal),
        T(ignored_stays_ignored), T(blocked), T(reader_has_gone), T(size_limit),
#undef T
    };

    return cmocka_run_group_tests_name("signals", tests, NULL, NULL);
}
