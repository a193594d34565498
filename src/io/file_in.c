/* Input: positioned reads of a file, or of memory where the input cannot be positioned. */
#include "file.h"

#include "../alloc.h"
#include "../util.h"
#include "spread.h"
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

struct gf_in {
    int fd;             /* -1 once everything is in memory */
    char *name;
    uint64_t start;     /* where in the file the input starts: "<" may have been read from */
    uint64_t size;
    uint8_t *memory;    /* the whole input when it is not NULL */
    struct stat opened; /* to notice changes */
    bool standard;      /* standard input */
};

/* Reads a pipe to its end into counted memory. */
static enum gf_status read_whole(struct gf_in *in, struct gf_error *e)
{
    uint64_t room = 0;
    ssize_t got;

    for (;;) {
        if (in->size == room) {
            uint64_t more = gf_max((uint64_t)64 << 10, gf_min(room / 2, (uint64_t)1 << 30));
            uint8_t *memory = gf_realloc(in->memory, room + more, 1);
            if (!memory) {
                /* A generous step may not fit where the input does. */
                more = (uint64_t)64 << 10;
                memory = gf_realloc(in->memory, room + more, 1);
            }
            if (!memory)
                return gf_fail(e, GF_EMEMORY,
                               "%s: not enough memory for an input that is not a plain file, "
                               "after %llu bytes; name a file, or raise --max-memory",
                               in->name, (unsigned long long)in->size);
            in->memory = memory;
            room += more;
        }
        got = gf_sys_read(in->fd, in->memory + in->size,
                          (size_t)gf_min(room - in->size, GF_IO_CHUNK));
        if (got < 0)
            return gf_sys_fail(e, GF_EINPUT, in->name, "cannot be read");
        if (got == 0)
            break;
        in->size += (uint64_t)got;
    }
    if (in->size > 0 && in->size < room) {
        uint8_t *memory = gf_realloc(in->memory, in->size, 1);
        in->memory = memory ? memory : in->memory;
    }
    return GF_OK;
}

static enum gf_status open_descriptor(struct gf_in *in, const char *path, struct gf_error *e)
{
    bool standard = in->standard = strcmp(path, "-") == 0;
    off_t position;

    in->fd = standard ? gf_sys_dup(STDIN_FILENO) : gf_sys_open(AT_FDCWD, path, O_RDONLY, 0);
    if (in->fd < 0)
        return gf_sys_fail(e, GF_EINPUT, in->name, "cannot be opened for reading");
    if (gf_sys_fstat(in->fd, &in->opened) != 0)
        return gf_sys_fail(e, GF_EINPUT, in->name, "cannot be examined");
    if (S_ISDIR(in->opened.st_mode))
        return gf_fail(e, GF_EINPUT, "%s: is a folder, a file was expected", in->name);
    /* /dev/zero has no end; /dev/null is just empty. */
    if (S_ISCHR(in->opened.st_mode) && in->opened.st_rdev != makedev(1, 3) && !isatty(in->fd))
        return gf_fail(e, GF_EINPUT, "%s: is a device, a file or a pipe was expected", in->name);
    if (!S_ISREG(in->opened.st_mode) && !S_ISBLK(in->opened.st_mode))
        return read_whole(in, e);
    position = standard ? lseek(in->fd, 0, SEEK_CUR) : 0;
    in->start = position > 0 ? (uint64_t)position : 0;
    if (S_ISBLK(in->opened.st_mode)) {
        position = lseek(in->fd, 0, SEEK_END);
        in->size = position > 0 ? (uint64_t)position : 0;
    } else {
        in->size = (uint64_t)in->opened.st_size;
    }
    in->size -= gf_min(in->size, in->start);
    /* Files of /proc and the like say 0 and have content. */
    if (in->opened.st_size == 0 && S_ISREG(in->opened.st_mode))
        return read_whole(in, e);
    return GF_OK;
}

enum gf_status gf_in_open(struct gf_in **result, const char *path, struct gf_error *e)
{
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    struct gf_in *in;
    enum gf_status status;

