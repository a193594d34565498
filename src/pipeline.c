#include "pipeline.h"

#include "alloc.h"
#include "signals.h"
#include "util.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* In 2D a unit is a row and every plane of the image is walked by itself; in 3D a unit is a
 * plane. A step makes one output slab of units [begin, end). */
struct step {
    uint64_t plane, in_plane;   /* 2D: which plane of the output, and of the input */
    uint64_t begin, end;        /* output units */
    uint64_t first, last;       /* units of the unrolled input its buffer holds: what it
                                 * reaches, and what later steps need that can not be read
                                 * again */
};

/* A buffer of input units [first, last) or of output units, handed round in a ring of two:
 * while one is filled, the other is worked on. */
struct buffer {
    void *data;
    uint64_t bytes;
    uint64_t first, last;
};

/* Pinning a buffer costs as much as 3 to 8 transfers without it. */
#define PINNED_USES 4

/* What wrapping needs again of an image that is read in order: its first and last units, or all of
 * them. A plane's in 2D. */
struct ends {
    uint64_t first, last;               /* units [0, first) and [last, in_units) */
    char *head, *tail;                  /* NULL: read in any order, or not needed */
};

struct pipeline {
    const struct gf_plan *plan;         /* of the unrolled image, which backends get */
    struct gf_unrolled unrolled;
    const struct gf_image *file;        /* what the reader has */
    struct ends ends;
    struct gf_engine *engine;
    const struct gf_backend *backend;
    void *backend_state;
    struct gf_reader *reader;
    struct gf_writer *writer;           /* or NULL */
    struct gf_feeder *feeder;           /* or NULL */
    const struct gf_image *image;       /* what the writer begins */
    struct gf_counts *counts;

    bool volume;
    uint64_t in_units, out_units;       /* a plane's (2D) or the image's (3D), in the files */
    uint64_t rows_per_unit, out_rows_per_unit;
    size_t in_unit_bytes, out_unit_bytes;
    uint64_t in_room, out_room;         /* units a buffer holds */
    uint64_t planes, steps_per_plane, steps;
    uint64_t *first, *last;             /* of each step of a plane */
    uint64_t next_row;                  /* first input row not read yet */

    unsigned depth;                     /* buffers of each kind: 1 or 2 */
    struct buffer in[2], out[2];

    /* How many steps have been read, filtered and written; guarded by the mutex. */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint64_t read, filtered, written;
    enum gf_status status;              /* the first failure */
    struct gf_error error;
};

static struct step step_at(const struct pipeline *p, uint64_t index)
{
    struct step s;
    s.plane = index / p->steps_per_plane;
    s.in_plane = s.plane + (p->volume ? 0 : (uint64_t)p->plan->shift[2]);
    s.begin = index % p->steps_per_plane * p->plan->slab;
    s.end = gf_min(s.begin + p->plan->slab, p->out_units);
    s.first = p->first[index % p->steps_per_plane];
    s.last = p->last[index % p->steps_per_plane];
    return s;
}

/* What each step of a plane holds. The input comes in order and once, so what a later step
 * needs again is kept, and what an earlier one needed ahead has been read already. */
static enum gf_status find_ranges(struct pipeline *p, struct gf_error *e)
{
    uint64_t n = p->steps_per_plane;
    void *block;
    GF_TRY(gf_allocate(&block, n, 2 * sizeof(uint64_t), p->reader->name, e));
    p->first = block;
    p->last = p->first + n;
    for (uint64_t i = 0; i < n; i++)
        gf_plan_reach(p->plan, p->volume ? 2 : 1, i * p->plan->slab,
                      gf_min((i + 1) * p->plan->slab, p->out_units), &p->first[i], &p->last[i]);
    for (uint64_t i = 1; i < n; i++) {
        p->last[i] = gf_max(p->last[i], p->last[i - 1]);
        p->first[n - 1 - i] = gf_min(p->first[n - 1 - i], p->first[n - i]);
    }
    return GF_OK;
}

/* ---- the three stages of a step ---- */

/* Reads and drops input rows up to `row`; the buffer is free to be written over, and has room for a
 * unit at least. */
