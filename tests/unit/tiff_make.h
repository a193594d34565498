/* For the TIFF tests: files made byte by byte from the specification, without the code under
 * test and without libtiff; and reading and writing whole images. */
#ifndef GPUFILT_TESTS_UNIT_TIFF_MAKE_H
#define GPUFILT_TESTS_UNIT_TIFF_MAKE_H

#include "alloc.h"
#include "io/format.h"
#include "message.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char test_path[512];

static inline void test_path_make(void)
{
    /* In memory where there is such a folder: these tests write a great many files. */
    snprintf(test_path, sizeof test_path, "%s/gpufilt-tiff-%ld.tif",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (long)getpid());
}

/* ---- a file in memory ---- */

struct file {
    uint8_t data[1 << 20];
    size_t size;
    bool big_endian, big;
};

static inline void put_at(struct file *f, size_t at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        f->data[at + i] = (uint8_t)(value >> (8 * (f->big_endian ? bytes - 1 - i : i)));
}

static inline void put(struct file *f, uint64_t value, unsigned bytes)
{
    assert_true(f->size + bytes <= sizeof f->data);
    put_at(f, f->size, value, bytes);
    f->size += bytes;
}

/* Bits of a row, most significant first. */
static inline void put_bits(struct file *f, uint64_t value, unsigned bits, unsigned *used)
{
    for (unsigned i = 0; i < bits; i++) {
        if (*used == 0)
            f->data[f->size++] = 0;
        f->data[f->size - 1] |= (uint8_t)((value >> (bits - 1 - i) & 1) << (7 - *used));
        *used = (*used + 1) % 8;
    }
}

/* A sample; whole bytes go in the file's order, others bit by bit. */
static inline void put_sample(struct file *f, uint64_t value, unsigned bits, unsigned *used)
{
    if (bits == 8 || bits == 16 || bits == 24 || bits == 32 || bits == 64)
        put(f, value, bits / 8);
    else
        put_bits(f, value, bits, used);
}

struct tag {
    unsigned id, type;            /* 3 SHORT, 4 LONG, 2 ASCII */
    uint64_t count;
    const uint64_t *values;
};

struct page {
    unsigned width, height, samples, bits, format, photometric;
    bool planar;
    unsigned tile;                /* width and height of a tile, or 0 */
    unsigned rows_per_strip;      /* as in the tag */
    bool zero_counts;             /* StripByteCounts all 0 */
    unsigned kind;                /* NewSubfileType */
    const char *description;
    const uint64_t *palette;      /* red, green, blue of 2^bits entries */
    unsigned extra_count;         /* values of ExtraSamples */
    const uint64_t *extra;
    const uint64_t *value;        /* height x width x samples, as stored */
    unsigned compression, predictor;
    const uint8_t *strip;         /* the one strip as it is in the file, in place of values */
    size_t strip_size;
};

static inline void start_file(struct file *f, bool big_endian, bool big)
{
    f->size = 0;
    f->big_endian = big_endian;
    f->big = big;
    memcpy(f->data, big_endian ? "MM" : "II", 2);
    f->size = 2;
    put(f, big ? 43 : 42, 2);
    if (big) {
        put(f, 8, 2);
        put(f, 0, 2);
    }
    put(f, 0, big ? 8 : 4);
}

static inline size_t first_link(const struct file *f) { return f->big ? 8 : 4; }

static inline uint64_t page_value(const struct page *p, unsigned y, unsigned x, unsigned s)
{
    if (y >= p->height || x >= p->width)
        return 0;
    return p->value[((size_t)y * p->width + x) * p->samples + s];
}

