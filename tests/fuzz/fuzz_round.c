/* What can be read is written in every format that accepts it, and read again: the samples,
 * the shape and the resolution must be the same, and so must the file when it is written
 * twice, with other threads. */
#include "fuzz.h"

#include "alloc.h"
#include "util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_BYTES ((uint64_t)256 << 10)

static char folder[512];

static void remove_folder(void)
{
    rmdir(folder);
}

static void make_folder(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/gpufilt-fuzz-XXXXXX",
             base && *base ? base : access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    fuzz_need(mkdtemp(folder) != NULL, "no folder to write to");
    atexit(remove_folder);
}

static enum gf_status write_file(const char *path, const struct gf_format *format,
                                 const struct fuzz_picture *p,
                                 const struct gf_write_options *options, struct gf_error *e)
{
    const struct gf_out_options out = {.sync = GF_SYNC_NONE};
    const uint64_t rows = p->image.height * p->image.depth;
    const size_t row = gf_row_bytes(&p->image);
    struct gf_writer *w = NULL;
    enum gf_status status = gf_writer_open(&w, path, format, 1, gf_image_bytes(&p->image), options,
                                           &out, e);
    if (status == GF_OK)
        status = gf_writer_begin(w, &p->image, e);
    for (uint64_t y = 0; y < rows && status == GF_OK; y += 3)
        status = gf_writer_rows(w, p->samples + y * row, gf_min(3, rows - y), e);
    if (status == GF_OK)
        status = gf_writer_end(w, e);
    if (status == GF_OK)
        status = gf_writer_commit(&w, e);
    gf_writer_abort(&w);
    return status;
}

static bool same_files(const char *a, const char *b)
{
    FILE *f = fopen(a, "rb"), *g = fopen(b, "rb");
    int x, y;
    fuzz_need(f && g, "a written file is missing");
    do {
        x = getc(f);
        y = getc(g);
    } while (x == y && x != EOF);
    fclose(f);
    fclose(g);
    return x == y;
}

static void compare(const struct gf_format *format, const struct fuzz_picture *p,
                    const struct fuzz_pictures *q)
{
    const struct gf_image *a = &p->image, *b = &q->list[0].image;
    fuzz_need(q->count == 1 && q->whole, "%s: written 1 image, read %zu", format->name, q->count);
    fuzz_need(a->width == b->width && a->height == b->height && a->depth == b->depth &&
                  a->channels == b->channels && a->type == b->type, "%s: another shape",
              format->name);
    fuzz_need(memcmp(p->samples, q->list[0].samples, gf_image_bytes(a)) == 0,
              "%s: other samples", format->name);
    if (format == &gf_format_png || format == &gf_format_tiff)
        fuzz_need(a->alpha == b->alpha && (a->color == GF_OTHER || a->color == b->color) &&
                      (a->alpha < 0 || a->alpha_associated == b->alpha_associated),
                  "%s: colour %d alpha %d was %d %d", format->name, (int)b->color, b->alpha,
                  (int)a->color, a->alpha);
    if (format == &gf_format_png || format == &gf_format_tiff)
        fuzz_need(a->meta.icc.size == b->meta.icc.size &&
                      (a->meta.icc.size == 0 ||
                       memcmp(a->meta.icc.data, b->meta.icc.data, a->meta.icc.size) == 0),
                  "%s: another profile", format->name);
}

static void round_trip(const struct fuzz_picture *p, const struct gf_format *format,
                       uint32_t choice)
{
    static const char *const compressions[] = {NULL, NULL, "none", "lzw", "deflate", "packbits",
                                               "zstd", "lzma"};
    struct gf_write_options options = {.threads = 1};
    struct fuzz_way way = {.pattern = 0xc3, .step = 4};
    struct fuzz_pictures q;
    struct gf_error e = {""};
    char path[2][600];
    enum gf_status status;

    if (!format->accepts || format->accepts(&p->image, 1, "out", NULL) != GF_OK)
        return;
    options.level = (int)(choice % 11) - 1;
    if (format == &gf_format_tiff)
        options.compression = compressions[choice / 22 % GF_COUNT(compressions)];
    for (int i = 0; i < 2; i++) {
        snprintf(path[i], sizeof path[i], "%s/%d", folder, i);
        options.threads = 1 + 2 * (unsigned)i;
        status = write_file(path[i], format, p, &options, &e);
        if (status == GF_EMEMORY) {
            unlink(path[0]);
            return;
        }
        fuzz_need_status(status, 1u << GF_OK, &e);
    }
    fuzz_need(same_files(path[0], path[1]), "%s: other bytes when written again", format->name);
    if (format == &gf_format_raw)
        way.options.raw = (struct gf_raw_spec){.given = true, .width = p->image.width,
                                               .height = p->image.height, .depth = p->image.depth,
                                               .channels = p->image.channels,
                                               .type = p->image.type};
    way.options.stack_pages = p->image.volume;
    status = fuzz_read(path[0], &way, &q, &e);
    fuzz_need(status == GF_OK || status == GF_EMEMORY, "%s: cannot be read again: %s", format->name,
              e.text);
    if (status == GF_OK)
        compare(format, p, &q);
    fuzz_pictures_free(&q);
    unlink(path[0]);
    unlink(path[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct gf_format *const formats[] = {&gf_format_png, &gf_format_tiff,
                                                      &gf_format_pnm, &gf_format_pfm,
                                                      &gf_format_raw};
    const struct fuzz_way way = {.pattern = 0x3c, .step = 5};
    uint32_t choice = fuzz_hash(data, size);
    struct fuzz_pictures found;
    struct gf_error e;

    if (!*folder)
        make_folder();
    if (fuzz_read(fuzz_file(data, size), &way, &found, &e) == GF_OK)
        for (size_t i = 0; i < gf_min(found.count, 2); i++)
            for (size_t k = 0; k < GF_COUNT(formats); k++)
                if (found.list[i].samples && gf_image_bytes(&found.list[i].image) <= MOST_BYTES)
                    round_trip(&found.list[i], formats[k], choice / (k + 1));
    fuzz_pictures_free(&found);
    fuzz_need(gf_memory_used() == 0, "%llu bytes of memory were not given back",
              (unsigned long long)gf_memory_used());
    return 0;
}
