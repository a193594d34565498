#include "jpeg.h"

#include "../alloc.h"
#include "../utf8.h"
#include "../util.h"
#include "exif.h"

#include <string.h>

enum { SOF0 = 0xc0, SOF2 = 0xc2, DHT = 0xc4, JPG = 0xc8, DAC = 0xcc, SOF15 = 0xcf, RST0 = 0xd0,
       RST7 = 0xd7, SOI = 0xd8, EOI = 0xd9, SOS = 0xda, DRI = 0xdd, APP0 = 0xe0, APP1 = 0xe1,
       APP2 = 0xe2, COM = 0xfe, TEM = 0x01 };

#define PARTS 255 /* an ICC profile comes in at most so many */
/* Each scan of a progressive JPEG is a pass over the whole picture, and may be some bytes only:
 * a small file could keep the decoder busy for hours. What encoders make has 20 at most. */
#define MOST_SCANS 500

struct scan {
    struct gf_jpeg *jpeg;
    struct gf_meta *meta;
    const char *name;
    const uint8_t *data;
    size_t size, at;
    struct {
        uint8_t id, across, down;
    } component[4];
    uint32_t across, down;       /* the highest sampling factors */
    uint32_t restart_interval;
    struct {
        const uint8_t *data;
        size_t size;
    } icc[PARTS];
    bool jfif;
};

/* A segment without its marker and length. */
struct segment {
    const uint8_t *data;
    size_t size;
};

static uint32_t u16(const uint8_t *p) { return (uint32_t)p[0] << 8 | p[1]; }

static bool starts_with(const struct segment *s, const char *sign, size_t length)
{
    return s->size >= length && memcmp(s->data, sign, length) == 0;
}

static enum gf_status truncated(const struct scan *s, struct gf_error *e)
{
    return gf_fail(e, GF_EINPUT, "%s: truncated after %llu bytes; a JPEG ends with an end marker",
                   s->name, (unsigned long long)s->size);
}

static enum gf_status damaged(const struct scan *s, const char *what, struct gf_error *e)
{
    return gf_fail(e, GF_EINPUT, "%s: damaged JPEG: %s at byte %llu", s->name, what,
                   (unsigned long long)s->at);
}

/* ---- segments ---- */

static enum gf_status take_frame(struct scan *s, int marker, const struct segment *g,
                                 struct gf_error *e)
{
    struct gf_jpeg *j = s->jpeg;
    if (g->size < 6 || g->size < 6 + 3 * (size_t)g->data[5])
        return damaged(s, "a frame header that is too short", e);
    if (marker > SOF2)
        return gf_fail(e, GF_EFEATURE, "%s: a lossless, hierarchical or arithmetic-coded JPEG "
                       "cannot be read; convert it with: djpeg or jpegtran", s->name);
    if (g->data[0] != 8)
        return gf_fail(e, GF_EFEATURE, "%s: a JPEG of %u bits a sample cannot be read, only 8",
                       s->name, g->data[0]);
    if (j->width != 0)
        return damaged(s, "a second frame header", e);
    j->height = u16(g->data + 1);
    j->width = u16(g->data + 3);
    j->components = g->data[5];
    if (j->components == 4)
        return gf_fail(e, GF_EFEATURE, "%s: CMYK in a JPEG cannot be read; convert it to "
                       "sRGB with another program", s->name);
    if (j->height == 0)
        return gf_fail(e, GF_EFEATURE, "%s: a JPEG that names its height only at the end cannot be "
                       "read", s->name);
    if (j->width == 0 || (j->components != 1 && j->components != 3))
        return damaged(s, "a frame header without width or with 2 or more than 4 components", e);
    for (uint32_t i = 0; i < j->components; i++) {
        s->component[i].id = g->data[6 + 3 * i];
        s->component[i].across = g->data[7 + 3 * i] >> 4;
        s->component[i].down = g->data[7 + 3 * i] & 15;
        if (s->component[i].across == 0 || s->component[i].down == 0)
            return damaged(s, "a sampling factor of 0", e);
        s->across = (uint32_t)gf_max(s->across, s->component[i].across);
        s->down = (uint32_t)gf_max(s->down, s->component[i].down);
    }
    return GF_OK;
}

