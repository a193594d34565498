/* Output: a file that appears complete or not at all, or a stream. */
#include "file.h"

#include "../alloc.h"
#include "../util.h"
#include "parked.h"
#include "spread.h"
#include "sys.h"
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

struct gf_out {
    char *name;
    struct gf_out_options options;
    int fd;                    /* the file being written; -1 for a plain stream */
    int stream;                /* pipe, device or standard output; -1 for a file */
    struct gf_target target;
    struct gf_temp temp;
    uint64_t size;             /* end of what was written */
    uint64_t reserved;
    bool reserving;            /* `reserver` is at it; nothing else touches the file */
    pthread_t reserver;
    int reserve_errno;         /* what it met with, once it is joined; 0: nothing */
};

static void *reserve(void *argument)
{
    struct gf_out *out = argument;

    out->reserve_errno = gf_sys_fallocate(out->fd, out->reserved) == 0 ? 0 : errno;
    return NULL;
}

/* Waits for the space to be reserved. */
static enum gf_status end_reserving(struct gf_out *out, struct gf_error *e)
{
    if (out->reserving)
        pthread_join(out->reserver, NULL);
    out->reserving = false;
    errno = out->reserve_errno;
    out->reserve_errno = 0;
    /* Reserving is a service that not every file system offers. */
    if (errno == 0 || errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL)
        return GF_OK;
    return gf_sys_fail(e, GF_EOUTPUT, out->name, "space for it cannot be reserved");
}

static void release(struct gf_out *out)
{
    (void)end_reserving(out, NULL);
    gf_temp_remove(&out->temp, &out->target);
    if (out->fd >= 0)
        gf_sys_close(out->fd);
    if (out->stream >= 0)
        gf_sys_close(out->stream);
    gf_target_close(&out->target);
    gf_free(out->name);
    gf_free(out);
}

/* True when the folder's file system has no unnamed files. */
static bool unnamed_unsupported(int error)
{
    return error == EOPNOTSUPP || error == EISDIR || error == ENOENT || error == EINVAL;
}

/* The name under which a descriptor can be linked. */
static void descriptor_path(char path[40], int fd)
{
    snprintf(path, 40, "/proc/self/fd/%d", fd);
}

/* An unnamed file, or -1 where these cannot be had or could not get a name later. */
static int open_unnamed(int folder, mode_t mode)
{
    char path[40];
    int fd = gf_sys_open(folder, ".", O_TMPFILE | O_RDWR, mode);

    if (fd < 0)
        return -1;
    descriptor_path(path, fd);
    if (faccessat(AT_FDCWD, path, F_OK, 0) != 0) {
        gf_sys_close(fd);
        errno = EOPNOTSUPP; /* no /proc */
        return -1;
    }
    return fd;
}

static int open_named(struct gf_out *out, mode_t mode)
{
    int fd = -1;

    /* Names are taken by other outputs of ours of the same name, which are few. */
    for (unsigned n = 0; n < 1000; n++) {
        gf_temp_name(&out->temp, &out->target, n);
        fd = gf_sys_open(out->target.folder, out->temp.name, O_CREAT | O_EXCL | O_RDWR, mode);
        out->temp.present = fd >= 0;
        if (fd >= 0 || errno != EEXIST)
            break;
        gf_temp_forget(&out->temp);
        errno = EEXIST;
    }
    if (fd < 0)
        gf_temp_forget(&out->temp);
    return fd;
}

/* Gives the new file the mode and, where we may, the owner of the one it replaces. */
static enum gf_status inherit(struct gf_out *out, struct gf_error *e)
{
    const struct stat *old = &out->target.info;
    struct stat now;
    mode_t mode = old->st_mode & 0777; /* not the set-id bits: writing clears them, too */

    if (gf_sys_fstat(out->fd, &now) != 0)
        return gf_sys_fail(e, GF_EOUTPUT, out->name, "cannot be examined");
    /* What the old group might do is not for ours, unless everybody might. */
    if (now.st_gid != old->st_gid && gf_sys_fchown(out->fd, (uid_t)-1, old->st_gid) != 0)
        mode &= 0707 | (mode & 07) << 3;
    if ((now.st_mode & 0777) != mode && gf_sys_fchmod(out->fd, mode) != 0)
        return gf_sys_fail(e, GF_EOUTPUT, out->name, "the mode of the old file cannot be kept");
    /* Only root may give files away; otherwise the new one is ours. It goes last, because it is
     * out of our hands then. */
    if (now.st_uid != old->st_uid)
        (void)gf_sys_fchown(out->fd, old->st_uid, (gid_t)-1);
    return GF_OK;
}

