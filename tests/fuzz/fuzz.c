#include "fuzz.h"

#include "alloc.h"
#include "message.h"
#include "util.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void fuzz_need(bool holds, const char *format, ...)
{
    va_list arguments;
    if (holds)
        return;
    fputs("fuzz: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    abort();
}

void fuzz_need_status(enum gf_status status, unsigned allowed, const struct gf_error *e)
{
    fuzz_need((unsigned)status < 32 && (1u << status & allowed), "status %d: %s", (int)status,
              e->text);
    fuzz_need((status == GF_OK) == (e->text[0] == '\0'), "status %d with the line '%s'",
              (int)status, e->text);
    fuzz_need(memchr(e->text, '\0', sizeof e->text), "an error line without an end");
}

const char *fuzz_file(const uint8_t *data, size_t size)
{
    static int fd = -1;
    static char path[64];

    if (fd < 0) {
        fd = memfd_create("input", MFD_CLOEXEC);
        fuzz_need(fd >= 0, "no file in memory");
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    fuzz_need(ftruncate(fd, (off_t)size) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size,
              "the file in memory cannot be written");
    return path;
}

uint32_t fuzz_hash(const uint8_t *data, size_t size)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ data[i]) * 16777619u;
    return hash ^ hash >> 15;
}

/* ---- reading ---- */

static void check_image(const struct gf_image *image)
{
    const unsigned colors = image->color == GF_RGB ? 3 : image->color == GF_CMYK ? 4 : 1;
    const struct gf_meta *m = &image->meta;

    fuzz_need((unsigned)image->type < GF_TYPE_COUNT, "type %d", (int)image->type);
    fuzz_need(image->width > 0 && image->height > 0 && image->depth > 0 && image->channels > 0,
              "an empty image");
    fuzz_need(gf_image_check(image, "image", NULL) == GF_OK, "sizes that cannot be");
    fuzz_need(image->alpha >= -1 && image->alpha < (int64_t)image->channels, "alpha %d of %u",
              image->alpha, (unsigned)image->channels);
    fuzz_need((unsigned)image->color <= GF_OTHER, "colour %d", (int)image->color);
    fuzz_need(image->color == GF_OTHER || image->channels == colors + (image->alpha >= 0),
              "%u channels of colour %d, alpha %d", (unsigned)image->channels, (int)image->color,
              image->alpha);
    fuzz_need(image->depth == 1 || image->volume, "planes that are not space");
    for (int i = 0; i < 3; i++)
        fuzz_need(m->spacing[i] >= 0 && m->spacing[i] < 1e300, "spacing %g", m->spacing[i]);
    for (int i = 0; i < 2; i++)
        fuzz_need(m->resolution[i] >= 0 && m->resolution[i] < 1e300, "resolution %g",
                  m->resolution[i]);
    fuzz_need(m->resolution_unit >= 0 && m->resolution_unit <= 3, "unit %d", m->resolution_unit);
    fuzz_need(!m->icc.data == !m->icc.size && !m->exif.data == !m->exif.size &&
                  !m->xmp.data == !m->xmp.size, "metadata without a size");
    for (size_t i = 0; i < m->text_count; i++)
        fuzz_need(m->texts[i].key && m->texts[i].value, "half a text");
}

static enum gf_status read_rows(struct gf_reader *r, const struct fuzz_way *way,
                                struct fuzz_picture *p, struct gf_error *e)
{
    const uint64_t rows = p->image.height * p->image.depth, bands = gf_ceil_div(rows, way->step);
    const size_t row = gf_row_bytes(&p->image);

    for (uint64_t i = 0; i < bands; i++) {
        uint64_t band = way->backwards && r->random_access ? bands - 1 - i : i;
        uint64_t first = band * way->step;
        GF_TRY(gf_reader_rows(r, first, gf_min(way->step, rows - first), p->samples + first * row,
                              e));
    }
    return GF_OK;
}

static enum gf_status read_image(struct gf_reader *r, uint64_t index, const struct fuzz_way *way,
                                 struct fuzz_pictures *p, struct gf_error *e)
{
    struct fuzz_picture *picture = &p->list[p->count];
    uint64_t bytes;

    GF_TRY(gf_reader_select(r, index, &picture->image, e));
    p->count++;
    check_image(&picture->image);
    bytes = gf_image_bytes(&picture->image);
    if (bytes > FUZZ_SAMPLES - p->bytes) {
        p->whole = false;
        return GF_OK;
    }
    p->bytes += bytes;
    picture->samples = malloc(bytes);
    fuzz_need(picture->samples != NULL, "no memory for the samples");
    memset(picture->samples, way->pattern, bytes);
    return read_rows(r, way, picture, e);
}

enum gf_status fuzz_read(const char *path, const struct fuzz_way *way, struct fuzz_pictures *p,
                         struct gf_error *e)
{
    const uint64_t used = gf_memory_used();
    struct gf_reader *r = NULL;
    enum gf_status status;

    gf_message_set_verbosity(GF_QUIET);
    gf_memory_set_limit(used + FUZZ_MEMORY);
    memset(p, 0, sizeof *p);
    memset(e, 0, sizeof *e);
    status = gf_reader_open(&r, path, &way->options, e);
    fuzz_need((status == GF_OK) == (r != NULL), "a reader after status %d", (int)status);
    if (status == GF_OK) {
        fuzz_need(r->images > 0, "a file without images");
        p->images = r->images;
        p->format = r->format;
        p->random_access = r->random_access;
        p->whole = r->images <= 256;
        p->list = calloc(256, sizeof *p->list);
        fuzz_need(p->list != NULL, "no memory for the list");
    }
    for (uint64_t i = 0; status == GF_OK && i < gf_min(p->images, 256); i++)
        status = read_image(r, i, way, p, e);
    if (status == GF_OK && p->whole)
        status = gf_reader_finish(r, e);
    gf_reader_close(&r);
    fuzz_need_status(status, 1u << GF_OK | 1u << GF_EINPUT | 1u << GF_EFEATURE | 1u << GF_EMEMORY,
                     e);
    return status;
}

bool fuzz_same(const struct fuzz_pictures *a, const struct fuzz_pictures *b)
{
    if (a->images != b->images || a->count != b->count || a->whole != b->whole)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const struct fuzz_picture *p = &a->list[i], *q = &b->list[i];
        if (p->image.width != q->image.width || p->image.height != q->image.height ||
            p->image.depth != q->image.depth || p->image.channels != q->image.channels ||
            p->image.type != q->image.type || !p->samples != !q->samples)
            return false;
        if (p->samples && memcmp(p->samples, q->samples, gf_image_bytes(&p->image)) != 0)
            return false;
    }
    return true;
}

void fuzz_pictures_free(struct fuzz_pictures *p)
{
    for (size_t i = 0; i < p->count; i++) {
        gf_meta_free(&p->list[i].image.meta);
        free(p->list[i].samples);
    }
    free(p->list);
    memset(p, 0, sizeof *p);
}