static void take_jfif(struct scan *s, const struct segment *g)
{
    uint32_t x, y;
    if (!starts_with(g, "JFIF", 5) || g->size < 12 || g->data[7] > 2)
        return;
    x = u16(g->data + 8);
    y = u16(g->data + 10);
    /* One by one without a unit says nothing. */
    if (x == 0 || y == 0 || (g->data[7] == 0 && x == y))
        return;
    s->jfif = true;
    s->meta->resolution[0] = x;
    s->meta->resolution[1] = y;
    s->meta->resolution_unit = g->data[7] == 0 ? 0 : g->data[7] + 1;
}

static enum gf_status take_app1(struct scan *s, const struct segment *g, struct gf_error *e)
{
    static const char xmp[] = "http://ns.adobe.com/xap/1.0/";
    if (starts_with(g, "Exif\0", 6) && !s->meta->exif.data) {
        const uint8_t *exif = g->data + 6;
        GF_TRY(gf_blob_set(&s->meta->exif, exif, g->size - 6, e));
        s->jpeg->orientation = gf_exif_orientation(exif, g->size - 6);
        if (!s->jfif)
            (void)gf_exif_resolution(exif, g->size - 6, s->meta->resolution,
                                     &s->meta->resolution_unit);
    } else if (starts_with(g, xmp, sizeof xmp) && !s->meta->xmp.data) {
        return gf_blob_set(&s->meta->xmp, g->data + sizeof xmp, g->size - sizeof xmp, e);
    }
    return GF_OK;
}

static void take_icc_part(struct scan *s, const struct segment *g)
{
    unsigned number;
    if (!starts_with(g, "ICC_PROFILE", 12) || g->size < 14 || g->data[12] == 0)
        return;
    number = g->data[12] - 1u;
    s->icc[number].data = g->data + 14;
    s->icc[number].size = g->size - 14;
}

static enum gf_status join_icc(struct scan *s, struct gf_error *e)
{
    void *block = NULL;
    uint8_t *to;
    size_t count = 0, size = 0;
    enum gf_status status;
    while (count < PARTS && s->icc[count].data)
        size += s->icc[count++].size;
    if (size == 0)
        return GF_OK;
    GF_TRY(gf_allocate(&block, size, 1, "a colour profile", e));
    to = block;
    for (size_t i = 0; i < count; i++) {
        memcpy(to, s->icc[i].data, s->icc[i].size);
        to += s->icc[i].size;
    }
    status = gf_blob_set(&s->meta->icc, block, size, e);
    gf_free(block);
    return status;
}

static enum gf_status take_comment(struct scan *s, const struct segment *g, struct gf_error *e)
{
    char *text;
    enum gf_status status;
    GF_TRY(gf_utf8_from_bytes(g->data, g->size, &text, e));
    status = gf_meta_add_text(s->meta, "Comment", text, e);
    gf_free(text);
    return status;
}

static enum gf_status take_segment(struct scan *s, int marker, const struct segment *g,
                                   struct gf_error *e)
{
    if (marker >= SOF0 && marker <= SOF15 && marker != DHT && marker != JPG && marker != DAC)
        return take_frame(s, marker, g, e);
    if (marker == DRI && g->size >= 2)
        s->restart_interval = u16(g->data);
    else if (marker == APP0)
        take_jfif(s, g);
    else if (marker == APP1)
        return take_app1(s, g, e);
    else if (marker == APP2)
        take_icc_part(s, g);
    else if (marker == COM)
        return take_comment(s, g, e);
    return GF_OK;
}

/* ---- entropy-coded data ---- */

