#include "sys.h"

#include "../message.h"
#include "../signals.h"
#include "../util.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* X(NAME, name) of every kind of call that can be made to fail. */
#define KINDS(X)                                                                     \
    X(OPEN, open) X(FSTAT, fstat) X(READ, read) X(PREAD, pread) X(WRITE, write)      \
    X(PWRITE, pwrite) X(FALLOCATE, fallocate) X(FTRUNCATE, ftruncate)                \
    X(FCHMOD, fchmod) X(FCHOWN, fchown) X(FSYNC, fsync) X(LINKAT, linkat)            \
    X(RENAMEAT, renameat) X(CLOSE, close)

enum kind {
#define X(NAME, name) KIND_##NAME,
    KINDS(X)
#undef X
    KIND_COUNT
};

#ifdef GPUFILT_TEST_HOOKS

static const char *const kind_names[] = {
#define X(NAME, name) #name,
    KINDS(X)
#undef X
};

static atomic_ullong calls[KIND_COUNT];
static struct fault {
    atomic_int kind;
    atomic_ullong at; /* 0: none */
    int error, sticky;
} faults[2];

/* What the hook wants of this call: 0 nothing, -1 moved short, else the errno. */
static int injected(enum kind kind)
{
    unsigned long long n = atomic_fetch_add(&calls[kind], 1) + 1;

    for (size_t i = 0; i < GF_COUNT(faults); i++) {
        unsigned long long at = atomic_load(&faults[i].at);
        if (at != 0 && atomic_load(&faults[i].kind) == (int)kind &&
            (n == at || (n > at && faults[i].sticky)))
            return faults[i].error;
    }
    return 0;
}

static int kind_by_name(const char *name)
{
    for (int i = 0; i < KIND_COUNT; i++)
        if (strcmp(kind_names[i], name) == 0)
            return i;
    return -1;
}

static int set_fault(struct fault *fault, const char *kind, uint64_t n, int error, int sticky)
{
    int index = kind_by_name(kind);

    if (index < 0)
        return -1;
    atomic_store(&fault->kind, index);
    fault->error = error;
    fault->sticky = sticky;
    atomic_store(&fault->at, n);
    return 0;
}

int gf_io_fail_at(const char *kind, uint64_t n, int error, int sticky)
{
    for (size_t i = 0; i < GF_COUNT(faults); i++)
        atomic_store(&faults[i].at, 0);
    for (int i = 0; i < KIND_COUNT; i++)
        atomic_store(&calls[i], 0);
    return set_fault(&faults[0], kind, n, error, sticky);
}

int gf_io_fail_also(const char *kind, uint64_t n, int error, int sticky)
{
    return set_fault(&faults[1], kind, n, error, sticky);
}

uint64_t gf_io_calls(const char *kind)
{
    int index = kind_by_name(kind);

    return index < 0 ? 0 : atomic_load(&calls[index]);
}

static int error_by_name(const char *name)
{
    /* GNU's strerrorname_np() goes the other way only. */
    for (int i = 1; i < 134; i++) {
        const char *known = strerrorname_np(i);
        if (known && strcmp(known, name) == 0)
            return i;
    }
    return strcmp(name, "short") == 0 ? GF_IO_SHORT : 0;
}

__attribute__((constructor)) static void read_environment(void)
{
    const char *text = getenv("GPUFILT_TEST_IO");
    char kind[16], error[24], more[8] = "";
    unsigned long long n;
    int fields, number;

    if (!text)
        return;
    fields = sscanf(text, "%15[a-z]:%llu:%23[A-Za-z0-9]:%7s", kind, &n, error, more);
    number = fields >= 3 ? error_by_name(error) : 0;
    if (number == 0 || (fields == 4 && strcmp(more, "sticky") != 0) ||
        gf_io_fail_at(kind, n, number, fields == 4) != 0)
        gf_print_error("GPUFILT_TEST_IO=%s: CALL:N:ERRNO[:sticky] was expected", text);
}

#else

static int injected(enum kind kind)
{
    (void)kind;
    return 0;
}

#endif

/* True when the call that returned `result` is to be made again. */
static bool again(ssize_t result)
{
    return result < 0 && errno == EINTR && gf_signal_pending() == 0;
}