static enum gf_status skip_to(struct pipeline *p, uint64_t row, const struct buffer *scratch,
                              struct gf_error *e)
{
    uint64_t chunk = scratch->bytes / p->in_unit_bytes * p->rows_per_unit;
    if (p->reader->random_access)
        p->next_row = gf_max(p->next_row, row);
    while (p->next_row < row) {
        uint64_t count = gf_min(chunk, row - p->next_row);
        GF_TRY(gf_reader_rows(p->reader, p->next_row, count, scratch->data, e));
        p->next_row += count;
    }
    return GF_OK;
}

/* The units at both ends of the plane that begins at unit `base` of the file, before those between
 * them are read. */
static enum gf_status read_ends(struct pipeline *p, uint64_t base, const struct buffer *scratch,
                                struct gf_error *e)
{
    const struct ends *k = &p->ends;
    const uint64_t rows = p->rows_per_unit;
    GF_TRY(skip_to(p, base * rows, scratch, e));
    if (k->first > 0)
        GF_TRY(gf_reader_rows(p->reader, base * rows, k->first * rows, k->head, e));
    p->next_row += k->first * rows;
    GF_TRY(skip_to(p, (base + k->last) * rows, scratch, e));
    if (k->last < p->in_units)
        GF_TRY(gf_reader_rows(p->reader, (base + k->last) * rows, (p->in_units - k->last) * rows,
                              k->tail, e));
    p->next_row = (base + p->in_units) * rows;
    if (k->first == k->last)
        return GF_OK;
    /* Only the one plane there is has units between them (keep_ends). */
    p->next_row = 0;
    return gf_reader_restart(p->reader, p->file, e);
}

/* Units [first, last) of the unrolled input to the buffer that begins with unit b->first. */
static enum gf_status fetch(struct pipeline *p, const struct buffer *b, uint64_t base,
                            uint64_t first, uint64_t last, struct gf_error *e)
{
    const uint64_t n = p->in_units, before = p->unrolled.before % n;
    const struct ends *k = &p->ends;
    while (first < last) {
        uint64_t unit = (first + n - before) % n, run = gf_min(last - first, n - unit);
        char *to = (char *)b->data + (first - b->first) * p->in_unit_bytes;
        if (k->head && unit < k->first) {
            run = gf_min(run, k->first - unit);
            memcpy(to, k->head + unit * p->in_unit_bytes, run * p->in_unit_bytes);
        } else if (k->head && unit >= k->last) {
            memcpy(to, k->tail + (unit - k->last) * p->in_unit_bytes, run * p->in_unit_bytes);
        } else {
            if (k->head)
                run = gf_min(run, k->last - unit);
            /* What is dropped on the way there may lie in the room for what comes. */
            GF_TRY(skip_to(p, (base + unit) * p->rows_per_unit,
                           &(struct buffer){.data = to, .bytes = run * p->in_unit_bytes}, e));
            GF_TRY(gf_reader_rows(p->reader, (base + unit) * p->rows_per_unit,
                                  run * p->rows_per_unit, to, e));
            p->next_row = (base + unit + run) * p->rows_per_unit;
        }
        first += run;
    }
    return GF_OK;
}

/* Brings the input units of step `index` into its buffer: those the step before already had
 * are copied, the others read. */
static enum gf_status stage_read(struct pipeline *p, uint64_t index, struct gf_error *e)
{
    struct step s = step_at(p, index);
    struct buffer *b = &p->in[index % p->depth];
    const struct buffer *before = &p->in[(index + p->depth - 1) % p->depth];
    uint64_t base = p->volume ? 0 : s.in_plane * p->in_units;
    uint64_t have = s.first;

    if (s.begin == 0 && p->ends.head)
        GF_TRY(read_ends(p, base, b, e));
    if (s.begin > 0 && before->last > s.first) {
        have = before->last;
        memmove(b->data, (const char *)before->data + (s.first - before->first) * p->in_unit_bytes,
                (have - s.first) * p->in_unit_bytes);
    }
    b->first = s.first;
    b->last = s.last;
    return fetch(p, b, base, have, s.last, e);
}