    *result = NULL;
    if (*path == '\0')
        return gf_fail(e, GF_EINPUT, "the name of an input file is empty");
    in = gf_alloc_zero(1, sizeof *in);
    if (!in)
        return gf_fail(e, GF_EMEMORY, "%s: not enough memory to open it", name);
    in->fd = -1;
    in->name = gf_alloc(strlen(name) + 1, 1);
    if (!in->name) {
        gf_in_close(&in);
        return gf_fail(e, GF_EMEMORY, "%s: not enough memory to open it", name);
    }
    strcpy(in->name, name);
    status = open_descriptor(in, path, e);
    if (status == GF_OK && in->size == 0)
        status = gf_fail(e, GF_EINPUT, "%s: the file is empty", name);
    if (status != GF_OK) {
        gf_in_close(&in);
        return status;
    }
    if (in->memory) {
        gf_sys_close(in->fd);
        in->fd = -1;
    }
    *result = in;
    return GF_OK;
}

bool gf_in_again(const char *path)
{
    struct stat info;

    return strcmp(path, "-") != 0 && stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

const char *gf_in_name(const struct gf_in *in) { return in->name; }

uint64_t gf_in_size(const struct gf_in *in) { return in->size; }

bool gf_in_is_standard(const struct gf_in *in) { return in->standard; }

/* One read of many bytes, for gf_spread. */
struct reading {
    struct gf_in *in;
    uint8_t *to;
    uint64_t offset;
};

static enum gf_status read_part(void *context, size_t begin, size_t end, struct gf_error *e)
{
    const struct reading *r = context;
    struct gf_in *in = r->in;

    while (begin < end) {
        ssize_t moved;
        GF_TRY(gf_sys_check_signal(in->name, e));
        moved = gf_sys_pread(in->fd, r->to + begin, gf_min(end - begin, GF_IO_CHUNK),
                             in->start + r->offset + begin);
        if (moved < 0)
            return gf_sys_fail(e, GF_EINPUT, in->name, "cannot be read");
        if (moved == 0)
            return gf_fail(e, GF_EINPUT,
                           "%s: ends after %llu bytes, it had %llu when it was opened: another "
                           "program changes it", in->name,
                           (unsigned long long)(r->offset + begin), (unsigned long long)in->size);
        begin += (size_t)moved;
    }
    return GF_OK;
}

enum gf_status gf_in_read_some(struct gf_in *in, void *buffer, size_t size, uint64_t offset,
                               size_t *got, struct gf_error *e)
{
    struct reading r = {.in = in, .to = buffer, .offset = offset};

    *got = 0;
    /* What was appended since the file was opened is not part of it. */
    if (offset >= in->size)
        return GF_OK;
    size = (size_t)gf_min(size, in->size - offset);
    if (in->memory)
        memcpy(buffer, in->memory + offset, size);
    else
        GF_TRY(gf_spread(size, read_part, &r, e));
    *got = size;
    return GF_OK;
}

enum gf_status gf_in_read(struct gf_in *in, void *buffer, size_t size, uint64_t offset,
                          struct gf_error *e)
{
    size_t got;

    GF_TRY(gf_in_read_some(in, buffer, size, offset, &got, e));
    if (got < size)
        return gf_fail(e, GF_EINPUT,
                       "%s: truncated: the file ends after %llu bytes, %llu bytes at %llu were "
                       "needed", in->name, (unsigned long long)in->size,
                       (unsigned long long)size, (unsigned long long)offset);
    return GF_OK;
}

enum gf_status gf_in_unchanged(struct gf_in *in, struct gf_error *e)
{
    struct stat now;

    if (in->memory)
        return GF_OK;
    if (gf_sys_fstat(in->fd, &now) != 0)
        return gf_sys_fail(e, GF_EINPUT, in->name, "cannot be examined");
    if (now.st_size != in->opened.st_size ||
        now.st_mtim.tv_sec != in->opened.st_mtim.tv_sec ||
        now.st_mtim.tv_nsec != in->opened.st_mtim.tv_nsec)
        return gf_fail(e, GF_EINPUT, "%s: changed while it was read; try again when the other "
                       "program has finished", in->name);
    return GF_OK;
}

void gf_in_close(struct gf_in **in)
{
    if (!*in)
        return;
    /* Nothing was written through it, so there is nothing its result could say. */
    if ((*in)->fd >= 0)
        gf_sys_close((*in)->fd);
    gf_free((*in)->memory);
    gf_free((*in)->name);
    gf_free(*in);
    *in = NULL;
}
