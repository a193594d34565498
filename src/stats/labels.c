#include "labels.h"

#include "../alloc.h"
#include "../signals.h"
#include "../util.h"
#include "order.h"

#include <stdlib.h>
#include <string.h>

/* ---- going through pixels ---- */

/* The labels of the pixels of one row of a box, and their samples where they are wanted. */
struct walk {
    const struct gf_sequence *s;
    struct gf_rows *labels;
    void *raw;                  /* the row of labels as it is stored */
    int64_t *label;             /* of each pixel of the row; INT64_MIN: the mask leaves it out */
    char *samples;              /* the row of samples, or NULL */
    uint64_t *key;              /* theirs */
    struct gf_mask_line mask;
};

/* Called for each row of the boxes; pixels [first, first + count) of it are in the box. False
 * stops the walk. */
typedef bool take_row(void *context, const struct walk *w, uint64_t image, uint64_t first,
                      uint64_t count, uint64_t y, uint64_t z);

/* Of an integer type. */
static void widen(enum gf_type type, const void *from, uint64_t count, int64_t *to)
{
    switch (type) {
#define X(NAME, name, ctype, bytes, is_float, lowest, highest)  \
    case GF_##NAME:                                             \
        for (uint64_t i = 0; i < count; i++)                    \
            to[i] = (int64_t)((const ctype *)from)[i];          \
        break;
        GF_TYPES(X)
#undef X
    default: break;
    }
}

static enum gf_status walk_open(struct walk *w, const struct gf_labels *l, bool samples,
                                struct gf_error *e)
{
    uint64_t width = 0, bytes = 0;
    void *block;
    memset(w, 0, sizeof *w);
    w->s = l->sequence;
    w->labels = l->rows;
    for (uint64_t i = 0; i < w->s->images; i++) {
        const struct gf_image *image = gf_rows_image(w->s->rows, w->s->first_image + i);
        width = gf_max(width, image->width);
        bytes = gf_max(bytes, gf_row_bytes(image));
    }
    GF_TRY(gf_allocate(&w->raw, width, sizeof(uint32_t), gf_rows_name(l->rows), e));
    GF_TRY(gf_allocate(&block, width, sizeof *w->label, gf_rows_name(l->rows), e));
    w->label = block;
    if (samples) {
        GF_TRY(gf_allocate(&block, bytes, 1, gf_rows_name(w->s->rows), e));
        w->samples = block;
        GF_TRY(gf_allocate(&block, bytes / gf_type_bytes(gf_sequence_type(w->s)), sizeof *w->key,
                           gf_rows_name(w->s->rows), e));
        w->key = block;
    }
    return gf_mask_line_open(&w->mask, w->s, e);
}

static void walk_close(struct walk *w)
{
    gf_free(w->raw);
    gf_free(w->label);
    gf_free(w->samples);
    gf_free(w->key);
    gf_mask_line_close(&w->mask);
}

static enum gf_status walk_row(struct walk *w, uint64_t image, uint64_t y, uint64_t z,
                               struct gf_error *e)
{
    const struct gf_image *shape = gf_rows_image(w->s->rows, image);
    uint64_t row = z * shape->height + y;
    GF_TRY(gf_rows_read(w->labels, image, row, 1, w->raw, e));
    widen(gf_rows_image(w->labels, image)->type, w->raw, shape->width, w->label);
    GF_TRY(gf_mask_line_read(&w->mask, w->s, y, z, e));
    for (uint64_t x = 0; w->mask.in && x < shape->width; x++)
        if (!w->mask.in[x])
            w->label[x] = INT64_MIN;
    if (!w->samples)
        return GF_OK;
    GF_TRY(gf_rows_read(w->s->rows, image, row, 1, w->samples, e));
    gf_keys_of(shape->type, w->samples, shape->width * shape->channels, w->key);
    return GF_OK;
}

static enum gf_status walk_all(struct walk *w, take_row *take, void *context, struct gf_error *e)
{
    const struct gf_sequence *s = w->s;
    for (uint64_t i = s->first_image; i < s->first_image + s->images; i++) {
        const struct gf_box box = gf_sequence_box(s, i);
        for (uint64_t r = 0; r < box.size[1] * box.size[2]; r++) {
            uint64_t y = box.origin[1] + r % box.size[1], z = box.origin[2] + r / box.size[1];
            GF_TRY(walk_row(w, i, y, z, e));
            if (!take(context, w, i, box.origin[0], box.size[0], y, z))
                return GF_OK;
        }
        if (gf_signal_pending())
            return GF_ESIGNAL;
    }
    return GF_OK;
}

/* ---- the labels that occur ---- */

/* A table of labels by their hash; pixels mostly have the label of the one before. */
struct entry {
    int64_t label;
    uint64_t pixels;            /* 0: free */
    uint64_t at;                /* where its next sample goes */
    uint64_t number;            /* among all labels */
};