static void describe_slab(const struct pipeline *p, struct gf_slab *slab, void *data,
                          const struct gf_image *image, uint64_t plane, uint64_t first,
                          uint64_t last)
{
    slab->data = data;
    slab->row_stride = gf_row_bytes(image);
    slab->plane_stride = slab->row_stride * image->height;
    slab->y = p->volume ? 0 : first;
    slab->rows = p->volume ? image->height : last - first;
    slab->z = p->volume ? first : plane;
    slab->planes = p->volume ? last - first : 1;
}

/* Lets measurers of the backend's device see the samples there. Where the CPU may take over, it
 * could not tell them which they have not seen. */
static void watch_output(struct pipeline *p)
{
    struct gf_feeder *f = p->feeder;
    if (!f || !p->backend->watch || p->engine->automatic)
        return;
    for (unsigned i = 0; i < f->sink_count; i++)
        if (f->sinks[i].device && strcmp(f->sinks[i].device, p->backend->name) == 0) {
            p->backend->watch(p->backend_state, f->sinks[i].state);
            f->watched |= 1u << i;
        }
}

/* With its buffers pinned where that pays, which they may be while the reader fills them. */
static enum gf_status open_backend(struct pipeline *p, struct gf_error *e)
{
    GF_TRY(gf_engine_open(p->engine, &p->backend, p->plan, p->reader->name, &p->backend_state, e));
    watch_output(p);
    if (!p->backend->pin || p->steps < (uint64_t)PINNED_USES * p->depth)
        return GF_OK;
    for (unsigned i = 0; i < p->depth; i++) {
        p->backend->pin(p->backend_state, p->in[i].data, p->in[i].bytes);
        p->backend->pin(p->backend_state, p->out[i].data, p->out[i].bytes);
    }
    return GF_OK;
}

static void close_backend(struct pipeline *p)
{
    for (unsigned i = 0; i < p->depth && p->backend_state && p->backend->unpin; i++) {
        p->backend->unpin(p->backend_state, p->in[i].data);
        p->backend->unpin(p->backend_state, p->out[i].data);
    }
    p->backend->close(p->backend_state);
    p->backend_state = NULL;
}

static enum gf_status stage_filter(struct pipeline *p, uint64_t index, struct gf_error *e)
{
    struct step s = step_at(p, index);
    struct buffer *in = &p->in[index % p->depth], *out = &p->out[index % p->depth];
    struct gf_counts counts = {0};
    struct gf_slab from, to;
    enum gf_status status;
    if (gf_signal_pending())
        return GF_ESIGNAL;
    describe_slab(p, &from, in->data, &p->plan->in, s.in_plane, in->first, in->last);
    describe_slab(p, &to, out->data, &p->plan->out, s.plane, s.begin, s.end);
    status = p->backend->run(p->backend_state, &from, &to, &counts, e);
    if (gf_engine_gives_up(p->engine, p->backend, status, p->reader->name, e)) {
        close_backend(p);
        p->backend = &gf_backend_cpu;
        GF_TRY(open_backend(p, e));
        counts = (struct gf_counts){0};
        status = p->backend->run(p->backend_state, &from, &to, &counts, e);
    }
    p->counts->clipped_low += counts.clipped_low;
    p->counts->clipped_high += counts.clipped_high;
    p->counts->nan += counts.nan;
    return gf_name_error(p->reader->name, status, e);
}

static enum gf_status stage_write(struct pipeline *p, uint64_t index, struct gf_error *e)
{
    struct step s = step_at(p, index);
    const void *rows = p->out[index % p->depth].data;
    uint64_t count = (s.end - s.begin) * p->out_rows_per_unit;
    if (p->writer && index == 0)
        GF_TRY(gf_writer_begin(p->writer, p->image, e));
    if (p->writer)
        GF_TRY(gf_writer_rows(p->writer, rows, count, e));
    return p->feeder ? gf_feeder_add(p->feeder, rows, count * p->image->width * p->image->channels,
                                     e)
                     : GF_OK;
}

/* ---- overlapping them ---- */

