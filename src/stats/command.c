#include "command.h"

#include "../message.h"
#include "labels.h"
#include "session.h"

#include <malloc.h>

struct stats_file {
    struct gf_stats_session *session;
    struct gf_rows *rows, *mask, *labels;
    struct gf_sequence sequence; /* all of the file */
};

static void describe(const struct gf_sequence *s, struct gf_stats *stats)
{
    const struct gf_box box = gf_sequence_box(s, s->first_image);
    stats->width = box.size[0];
    stats->height = box.size[1];
    stats->depth = box.size[2];
    stats->volume = gf_rows_image(s->rows, s->first_image)->depth > 1;
    stats->channels = gf_rows_image(s->rows, s->first_image)->channels;
    stats->pages = s->images;
}

static enum gf_status sequence_run(const void *of, const struct gf_sink *sinks, unsigned count,
                                   struct gf_error *e)
{
    return gf_sequence_run(of, sinks, count, e);
}

static enum gf_status sequence_place(const void *of, uint64_t index, struct gf_place *place,
                                     struct gf_error *e)
{
    return gf_sequence_place(of, index, place, e);
}

static struct gf_stats new_stats(const struct stats_file *f, const struct gf_sequence *s)
{
    struct gf_stats stats = gf_stats_new(gf_rows_name(f->rows));
    describe(s, &stats);
    return stats;
}

static enum gf_status take_sequence(struct stats_file *f, const struct gf_sequence *s,
                                    struct gf_stats *stats, struct gf_error *e)
{
    const struct gf_source source = {gf_rows_name(f->rows), gf_sequence_type(s), s, sequence_run,
                                     sequence_place, gf_sequence_most(s)};
    GF_TRY(gf_sequence_check(s, e));
    if (gf_collect_again(source.type, &f->session->columns))
        gf_rows_keep(f->rows);
    return gf_stats_session_row(f->session, &source, stats, e);
}

/* ---- the parts of a file ---- */

static enum gf_status take_pages(struct stats_file *f, bool slices, struct gf_error *e)
{
    for (uint64_t i = 0; i < f->sequence.images; i++) {
        struct gf_sequence s = f->sequence;
        struct gf_box box;
        uint64_t planes;
        s.first_image = i;
        s.images = 1;
        box = gf_sequence_box(&s, i);
        planes = slices ? box.size[2] : 1;
        s.one_plane = slices;
        for (s.plane = 0; s.plane < planes; s.plane++) {
            struct gf_stats stats = new_stats(f, &s);
            if (f->sequence.images > 1 || !slices)
                stats.page = (int64_t)i;
            if (slices)
                stats.slice = (int64_t)(box.origin[2] + s.plane);
            GF_TRY(take_sequence(f, &s, &stats, e));
        }
    }
    return GF_OK;
}

static enum gf_status take_channels(struct stats_file *f, struct gf_error *e)
{
    const uint32_t channels = gf_rows_image(f->rows, 0)->channels;
    for (uint64_t i = 1; i < f->sequence.images; i++)
        if (gf_rows_image(f->rows, i)->channels != channels)
            return gf_fail(e, GF_EFEATURE, "%s: page 1 has %u channels, page %llu has %u; --per "
                           "page measures them one by one", gf_rows_name(f->rows), channels,
                           (unsigned long long)i + 1, gf_rows_image(f->rows, i)->channels);
    if (channels > 1)
        gf_rows_keep(f->rows);
    for (uint32_t c = 0; c < channels; c++) {
        struct gf_sequence s = f->sequence;
        struct gf_stats stats = new_stats(f, &s);
        s.channel = stats.channel = c;
        GF_TRY(take_sequence(f, &s, &stats, e));
    }
    return GF_OK;
}

static enum gf_status take_labels(struct stats_file *f, struct gf_error *e)
{
    struct gf_labels labels;
    enum gf_status status = gf_labels_sort(&labels, &f->sequence, f->labels, e);
    for (uint64_t i = 0; status == GF_OK && i < labels.count; i++) {
        struct gf_stats stats = new_stats(f, &f->sequence);
        struct gf_label label = {&labels, i};
        struct gf_source source = {gf_rows_name(f->rows), gf_sequence_type(&f->sequence), &label,
                                   gf_label_run, gf_label_place,
                                   labels.start[i + 1] - labels.start[i]};
        stats.label = labels.label[i];
        status = gf_stats_session_row(f->session, &source, &stats, e);
    }
    gf_labels_free(&labels);
    return status;
}

static enum gf_status take_parts(struct stats_file *f, struct gf_error *e)
{
    struct gf_stats stats;
    if (f->labels)
        return take_labels(f, e);
    switch (f->session->options->per) {
    case GF_PER_PAGE: return take_pages(f, false, e);
    case GF_PER_SLICE: return take_pages(f, true, e);
    case GF_PER_CHANNEL: return take_channels(f, e);
    case GF_PER_FILE: break;
    }
    stats = new_stats(f, &f->sequence);
    return take_sequence(f, &f->sequence, &stats, e);
}

