#include "tiff.h"

#include "../alloc.h"
#include "../message.h"
#include "../util.h"

#include <stdio.h>
#include <string.h>

void gf_tiff_client_reset(struct gf_tiff_client *client)
{
    client->has_trouble = false;
    client->trouble[0] = 0;
    client->io_status = GF_OK;
}

/* Replaces what of `patch` (at `at` in the file) falls into the buffer read from `from`. */
static void overlay(uint8_t *buffer, uint64_t from, size_t size, const uint8_t *patch,
                    size_t patch_size, uint64_t at)
{
    for (size_t i = 0; i < patch_size; i++)
        if (at + i >= from && at + i - from < size)
            buffer[at + i - from] = patch[i];
}

static void show_one_page(const struct gf_tiff_client *c, uint8_t *buffer, size_t size)
{
    static const uint8_t zeros[8];
    size_t width = c->big ? 8 : 4;
    uint8_t link[8];

    for (size_t i = 0; i < width; i++) {
        size_t from_low = c->big_endian ? width - 1 - i : i;
        link[i] = (uint8_t)(c->directory >> (8 * from_low));
    }
    overlay(buffer, c->position, size, link, width, c->big ? 8 : 4);
    overlay(buffer, c->position, size, zeros, width, c->next_at);
}

static tmsize_t client_read(thandle_t handle, void *buffer, tmsize_t size)
{
    struct gf_tiff_client *c = handle;
    size_t got = 0;
    enum gf_status status;

    if (size < 0)
        return -1;
    if (c->out)
        status = gf_out_read(c->out, buffer, (size_t)size, c->position, &got, &c->io);
    else
        status = gf_in_read_some(c->in, buffer, (size_t)size, c->position, &got, &c->io);
    if (status != GF_OK) {
        c->io_status = status;
        return -1;
    }
    if (c->one_page)
        show_one_page(c, buffer, got);
    c->position += got;
    return (tmsize_t)got;
}

static tmsize_t client_write(thandle_t handle, void *buffer, tmsize_t size)
{
    struct gf_tiff_client *c = handle;
    enum gf_status status;

    if (!c->out || size < 0)
        return -1;
    status = gf_out_write_at(c->out, buffer, (size_t)size, c->position, &c->io);
    if (status != GF_OK) {
        c->io_status = status;
        return -1;
    }
    c->position += (uint64_t)size;
    return size;
}

static toff_t client_size(thandle_t handle)
{
    struct gf_tiff_client *c = handle;

    return c->out ? gf_out_size(c->out) : gf_in_size(c->in);
}

static toff_t client_seek(thandle_t handle, toff_t offset, int whence)
{
    struct gf_tiff_client *c = handle;

    if (whence == SEEK_CUR)
        offset += c->position;
    else if (whence == SEEK_END)
        offset += client_size(handle);
    c->position = offset;
    return offset;
}

static int client_close(thandle_t handle)
{
    (void)handle;
    return 0;
}

static void keep(struct gf_tiff_client *c, const char *format, va_list arguments)
{
    if (c->trouble[0] == 0)
        vsnprintf(c->trouble, sizeof c->trouble, format, arguments);
}

static int on_error(TIFF *tif, void *user, const char *module, const char *format,
                    va_list arguments)
{
    struct gf_tiff_client *c = user;

    (void)tif;
    (void)module;
    keep(c, format, arguments);
    /* A directory with a tag that libtiff cannot make sense of is read all the same. */
    if (c->decoding || c->out)
        c->has_trouble = true;
    return 1;
}

/* While samples are decoded libtiff and libjpeg only warn of some damage and go on with made
 * up samples. These modules' warnings are of that kind, but for what they say of files that
 * are merely unusual. When directories are read, so are values that the file does not hold. */
static bool loses_data(const struct gf_tiff_client *c, const char *module, const char *format)
{
    static const char *const modules[] = {"Fax", "JPEG", "OJPEG", "LERC", "Lerc", "Thunder",
                                          "NeXT", "LogLuv", "LogL", "PixarLog", "JBIG"};
    static const char *const harmless[] = {"exceeds expected dimensions",
                                           "old-style JPEG compression mode"};

    if (c->out)
        return false;
    if (!c->decoding)
        return strstr(format, "IO error") || strstr(format, "Bad value for") ||
               strstr(format, "incorrect count");
    for (size_t i = 0; i < GF_COUNT(harmless); i++)
        if (strstr(format, harmless[i]))
            return false;
    for (size_t i = 0; module && i < GF_COUNT(modules); i++)
        if (strncmp(module, modules[i], strlen(modules[i])) == 0)
            return true;
    return false;
}

static int on_warning(TIFF *tif, void *user, const char *module, const char *format,
                      va_list arguments)
{
    struct gf_tiff_client *c = user;
    char line[400];

    (void)tif;
    if (loses_data(c, module, format)) {
        keep(c, format, arguments);
        c->has_trouble = true;
        return 1;
    }
    vsnprintf(line, sizeof line, format, arguments);
    gf_print_note("%s: %s", c->name, line);
    return 1;
}

TIFF *gf_tiff_client_open(struct gf_tiff_client *client, const char *mode)
{
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    uint64_t limit = gf_memory_limit();
    uint64_t used = gf_memory_used();
    TIFF *tif;

    if (!options) {
        client->has_trouble = true;
        snprintf(client->trouble, sizeof client->trouble, "libtiff has no memory left");
        return NULL;
    }
    limit = limit > used ? limit - used : 1;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)gf_min(limit, INT64_MAX));
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, client);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, client);
    tif = TIFFClientOpenExt(client->name, mode, client, client_read, client_write, client_seek,
                            client_close, client_size, NULL, NULL, options);
    TIFFOpenOptionsFree(options);
    return tif;
}

enum gf_status gf_tiff_client_fail(const struct gf_tiff_client *client, enum gf_status status,
                                   const char *place, struct gf_error *e)
{
    if (client->io_status != GF_OK) {
        if (e)
            *e = client->io;
        return client->io_status;
    }
    return gf_fail(e, status, "%s: %s: %s", client->name, place,
                   client->trouble[0] ? client->trouble : "libtiff failed without a reason");
}
