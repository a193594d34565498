/* PBM, PGM, PPM and PAM: text header, then samples as text (P1 to P3) or bytes. Values are
 * kept as stored, whatever the header's maximum, except that 1-bit images become 0 and 255. */
#include "../alloc.h"
#include "../util.h"
#include "format.h"
#include "pnm_header.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PART_BYTES (64u << 10)

struct frame {
    uint8_t kind;           /* '1' to '7' */
    uint64_t data;          /* offset of the first sample */
    uint64_t width, height;
    uint32_t channels;
    uint32_t highest;       /* the header's maximum */
    enum gf_color color;
    int alpha;
    bool bits;              /* PBM, or PAM's black and white: 0 and 255 */
};

struct pnm {
    struct frame frame;     /* the selected image */
    uint64_t index;
    uint8_t *row;           /* a packed row of bits */
    /* Samples as text, and writing 16 bits: */
    uint8_t *part;          /* file bytes, part_at is the next */
    size_t part_size, part_at;
    uint64_t part_offset;   /* of the byte after the part */
};

/* ---- headers ---- */

static bool probe(const uint8_t *head, size_t size)
{
    return size > 2 && head[0] == 'P' && head[1] >= '1' && head[1] <= '7' &&
           (gf_pnm_is_space(head[2]) || head[2] == '#');
}

static enum gf_status parse_pnm_header(struct gf_pnm_cursor *c, struct frame *f,
                                       struct gf_error *e)
{
    uint64_t highest = 1;
    f->channels = f->kind == '3' || f->kind == '6' ? 3 : 1;
    f->color = f->channels == 3 ? GF_RGB : GF_GRAY;
    f->bits = f->kind == '1' || f->kind == '4';
    GF_TRY(gf_pnm_number(c, "width", UINT64_MAX / 2, &f->width, e));
    GF_TRY(gf_pnm_number(c, "height", UINT64_MAX / 2, &f->height, e));
    if (!f->bits)
        GF_TRY(gf_pnm_number(c, "maximum", 65535, &highest, e));
    f->highest = (uint32_t)highest;
    return GF_OK;
}

static void take_tuple_type(struct frame *f, const char *type)
{
    static const struct {
        const char *type;
        uint32_t channels;
        enum gf_color color;
        bool bits;
    } known[] = {
        {"BLACKANDWHITE", 1, GF_GRAY, true}, {"BLACKANDWHITE_ALPHA", 2, GF_GRAY, true},
        {"GRAYSCALE", 1, GF_GRAY, false},    {"GRAYSCALE_ALPHA", 2, GF_GRAY, false},
        {"RGB", 3, GF_RGB, false},           {"RGB_ALPHA", 4, GF_RGB, false},
    };
    for (size_t i = 0; i < GF_COUNT(known); i++)
        if (strcmp(known[i].type, type) == 0 && known[i].channels == f->channels) {
            f->color = known[i].color;
            f->bits = known[i].bits && f->highest == 1;
            f->alpha = f->channels % 2 == 0 ? (int)f->channels - 1 : -1;
        }
}

static enum gf_status parse_pam_header(struct gf_pnm_cursor *c, struct frame *f,
                                       struct gf_error *e)
{
    uint64_t channels = 0, highest = 0;
    char word[32], type[32] = "";
    while (gf_pnm_word(c, word, sizeof word)) {
        if (strcmp(word, "ENDHDR") == 0) {
            if (!f->width || !f->height || !channels || !highest)
                break;
            f->channels = (uint32_t)channels;
            f->highest = (uint32_t)highest;
            f->color = channels == 1 ? GF_GRAY : channels == 3 ? GF_RGB : GF_OTHER;
            take_tuple_type(f, type);
            return GF_OK;
        }
        if (strcmp(word, "WIDTH") == 0)
            GF_TRY(gf_pnm_number(c, "width", UINT64_MAX / 2, &f->width, e));
        else if (strcmp(word, "HEIGHT") == 0)
            GF_TRY(gf_pnm_number(c, "height", UINT64_MAX / 2, &f->height, e));
        else if (strcmp(word, "DEPTH") == 0)
            GF_TRY(gf_pnm_number(c, "depth", 65535, &channels, e));
        else if (strcmp(word, "MAXVAL") == 0)
            GF_TRY(gf_pnm_number(c, "maximum", 65535, &highest, e));
        else if (strcmp(word, "TUPLTYPE") != 0 || !gf_pnm_word(c, type, sizeof type))
            break;
    }
    return gf_fail(e, GF_EINPUT, "%s: damaged PAM header: it needs WIDTH, HEIGHT, DEPTH, MAXVAL "
                   "and ENDHDR", c->name);
}

