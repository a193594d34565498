#include "source.h"

#include "../alloc.h"
#include "../util.h"
#include "png_chunks.h"

#include <string.h>
#define ZLIB_CONST
#include <zlib.h>

#define WINDOW (256u << 10)   /* deflated bytes read at once */
#define SCRATCH (64u << 10)   /* inflated bytes thrown away at once */
#define MOST_OUT (1u << 30)   /* zlib counts in 32 bits */

struct gf_source {
    struct gf_in *in;
    uint64_t offset, size;    /* of the stored bytes in the file */
    enum gf_coding coding;

    /* Deflated data. */
    z_stream z;
    bool inflating;           /* z is in use */
    uint8_t *window;          /* WINDOW bytes, then SCRATCH */
    uint64_t next;            /* of the stored bytes, the first that has not been in the window */
    uint64_t at;              /* of the inflated bytes, the next */
    bool ended;               /* there are no more, and nothing is wrong with what follows */
};

static const char *coding_name(const struct gf_source *s)
{
    return s->coding == GF_GZIP ? "gzip" : "zlib";
}

/* Where in the file zlib is. */
static uint64_t place(const struct gf_source *s)
{
    return s->offset + s->next - s->z.avail_in;
}

static enum gf_status start(struct gf_source *s, struct gf_error *e)
{
    void *block = NULL;
    GF_TRY(gf_allocate(&block, WINDOW + SCRATCH, 1, "inflating", e));
    s->window = block;
    s->z.zalloc = gf_zlib_alloc;
    s->z.zfree = gf_zlib_free;
    /* 16 asks for gzip's frame, whose checksum zlib verifies. */
    s->inflating = inflateInit2(&s->z, s->coding == GF_GZIP ? 16 + MAX_WBITS : MAX_WBITS) == Z_OK;
    return s->inflating ? GF_OK
                        : gf_fail(e, GF_EMEMORY, "out of memory for inflating; set a higher "
                                  "--max-memory");
}

enum gf_status gf_source_open(struct gf_source **source, struct gf_in *in, uint64_t offset,
                              uint64_t size, enum gf_coding coding, struct gf_error *e)
{
    const uint64_t end = gf_in_size(in);
    struct gf_source *s;
    void *block = NULL;
    enum gf_status status = GF_OK;

    *source = NULL;
    GF_TRY(gf_allocate(&block, 1, sizeof *s, gf_in_name(in), e));
    s = memset(block, 0, sizeof *s);
    s->in = in;
    s->offset = gf_min(offset, end);
    s->size = gf_min(size, end - s->offset);
    s->coding = coding;
    if (coding != GF_PLAIN)
        status = gf_name_error(gf_in_name(in), start(s, e), e);
    if (status != GF_OK)
        gf_source_close(&s);
    *source = s;
    return status;
}

bool gf_source_random(const struct gf_source *s) { return s->coding == GF_PLAIN; }

/* ---- inflating ---- */

/* Makes at least two bytes stand before zlib, fewer only at the end. */
static enum gf_status fill(struct gf_source *s, struct gf_error *e)
{
    size_t part = (size_t)gf_min(WINDOW - s->z.avail_in, s->size - s->next);
    if (s->z.avail_in >= 2 || part == 0)
        return GF_OK;
    if (s->z.avail_in > 0)
        s->window[0] = *s->z.next_in;
    GF_TRY(gf_in_read(s->in, s->window + s->z.avail_in, part, s->offset + s->next, e));
    s->next += part;
    s->z.next_in = s->window;
    s->z.avail_in += (uInt)part;
    return GF_OK;
}

/* After a member: another one, or zeros with which some programs fill a block. */
static enum gf_status go_on(struct gf_source *s, struct gf_error *e)
{
    GF_TRY(fill(s, e));
    if (s->coding == GF_GZIP && s->z.avail_in >= 2 && s->z.next_in[0] == 0x1f &&
        s->z.next_in[1] == 0x8b) {
        inflateReset(&s->z);
        return GF_OK;
    }
    for (;;) {
        GF_TRY(fill(s, e));
        if (s->z.avail_in == 0)
            break;
        if (*s->z.next_in != 0)
            return gf_fail(e, GF_EINPUT, "%s: %llu bytes from byte %llu on are behind the end of "
                           "the %s data and no part of them; remove them, if the file is not "
                           "damaged", gf_in_name(s->in),
                           (unsigned long long)(s->offset + s->size - place(s)),
                           (unsigned long long)place(s), coding_name(s));
        s->z.next_in++;
        s->z.avail_in--;
    }
    s->ended = true;
    return GF_OK;
}

