#include "target.h"

#include "../text.h"
#include "../util.h"
#include "file.h"
#include "sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define SUFFIX ".gpufilt-tmp"

/* ---- names that the signal handler removes ---- */

/* SLOT_FREE -> SLOT_TAKEN while one thread fills it in -> SLOT_READY while the name exists. */
enum { SLOT_FREE, SLOT_TAKEN, SLOT_READY };

static struct {
    atomic_int state;
    int folder;
    char name[NAME_MAX + 1];
} slots[64];

static int slot_register(int folder, const char *name)
{
    for (size_t i = 0; i < GF_COUNT(slots); i++) {
        int expected = SLOT_FREE;
        if (!atomic_compare_exchange_strong(&slots[i].state, &expected, SLOT_TAKEN))
            continue;
        slots[i].folder = folder;
        strcpy(slots[i].name, name);
        atomic_store(&slots[i].state, SLOT_READY);
        return (int)i;
    }
    /* With more outputs than slots at once the rest are cleaned by the next run. */
    return -1;
}

void gf_out_emergency_cleanup(void)
{
    for (size_t i = 0; i < GF_COUNT(slots); i++)
        if (atomic_load(&slots[i].state) == SLOT_READY)
            unlinkat(slots[i].folder, slots[i].name, 0);
}

static bool is_registered(const char *name)
{
    for (size_t i = 0; i < GF_COUNT(slots); i++)
        if (atomic_load(&slots[i].state) == SLOT_READY && strcmp(slots[i].name, name) == 0)
            return true;
    return false;
}

void gf_temp_name(struct gf_temp *temp, const struct gf_target *t, unsigned n)
{
    char tail[64];
    size_t room;

    if (n == 0)
        snprintf(tail, sizeof tail, ".%ld" SUFFIX, (long)getpid());
    else
        snprintf(tail, sizeof tail, ".%ld-%u" SUFFIX, (long)getpid(), n);
    room = NAME_MAX - 1 - strlen(tail);
    snprintf(temp->name, sizeof temp->name, ".%.*s%s", (int)room, t->base, tail);
    temp->slot = slot_register(t->folder, temp->name);
    temp->present = false;
}

void gf_temp_forget(struct gf_temp *temp)
{
    temp->present = false;
    if (temp->slot >= 0)
        atomic_store(&slots[temp->slot].state, SLOT_FREE);
    temp->slot = -1;
}

void gf_temp_remove(struct gf_temp *temp, const struct gf_target *t)
{
    if (temp->present)
        unlinkat(t->folder, temp->name, 0);
    gf_temp_forget(temp);
}

enum gf_status gf_temp_publish(struct gf_temp *temp, int folder, const char *base, bool keep,
                               const char *name, struct gf_error *e)
{
    int result = gf_sys_renameat(folder, temp->name, base, keep);

    if (result != 0 && keep && (errno == EINVAL || errno == ENOSYS)) {
        /* The file system cannot rename so; a link does not replace either. */
        result = gf_sys_linkat(folder, temp->name, folder, base);
        if (result == 0)
            unlinkat(folder, temp->name, 0);
    }
    if (result == 0) {
        gf_temp_forget(temp);
        return GF_OK;
    }
    if (keep && errno == EEXIST)
        return gf_fail(e, GF_EOUTPUT, "%s: another program has created it meanwhile; remove it, "
                       "or leave out --no-clobber", name);
    return gf_sys_fail(e, GF_EOUTPUT, name, "cannot be given its name");
}

/* How many names of ours nobody has listed. */
static atomic_uint_least64_t parked;

void gf_temp_park(struct gf_temp *to, struct gf_temp *from)
{
    atomic_fetch_add(&parked, 1);
    *to = *from;
    to->slot = -1;
    gf_temp_forget(from);
}

void gf_temp_unpark(struct gf_temp *temp)
{
    gf_temp_forget(temp);
    atomic_fetch_sub(&parked, 1);
}

/* ---- names that killed processes left ---- */

/* The process id in ".NAME.PID.gpufilt-tmp" or ".NAME.PID-N.gpufilt-tmp", else 0. */
static pid_t pid_in_name(const char *name)
{
    size_t size = strlen(name);
    const char *end, *p;
    long long pid = 0;

    if (name[0] != '.' || size <= sizeof SUFFIX)
        return 0;
    end = name + size - (sizeof SUFFIX - 1);
    if (strcmp(end, SUFFIX) != 0)
        return 0;
    p = end;
    while (p > name && ((p[-1] >= '0' && p[-1] <= '9') || p[-1] == '-'))
        p--;
    if (p == end || p <= name + 1 || p[-1] != '.')
        return 0;
    for (; p < end && *p != '-'; p++) {
        pid = pid * 10 + (*p - '0');
        if (pid > INT_MAX)
            return 0;
    }
    return (pid_t)pid;
}

/* True when no process can still be writing it: none has its number, and none (in another
 * container, whose processes we do not see) holds the lock. */
static bool is_stale(int folder, const char *name)
{
    pid_t pid = pid_in_name(name);
    bool stale;
    int fd;

    if (pid <= 0)
        return false;
    if (pid == getpid())
        return !is_registered(name) && atomic_load(&parked) == 0;
    if (kill(pid, 0) == 0 || errno != ESRCH)
        return false;
    fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    stale = flock(fd, LOCK_EX | LOCK_NB) == 0;
    close(fd);
    return stale;
}