struct table {
    struct entry *entry;
    uint64_t room, used;        /* room: a power of two */
    uint64_t last;              /* looked up last */
    uint32_t channels;
    unsigned bytes;
    struct gf_labels *labels;
    bool failed;                /* no memory */
};

static uint64_t find(const struct table *t, int64_t label)
{
    uint64_t i = ((uint64_t)label * UINT64_C(0x9e3779b97f4a7c15)) >> 20 & (t->room - 1);
    while (t->entry[i].pixels > 0 && t->entry[i].label != label)
        i = (i + 1) & (t->room - 1);
    return i;
}

static bool grow(struct table *t)
{
    struct table larger = *t;
    larger.room = gf_max(2 * t->room, 1024);
    larger.entry = gf_alloc_zero(larger.room, sizeof *t->entry);
    if (!larger.entry)
        return false;
    for (uint64_t i = 0; i < t->room; i++)
        if (t->entry[i].pixels > 0)
            larger.entry[find(&larger, t->entry[i].label)] = t->entry[i];
    gf_free(t->entry);
    larger.last = 0;
    *t = larger;
    return true;
}

static bool count_row(void *context, const struct walk *w, uint64_t image, uint64_t first,
                      uint64_t count, uint64_t y, uint64_t z)
{
    struct table *t = context;
    (void)image, (void)y, (void)z;
    for (uint64_t x = first; x < first + count; x++) {
        int64_t label = w->label[x];
        if (label == INT64_MIN)
            continue;
        if (t->entry[t->last].label != label || t->entry[t->last].pixels == 0) {
            if (2 * t->used >= t->room && !grow(t)) {
                t->failed = true;
                return false;
            }
            t->last = find(t, label);
            t->used += t->entry[t->last].pixels == 0;
            t->entry[t->last].label = label;
        }
        t->entry[t->last].pixels++;
    }
    return true;
}

/* Sample `index` of a label, of this key, is there. */
static void look_at(struct gf_labels *l, uint64_t number, uint64_t key, uint64_t index,
                    const struct gf_place *place)
{
    const struct gf_label_extreme now = {key, index, *place};
    if (key == GF_NO_KEY)
        return;
    if (key < l->least[number].key) /* no key is larger than GF_NO_KEY */
        l->least[number] = now;
    if (key > l->greatest[number].key || l->greatest[number].key == GF_NO_KEY)
        l->greatest[number] = now;
}

static bool place_row(void *context, const struct walk *w, uint64_t image, uint64_t first,
                      uint64_t count, uint64_t y, uint64_t z)
{
    struct table *t = context;
    struct gf_labels *l = t->labels;
    const size_t pixel = (size_t)t->channels * t->bytes;
    for (uint64_t x = first; x < first + count; x++) {
        int64_t label = w->label[x];
        if (label == INT64_MIN)
            continue;
        struct entry *entry;
        if (t->entry[t->last].label != label)
            t->last = find(t, label);
        entry = &t->entry[t->last];
        memcpy(l->samples + entry->at * t->bytes, w->samples + x * pixel, pixel);
        for (uint32_t c = 0; c < t->channels; c++)
            look_at(l, entry->number, w->key[x * t->channels + c],
                    entry->at + c - l->start[entry->number],
                    &(struct gf_place){.x = x, .y = y, .z = z, .channel = c, .page = image});
        entry->at += t->channels;
    }
    return true;
}

static int by_label(const void *a, const void *b)
{
    const int64_t *l = a, *r = b;
    return (*l > *r) - (*l < *r);
}

static enum gf_status new_extremes(struct gf_labels *l, struct gf_error *e)
{
    const char *name = gf_rows_name(l->rows);
    void *block;
    GF_TRY(gf_allocate(&block, l->count, sizeof *l->least, name, e));
    l->least = block;
    GF_TRY(gf_allocate(&block, l->count, sizeof *l->greatest, name, e));
    l->greatest = block;
    for (uint64_t i = 0; i < l->count; i++)
        l->least[i] = l->greatest[i] = (struct gf_label_extreme){.key = GF_NO_KEY};
    return GF_OK;
}

/* The labels in order, and where each one's samples go. */
static enum gf_status lay_out(struct gf_labels *l, struct table *t, struct gf_error *e)
{
    const char *name = gf_rows_name(l->rows);
    uint64_t n = 0;
    void *block;
    GF_TRY(gf_allocate(&block, t->used, sizeof *l->label, name, e));
    l->label = block;
    GF_TRY(gf_allocate(&block, t->used + 1, sizeof *l->start, name, e));
    l->start = block;
    for (uint64_t i = 0; i < t->room; i++)
        if (t->entry[i].pixels > 0)
            l->label[n++] = t->entry[i].label;
    qsort(l->label, n, sizeof *l->label, by_label);
    l->count = n;
    l->start[0] = 0;
    for (uint64_t i = 0; i < n; i++) {
        struct entry *entry = &t->entry[find(t, l->label[i])];
        entry->at = l->start[i];
        entry->number = i;
        l->start[i + 1] = l->start[i] + entry->pixels * t->channels;
    }
    return new_extremes(l, e);
}