/* Restart markers that the scan with this header must have, at least. */
static uint64_t restarts_needed(const struct scan *s, const struct segment *header)
{
    uint64_t across = gf_ceil_div(s->jpeg->width, 8 * s->across);
    uint64_t down = gf_ceil_div(s->jpeg->height, 8 * s->down);
    if (s->restart_interval == 0 || header->size < 2)
        return 0;
    /* A scan of one component goes block by block, not by groups of blocks. */
    for (uint32_t i = 0; header->data[0] == 1 && i < s->jpeg->components; i++) {
        if (s->component[i].id != header->data[1])
            continue;
        across = gf_ceil_div(gf_ceil_div((uint64_t)s->jpeg->width * s->component[i].across,
                                         s->across), 8);
        down = gf_ceil_div(gf_ceil_div((uint64_t)s->jpeg->height * s->component[i].down,
                                       s->down), 8);
    }
    return gf_ceil_div(across * down, s->restart_interval) - 1;
}

static enum gf_status skip_entropy(struct scan *s, const struct segment *header,
                                   struct gf_error *e)
{
    uint64_t restarts = 0;
    if (s->jpeg->width == 0)
        return damaged(s, "image data before the frame header", e);
    for (;;) {
        const uint8_t *mark = s->at < s->size ? memchr(s->data + s->at, 0xff, s->size - s->at)
                                              : NULL;
        if (!mark || mark + 1 == s->data + s->size)
            return truncated(s, e);
        s->at = (size_t)(mark - s->data);
        if (mark[1] >= RST0 && mark[1] <= RST7)
            restarts++;
        else if (mark[1] != 0 && mark[1] != 0xff)
            break;
        s->at += mark[1] == 0xff ? 1 : 2;
    }
    if (restarts < restarts_needed(s, header))
        return damaged(s, "image data that end too early", e);
    return GF_OK;
}

/* ---- the walk ---- */

static enum gf_status walk(struct scan *s, struct gf_error *e)
{
    unsigned scans = 0;
    for (s->at = 2;;) {
        struct segment g;
        int marker;
        if (s->at + 2 > s->size)
            return truncated(s, e);
        if (s->data[s->at] != 0xff)
            return damaged(s, "no marker where one must be", e);
        marker = s->data[s->at + 1];
        if (marker == 0xff) { /* padding */
            s->at++;
            continue;
        }
        s->at += 2;
        if (marker == EOI)
            break;
        if (marker == TEM || (marker >= RST0 && marker <= RST7))
            continue;
        if (s->at + 2 > s->size || s->at + u16(s->data + s->at) > s->size)
            return truncated(s, e);
        if (marker < SOF0 || marker == SOI || u16(s->data + s->at) < 2)
            return damaged(s, "a marker that must not be there", e);
        g = (struct segment){s->data + s->at + 2, u16(s->data + s->at) - 2};
        GF_TRY(take_segment(s, marker, &g, e));
        s->at += 2 + g.size;
        if (marker != SOS)
            continue;
        GF_TRY(skip_entropy(s, &g, e));
        if (++scans > MOST_SCANS)
            return gf_fail(e, GF_EFEATURE, "%s: a JPEG of more than %d scans cannot be "
                           "read; convert it with: jpegtran", s->name, MOST_SCANS);
    }
    return scans > 0 ? GF_OK : damaged(s, "no image data before the end marker", e);
}

enum gf_status gf_jpeg_scan(struct gf_jpeg *jpeg, struct gf_meta *meta, const uint8_t *data,
                            size_t size, const char *name, struct gf_error *e)
{
    void *block = NULL;
    struct scan *s;
    enum gf_status status;

    GF_TRY(gf_allocate(&block, 1, sizeof *s, "reading JPEG", e));
    s = memset(block, 0, sizeof *s);
    *jpeg = (struct gf_jpeg){.orientation = 1};
    s->jpeg = jpeg;
    s->meta = meta;
    s->name = name;
    s->data = data;
    s->size = size;
    status = walk(s, e);
    if (status == GF_OK)
        status = join_icc(s, e);
    gf_free(s);
    return status;
}
