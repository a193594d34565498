/* The only way in and out of the file system: raw system calls with every result
 * checked, no stdio and no mmap, and a hook that makes the n-th call fail. */
#ifndef GPUFILT_SRC_IO_FILE_H
#define GPUFILT_SRC_IO_FILE_H

#include "../status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- input ---- */

struct gf_in;

/* Opens a file for reading; "-" is standard input. What cannot be positioned (a pipe,
 * a terminal) is read whole into counted memory first. GF_EINPUT names the path and
 * the reason (missing, a folder, no permission, empty). */
enum gf_status gf_in_open(struct gf_in **in, const char *path, struct gf_error *e);
/* Whether it can be opened again to read the same: not standard input, nor a pipe. */
bool gf_in_again(const char *path);
/* Name for messages: the path, or "standard input". */
const char *gf_in_name(const struct gf_in *in);
uint64_t gf_in_size(const struct gf_in *in);
bool gf_in_is_standard(const struct gf_in *in);
/* Reads exactly `size` bytes at `offset`; fewer is GF_EINPUT "truncated". Thread-safe. */
enum gf_status gf_in_read(struct gf_in *in, void *buffer, size_t size, uint64_t offset,
                          struct gf_error *e);
/* Reads up to `size` bytes at `offset`; *got is less only at the end of the file. */
enum gf_status gf_in_read_some(struct gf_in *in, void *buffer, size_t size, uint64_t offset,
                               size_t *got, struct gf_error *e);
/* GF_EINPUT when the file's size or time of change is no longer what it was at open. */
enum gf_status gf_in_unchanged(struct gf_in *in, struct gf_error *e);
/* Accepts NULL; sets the pointer to NULL. */
void gf_in_close(struct gf_in **in);

/* ---- output ---- */

enum gf_sync { GF_SYNC_EACH, GF_SYNC_NONE };

struct gf_out_options {
    bool no_clobber;    /* an existing file is an error */
    bool seekable;      /* the writer needs gf_out_read or writes out of order: a pipe
                         * is then spooled in an unnamed temporary file */
    enum gf_sync sync;
};

struct gf_out;

/* Prepares an output that appears only with gf_out_commit: an unnamed file in the
 * target's folder (O_TMPFILE, or an exclusive temporary name where that is not
 * supported). Symbolic links are followed, an existing file's mode is kept, and a
 * read-only existing file is refused. "-" is standard output; it, pipes and devices
 * are written straight away. A terminal is refused (GF_EUSAGE). */
enum gf_status gf_out_open(struct gf_out **out, const char *path,
                           const struct gf_out_options *options, struct gf_error *e);
const char *gf_out_name(const struct gf_out *out);
/* Reserves space for a final size, so that a full disk shows at the start. Much space is reserved
 * by a thread; that there is not enough is then what the next call says that writes. */
enum gf_status gf_out_reserve(struct gf_out *out, uint64_t size, struct gf_error *e);
/* Appends. */
enum gf_status gf_out_write(struct gf_out *out, const void *data, size_t size, struct gf_error *e);
/* Writes at an offset (seekable outputs only); does not move the end for gf_out_write
 * unless it passes it. */
enum gf_status gf_out_write_at(struct gf_out *out, const void *data, size_t size, uint64_t offset,
                               struct gf_error *e);
/* Reads back what was written (seekable outputs only); *got may be short at the end. */
enum gf_status gf_out_read(struct gf_out *out, void *buffer, size_t size, uint64_t offset,
                           size_t *got, struct gf_error *e);
/* Bytes up to the end of what was written. */
uint64_t gf_out_size(const struct gf_out *out);
/* Syncs, gives the file its name in one step, syncs the folder, closes and checks it
 * all. After GF_OK or an error the handle is gone. On an error before the rename the
 * old file is untouched and nothing is left behind. */
enum gf_status gf_out_commit(struct gf_out **out, struct gf_error *e);
/* For files that appear together: does all of gf_out_commit but giving the name; the complete file
 * waits under a temporary one. Not for streams. The handle is gone afterwards. */
struct gf_parked;
enum gf_status gf_out_park(struct gf_out **out, struct gf_parked **parked, struct gf_error *e);
/* Gives all of them their names, in order, and syncs their folders; every one of them is
 * released, also on an error. Then those that came to be are removed again, unless they replaced
 * a file, which is lost. Signals wait. */
enum gf_status gf_parked_publish(struct gf_parked **parked, uint64_t count,
                                 const struct gf_out_options *options, struct gf_error *e);
/* Removes the file; accepts NULL; sets the pointer to NULL. */
void gf_parked_drop(struct gf_parked **parked);
/* The same for a file and the header that describes it, which is not to appear without it: all that
 * can be done before is done for both before the first gets its name. Where the second then cannot
 * get its own, the first name is given back to what had it before. A pair of names cannot change
 * in one step: what ends the process between the two leaves the new first file beside the old
 * header. */
enum gf_status gf_out_commit_both(struct gf_out **first, struct gf_out **second,
                                  struct gf_error *e);
/* Discards; accepts NULL; sets the pointer to NULL. */
void gf_out_abort(struct gf_out **out);
/* Writes a text to a standard stream, 1 or 2: GF_EOUTPUT when not all of it was taken. */
enum gf_status gf_out_text(int stream, const char *text, size_t size, struct gf_error *e);
/* Unlinks a temporary name still in the file system; async-signal-safe. */
void gf_out_emergency_cleanup(void);

/* ---- test hook ---- */

/* In builds with test hooks, GPUFILT_TEST_IO=CALL:N:ERRNO[:sticky] makes the N-th
 * call of that kind fail, e.g. "pwrite:2:ENOSPC", "fsync:1:EIO:sticky"; ERRNO "short"
 * makes a read or write move one byte. Kinds: open fstat read pread write pwrite
 * fallocate ftruncate fchmod fchown fsync linkat renameat close. Unit tests:
 * gf_io_fail_at() of sys.h. */

#endif