static enum gf_status check_labels(const struct gf_labels *l, struct gf_error *e)
{
    const struct gf_sequence *s = l->sequence;
    if (gf_rows_images(l->rows) != gf_rows_images(s->rows))
        return gf_fail(e, GF_EFEATURE, "%s: has %llu images, %s has %llu; labels have as many",
                       gf_rows_name(l->rows), (unsigned long long)gf_rows_images(l->rows),
                       gf_rows_name(s->rows), (unsigned long long)gf_rows_images(s->rows));
    for (uint64_t i = 0; i < gf_rows_images(l->rows); i++) {
        const struct gf_image *label = gf_rows_image(l->rows, i);
        const struct gf_image *shape = gf_rows_image(s->rows, i);
        if (shape->channels != gf_rows_image(s->rows, 0)->channels)
            return gf_fail(e, GF_EFEATURE, "%s: image %llu has another number of channels than the "
                           "first; labels need the same", gf_rows_name(s->rows),
                           (unsigned long long)i + 1);
        if (label->channels != 1 || gf_type_row(label->type)->is_float)
            return gf_fail(e, GF_EFEATURE, "%s: has %u channel%s of %s; labels are one channel "
                           "of an integer type", gf_rows_name(l->rows), label->channels,
                           label->channels == 1 ? "" : "s", gf_type_name(label->type));
        if (label->width != shape->width || label->height != shape->height ||
            label->depth != shape->depth)
            return gf_fail(e, GF_EFEATURE, "%s: is %llux%llux%llu, but %s is %llux%llux%llu; "
                           "labels have the image's size", gf_rows_name(l->rows),
                           (unsigned long long)label->width, (unsigned long long)label->height,
                           (unsigned long long)label->depth, gf_rows_name(s->rows),
                           (unsigned long long)shape->width, (unsigned long long)shape->height,
                           (unsigned long long)shape->depth);
    }
    return GF_OK;
}

static enum gf_status walk_with(const struct gf_labels *l, bool samples, take_row *take,
                                void *context, struct gf_error *e)
{
    struct walk w;
    enum gf_status status = walk_open(&w, l, samples, e);
    if (status == GF_OK)
        status = walk_all(&w, take, context, e);
    walk_close(&w);
    return status;
}

static enum gf_status sort(struct gf_labels *l, struct table *t, struct gf_error *e)
{
    const struct gf_sequence *s = l->sequence;
    void *block;
    GF_TRY(check_labels(l, e));
    GF_TRY(gf_sequence_check(s, e));
    t->channels = gf_rows_image(s->rows, s->first_image)->channels;
    t->bytes = gf_type_bytes(gf_sequence_type(s));
    t->failed = !grow(t);
    if (!t->failed)
        GF_TRY(walk_with(l, false, count_row, t, e));
    if (t->failed)
        return gf_fail(e, GF_EMEMORY, "%s: out of memory for the table of labels; raise "
                       "--max-memory", gf_rows_name(l->rows));
    if (t->used == 0)
        return gf_fail(e, GF_EFEATURE, "%s: the mask leaves no pixel, so that no label is left",
                       gf_rows_name(s->mask));
    GF_TRY(lay_out(l, t, e));
    GF_TRY(gf_allocate(&block, l->start[l->count], t->bytes, gf_rows_name(s->rows), e));
    t->labels = l;
    l->samples = block;
    return walk_with(l, true, place_row, t, e);
}

enum gf_status gf_labels_sort(struct gf_labels *l, const struct gf_sequence *sequence,
                              struct gf_rows *rows, struct gf_error *e)
{
    struct table t = {0};
    enum gf_status status;
    memset(l, 0, sizeof *l);
    l->sequence = sequence;
    l->rows = rows;
    status = sort(l, &t, e);
    gf_free(t.entry);
    return status;
}

void gf_labels_free(struct gf_labels *l)
{
    gf_free(l->label);
    gf_free(l->start);
    gf_free(l->samples);
    gf_free(l->least);
    gf_free(l->greatest);
    memset(l, 0, sizeof *l);
}

/* ---- one of them ---- */

enum gf_status gf_label_run(const void *of, const struct gf_sink *sinks, unsigned count,
                            struct gf_error *e)
{
    const struct gf_label *g = of;
    const struct gf_labels *l = g->labels;
    const unsigned bytes = gf_type_bytes(gf_sequence_type(l->sequence));
    const uint64_t n = l->start[g->index + 1] - l->start[g->index];
    for (unsigned i = 0; i < count; i++)
        GF_TRY(sinks[i].feed(sinks[i].state, l->samples + l->start[g->index] * bytes, n, e));
    return GF_OK;
}

enum gf_status gf_label_place(const void *of, uint64_t index, struct gf_place *place,
                              struct gf_error *e)
{
    const struct gf_label *g = of;
    const struct gf_label_extreme *least = &g->labels->least[g->index];
    (void)e;
    *place = least->index == index ? least->place : g->labels->greatest[g->index].place;
    return GF_OK;
}
