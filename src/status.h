/* Statuses and errors: every function that can fail returns an enum gf_status
 * and, unless it is GF_OK, has put one line into the caller's struct gf_error.
 * The values are the exit statuses of the program; only main() exits with them. */
#ifndef GPUFILT_SRC_STATUS_H
#define GPUFILT_SRC_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

enum gf_status {
    GF_OK = 0,
    GF_NO = 1,          /* the answer is no: --on-clip error */
    GF_EUSAGE = 2,      /* usage error, nothing was read */
    GF_EINPUT = 3,      /* input missing, truncated or corrupt */
    GF_EOUTPUT = 4,     /* output could not be written or closed */
    GF_EFEATURE = 5,    /* type or feature this format or filter cannot do */
    GF_EMEMORY = 6,     /* out of memory or beyond --max-memory */
    GF_EDEVICE = 7,     /* the GPU that was asked for cannot be used */
    GF_EBATCH = 8,      /* batch: some files failed, the others are done */
    GF_ESIGNAL = 128    /* stopped by a signal; main() raises it again */
};

/* One message without program name and newline: "FILE: what was found, what was
 * needed; what to do". Bytes from names and files may be in it as they are: the
 * message module escapes them when it prints. */
struct gf_error {
    char text[1024];
};

/* Formats the message and returns `status`, so that a failing function can end
 * in `return gf_fail(e, GF_EINPUT, "...", ...)`. A null `e` is allowed. */
enum gf_status gf_fail(struct gf_error *e, enum gf_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts `name` before a message that does not begin with it: what ran out of memory deep
 * inside does not know whose it was. Returns `status`. */
enum gf_status gf_name_error(const char *name, enum gf_status status, struct gf_error *e);

/* Returns the status of `call` from the calling function unless it is GF_OK. */
#define GF_TRY(call)                          \
    do {                                      \
        enum gf_status gf_try_status = (call);\
        if (gf_try_status != GF_OK)           \
            return gf_try_status;             \
    } while (0)

#ifdef __cplusplus
}
#endif
#endif