/* One call: fails as injected, or is made. Repeated while it is interrupted. */
#define CALL(result, KIND, call)                   \
    do {                                           \
        int wanted = injected(KIND_##KIND);        \
        if (wanted > 0) {                          \
            errno = wanted;                        \
            (result) = -1;                         \
        } else {                                   \
            (result) = (call);                     \
        }                                          \
    } while (again(result))

/* The same for calls that move bytes: "short" moves one. */
#define MOVE(result, KIND, size, call)             \
    do {                                           \
        int wanted = injected(KIND_##KIND);        \
        size_t amount = wanted < 0 && (size) > 1 ? 1 : (size); \
        if (wanted > 0) {                          \
            errno = wanted;                        \
            (result) = -1;                         \
        } else {                                   \
            (result) = (call);                     \
        }                                          \
    } while (again(result))

static int above_standard(int fd)
{
    int other;

    if (fd < 0 || fd > 2)
        return fd;
    other = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    close(fd);
    return other;
}

int gf_sys_open(int folder, const char *path, int flags, mode_t mode)
{
    int fd;

    CALL(fd, OPEN, openat(folder, path, flags | O_CLOEXEC | O_NOCTTY, mode));
    return above_standard(fd);
}

int gf_sys_dup(int fd)
{
    int copy;

    CALL(copy, OPEN, fcntl(fd, F_DUPFD_CLOEXEC, 3));
    return copy;
}

int gf_sys_fstat(int fd, struct stat *info)
{
    int result;

    CALL(result, FSTAT, fstat(fd, info));
    return result;
}

/* Waits until `fd` is ready; -1 with EINTR when a signal asks for an end meanwhile. A signal
 * between the last look at the flag and a blocking call would otherwise go unseen. */
static int wait_for(int fd, short events)
{
    struct pollfd fds[2] = {{.fd = fd, .events = events},
                            {.fd = gf_signal_fd(), .events = POLLIN}};
    int result;

    do
        result = poll(fds, 2, -1);
    while (again(result));
    if (gf_signal_pending() != 0) {
        errno = EINTR;
        return -1;
    }
    return result < 0 ? -1 : 0;
}

ssize_t gf_sys_read(int fd, void *buffer, size_t size)
{
    ssize_t got;

    do {
        if (wait_for(fd, POLLIN) != 0)
            return -1;
        MOVE(got, READ, size, read(fd, buffer, amount));
    } while (got < 0 && errno == EAGAIN);
    return got;
}

ssize_t gf_sys_write(int fd, const void *data, size_t size)
{
    ssize_t moved;

    do {
        if (wait_for(fd, POLLOUT) != 0)
            return -1;
        MOVE(moved, WRITE, size, write(fd, data, amount));
    } while (moved < 0 && errno == EAGAIN);
    return moved;
}

ssize_t gf_sys_pread(int fd, void *buffer, size_t size, uint64_t offset)
{
    ssize_t got;

    if (offset > INT64_MAX)
        return 0; /* beyond the end of any file */
    MOVE(got, PREAD, size, pread(fd, buffer, amount, (off_t)offset));
    return got;
}

ssize_t gf_sys_pwrite(int fd, const void *data, size_t size, uint64_t offset)
{
    ssize_t moved;

    if (offset > INT64_MAX) {
        errno = EFBIG;
        return -1;
    }
    MOVE(moved, PWRITE, size, pwrite(fd, data, amount, (off_t)offset));
    return moved;
}

int gf_sys_fallocate(int fd, uint64_t size)
{
    int result;

    if (size > INT64_MAX) {
        errno = EFBIG;
        return -1;
    }
    CALL(result, FALLOCATE, fallocate(fd, 0, 0, (off_t)size));
    return result;
}

int gf_sys_ftruncate(int fd, uint64_t size)
{
    int result;

    CALL(result, FTRUNCATE, ftruncate(fd, (off_t)size));
    return result;
}

int gf_sys_fchmod(int fd, mode_t mode)
{
    int result;

    CALL(result, FCHMOD, fchmod(fd, mode));
    return result;
}

int gf_sys_fchown(int fd, uid_t user, gid_t group)
{
    int result;

    CALL(result, FCHOWN, fchown(fd, user, group));
    return result;
}

int gf_sys_fsync(int fd)
{
    int result;

    CALL(result, FSYNC, fsync(fd));
    return result;
}

int gf_sys_linkat(int from_folder, const char *from, int folder, const char *name)
{
    int result;
    int flags = from_folder == AT_FDCWD ? AT_SYMLINK_FOLLOW : 0;

    CALL(result, LINKAT, linkat(from_folder, from, folder, name, flags));
    return result;
}

int gf_sys_renameat(int folder, const char *from, const char *name, enum gf_rename how)
{
    const unsigned flags = how == GF_RENAME_KEEP ? RENAME_NOREPLACE : RENAME_EXCHANGE;
    int result;

    if (how != GF_RENAME_REPLACE)
        CALL(result, RENAMEAT, renameat2(folder, from, folder, name, flags));
    else
        CALL(result, RENAMEAT, renameat(folder, from, folder, name));
    return result;
}

int gf_sys_close(int fd)
{
    int wanted = injected(KIND_CLOSE);
    int result = close(fd);

    if (wanted > 0) {
        errno = wanted;
        return -1;
    }
    /* On Linux an interrupted close has closed, and repeating it could hit another thread's
     * new descriptor. */
    return result < 0 && errno == EINTR ? 0 : result;
}

enum gf_status gf_sys_fail(struct gf_error *e, enum gf_status status, const char *name,
                           const char *doing)
{
    int error = errno;

    if (error == EINTR && gf_signal_pending() != 0)
        return gf_sys_check_signal(name, e);
    return gf_fail(e, status, "%s: %s: %s", name, doing, strerror(error));
}

enum gf_status gf_sys_check_signal(const char *name, struct gf_error *e)
{
    int number = gf_signal_pending();

    if (number == 0)
        return GF_OK;
    return gf_fail(e, GF_ESIGNAL, "%s: stopped by signal SIG%s", name, sigabbrev_np(number));
}