static enum gf_type frame_type(const struct frame *f) { return f->highest > 255 ? GF_U16 : GF_U8; }

static bool is_text(const struct frame *f) { return f->kind <= '3'; }

/* Bytes of a row in the file, of binary kinds. */
static uint64_t file_row_bytes(const struct frame *f)
{
    return f->kind == '4' ? gf_ceil_div(f->width, 8)
                          : f->width * f->channels * gf_type_bytes(frame_type(f));
}

static void describe(const struct frame *f, struct gf_image *image)
{
    image->width = f->width;
    image->height = f->height;
    image->depth = 1;
    image->channels = f->channels;
    image->type = frame_type(f);
    image->color = f->color;
    image->alpha = f->alpha;
}

/* Parses the header at `offset` and checks that the file can hold what it promises. */
static enum gf_status parse_frame(const struct gf_reader *r, uint64_t offset, struct frame *f,
                                  struct gf_error *e)
{
    struct gf_pnm_cursor c = {.in = r->in, .name = r->name};
    struct gf_image image = {0};
    uint64_t least;

    memset(f, 0, sizeof *f);
    f->alpha = -1;
    GF_TRY(gf_pnm_fill(&c, offset, e));
    if (!probe(c.bytes, c.size))
        return gf_fail(e, GF_EINPUT, "%s: the bytes from %llu on are not a PBM, PGM, PPM or PAM "
                       "image", r->name, (unsigned long long)offset);
    f->kind = c.bytes[1];
    c.at = 2;
    GF_TRY(f->kind == '7' ? parse_pam_header(&c, f, e) : parse_pnm_header(&c, f, e));
    if (!gf_pnm_is_space(c.bytes[c.at]))
        return gf_fail(e, GF_EINPUT, "%s: damaged header: white space must follow it at byte %llu",
                       r->name, (unsigned long long)(offset + c.at));
    f->data = offset + c.at + 1;
    describe(f, &image);
    GF_TRY(gf_image_check(&image, r->name, e));
    /* As text, a sample has a digit and, but for bits, a space between it and the next. */
    least = f->kind == '1' ? f->width * f->height
            : is_text(f)   ? f->width * f->height * f->channels * 2 - 1
                           : file_row_bytes(f) * f->height;
    return gf_pnm_check_size(r, f->data, least, e);
}

/* *next = where the image after `f` starts, or 0 when there is none. */
static enum gf_status find_next(const struct gf_reader *r, const struct frame *f, uint64_t *next,
                                struct gf_error *e)
{
    uint64_t at = f->data + file_row_bytes(f) * f->height;
    uint8_t bytes[64];
    size_t got = 0, i = 0;

    *next = 0;
    if (is_text(f))
        return GF_OK; /* one image by definition; finish looks at what follows */
    do {
        GF_TRY(gf_in_read_some(r->in, bytes, sizeof bytes, at, &got, e));
        for (i = 0; i < got && gf_pnm_is_space(bytes[i]); i++)
            ;
        at += i;
    } while (got > 0 && i == got);
    if (got > 0)
        *next = at;
    return GF_OK;
}

/* ---- reading ---- */

static enum gf_status make_state(void **state, struct gf_error *e)
{
    void *block = NULL;
    GF_TRY(gf_allocate(&block, 1, sizeof(struct pnm), "a PNM", e));
    *state = memset(block, 0, sizeof(struct pnm));
    return GF_OK;
}

static void release(void *state)
{
    struct pnm *p = state;
    if (!p)
        return;
    gf_free(p->row);
    gf_free(p->part);
    gf_free(p);
}

static enum gf_status open_pnm(struct gf_reader *r, struct gf_error *e)
{
    struct pnm *p;
    struct frame f;
    uint64_t next = 0;

