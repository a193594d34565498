/* Where an output goes: the folder and name behind symbolic links, and the temporary names
 * beside it. For src/io/ only. */
#ifndef GPUFILT_SRC_IO_TARGET_H
#define GPUFILT_SRC_IO_TARGET_H

#include "../status.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

struct gf_target {
    char path[PATH_MAX];     /* after symbolic links */
    const char *base;        /* its last part */
    int folder;              /* descriptor of the rest, or -1 */
    bool folder_syncs;       /* it could be opened so that it can be synced */
    int standard;            /* >= 0: the path means this descriptor of ours (/dev/stdout) */
    bool exists;
    struct stat info;        /* when it exists */
};

/* Follows `path`; `name` is for messages. The folder is not yet opened. */
enum gf_status gf_target_resolve(struct gf_target *t, const char *path, const char *name,
                                 struct gf_error *e);
/* Opens the folder and removes what processes that were killed left in it. */
enum gf_status gf_target_open_folder(struct gf_target *t, const char *name, struct gf_error *e);
void gf_target_close(struct gf_target *t);

/* A name in a folder that must not outlive the process. */
struct gf_temp {
    char name[NAME_MAX + 1];
    int slot;                /* in the list that gf_out_emergency_cleanup() reads; -1: none */
    bool present;
};

/* The n-th temporary name for the target: ".NAME.PID.gpufilt-tmp", NAME cut where it would
 * be too long. It is registered before it exists, so that no signal finds a gap. */
void gf_temp_name(struct gf_temp *temp, const struct gf_target *t, unsigned n);
void gf_temp_remove(struct gf_temp *temp, const struct gf_target *t);
/* The name is gone (renamed) or never came to be. */
void gf_temp_forget(struct gf_temp *temp);
/* Gives the temporary name's file the final one, in one step; with `keep` an existing one is
 * refused. `name` is for messages. */
enum gf_status gf_temp_publish(struct gf_temp *temp, int folder, const char *base, bool keep,
                               const char *name, struct gf_error *e);
/* Moves the name into `to`, where it no longer counts as one of the few that the signal handler can
 * remove: there may be thousands. gf_temp_unpark when the file is gone or has its name. */
void gf_temp_park(struct gf_temp *to, struct gf_temp *from);
void gf_temp_unpark(struct gf_temp *temp);

#endif
