#include "deflate.h"

#include "../alloc.h"
#include "../processors.h"
#include "../util.h"
#include "deflate_runs.h"
#include "png_chunks.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#define ZLIB_CONST
#include <zlib.h>

#define BLOCK (128u << 10)     /* small enough to share a 512x512 picture out to two threads */
#define WINDOW (32u << 10)     /* how far back deflate reaches */
#define FLUSH_BYTES 64         /* for the empty block that ends a piece on a whole byte */
#define STREAM_FRAME 18        /* gzip's header, CRC-32 and size; zlib's frame is smaller */
#define MAX_THREADS 16

enum slot_state { SLOT_FREE, SLOT_READY, SLOT_BUSY, SLOT_DONE };

/* One block on its way through a thread. */
struct slot {
    uint8_t *in;          /* WINDOW bytes before the block, then the block */
    size_t window, size;  /* of these, how many are used */
    uint8_t *out;         /* margin, output, margin */
    size_t out_size;
    uint32_t checksum;
    bool first, last, failed;
    enum slot_state state;
};

struct gf_deflate {
    struct gf_deflate_options options;
    struct slot *slots;
    unsigned slot_count, current;  /* current: being filled */
    z_stream *streams;             /* one a thread; one when there is none; NULL at level -1 */
    unsigned stream_count;
    size_t out_room;
    uint32_t checksum;             /* Adler-32, or CRC-32 for gzip */
    uint64_t total;                /* bytes before deflating */
    bool any;

    pthread_t *threads;
    unsigned thread_count, next_stream;
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    unsigned take;                 /* the next slot a thread takes */
    bool stop;
};

/* ---- one block ---- */

static void compress_with_zlib(const struct gf_deflate *d, struct slot *s, z_stream *z,
                               uint8_t *out)
{
    const uint8_t *block = s->in + WINDOW;
    int code = deflateReset(z);
    if (code == Z_OK && s->window > 0)
        code = deflateSetDictionary(z, block - s->window, (uInt)s->window);
    z->next_in = block;
    z->avail_in = (uInt)s->size;
    z->next_out = out + s->out_size;
    z->avail_out = (uInt)d->out_room;
    if (code == Z_OK)
        code = deflate(z, s->last ? Z_FINISH : Z_SYNC_FLUSH);
    s->failed = code != (s->last ? Z_STREAM_END : Z_OK) || z->avail_in != 0 || z->avail_out == 0;
    s->out_size += d->out_room - z->avail_out;
}