    GF_TRY(make_state(&r->state, e));
    p = r->state;
    GF_TRY(parse_frame(r, 0, &p->frame, e));
    r->random_access = !is_text(&p->frame);
    r->images = 1;
    GF_TRY(find_next(r, &p->frame, &next, e));
    while (next) {
        GF_TRY(parse_frame(r, next, &f, e));
        if (is_text(&f))
            return gf_fail(e, GF_EFEATURE, "%s: an image as text (P%c) follows another image",
                           r->name, f.kind);
        r->images++;
        GF_TRY(find_next(r, &f, &next, e));
    }
    return GF_OK;
}

static enum gf_status select_pnm(struct gf_reader *r, uint64_t index, struct gf_image *image,
                                 struct gf_error *e)
{
    struct pnm *p = r->state;
    uint64_t next = 0;

    if (index < p->index) {
        GF_TRY(parse_frame(r, 0, &p->frame, e));
        p->index = 0;
    }
    for (; p->index < index; p->index++) {
        GF_TRY(find_next(r, &p->frame, &next, e));
        GF_TRY(parse_frame(r, next, &p->frame, e));
    }
    gf_free(p->row);
    p->row = NULL;
    p->part_offset = p->frame.data;
    p->part_at = p->part_size = 0;
    describe(&p->frame, image);
    return gf_image_check(image, r->name, e);
}

static enum gf_status too_high(const struct gf_reader *r, const struct frame *f, unsigned value,
                               struct gf_error *e)
{
    return gf_fail(e, GF_EINPUT, "%s: damaged data: a sample of %u where the header's maximum is "
                   "%lu", r->name, value, (unsigned long)f->highest);
}

/* A row of samples as they are in the file to this machine's; in place. */
static enum gf_status convert_row(const struct gf_reader *r, const struct frame *f, uint8_t *row,
                                  struct gf_error *e)
{
    const uint64_t count = f->width * f->channels;
    unsigned most = 0;
    if (f->highest > 255) {
        for (uint64_t i = 0; i < count; i++) {
            uint16_t value = (uint16_t)(row[2 * i] << 8 | row[2 * i + 1]);
            memcpy(row + 2 * i, &value, 2);
            most = value > most ? value : most;
        }
    } else if (f->highest < 255) {
        for (uint64_t i = 0; i < count; i++)
            most = row[i] > most ? row[i] : most;
    }
    if (most > f->highest)
        return too_high(r, f, most, e);
    for (uint64_t i = 0; f->bits && i < count; i++)
        row[i] = row[i] ? 255 : 0;
    return GF_OK;
}

static enum gf_status read_bits(struct gf_reader *r, uint64_t first, uint64_t count, uint8_t *to,
                                struct gf_error *e)
{
    struct pnm *p = r->state;
    const struct frame *f = &p->frame;
    const size_t bytes = (size_t)file_row_bytes(f);
    if (!p->row) {
        void *block = NULL;
        GF_TRY(gf_allocate(&block, bytes, 1, "a row of bits", e));
        p->row = block;
    }
    for (uint64_t y = first; y < first + count; y++) {
        GF_TRY(gf_in_read(r->in, p->row, bytes, f->data + y * bytes, e));
        for (uint64_t x = 0; x < f->width; x++)
            *to++ = p->row[x / 8] & (0x80 >> (x % 8)) ? 0 : 255;
    }
    return GF_OK;
}

/* The next byte of an image as text in *byte, or -1 at the end of the file; `step` takes
 * it, otherwise it stays. */
static enum gf_status next_byte(struct gf_reader *r, int *byte, bool step, struct gf_error *e)
{
    struct pnm *p = r->state;
    if (p->part_at == p->part_size) {
        if (!p->part) {
            void *block = NULL;
            GF_TRY(gf_allocate(&block, PART_BYTES, 1, "a PNM", e));
            p->part = block;
        }
        p->part_at = p->part_size = 0;
        GF_TRY(gf_in_read_some(r->in, p->part, PART_BYTES, p->part_offset, &p->part_size, e));
        p->part_offset += p->part_size;
    }
    *byte = p->part_size == 0 ? -1 : p->part[p->part_at];
    p->part_at += step && p->part_size > 0;
    return GF_OK;
}

static enum gf_status skip_to_text(struct gf_reader *r, int *byte, struct gf_error *e)
{
    bool comment = false;
    for (;;) {
        GF_TRY(next_byte(r, byte, false, e));
        if (*byte < 0 || (!comment && *byte != '#' && !gf_pnm_is_space((uint8_t)*byte)))
            return GF_OK;
        comment = comment ? *byte != '\n' && *byte != '\r' : *byte == '#';
        GF_TRY(next_byte(r, byte, true, e));
    }
}