static enum gf_status open_file(struct gf_out *out, struct gf_error *e)
{
    struct gf_target *t = &out->target;
    mode_t mode = t->exists ? 0600 : 0666;

    GF_TRY(gf_target_open_folder(t, out->name, e));
    if (t->exists && out->options.no_clobber)
        return gf_fail(e, GF_EOUTPUT, "%s: exists already; remove it, or leave out --no-clobber",
                       out->name);
    /* The mode bits first, because to root everything is writable. */
    if (t->exists && ((t->info.st_mode & 0222) == 0 || faccessat(t->folder, t->base, W_OK, 0) != 0))
        return gf_fail(e, GF_EOUTPUT, "%s: exists and is read-only; make it writable or remove it",
                       out->name);
    out->fd = open_unnamed(t->folder, mode);
    if (out->fd < 0 && unnamed_unsupported(errno))
        out->fd = open_named(out, mode);
    if (out->fd < 0)
        return gf_sys_fail(e, GF_EOUTPUT, out->name, "cannot be created");
    /* Tells other runs, also those that cannot see our process, that it is in use. */
    flock(out->fd, LOCK_EX | LOCK_NB);
    return t->exists ? inherit(out, e) : GF_OK;
}

/* An unnamed file of its own for what must be positioned on its way to a stream. */
static enum gf_status open_spool(struct gf_out *out, struct gf_error *e)
{
    const char *folder = getenv("TMPDIR");
    char path[PATH_MAX];

    if (!folder || *folder == '\0')
        folder = "/tmp";
    out->fd = gf_sys_open(AT_FDCWD, folder, O_TMPFILE | O_RDWR, 0600);
    if (out->fd < 0 && unnamed_unsupported(errno)) {
        for (unsigned n = 0; n < 1000 && out->fd < 0; n++) {
            snprintf(path, sizeof path, "%s/.gpufilt-spool.%ld-%u", folder, (long)getpid(), n);
            out->fd = gf_sys_open(AT_FDCWD, path, O_CREAT | O_EXCL | O_RDWR, 0600);
            if (out->fd < 0 && errno != EEXIST)
                break;
        }
        if (out->fd >= 0)
            unlink(path);
    }
    if (out->fd < 0)
        return gf_fail(e, GF_EOUTPUT, "%s: a temporary file in %s cannot be created: %s; set "
                       "TMPDIR", out->name, folder, strerror(errno));
    return GF_OK;
}

/* `fd` is one of ours to be copied, or -1 for opening the target. */
static enum gf_status open_stream(struct gf_out *out, int fd, struct gf_error *e)
{
    if (fd >= 0)
        out->stream = gf_sys_dup(fd);
    else
        out->stream = gf_sys_open(AT_FDCWD, out->target.path, O_WRONLY, 0);
    if (out->stream < 0)
        return gf_sys_fail(e, GF_EOUTPUT, out->name, "cannot be opened for writing");
    if (isatty(out->stream))
        return gf_fail(e, GF_EUSAGE, "%s is a terminal, image bytes were not written; redirect it "
                       "or name a file", out->name);
    return out->options.seekable ? open_spool(out, e) : GF_OK;
}

static enum gf_status open_target(struct gf_out *out, const char *path, struct gf_error *e)
{
    struct gf_target *t = &out->target;

    if (strcmp(path, "-") == 0)
        return open_stream(out, STDOUT_FILENO, e);
    GF_TRY(gf_target_resolve(t, path, out->name, e));
    if (t->standard >= 0)
        return open_stream(out, t->standard, e);
    if (t->exists && !S_ISREG(t->info.st_mode))
        return open_stream(out, -1, e);
    return open_file(out, e);
}

