/* The system calls of the I/O module, each behind the test hook. A call that a signal
 * interrupted is repeated, unless the signal asks for an end (gf_signal_pending()): then it
 * returns -1 with EINTR. For src/io/ only. */
#ifndef GPUFILT_SRC_IO_SYS_H
#define GPUFILT_SRC_IO_SYS_H

#include "../status.h"

#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Read and write at most so much between two looks at gf_signal_pending(). */
#define GF_IO_CHUNK ((size_t)8 << 20)

/* With O_CLOEXEC, and never one of the standard streams' numbers: were one of them closed
 * when we started, messages would end up in the image. */
int gf_sys_open(int folder, const char *path, int flags, mode_t mode);
int gf_sys_dup(int fd);
int gf_sys_fstat(int fd, struct stat *info);
/* Wait until they can move something (pipes, terminals), also when not blocking. */
ssize_t gf_sys_read(int fd, void *buffer, size_t size);
ssize_t gf_sys_write(int fd, const void *data, size_t size);
ssize_t gf_sys_pread(int fd, void *buffer, size_t size, uint64_t offset);
ssize_t gf_sys_pwrite(int fd, const void *data, size_t size, uint64_t offset);
int gf_sys_fallocate(int fd, uint64_t size);
int gf_sys_ftruncate(int fd, uint64_t size);
int gf_sys_fchmod(int fd, mode_t mode);
int gf_sys_fchown(int fd, uid_t user, gid_t group);
int gf_sys_fsync(int fd);
/* From a path (AT_FDCWD, symbolic links followed) or a name in `from_folder`. */
int gf_sys_linkat(int from_folder, const char *from, int folder, const char *name);
enum gf_rename {
    GF_RENAME_REPLACE,
    GF_RENAME_KEEP,     /* an existing `name` is EEXIST */
    GF_RENAME_EXCHANGE  /* both exist, and change places */
};
/* Within one folder. */
int gf_sys_renameat(int folder, const char *from, const char *name, enum gf_rename how);
/* Closes in any case, also when it returns -1. Not repeated. */
int gf_sys_close(int fd);

/* GF_ESIGNAL for an EINTR, else `status` with "NAME: DOING: strerror". */
enum gf_status gf_sys_fail(struct gf_error *e, enum gf_status status, const char *name,
                           const char *doing);
/* GF_ESIGNAL when a signal asks for an end. */
enum gf_status gf_sys_check_signal(const char *name, struct gf_error *e);

#ifdef GPUFILT_TEST_HOOKS
#define GF_IO_SHORT (-1)

/* The n-th call of `kind` (see file.h) from now on fails with errno `error`, or moves one
 * byte with GF_IO_SHORT; with `sticky` so do all after it. n = 0 switches it off. Returns 0,
 * or -1 for an unknown kind. */
int gf_io_fail_at(const char *kind, uint64_t n, int error, int sticky);
/* A second fault beside it, counted from the same moment. */
int gf_io_fail_also(const char *kind, uint64_t n, int error, int sticky);
/* Calls of `kind` since the last gf_io_fail_at. */
uint64_t gf_io_calls(const char *kind);
#endif

#endif