/* Waits until *counter reaches `value`; false when another stage has failed. */
static bool wait_for(struct pipeline *p, const uint64_t *counter, uint64_t value)
{
    bool go;
    pthread_mutex_lock(&p->mutex);
    while (*counter < value && p->status == GF_OK)
        pthread_cond_wait(&p->changed, &p->mutex);
    go = p->status == GF_OK;
    pthread_mutex_unlock(&p->mutex);
    return go;
}

/* Notes that a stage has done one more step, or has failed. */
static void note(struct pipeline *p, uint64_t *counter, enum gf_status status,
                 const struct gf_error *e)
{
    pthread_mutex_lock(&p->mutex);
    ++*counter;
    if (status != GF_OK && p->status == GF_OK) {
        p->status = status;
        p->error = *e;
    }
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->mutex);
}

static uint64_t room_before(const struct pipeline *p, uint64_t index)
{
    return index >= p->depth ? index - p->depth + 1 : 0;
}

static void *reader_thread(void *argument)
{
    struct pipeline *p = argument;
    for (uint64_t i = 0; i < p->steps && wait_for(p, &p->filtered, room_before(p, i)); i++) {
        struct gf_error e = {""};
        enum gf_status status = stage_read(p, i, &e);
        note(p, &p->read, status, &e);
    }
    return NULL;
}

static void *writer_thread(void *argument)
{
    struct pipeline *p = argument;
    for (uint64_t i = 0; i < p->steps && wait_for(p, &p->filtered, i + 1); i++) {
        struct gf_error e = {""};
        enum gf_status status = stage_write(p, i, &e);
        note(p, &p->written, status, &e);
    }
    return NULL;
}

/* The backend did not open: that counts before what the reader found, whichever came first, so
 * that every run says the same. */
static void note_not_open(struct pipeline *p, enum gf_status status, const struct gf_error *e)
{
    pthread_mutex_lock(&p->mutex);
    if (p->status != GF_ESIGNAL) {
        p->status = status;
        p->error = *e;
    }
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->mutex);
}

/* The filter's stage, in the calling thread. The backend is opened while the reader reads
 * ahead: a GPU needs its time. */
static void filter_steps(struct pipeline *p)
{
    struct gf_error e = {""};
    enum gf_status status = open_backend(p, &e);
    if (status != GF_OK)
        note_not_open(p, status, &e);
    for (uint64_t i = 0; i < p->steps; i++) {
        if (!wait_for(p, &p->read, i + 1) || !wait_for(p, &p->written, room_before(p, i)))
            break;
        status = stage_filter(p, i, &e);
        note(p, &p->filtered, status, &e);
    }
}

static enum gf_status run_in_turn(struct pipeline *p, struct gf_error *e)
{
    GF_TRY(open_backend(p, e));
    for (uint64_t i = 0; i < p->steps; i++) {
        GF_TRY(stage_read(p, i, e));
        GF_TRY(stage_filter(p, i, e));
        GF_TRY(stage_write(p, i, e));
    }
    return GF_OK;
}

static enum gf_status run_overlapped(struct pipeline *p, struct gf_error *e)
{
    pthread_t reader, writer;
    if (pthread_create(&reader, NULL, reader_thread, p) != 0)
        return run_in_turn(p, e);
    if (pthread_create(&writer, NULL, writer_thread, p) != 0) {
        struct gf_error none;
        note(p, &p->written, gf_fail(&none, GF_EMEMORY, "no thread"), &none);
        pthread_join(reader, NULL);
        return gf_fail(e, GF_EMEMORY, "%s: no thread could be started; end other programs, or use "
                       "--device cpu -j 1", p->reader->name);
    }
    filter_steps(p);
    pthread_join(reader, NULL);
    pthread_join(writer, NULL);
    if (p->status != GF_OK && e)
        *e = p->error;
    return p->status;
}

/* Of a wrapped image that is read in order: all of it where there is memory, so that it is decoded
 * once; else its ends, for which it is read twice. Planes of a volume in 2D are kept whole one by
 * one, because there is no going back to a plane. */