enum gf_status gf_out_open(struct gf_out **result, const char *path,
                           const struct gf_out_options *options, struct gf_error *e)
{
    const char *name = strcmp(path, "-") == 0 ? "standard output" : path;
    struct gf_out *out = gf_alloc_zero(1, sizeof *out);
    enum gf_status status;

    *result = NULL;
    if (!out)
        return gf_fail(e, GF_EMEMORY, "%s: not enough memory to open it", name);
    out->fd = out->stream = out->target.folder = out->temp.slot = -1;
    out->options = *options;
    out->name = gf_alloc(strlen(name) + 1, 1);
    if (!out->name) {
        release(out);
        return gf_fail(e, GF_EMEMORY, "%s: not enough memory to open it", name);
    }
    strcpy(out->name, name);
    status = open_target(out, path, e);
    if (status != GF_OK) {
        release(out);
        return status;
    }
    *result = out;
    return GF_OK;
}

const char *gf_out_name(const struct gf_out *out) { return out->name; }

uint64_t gf_out_size(const struct gf_out *out) { return out->size; }

/* From here on space is reserved beside the reading of the input: a file system in memory takes
 * 0.13 s a GiB to fill it with zeros. */
#define RESERVED_ASIDE (UINT64_C(64) << 20)

enum gf_status gf_out_reserve(struct gf_out *out, uint64_t size, struct gf_error *e)
{
    GF_TRY(end_reserving(out, e));
    if (out->fd < 0 || size <= out->reserved || size <= out->size)
        return GF_OK;
    out->reserved = size; /* some file systems keep what they could get when that was not all */
    out->reserving = size >= RESERVED_ASIDE &&
                     pthread_create(&out->reserver, NULL, reserve, out) == 0;
    if (out->reserving)
        return GF_OK;
    reserve(out);
    return end_reserving(out, e);
}

/* One write of many bytes, at an offset or, when it is a stream, next. */
struct writing {
    const struct gf_out *out;
    int fd;
    const uint8_t *from;
    uint64_t offset;
};

static enum gf_status write_part(void *context, size_t begin, size_t end, struct gf_error *e)
{
    const struct writing *w = context;
    const struct gf_out *out = w->out;

    while (begin < end) {
        size_t chunk = gf_min(end - begin, GF_IO_CHUNK);
        ssize_t moved;
        GF_TRY(gf_sys_check_signal(out->name, e));
        moved = w->fd == out->stream ? gf_sys_write(w->fd, w->from + begin, chunk)
                                     : gf_sys_pwrite(w->fd, w->from + begin, chunk,
                                                     w->offset + begin);
        /* Zero for a write of something is no progress: a loop would never end. */
        if (moved == 0)
            errno = EIO;
        if (moved <= 0)
            return gf_sys_fail(e, GF_EOUTPUT, out->name, "cannot be written");
        begin += (size_t)moved;
    }
    return GF_OK;
}

static enum gf_status write_all(const struct gf_out *out, int fd, const void *data, size_t size,
                                uint64_t offset, struct gf_error *e)
{
    struct writing w = {.out = out, .fd = fd, .from = data, .offset = offset};

    /* A stream takes bytes in order. */
    return fd == out->stream ? write_part(&w, 0, size, e) : gf_spread(size, write_part, &w, e);
}

enum gf_status gf_out_write(struct gf_out *out, const void *data, size_t size, struct gf_error *e)
{
    GF_TRY(end_reserving(out, e));
    GF_TRY(write_all(out, out->fd >= 0 ? out->fd : out->stream, data, size, out->size, e));
    out->size += size;
    return GF_OK;
}

enum gf_status gf_out_write_at(struct gf_out *out, const void *data, size_t size, uint64_t offset,
                               struct gf_error *e)
{
    uint64_t end;

    if (out->fd < 0)
        return gf_fail(e, GF_EOUTPUT, "%s: cannot be positioned", out->name);
    if (!gf_add(offset, size, &end))
        return gf_fail(e, GF_EOUTPUT, "%s: the file would be too large", out->name);
    GF_TRY(end_reserving(out, e));
    GF_TRY(write_all(out, out->fd, data, size, offset, e));
    out->size = gf_max(out->size, end);
    return GF_OK;
}

