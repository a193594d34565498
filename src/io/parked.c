#include "parked.h"

#include "../alloc.h"
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct gf_parked {
    struct gf_temp temp;
    bool replaces;              /* a file that is there has its name */
    char *name;                 /* for messages */
    char *folder;               /* where it is */
    char *base;                 /* what it will be called there */
};

struct gf_parked *gf_parked_new(struct gf_temp *temp, const struct gf_target *t, const char *name)
{
    size_t folder = (size_t)(t->base - t->path), base = strlen(t->base);
    struct gf_parked *p = gf_alloc(1, sizeof *p + strlen(name) + 1 + folder + 2 + base + 1);

    if (!p)
        return NULL;
    p->name = (char *)(p + 1);
    p->folder = p->name + strlen(name) + 1;
    p->base = p->folder + folder + 2;
    strcpy(p->name, name);
    memcpy(p->folder, t->path, folder);
    strcpy(p->folder + folder, folder ? "" : ".");
    strcpy(p->base, t->base);
    p->replaces = t->exists;
    gf_temp_park(&p->temp, temp);
    return p;
}

static void release(struct gf_parked **parked)
{
    gf_temp_unpark(&(*parked)->temp);
    gf_free(*parked);
    *parked = NULL;
}

/* -1 when it cannot be had. */
static int folder_of(const struct gf_parked *p)
{
    int folder = gf_sys_open(AT_FDCWD, p->folder, O_RDONLY | O_DIRECTORY, 0);

    /* One may write into it, but not list it. */
    return folder < 0 && errno == EACCES
               ? gf_sys_open(AT_FDCWD, p->folder, O_PATH | O_DIRECTORY, 0) : folder;
}

static void remove_from(const struct gf_parked *p, const char *name)
{
    int folder = folder_of(p);

    if (folder < 0)
        return;
    unlinkat(folder, name, 0);
    gf_sys_close(folder);
}

void gf_parked_drop(struct gf_parked **parked)
{
    if (!*parked)
        return;
    remove_from(*parked, (*parked)->temp.name);
    release(parked);
}

/* EINVAL: a file system that cannot sync. EBADF: nor can a folder that cannot be listed. */
static enum gf_status sync_folder(int folder, const struct gf_parked *p, struct gf_error *e)
{
    if (gf_sys_fsync(folder) != 0 && errno != EINVAL && errno != EBADF)
        return gf_sys_fail(e, GF_EOUTPUT, p->name,
                           "the file is complete, but its folder cannot be synced to the disk");
    return GF_OK;
}

/* Names one after the other; *done is how many have theirs. A folder stays open while it is the
 * same. */
static enum gf_status give_names(struct gf_parked **parked, uint64_t count, uint64_t *done,
                                 const struct gf_out_options *options, struct gf_error *e)
{
    bool sync = options->sync == GF_SYNC_EACH;
    enum gf_status status = GF_OK;
    int folder = -1;

    for (*done = 0; *done < count && status == GF_OK;) {
        struct gf_parked *p = parked[*done];
        if (folder < 0)
            folder = folder_of(p);
        if (folder < 0)
            return gf_sys_fail(e, GF_EOUTPUT, p->name, "its folder cannot be opened");
        status = gf_temp_publish(&p->temp, folder, p->base, options->no_clobber, p->name, e);
        if (status != GF_OK)
            break;
        ++*done;
        if (*done < count && strcmp(parked[*done]->folder, p->folder) == 0)
            continue;
        if (sync)
            status = sync_folder(folder, p, e);
        gf_sys_close(folder);
        folder = -1;
    }
    if (folder >= 0)
        gf_sys_close(folder);
    return status;
}

enum gf_status gf_parked_publish(struct gf_parked **parked, uint64_t count,
                                 const struct gf_out_options *options, struct gf_error *e)
{
    uint64_t done;
    enum gf_status status = give_names(parked, count, &done, options, e);

    for (uint64_t i = 0; i < count; i++) {
        if (i >= done) {
            gf_parked_drop(&parked[i]);
            continue;
        }
        if (status != GF_OK && done < count && !parked[i]->replaces)
            remove_from(parked[i], parked[i]->base);
        release(&parked[i]);
    }
    return status;
}