/* ---- a file ---- */

/* The whole file, or --roi of each of its images. */
static void choose_region(struct stats_file *f)
{
    const struct gf_request *r = f->session->request;
    struct gf_sequence *s = &f->sequence;
    *s = (struct gf_sequence){.rows = f->rows, .mask = f->mask, .channel = -1,
                              .images = gf_rows_images(f->rows), .roi_axes = r->roi_axes,
                              .threads = f->session->how.threads};
    memcpy(s->box.origin, r->roi_origin, sizeof s->box.origin);
    memcpy(s->box.size, r->roi_size, sizeof s->box.size);
}

/* A mask or labels; they are read again for every part. */
static enum gf_status open_beside(struct gf_rows **rows, const char *path,
                                  const struct gf_request *r, struct gf_error *e)
{
    const struct gf_read_options options = {.stack_pages = r->read.stack_pages};
    if (!path)
        return GF_OK;
    GF_TRY(gf_rows_open(rows, path, &options, e));
    gf_rows_keep(*rows);
    return GF_OK;
}

static enum gf_status verify(struct stats_file *f, struct gf_error *e)
{
    struct gf_rows *const read[] = {f->rows, f->mask, f->labels};
    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        if (read[i])
            GF_TRY(gf_rows_verify(read[i], e));
    return GF_OK;
}

static enum gf_status measure_file(struct gf_stats_session *session, const char *path,
                                   struct gf_error *e)
{
    struct stats_file f = {.session = session};
    enum gf_status status = gf_rows_open(&f.rows, path, &session->request->read, e);
    gf_stats_session_file(session);
    if (status == GF_OK)
        status = open_beside(&f.mask, session->options->mask, session->request, e);
    if (status == GF_OK)
        status = open_beside(&f.labels, session->options->labels, session->request, e);
    if (status == GF_OK) {
        choose_region(&f);
        status = gf_name_error(gf_rows_name(f.rows), take_parts(&f, e), e);
    }
    if (status == GF_OK)
        status = verify(&f, e);
    status = gf_stats_session_file_end(session, status, e);
    gf_rows_close(&f.labels);
    gf_rows_close(&f.mask);
    gf_rows_close(&f.rows);
    return status;
}

/* A file that fails is reported and the others are measured; a GPU that fails would fail them
 * all. */
static enum gf_status measure_files(struct gf_stats_session *session, size_t *failed,
                                    struct gf_error *e)
{
    const struct gf_request *r = session->request;
    for (size_t i = 0; i < r->operand_count; i++) {
        enum gf_status status = measure_file(session, r->operands[i], e);
        if (status == GF_OK)
            continue;
        if (status == GF_ESIGNAL || status == GF_EDEVICE || r->operand_count == 1)
            return status;
        gf_print_error("%s", e->text);
        ++*failed;
    }
    return GF_OK;
}

/* Standard input is there once. */
static enum gf_status check_standard_input(const struct gf_request *r, struct gf_error *e)
{
    const char *const beside[] = {r->stats.mask, r->stats.labels};
    size_t reads = 0;
    for (size_t i = 0; i < r->operand_count; i++)
        reads += strcmp(r->operands[i], "-") == 0;
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
        if (beside[i] && strcmp(beside[i], "-") == 0)
            reads += r->operand_count; /* once for each */
    if (reads > 1)
        return gf_fail(e, GF_EUSAGE, "standard input can be read only once, for one image, mask or "
                       "labels");
    return GF_OK;
}

/* Parts of a file take and free the same counters thousands of times. What goes back to the system
 * in between costs a page fault every 4 KiB to get again, more than the counting. */
static void keep_freed_memory(void)
{
#ifdef M_TRIM_THRESHOLD
    (void)mallopt(M_TRIM_THRESHOLD, 64 << 20);
    (void)mallopt(M_MMAP_THRESHOLD, 8 << 20);
#endif
}

enum gf_status gf_stats_run(const struct gf_request *r, struct gf_error *e)
{
    struct gf_stats_session session;
    size_t failed = 0;
    enum gf_status status;
    GF_TRY(check_standard_input(r, e));
    keep_freed_memory();
    GF_TRY(gf_stats_session_begin(&session, r, e));
    status = measure_files(&session, &failed, e);
    if (status != GF_OK) {
        gf_stats_session_drop(&session);
        return status;
    }
    status = gf_stats_session_end(&session, false, e);
    if (failed == 0 || (status != GF_OK && status != GF_NO))
        return status;
    if (status == GF_NO)
        gf_print_error("%s", e->text);
    return gf_fail(e, GF_EBATCH, "%zu of %zu files failed", failed, r->operand_count);
}