enum gf_status gf_out_read(struct gf_out *out, void *buffer, size_t size, uint64_t offset,
                           size_t *got, struct gf_error *e)
{
    uint8_t *to = buffer;

    *got = 0;
    if (out->fd < 0)
        return gf_fail(e, GF_EOUTPUT, "%s: cannot be read back", out->name);
    if (offset >= out->size)
        return GF_OK;
    size = (size_t)gf_min(size, out->size - offset);
    while (*got < size) {
        ssize_t moved;
        GF_TRY(gf_sys_check_signal(out->name, e));
        moved = gf_sys_pread(out->fd, to + *got, gf_min(size - *got, GF_IO_CHUNK), offset + *got);
        if (moved == 0)
            errno = EIO; /* nobody else has it open, so it cannot have become shorter */
        if (moved <= 0)
            return gf_sys_fail(e, GF_EOUTPUT, out->name, "cannot be read back");
        *got += (size_t)moved;
    }
    return GF_OK;
}

static enum gf_status unspool(struct gf_out *out, struct gf_error *e)
{
    const size_t room = (size_t)1 << 20;
    uint64_t done = 0;
    enum gf_status status = GF_OK;
    void *buffer;

    GF_TRY(gf_allocate(&buffer, room, 1, "copying to the output", e));
    while (status == GF_OK && done < out->size) {
        size_t got;
        status = gf_out_read(out, buffer, room, done, &got, e);
        if (status == GF_OK)
            status = write_all(out, out->stream, buffer, got, 0, e);
        done += got;
    }
    gf_free(buffer);
    return status;
}

/* Closing may report what a network file system could not write earlier. */
static enum gf_status close_checked(const struct gf_out *out, int *fd, struct gf_error *e)
{
    int result = gf_sys_close(*fd);

    *fd = -1;
    if (result != 0)
        return gf_sys_fail(e, GF_EOUTPUT, out->name, "cannot be closed");
    return GF_OK;
}

/* EINVAL: a file system that cannot sync, which is not a failure of this file. */
static bool sync_failed(int fd)
{
    return gf_sys_fsync(fd) != 0 && errno != EINVAL;
}

static enum gf_status commit_stream(struct gf_out *out, struct gf_error *e)
{
    struct stat info;

    if (out->fd >= 0)
        GF_TRY(unspool(out, e));
    if (gf_sys_fstat(out->stream, &info) != 0)
        return gf_sys_fail(e, GF_EOUTPUT, out->name, "cannot be examined");
    if (S_ISBLK(info.st_mode) && out->options.sync == GF_SYNC_EACH && sync_failed(out->stream))
        return gf_sys_fail(e, GF_EOUTPUT, out->name, "cannot be synced to the disk");
    return close_checked(out, &out->stream, e);
}

/* Links the unnamed file to a temporary name. */
static enum gf_status give_temporary_name(struct gf_out *out, struct gf_error *e)
{
    char path[40];
    int result = -1;

    descriptor_path(path, out->fd);
    for (unsigned n = 0; n < 1000; n++) {
        gf_temp_name(&out->temp, &out->target, n);
        result = gf_sys_linkat(AT_FDCWD, path, out->target.folder, out->temp.name);
        out->temp.present = result == 0;
        if (result == 0 || errno != EEXIST)
            break;
        gf_temp_forget(&out->temp);
        errno = EEXIST;
    }
    if (result != 0)
        return gf_sys_fail(e, GF_EOUTPUT, out->name, "cannot be given a temporary name");
    return GF_OK;
}

/* A complete file under a temporary name, closed. */
static enum gf_status complete_file(struct gf_out *out, struct gf_error *e)
{
    GF_TRY(end_reserving(out, e));
    if (out->reserved > out->size && gf_sys_ftruncate(out->fd, out->size) != 0)
        return gf_sys_fail(e, GF_EOUTPUT, out->name, "cannot be cut to its length");
    if (out->options.sync == GF_SYNC_EACH && sync_failed(out->fd))
        return gf_sys_fail(e, GF_EOUTPUT, out->name, "cannot be synced to the disk");
    GF_TRY(gf_sys_check_signal(out->name, e));
    if (!out->temp.present)
        GF_TRY(give_temporary_name(out, e));
    return close_checked(out, &out->fd, e);
}

static enum gf_status sync_folder(int folder, const char *name, struct gf_error *e)
{
    if (sync_failed(folder))
        return gf_sys_fail(e, GF_EOUTPUT, name,
                           "the file is complete, but its folder cannot be synced to the disk");
    return GF_OK;
}

static enum gf_status give_name(struct gf_out *out, struct gf_error *e)
{
    return gf_temp_publish(&out->temp, out->target.folder, out->target.base,
                           out->options.no_clobber, out->name, e);
}