static enum gf_status read_text_sample(struct gf_reader *r, unsigned *value, struct gf_error *e)
{
    const struct frame *f = &((struct pnm *)r->state)->frame;
    int byte;
    GF_TRY(skip_to_text(r, &byte, e));
    if (byte < 0)
        return gf_fail(e, GF_EINPUT, "%s: truncated: fewer samples than the header's %llux%llu "
                       "pixels need", r->name, (unsigned long long)f->width,
                       (unsigned long long)f->height);
    if (byte < '0' || byte > '9')
        return gf_fail(e, GF_EINPUT, "%s: damaged data: byte 0x%02x where a number was expected",
                       r->name, (unsigned)byte);
    *value = 0;
    while (byte >= '0' && byte <= '9') {
        *value = *value * 10 + (unsigned)(byte - '0');
        if (*value > f->highest)
            return too_high(r, f, *value, e);
        GF_TRY(next_byte(r, &byte, true, e));
        if (f->kind == '1')
            break; /* bits need no space between them */
        GF_TRY(next_byte(r, &byte, false, e));
    }
    return GF_OK;
}

static enum gf_status read_text(struct gf_reader *r, uint64_t count, uint8_t *to,
                                struct gf_error *e)
{
    const struct frame *f = &((struct pnm *)r->state)->frame;
    for (uint64_t i = 0; i < count * f->width * f->channels; i++) {
        unsigned value = 0;
        GF_TRY(read_text_sample(r, &value, e));
        if (f->highest > 255) {
            uint16_t sample = (uint16_t)value;
            memcpy(to + 2 * i, &sample, 2);
        } else {
            to[i] = (uint8_t)(f->bits ? (value ? 0 : 255) : value);
        }
    }
    return GF_OK;
}

static enum gf_status read_pnm(struct gf_reader *r, uint64_t first, uint64_t count, void *rows,
                               struct gf_error *e)
{
    const struct frame *f = &((struct pnm *)r->state)->frame;
    const uint64_t bytes = file_row_bytes(f);
    uint8_t *row = rows;

    if (is_text(f))
        return read_text(r, count, rows, e);
    if (f->kind == '4')
        return read_bits(r, first, count, rows, e);
    GF_TRY(gf_in_read(r->in, rows, (size_t)(count * bytes), f->data + first * bytes, e));
    for (uint64_t i = 0; i < count && f->highest != 255; i++, row += bytes)
        GF_TRY(convert_row(r, f, row, e));
    return GF_OK;
}

static enum gf_status finish_pnm(struct gf_reader *r, struct gf_error *e)
{
    int byte = -1;
    if (is_text(&((struct pnm *)r->state)->frame))
        GF_TRY(skip_to_text(r, &byte, e));
    if (byte >= 0)
        return gf_fail(e, GF_EINPUT, "%s: more data follow the last sample that the header "
                       "promises", r->name);
    return GF_OK;
}

static void close_pnm(struct gf_reader *r)
{
    release(r->state);
    r->state = NULL;
}

/* ---- writing ---- */

/* The extension of a path decides between PGM, PPM and PAM; "" when it has none. */
static const char *extension(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash + 1 : path, '.');
    return dot ? dot + 1 : "";
}

static bool is_pam(const char *path) { return strcasecmp(extension(path), "pam") == 0; }

static enum gf_status accepts(const struct gf_image *image, uint64_t images, const char *name,
                              struct gf_error *e)
{
    const char *ext = extension(name);
    const uint32_t most = strcasecmp(ext, "pgm") == 0 ? 1 : 3;
    const uint32_t least = strcasecmp(ext, "ppm") == 0 ? 3 : 1;