static enum gf_status keep_ends(struct pipeline *p, struct gf_error *e)
{
    const struct gf_unrolled *u = &p->unrolled;
    const uint64_t n = p->in_units, left = gf_memory_limit() - gf_min(gf_memory_limit(),
                                                                      gf_memory_used());
    struct ends *k = &p->ends;
    uint64_t bytes;
    void *block;
    bool whole;
    if ((u->before == 0 && u->after == 0) || p->reader->random_access)
        return GF_OK;
    whole = (!p->volume && p->file->depth > 1) || u->before >= n || u->after >= n - u->before ||
            (gf_mul(n, p->in_unit_bytes, &bytes) && bytes <= left / 2);
#ifdef GPUFILT_TEST_HOOKS
    if (getenv("GPUFILT_TEST_ENDS") && (p->volume || p->file->depth == 1))
        whole = u->before >= n || u->after >= n - u->before;
#endif
    k->first = whole ? 0 : u->after;
    k->last = whole ? 0 : n - u->before;
    GF_TRY(gf_allocate(&block, k->first + n - k->last, p->in_unit_bytes, p->reader->name, e));
    k->head = block;
    k->tail = k->head + k->first * p->in_unit_bytes;
    return GF_OK;
}

static enum gf_status allocate_buffers(struct pipeline *p, struct gf_error *e)
{
    GF_TRY(find_ranges(p, e));
    for (uint64_t i = 0; i < p->steps_per_plane; i++) {
        struct step s = step_at(p, i);
        p->in_room = gf_max(p->in_room, s.last - s.first);
        p->out_room = gf_max(p->out_room, s.end - s.begin);
    }
    for (unsigned i = 0; i < p->depth; i++) {
        if (!gf_mul(p->in_room, p->in_unit_bytes, &p->in[i].bytes) ||
            !gf_mul(p->out_room, p->out_unit_bytes, &p->out[i].bytes))
            return gf_fail(e, GF_EMEMORY, "%s: the slabs are too large", p->reader->name);
        GF_TRY(gf_allocate(&p->in[i].data, p->in[i].bytes, 1, p->reader->name, e));
        GF_TRY(gf_allocate(&p->out[i].data, p->out[i].bytes, 1,
                           p->writer ? p->writer->name : p->reader->name, e));
    }
    return keep_ends(p, e);
}

enum gf_status gf_pipeline_run(const struct gf_plan *plan, struct gf_engine *engine,
                               const struct gf_backend *backend, struct gf_reader *reader,
                               struct gf_writer *writer, struct gf_feeder *feeder,
                               const struct gf_image *out, struct gf_counts *counts,
                               struct gf_error *e)
{
    struct pipeline p = {.unrolled = gf_plan_unroll(plan), .file = &plan->in,
                         .engine = engine, .backend = backend, .reader = reader,
                         .writer = writer, .feeder = feeder, .image = out, .counts = counts,
                         .volume = plan->dimensions == 3,
                         .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    enum gf_status status;

    p.plan = &p.unrolled.plan;
    p.in_units = p.volume ? plan->in.depth : plan->in.height;
    p.out_units = p.volume ? plan->out.depth : plan->out.height;
    p.rows_per_unit = p.volume ? plan->in.height : 1;
    p.out_rows_per_unit = p.volume ? plan->out.height : 1;
    p.in_unit_bytes = gf_row_bytes(&plan->in) * p.rows_per_unit;
    p.out_unit_bytes = gf_row_bytes(&plan->out) * p.out_rows_per_unit;
    p.planes = p.volume ? 1 : plan->out.depth;
    p.steps_per_plane = gf_ceil_div(p.out_units, plan->slab);
    p.steps = p.steps_per_plane * p.planes;
    p.depth = plan->buffers;

    status = allocate_buffers(&p, e);
    if (status == GF_OK)
        status = p.depth == 2 || gf_is_gpu(backend) ? run_overlapped(&p, e) : run_in_turn(&p, e);
    if (status == GF_OK)
        status = skip_to(&p, plan->in.depth * plan->in.height, &p.in[0], e);
    close_backend(&p);
    gf_free(p.first);
    gf_free(p.ends.head);
    for (unsigned i = 0; i < 2; i++) {
        gf_free(p.in[i].data);
        gf_free(p.out[i].data);
    }
    return status;
}