static enum gf_status sync_folder_of(struct gf_out *out, struct gf_error *e)
{
    return out->options.sync == GF_SYNC_EACH && out->target.folder_syncs
               ? sync_folder(out->target.folder, out->name, e) : GF_OK;
}

static enum gf_status commit_file(struct gf_out *out, struct gf_error *e)
{
    GF_TRY(complete_file(out, e));
    GF_TRY(give_name(out, e));
    return sync_folder_of(out, e);
}

enum gf_status gf_out_commit(struct gf_out **pointer, struct gf_error *e)
{
    struct gf_out *out = *pointer;
    enum gf_status status = out->stream >= 0 ? commit_stream(out, e) : commit_file(out, e);

    release(out);
    *pointer = NULL;
    return status;
}

/* ---- two files ---- */

/* So that it can be undone: what had the name keeps the temporary one, if there is such and the
 * file system can exchange names. */
static enum gf_status give_first_name(struct gf_out *out, bool *exchanged, struct gf_error *e)
{
    const struct gf_target *t = &out->target;

    *exchanged = t->exists && !out->options.no_clobber &&
                 gf_sys_renameat(t->folder, out->temp.name, t->base, GF_RENAME_EXCHANGE) == 0;
    return *exchanged ? GF_OK : give_name(out, e);
}

static void undo_first_name(struct gf_out *out, bool exchanged)
{
    const struct gf_target *t = &out->target;

    /* The error is told in any case, so that nothing is made of one here. */
    if (!exchanged) {
        if (!t->exists)
            (void)unlinkat(t->folder, t->base, 0);
    } else if (gf_sys_renameat(t->folder, out->temp.name, t->base, GF_RENAME_EXCHANGE) != 0) {
        /* Without its header the new file is of no use; what was there is. */
        (void)unlinkat(t->folder, t->base, 0);
        (void)gf_sys_linkat(t->folder, out->temp.name, t->folder, t->base);
    }
}

static enum gf_status commit_files(struct gf_out *first, struct gf_out *second, struct gf_error *e)
{
    enum gf_status status;
    bool exchanged;

    GF_TRY(complete_file(first, e));
    if (second->stream < 0)
        GF_TRY(complete_file(second, e));
    GF_TRY(give_first_name(first, &exchanged, e));
    status = sync_folder_of(first, e);
    if (status == GF_OK)
        status = second->stream >= 0 ? commit_stream(second, e) : give_name(second, e);
    if (status != GF_OK) {
        undo_first_name(first, exchanged);
        return status;
    }
    return second->stream >= 0 ? GF_OK : sync_folder_of(second, e);
}

enum gf_status gf_out_commit_both(struct gf_out **first, struct gf_out **second,
                                  struct gf_error *e)
{
    enum gf_status status;

    if ((*first)->stream < 0) {
        status = commit_files(*first, *second, e);
        gf_out_abort(first);
        gf_out_abort(second);
        return status;
    }
    status = gf_out_commit(first, e);
    if (status == GF_OK)
        return gf_out_commit(second, e);
    gf_out_abort(second);
    return status;
}

enum gf_status gf_out_park(struct gf_out **pointer, struct gf_parked **parked, struct gf_error *e)
{
    struct gf_out *out = *pointer;
    enum gf_status status = GF_OK;

    *parked = NULL;
    if (out->stream >= 0)
        status = gf_fail(e, GF_EOUTPUT, "%s: is not a plain file", out->name);
    if (status == GF_OK)
        status = complete_file(out, e);
    if (status == GF_OK) {
        *parked = gf_parked_new(&out->temp, &out->target, out->name);
        if (!*parked)
            status = gf_fail(e, GF_EMEMORY, "%s: not enough memory for its name", out->name);
    }
    release(out);
    *pointer = NULL;
    return status;
}

void gf_out_abort(struct gf_out **out)
{
    if (!*out)
        return;
    release(*out);
    *out = NULL;
}

enum gf_status gf_out_text(int stream, const char *text, size_t size, struct gf_error *e)
{
    while (size > 0) {
        ssize_t moved = gf_sys_write(stream, text, size);
        if (moved < 0)
            return gf_sys_fail(e, GF_EOUTPUT, stream == 1 ? "standard output" : "standard error",
                               "could not be written");
        text += moved;
        size -= (size_t)moved;
    }
    return GF_OK;
}