    (void)images; /* any number, one after the other */
    if (strcasecmp(ext, "pbm") == 0)
        return gf_fail(e, GF_EFEATURE, "%s: PBM holds 1 bit a pixel; write a .pgm", name);
    if (image->type != GF_U8 && image->type != GF_U16)
        return gf_fail(e, GF_EFEATURE, "%s: PNM holds u8 and u16, not %s; write a .tif%s, or "
                       "use -t u16 if the values fit", name, gf_type_name(image->type),
                       image->type == GF_F32 ? " or .pfm" : "");
    if (image->depth > 1)
        return gf_fail(e, GF_EFEATURE, "%s: PNM holds pictures, not a volume of %llu slices; write "
                       "a .tif", name, (unsigned long long)image->depth);
    if (image->alpha_associated)
        return gf_fail(e, GF_EFEATURE, "%s: the colours are stored multiplied by alpha, which PNM "
                       "cannot say; write a .tif", name);
    if (is_pam(name))
        return GF_OK;
    if (image->color == GF_CMYK || image->alpha >= 0 || image->channels < least ||
        image->channels > most || image->channels == 2)
        return gf_fail(e, GF_EFEATURE, "%s: %s, not %lu channels%s; write a %s", name,
                       most == 1 ? "PGM holds 1 channel"
                       : least == 3 ? "PPM holds 3 channels" : "PNM holds 1 or 3 channels",
                       (unsigned long)image->channels, image->alpha >= 0 ? " with alpha" : "",
                       image->alpha >= 0 || image->channels > 3 ? ".pam or .png"
                       : image->channels == 1 ? ".pgm" : ".ppm");
    return GF_OK;
}

static enum gf_status create(struct gf_writer *w, struct gf_error *e)
{
    return make_state(&w->state, e);
}

/* PAM's name for the channels of an image. */
static const char *tuple_type(const struct gf_image *image)
{
    static const char *const names[] = {"", "GRAYSCALE", "GRAYSCALE_ALPHA", "RGB", "RGB_ALPHA"};
    const uint32_t colors = image->color == GF_GRAY ? 1 : image->color == GF_RGB ? 3 : 0;
    const bool alpha = colors > 0 && image->alpha == (int)colors;
    return image->color == GF_CMYK && image->channels == 4 ? "CMYK"
           : colors > 0 && image->channels == colors + alpha ? names[image->channels] : "OTHER";
}

static enum gf_status begin(struct gf_writer *w, struct gf_error *e)
{
    struct pnm *p = w->state;
    const struct gf_image *image = &w->image;
    const unsigned highest = image->type == GF_U16 ? 65535 : 255;
    const unsigned long long width = image->width, height = image->height;
    void *block = NULL;
    char head[160];
    int length;

    if (is_pam(w->name))
        length = snprintf(head, sizeof head, "P7\nWIDTH %llu\nHEIGHT %llu\nDEPTH %lu\nMAXVAL %u\n"
                          "TUPLTYPE %s\nENDHDR\n", width, height, (unsigned long)image->channels,
                          highest, tuple_type(image));
    else
        length = snprintf(head, sizeof head, "P%c\n%llu %llu\n%u\n",
                          image->channels == 3 ? '6' : '5', width, height, highest);
    if (image->type == GF_U16 && !p->part) {
        GF_TRY(gf_allocate(&block, PART_BYTES, 1, "writing PNM", e));
        p->part = block;
    }
    return gf_out_write(w->out, head, (size_t)length, e);
}

static enum gf_status write_rows(struct gf_writer *w, const void *rows, uint64_t count,
                                 struct gf_error *e)
{
    struct pnm *p = w->state;
    uint64_t bytes = count * gf_row_bytes(&w->image);
    const uint8_t *from = rows;

    if (w->image.type == GF_U8)
        return gf_out_write(w->out, rows, (size_t)bytes, e);
    while (bytes > 0) {
        size_t part = (size_t)gf_min(bytes, PART_BYTES);
        for (size_t i = 0; i < part; i += 2) {
            uint16_t value;
            memcpy(&value, from + i, 2);
            p->part[i] = (uint8_t)(value >> 8);
            p->part[i + 1] = (uint8_t)value;
        }
        GF_TRY(gf_out_write(w->out, p->part, part, e));
        from += part;
        bytes -= part;
    }
    return GF_OK;
}

static void discard(struct gf_writer *w)
{
    release(w->state);
    w->state = NULL;
}

const struct gf_format gf_format_pnm = {
    .name = "pnm",
    .extensions = "pnm pgm ppm pbm pam",
    .summary = "PBM, PGM, PPM and PAM: 8 and 16 bits",
    .probe = probe,
    .open = open_pnm,
    .select = select_pnm,
    .read_rows = read_pnm,
    .finish = finish_pnm,
    .close = close_pnm,
    .accepts = accepts,
    .create = create,
    .begin = begin,
    .write_rows = write_rows,
    .discard = discard,
};