static void remove_stale(int folder)
{
    /* Once a folder and process, and not to its end when it is huge: reading a folder of
     * 100000 files would take longer than filtering a small picture. */
    static _Atomic uint64_t last_folder;
    int budget = 10000;
    struct stat info;
    struct dirent *entry;
    uint64_t id;
    DIR *list;
    int copy;

    if (fstat(folder, &info) != 0)
        return;
    id = (uint64_t)info.st_ino * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)info.st_dev;
    if (atomic_exchange(&last_folder, id) == id)
        return;
    copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    list = copy >= 0 ? fdopendir(copy) : NULL;
    if (!list) {
        if (copy >= 0)
            close(copy);
        return;
    }
    while (budget-- > 0 && (entry = readdir(list)))
        if (entry->d_name[0] == '.' && is_stale(folder, entry->d_name))
            unlinkat(folder, entry->d_name, 0);
    closedir(list);
}

/* ---- the target ---- */

/* The descriptor that a path of the system names, such as 1 for "/proc/self/fd/1", to which
 * "/dev/stdout" is a link; else -1. Going through these links would open the file behind anew,
 * at its start, or replace it under the feet of the shell that redirected to it. */
static int own_descriptor(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"};
    uint64_t fd;

    for (size_t i = 0; i < GF_COUNT(folders); i++)
        if (strncmp(path, folders[i], strlen(folders[i])) == 0 &&
            gf_parse_u64(path + strlen(folders[i]), &fd) && fd <= INT_MAX)
            return (int)fd;
    return -1;
}

/* Puts what the link `t->path` says in its place. */
static enum gf_status follow_link(struct gf_target *t, const char *name, struct gf_error *e)
{
    char link[PATH_MAX];
    ssize_t size = readlink(t->path, link, sizeof link - 1);
    char *slash = strrchr(t->path, '/');
    size_t kept = slash ? (size_t)(slash + 1 - t->path) : 0;

    if (size < 0)
        return gf_sys_fail(e, GF_EOUTPUT, name, "the symbolic link cannot be read");
    link[size] = '\0';
    if (link[0] == '/')
        kept = 0;
    if (kept + (size_t)size >= sizeof t->path) {
        errno = ENAMETOOLONG;
        return gf_sys_fail(e, GF_EOUTPUT, name, "cannot be followed");
    }
    memcpy(t->path + kept, link, (size_t)size + 1);
    return GF_OK;
}

enum gf_status gf_target_resolve(struct gf_target *t, const char *path, const char *name,
                                 struct gf_error *e)
{
    size_t size = strlen(path);
    char *slash;

    t->folder = -1;
    t->standard = -1;
    t->exists = false;
    if (size == 0)
        return gf_fail(e, GF_EOUTPUT, "the name of an output file is empty");
    if (size >= sizeof t->path) {
        errno = ENAMETOOLONG;
        return gf_sys_fail(e, GF_EOUTPUT, name, "cannot be written");
    }
    memcpy(t->path, path, size + 1);
    for (int links = 0;; links++) {
        t->standard = own_descriptor(t->path);
        if (t->standard >= 0)
            return GF_OK;
        if (lstat(t->path, &t->info) != 0) {
            if (errno != ENOENT)
                return gf_sys_fail(e, GF_EOUTPUT, name, "cannot be written");
            break;
        }
        if (!S_ISLNK(t->info.st_mode)) {
            t->exists = true;
            break;
        }
        /* The kernel's own limit. */
        if (links == 40) {
            errno = ELOOP;
            return gf_sys_fail(e, GF_EOUTPUT, name, "cannot be written");
        }
        GF_TRY(follow_link(t, name, e));
    }
    slash = strrchr(t->path, '/');
    t->base = slash ? slash + 1 : t->path;
    if (t->exists && S_ISDIR(t->info.st_mode))
        return gf_fail(e, GF_EOUTPUT, "%s: is a folder, the name of a file was expected", name);
    if (*t->base == '\0')
        return gf_fail(e, GF_EOUTPUT, "%s: names a folder that does not exist; create it, or leave "
                       "out the slash at the end", name);
    return GF_OK;
}

enum gf_status gf_target_open_folder(struct gf_target *t, const char *name, struct gf_error *e)
{
    const int flags = O_RDONLY | O_DIRECTORY;
    char folder[PATH_MAX];
    size_t size = (size_t)(t->base - t->path);

    if (size == 0) {
        strcpy(folder, ".");
    } else {
        memcpy(folder, t->path, size);
        folder[size] = '\0';
    }
    t->folder_syncs = true;
    t->folder = gf_sys_open(AT_FDCWD, folder, flags, 0);
    if (t->folder < 0 && errno == EACCES) {
        /* One may write into it, but not list it. */
        t->folder_syncs = false;
        t->folder = gf_sys_open(AT_FDCWD, folder, flags | O_PATH, 0);
    }
    if (t->folder < 0 && errno == ENOENT)
        return gf_fail(e, GF_EOUTPUT, "%s: the folder %s does not exist; create it first", name,
                       folder);
    if (t->folder < 0)
        return gf_sys_fail(e, GF_EOUTPUT, name, "its folder cannot be opened");
    if (t->folder_syncs)
        remove_stale(t->folder);
    return GF_OK;
}

void gf_target_close(struct gf_target *t)
{
    /* Nothing was written through it, so there is nothing its result could say. */
    if (t->folder >= 0)
        gf_sys_close(t->folder);
    t->folder = -1;
}