static size_t put_header(const struct gf_deflate *d, uint8_t *out)
{
    /* Deflate, no flags, no time; "fastest" where it was, made by an unknown system. */
    static const uint8_t gzip[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
    /* Deflate, 32 KiB window, "fastest": the level is informative only. */
    static const uint8_t zlib[2] = {0x78, 0x01};
    if (!d->options.gzip) {
        memcpy(out, zlib, sizeof zlib);
        return sizeof zlib;
    }
    memcpy(out, gzip, sizeof gzip);
    return sizeof gzip;
}

static void compress_block(const struct gf_deflate *d, struct slot *s, z_stream *z)
{
    uint8_t *out = s->out + GF_DEFLATE_MARGIN;
    const uint8_t *block = s->in + WINDOW;

    s->out_size = s->first ? put_header(d, out) : 0;
    s->checksum = (uint32_t)(d->options.gzip ? crc32(0, block, (uInt)s->size)
                                             : adler32(1, block, (uInt)s->size));
    if (d->options.level < 0)
        s->out_size += gf_deflate_runs(block, s->size, s->last, out + s->out_size);
    else
        compress_with_zlib(d, s, z, out);
}

static void *work(void *argument)
{
    struct gf_deflate *d = argument;
    z_stream *z;

    pthread_mutex_lock(&d->lock);
    z = d->streams ? &d->streams[d->next_stream++] : NULL;
    for (;;) {
        struct slot *s = &d->slots[d->take];
        if (s->state == SLOT_READY) {
            s->state = SLOT_BUSY;
            d->take = (d->take + 1) % d->slot_count;
            pthread_mutex_unlock(&d->lock);
            compress_block(d, s, z);
            pthread_mutex_lock(&d->lock);
            s->state = SLOT_DONE;
            pthread_cond_signal(&d->done);
        } else if (d->stop) {
            break;
        } else {
            pthread_cond_wait(&d->work, &d->lock);
        }
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

/* ---- the ring of slots ---- */

static void add_checksum(struct gf_deflate *d, const struct slot *s)
{
    const z_off_t size = (z_off_t)s->size;
    d->total += s->size;
    if (s->first)
        d->checksum = s->checksum;
    else
        d->checksum = (uint32_t)(d->options.gzip
                                     ? crc32_combine(d->checksum, s->checksum, size)
                                     : adler32_combine(d->checksum, s->checksum, size));
}

/* zlib's frame has the most significant byte first, gzip's the least. */
static size_t put_trailer(const struct gf_deflate *d, uint8_t *out)
{
    if (!d->options.gzip) {
        gf_png_set_u32(out, d->checksum);
        return 4;
    }
    for (int i = 0; i < 4; i++) {
        out[i] = (uint8_t)(d->checksum >> 8 * i);
        out[4 + i] = (uint8_t)(d->total >> 8 * i);
    }
    return 8;
}

/* Emits a slot that was submitted, waiting for it; it is free then. */
static enum gf_status drain(struct gf_deflate *d, struct slot *s, struct gf_error *e)
{
    uint8_t *out = s->out + GF_DEFLATE_MARGIN;
    bool done;
    pthread_mutex_lock(&d->lock);
    while (s->state != SLOT_FREE && s->state != SLOT_DONE)
        pthread_cond_wait(&d->done, &d->lock);
    done = s->state == SLOT_DONE;
    s->state = SLOT_FREE;
    pthread_mutex_unlock(&d->lock);
    if (!done)
        return GF_OK;
    if (s->failed)
        return gf_fail(e, GF_EOUTPUT, "zlib could not compress a block of %llu bytes",
                       (unsigned long long)s->size);
    add_checksum(d, s);
    if (s->last)
        s->out_size += put_trailer(d, out + s->out_size);
    return d->options.emit(d->options.context, out, s->out_size, e);
}

/* Hands the current slot on to be compressed. */
static void submit(struct gf_deflate *d, bool last)
{
    struct slot *s = &d->slots[d->current];
    s->first = !d->any;
    s->last = last;
    d->any = true;
    if (d->thread_count == 0) {
        compress_block(d, s, d->streams);
        s->state = SLOT_DONE;
        return;
    }
    pthread_mutex_lock(&d->lock);
    s->state = SLOT_READY;
    pthread_cond_signal(&d->work);
    pthread_mutex_unlock(&d->lock);
}

/* Makes the next slot current, emitting what is in it. */
static enum gf_status advance(struct gf_deflate *d, struct gf_error *e)
{
    const struct slot *before = &d->slots[d->current];
    /* Run lengths never reach back further than one byte: no window is worth its cost. */
    const size_t window = d->options.level > 0 && before->size == BLOCK ? WINDOW : 0;
    struct slot *s;

    d->current = (d->current + 1) % d->slot_count;
    s = &d->slots[d->current];
    GF_TRY(drain(d, s, e));
    /* The last bytes of the block before, which may be in this very slot. */
    memcpy(s->in + WINDOW - window, before->in + WINDOW + BLOCK - window, window);
    s->window = window;
    s->size = 0;
    return GF_OK;
}

enum gf_status gf_deflate_write(struct gf_deflate *d, const void *data, size_t size,
                                struct gf_error *e)
{
    const uint8_t *from = data;
    while (size > 0) {
        struct slot *s = &d->slots[d->current];
        size_t part = (size_t)gf_min(size, BLOCK - s->size);
        /* A full block goes only when more data come, so that the last is never empty. */
        if (part == 0) {
            submit(d, false);
            GF_TRY(advance(d, e));
            continue;
        }
        memcpy(s->in + WINDOW + s->size, from, part);
        s->size += part;
        from += part;
        size -= part;
    }
    return GF_OK;
}

enum gf_status gf_deflate_finish(struct gf_deflate *d, struct gf_error *e)
{
    submit(d, true);
    for (unsigned i = 1; i <= d->slot_count; i++)
        GF_TRY(drain(d, &d->slots[(d->current + i) % d->slot_count], e));
    return GF_OK;
}

/* ---- set-up ---- */

static enum gf_status make_streams(struct gf_deflate *d, unsigned count, struct gf_error *e)
{
    void *block = NULL;
    if (d->options.level < 0) {
        d->out_room = gf_deflate_runs_bound(BLOCK);
        return GF_OK;
    }
    GF_TRY(gf_allocate(&block, count, sizeof *d->streams, "compression", e));
    d->streams = memset(block, 0, count * sizeof *d->streams);
    for (unsigned i = 0; i < count; i++) {
        d->streams[i].zalloc = gf_zlib_alloc;
        d->streams[i].zfree = gf_zlib_free;
        if (deflateInit2(&d->streams[i], d->options.level, Z_DEFLATED, -MAX_WBITS, 8,
                         d->options.strategy) != Z_OK)
            return gf_fail(e, GF_EMEMORY, "out of memory for compression; set a higher "
                           "--max-memory");
        d->stream_count++;
    }
    d->out_room = deflateBound(d->streams, BLOCK) + FLUSH_BYTES;
    return GF_OK;
}

static enum gf_status make_slots(struct gf_deflate *d, unsigned count, struct gf_error *e)
{
    void *block = NULL;
    GF_TRY(gf_allocate(&block, count, sizeof *d->slots, "compression", e));
    memset(block, 0, count * sizeof *d->slots);
    d->slots = block;
    d->slot_count = count;
    for (unsigned i = 0; i < count; i++) {
        block = NULL;
        GF_TRY(gf_allocate(&block, WINDOW + BLOCK, 1, "compression", e));
        d->slots[i].in = block;
        block = NULL;
        GF_TRY(gf_allocate(&block, d->out_room + STREAM_FRAME + 2 * GF_DEFLATE_MARGIN, 1,
                           "compression", e));
        d->slots[i].out = block;
    }
    return GF_OK;
}

/* Starts up to `count` threads; fewer, even none, only makes it slower. Signals stay with
 * the threads there were. */
static void start_threads(struct gf_deflate *d, unsigned count)
{
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return;
    while (d->thread_count < count &&
           pthread_create(&d->threads[d->thread_count], NULL, work, d) == 0)
        d->thread_count++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

enum gf_status gf_deflate_open(struct gf_deflate **out, const struct gf_deflate_options *options,
                               struct gf_error *e)
{
    unsigned count = options->threads ? options->threads : gf_processors();
    void *block = NULL;
    struct gf_deflate *d;
    enum gf_status status;

    count = (unsigned)gf_min(count, gf_min(MAX_THREADS, gf_ceil_div(options->bytes, BLOCK)));
    count = count > 1 ? count : 0;
    GF_TRY(gf_allocate(&block, 1, sizeof *d, "compression", e));
    memset(block, 0, sizeof *d);
    d = block;
    d->options = *options;
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->work, NULL);
    pthread_cond_init(&d->done, NULL);
    status = make_streams(d, count ? count : 1, e);
    /* One being filled and one done that waits besides those in work. */
    if (status == GF_OK)
        status = make_slots(d, count ? count + 2 : 1, e);
    if (status == GF_OK && count) {
        block = NULL;
        status = gf_allocate(&block, count, sizeof *d->threads, "compression", e);
        d->threads = block;
    }
    if (status == GF_OK && count)
        start_threads(d, count);
    if (status != GF_OK)
        gf_deflate_close(&d);
    *out = d;
    return status;
}

void gf_deflate_close(struct gf_deflate **pointer)
{
    struct gf_deflate *d = *pointer;
    if (!d)
        return;
    pthread_mutex_lock(&d->lock);
    d->stop = true;
    pthread_cond_broadcast(&d->work);
    pthread_mutex_unlock(&d->lock);
    for (unsigned i = 0; i < d->thread_count; i++)
        pthread_join(d->threads[i], NULL);
    for (unsigned i = 0; i < d->slot_count; i++) {
        gf_free(d->slots[i].in);
        gf_free(d->slots[i].out);
    }
    for (unsigned i = 0; i < d->stream_count; i++)
        deflateEnd(&d->streams[i]);
    gf_free(d->slots);
    gf_free(d->streams);
    gf_free(d->threads);
    pthread_cond_destroy(&d->done);
    pthread_cond_destroy(&d->work);
    pthread_mutex_destroy(&d->lock);
    gf_free(d);
    *pointer = NULL;
}