static enum gf_status damaged(const struct gf_source *s, int code, struct gf_error *e)
{
    if (code == Z_MEM_ERROR)
        return gf_fail(e, GF_EMEMORY, "%s: out of memory for inflating; set a higher --max-memory",
                       gf_in_name(s->in));
    if (code == Z_BUF_ERROR)
        return gf_fail(e, GF_EINPUT, "%s: truncated: the %s data end at byte %llu without an end "
                       "mark, after %llu inflated bytes", gf_in_name(s->in), coding_name(s),
                       (unsigned long long)place(s), (unsigned long long)s->at);
    return gf_fail(e, GF_EINPUT, "%s: damaged %s data at byte %llu, after %llu inflated bytes: %s",
                   gf_in_name(s->in), coding_name(s), (unsigned long long)place(s),
                   (unsigned long long)s->at,
                   code == Z_NEED_DICT ? "it needs a dictionary" : s->z.msg ? s->z.msg : "?");
}

/* The next bytes; *got is less only when there are no more. */
static enum gf_status inflate_next(struct gf_source *s, uint8_t *to, size_t size, size_t *got,
                                   struct gf_error *e)
{
    *got = 0;
    while (*got < size && !s->ended) {
        const uInt room = (uInt)gf_min(size - *got, MOST_OUT);
        int code;
        GF_TRY(fill(s, e));
        s->z.next_out = to + *got;
        s->z.avail_out = room;
        code = inflate(&s->z, Z_NO_FLUSH);
        *got += room - s->z.avail_out;
        s->at += room - s->z.avail_out;
        if (code == Z_STREAM_END)
            GF_TRY(go_on(s, e));
        else if (code != Z_OK)
            return damaged(s, code, e);
    }
    return GF_OK;
}

/* Goes to inflated byte `at`, or to the end if that comes first. */
static enum gf_status go_to(struct gf_source *s, uint64_t at, struct gf_error *e)
{
    size_t got;
    if (at < s->at) {
        inflateReset(&s->z);
        s->z.avail_in = 0;
        s->next = s->at = 0;
        s->ended = false;
    }
    while (s->at < at && !s->ended)
        GF_TRY(inflate_next(s, s->window + WINDOW, (size_t)gf_min(at - s->at, SCRATCH), &got, e));
    return GF_OK;
}

/* ---- reading ---- */

enum gf_status gf_source_read_some(struct gf_source *s, void *to, size_t size, uint64_t at,
                                   size_t *got, struct gf_error *e)
{
    *got = 0;
    if (s->coding == GF_PLAIN) {
        if (at >= s->size)
            return GF_OK;
        return gf_in_read_some(s->in, to, (size_t)gf_min(size, s->size - at), s->offset + at, got,
                               e);
    }
    GF_TRY(go_to(s, at, e));
    return s->at == at ? inflate_next(s, to, size, got, e) : GF_OK;
}

enum gf_status gf_source_read(struct gf_source *s, void *to, size_t size, uint64_t at,
                              struct gf_error *e)
{
    size_t got;
    GF_TRY(gf_source_read_some(s, to, size, at, &got, e));
    if (got == size)
        return GF_OK;
    if (s->coding == GF_PLAIN)
        return gf_fail(e, GF_EINPUT, "%s: truncated: the file ends after %llu bytes, %llu bytes at "
                       "%llu were needed", gf_in_name(s->in),
                       (unsigned long long)(s->offset + s->size), (unsigned long long)size,
                       (unsigned long long)(s->offset + at));
    return gf_fail(e, GF_EINPUT, "%s: the %s data inflate to %llu bytes, %llu bytes at %llu were "
                   "needed; the header is wrong, or the rest is missing", gf_in_name(s->in),
                   coding_name(s), (unsigned long long)s->at, (unsigned long long)size,
                   (unsigned long long)at);
}

enum gf_status gf_source_end(struct gf_source *s, uint64_t total, struct gf_error *e)
{
    const bool exact = total != UINT64_MAX;
    uint8_t more;
    size_t got = 0;

    if (s->coding == GF_PLAIN) {
        if (!exact || s->size <= total)
            return GF_OK;
        return gf_fail(e, GF_EINPUT, "%s: %llu bytes from byte %llu on are more than the header "
                       "describes", gf_in_name(s->in), (unsigned long long)(s->size - total),
                       (unsigned long long)(s->offset + total));
    }
    if (s->at < total)
        GF_TRY(go_to(s, total, e));
    GF_TRY(inflate_next(s, &more, 1, &got, e));
    if (got == 0)
        return GF_OK;
    return gf_fail(e, GF_EINPUT, "%s: the %s data inflate to more than the %llu bytes that the "
                   "header describes; correct the header", gf_in_name(s->in), coding_name(s),
                   (unsigned long long)total);
}

void gf_source_close(struct gf_source **source)
{
    struct gf_source *s = *source;
    if (!s)
        return;
    if (s->inflating)
        inflateEnd(&s->z);
    gf_free(s->window);
    gf_free(s);
    *source = NULL;
}

enum gf_status gf_gunzip_head(struct gf_in *in, void *to, size_t size, size_t *got,
                              struct gf_error *e)
{
    struct gf_source *s;
    enum gf_status status;

    *got = 0;
    GF_TRY(gf_source_open(&s, in, 0, UINT64_MAX, GF_GZIP, e));
    status = gf_source_read_some(s, to, size, 0, got, e);
    gf_source_close(&s);
    return status;
}