/* Adds a page, links it at `link`, and returns where the link to the next one stands. */
static inline size_t add_page(struct file *f, const struct page *p, size_t link)
{
    static uint64_t offsets[4096], counts[4096];
    unsigned wide = p->tile ? p->tile : p->width;
    unsigned rows = p->tile ? p->tile
                    : p->rows_per_strip < p->height ? p->rows_per_strip : p->height;
    unsigned across = p->tile ? (p->width + wide - 1) / wide : 1;
    unsigned down = (p->height + rows - 1) / rows, n = 0;
    unsigned planes = p->planar ? p->samples : 1, per = p->planar ? 1 : p->samples;
    size_t arrays[8], array = 0, at;
    uint64_t all_bits[64], formats[64], text[512];
    unsigned link_bytes = f->big ? 8 : 4;

    if (p->strip) {
        offsets[0] = f->size;
        counts[0] = p->strip_size;
        memcpy(f->data + f->size, p->strip, p->strip_size);
        f->size += p->strip_size;
        n = 1;
    }
    for (unsigned plane = 0; plane < planes && !p->strip; plane++)
        for (unsigned d = 0; d < down; d++)
            for (unsigned a = 0; a < across; a++) {
                unsigned last = p->tile || (d + 1) * rows < p->height ? rows
                                                                      : p->height - d * rows;
                offsets[n] = f->size;
                for (unsigned y = 0; y < last; y++) {
                    unsigned used = 0;
                    for (unsigned x = 0; x < wide; x++)
                        for (unsigned s = 0; s < per; s++)
                            put_sample(f, page_value(p, d * rows + y, a * wide + x, plane + s),
                                       p->bits, &used);
                }
                counts[n] = p->zero_counts ? 0 : f->size - offsets[n];
                n++;
            }
    for (unsigned i = 0; i < p->samples && i < 64; i++) {
        all_bits[i] = p->bits;
        formats[i] = p->format;
    }
    for (size_t i = 0; p->description && i <= strlen(p->description); i++)
        text[i] = (uint8_t)p->description[i];
    {
        const uint64_t w = p->width, h = p->height, predictor = p->predictor,
                       coding = p->compression ? p->compression : 1, samples = p->samples,
                       kind = p->kind,
                       photometric = p->photometric, rps = p->rows_per_strip, tile = p->tile,
                       planar = p->planar ? 2 : 1;
        const struct tag tags[] = {
            {254, 4, 1, &kind},
            {256, 4, 1, &w},
            {257, 4, 1, &h},
            {258, 3, p->samples, all_bits},
            {259, 3, 1, &coding},
            {262, 3, 1, &photometric},
            {270, 2, p->description ? strlen(p->description) + 1 : 0, text},
            {p->tile ? 0u : 273u, 4, n, offsets},
            {277, 3, 1, &samples},
            {p->tile ? 0u : 278u, 4, 1, &rps},
            {p->tile ? 0u : 279u, 4, n, counts},
            {284, 3, 1, &planar},
            {p->predictor ? 317u : 0u, 3, 1, &predictor},
            {320, 3, p->palette ? 3 * (UINT64_C(1) << p->bits) : 0, p->palette},
            {p->tile ? 322u : 0u, 4, 1, &tile},
            {p->tile ? 323u : 0u, 4, 1, &tile},
            {p->tile ? 324u : 0u, 4, n, offsets},
            {p->tile ? 325u : 0u, 4, n, counts},
            {338, 3, p->extra_count, p->extra},
            {339, 3, p->samples, formats},
        };
        unsigned used_tags = 0;
        /* Values that do not fit into the entry come first. */
        for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
            unsigned size = tags[i].type == 2 ? 1 : tags[i].type == 3 ? 2 : 4;
            if (tags[i].id == 0 || tags[i].count == 0)
                continue;
            used_tags++;
            if (tags[i].count * size <= link_bytes)
                continue;
            f->size += f->size & 1;
            arrays[array++] = f->size;
            for (uint64_t k = 0; k < tags[i].count; k++)
                put(f, tags[i].values[k], size);
        }
        f->size += f->size & 1;
        put_at(f, link, f->size, link_bytes);
        put(f, used_tags, f->big ? 8 : 2);
        array = 0;
        for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
            unsigned size = tags[i].type == 2 ? 1 : tags[i].type == 3 ? 2 : 4;
            if (tags[i].id == 0 || tags[i].count == 0)
                continue;
            put(f, tags[i].id, 2);
            put(f, tags[i].type, 2);
            put(f, tags[i].count, link_bytes);
            at = f->size;
            if (tags[i].count * size > link_bytes) {
                put(f, arrays[array++], link_bytes);
            } else {
                for (uint64_t k = 0; k < tags[i].count; k++)
                    put(f, tags[i].values[k], size);
                while (f->size < at + link_bytes)
                    put(f, 0, 1);
            }
        }
    }
    at = f->size;
    put(f, 0, link_bytes);
    return at;
}

