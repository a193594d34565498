#include "image.h"

#include "alloc.h"
#include "geometry.h"
#include "util.h"

#include <string.h>

enum gf_status gf_image_check(const struct gf_image *image, const char *name, struct gf_error *e)
{
    uint64_t bytes;
    unsigned long long w = image->width, h = image->height, d = image->depth;

    if (w == 0 || h == 0 || d == 0 || image->channels == 0)
        return gf_fail(e, GF_EINPUT,
                       "%s: the size is %llux%llux%llu with %u channels, every number must be "
                       "at least 1", name, w, h, d, (unsigned)image->channels);
    if (!gf_mul(image->width, image->height, &bytes) || !gf_mul(bytes, image->depth, &bytes) ||
        !gf_mul(bytes, image->channels, &bytes) ||
        !gf_mul(bytes, gf_type_bytes(image->type), &bytes) || bytes > INT64_MAX)
        return gf_fail(e, GF_EINPUT,
                       "%s: the size is %llux%llux%llu with %u channels of %s, which is more "
                       "than 2^63 bytes; the file is probably damaged",
                       name, w, h, d, (unsigned)image->channels, gf_type_name(image->type));
    return GF_OK;
}

enum gf_status gf_blob_set(struct gf_blob *blob, const void *data, size_t size, struct gf_error *e)
{
    void *copy;

    GF_TRY(gf_allocate(&copy, size, 1, "metadata", e));
    if (size > 0)
        memcpy(copy, data, size);
    gf_free(blob->data);
    blob->data = copy;
    blob->size = size;
    return GF_OK;
}

static enum gf_status copy_string(char **to, const char *from, struct gf_error *e)
{
    size_t size = strlen(from) + 1;
    void *copy;

    GF_TRY(gf_allocate(&copy, size, 1, "metadata", e));
    memcpy(copy, from, size);
    *to = copy;
    return GF_OK;
}

enum gf_status gf_meta_add_text(struct gf_meta *meta, const char *key, const char *value,
                                struct gf_error *e)
{
    struct gf_text text = {NULL, NULL};
    enum gf_status status;
    size_t count = meta->text_count;

    /* The room doubles each time the count reaches a power of two. */
    if ((count & (count - 1)) == 0) {
        struct gf_text *texts = gf_realloc(meta->texts, count > 0 ? 2 * (uint64_t)count : 1,
                                           sizeof *texts);
        if (!texts)
            return gf_fail(e, GF_EMEMORY, "not enough memory for metadata; raise --max-memory");
        meta->texts = texts;
    }
    status = copy_string(&text.key, key, e);
    if (status == GF_OK)
        status = copy_string(&text.value, value, e);
    if (status != GF_OK) {
        gf_free(text.key);
        return status;
    }
    meta->texts[count] = text;
    meta->text_count = count + 1;
    return GF_OK;
}

static enum gf_status copy_owned(struct gf_meta *to, const struct gf_meta *from,
                                 struct gf_error *e)
{
    const struct gf_blob *sources[] = {&from->icc, &from->exif, &from->xmp, &from->native};
    struct gf_blob *targets[] = {&to->icc, &to->exif, &to->xmp, &to->native};

    for (size_t i = 0; i < GF_COUNT(sources); i++)
        if (sources[i]->data)
            GF_TRY(gf_blob_set(targets[i], sources[i]->data, sources[i]->size, e));
    if (from->description)
        GF_TRY(copy_string(&to->description, from->description, e));
    for (size_t i = 0; i < from->text_count; i++)
        GF_TRY(gf_meta_add_text(to, from->texts[i].key, from->texts[i].value, e));
    return GF_OK;
}

enum gf_status gf_meta_copy(struct gf_meta *to, const struct gf_meta *from, struct gf_error *e)
{
    enum gf_status status;

    *to = *from;
    to->icc = to->exif = to->xmp = to->native = (struct gf_blob){NULL, 0};
    to->description = NULL;
    to->texts = NULL;
    to->text_count = 0;
    status = copy_owned(to, from, e);
    if (status != GF_OK)
        gf_meta_free(to);
    return status;
}

void gf_meta_free(struct gf_meta *meta)
{
    gf_free(meta->icc.data);
    gf_free(meta->exif.data);
    gf_free(meta->xmp.data);
    gf_free(meta->native.data);
    gf_free(meta->description);
    for (size_t i = 0; i < meta->text_count; i++) {
        gf_free(meta->texts[i].key);
        gf_free(meta->texts[i].value);
    }
    gf_free(meta->texts);
    memset(meta, 0, sizeof *meta);
}

void gf_meta_override_spacing(struct gf_meta *meta, const double spacing[3])
{
    for (int a = 0; a < 3; a++)
        if (spacing[a] > 0) {
            meta->spacing[a] = spacing[a];
            meta->resolution[0] = meta->resolution[1] = 0;
        }
    if (meta->geometry.known)
        gf_geometry_scale(&meta->geometry, spacing);
}