static inline void save(const void *data, size_t size)
{
    int fd = open(test_path, O_CREAT | O_WRONLY | O_TRUNC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), (ssize_t)size);
    close(fd);
}

/* ---- reading and writing whole files ---- */

struct picture {
    struct gf_image image;
    uint8_t *rows;                /* malloc'd */
};

static inline void picture_free(struct picture *p)
{
    gf_meta_free(&p->image.meta);
    free(p->rows);
    memset(p, 0, sizeof *p);
}

/* Image `index` of test_path, `band` rows at a time; *images is how many there are. */
static inline enum gf_status read_picture(struct picture *p, uint64_t index, uint64_t band,
                                          bool stack, uint64_t *images, struct gf_error *e)
{
    const struct gf_read_options options = {.stack_pages = stack};
    struct gf_reader *r;
    enum gf_status status;

    memset(p, 0, sizeof *p);
    status = gf_reader_open(&r, test_path, &options, e);
    if (status == GF_OK) {
        *images = r->images;
        status = gf_reader_select(r, index, &p->image, e);
    }
    if (status == GF_OK) {
        uint64_t rows = p->image.height * p->image.depth;
        size_t row = gf_row_bytes(&p->image);
        if (gf_image_bytes(&p->image) > 64u << 20) {
            status = gf_fail(e, GF_EMEMORY, "larger than any of these tests");
        } else {
            /* A guard behind the samples must stay as it is. */
            p->rows = malloc(rows * row + 64);
            memset(p->rows, 0xd5, rows * row + 64);
        }
        for (uint64_t y = 0; status == GF_OK && y < rows; y += band)
            status = gf_reader_rows(r, y, rows - y < band ? rows - y : band, p->rows + y * row, e);
        for (size_t i = 0; p->rows && i < 64; i++)
            assert_int_equal(p->rows[rows * row + i], 0xd5);
    }
    if (status == GF_OK)
        status = gf_reader_finish(r, e);
    gf_reader_close(&r);
    if (status != GF_OK)
        picture_free(p);
    return status;
}

static inline void must_read(struct picture *p, uint64_t index, uint64_t band)
{
    struct gf_error e = {{0}};
    uint64_t images;

    if (read_picture(p, index, band, false, &images, &e) != GF_OK)
        fail_msg("%s", e.text);
}

/* Writes `count` pictures to test_path, `band` rows at a time. */
static inline enum gf_status write_pictures(const struct picture *p, uint64_t count, uint64_t band,
                                            const char *compression, struct gf_error *e)
{
    const struct gf_out_options out_options = {.sync = GF_SYNC_NONE};
    const struct gf_write_options options = {.compression = compression, .level = -1};
    struct gf_writer *w;
    enum gf_status status;
    uint64_t bytes = 0;

    for (uint64_t i = 0; i < count; i++)
        bytes += gf_image_bytes(&p[i].image);
    status = gf_writer_open(&w, test_path, &gf_format_tiff, count, bytes, &options, &out_options,
                            e);
    for (uint64_t i = 0; status == GF_OK && i < count; i++) {
        uint64_t rows = p[i].image.height * p[i].image.depth;
        size_t row = gf_row_bytes(&p[i].image);
        status = gf_writer_begin(w, &p[i].image, e);
        for (uint64_t y = 0; status == GF_OK && y < rows; y += band) {
            /* From a block of its own, so that the sanitizer sees reads beyond the end. */
            uint64_t now = rows - y < band ? rows - y : band;
            uint8_t *copy = malloc(now * row);
            memcpy(copy, p[i].rows + y * row, now * row);
            status = gf_writer_rows(w, copy, now, e);
            /* The rows are the caller's: not changed. */
            assert_memory_equal(copy, p[i].rows + y * row, now * row);
            free(copy);
        }
        if (status == GF_OK)
            status = gf_writer_end(w, e);
    }
    if (status == GF_OK)
        status = gf_writer_commit(&w, e);
    gf_writer_abort(&w);
    return status;
}

static inline void must_write(const struct picture *p, uint64_t count, uint64_t band,
                              const char *compression)
{
    struct gf_error e = {{0}};

    if (write_pictures(p, count, band, compression, &e) != GF_OK)
        fail_msg("%s", e.text);
}

static inline uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

#endif
