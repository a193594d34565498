/* What the argument of -k means: an inline mask, a file, or a name. */
#include "alloc.h"
#include "io/file.h"
#include "mask_internal.h"
#include "util.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLANKS " \t"

static bool ends_with(const char *text, const char *end)
{
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

/* A file's name may hold anything; names with these marks need "@" or ".mask". */
static bool is_inline(const char *spec)
{
    bool numeric = strchr("0123456789+-." BLANKS, spec[0]) != NULL;
    if (numeric && spec[strspn(spec, "0123456789+-.,;:/xeE" BLANKS)] == '\0')
        return strpbrk(spec, "0123456789") != NULL;
    if (strpbrk(spec, ",;") != NULL)
        return numeric || strchr(spec, '/') == NULL;
    return strchr(spec, '/') == NULL && strpbrk(spec, BLANKS) != NULL;
}

static enum gf_status read_file(struct gf_mask *mask, const char *path, struct gf_error *e)
{
    struct gf_in *in = NULL;
    void *text = NULL;
    uint64_t size;
    enum gf_status status = gf_in_open(&in, path, e);
    if (status != GF_OK)
        return status;
    size = gf_in_size(in);
    status = gf_allocate(&text, size, 1, path, e);
    if (status == GF_OK)
        status = gf_in_read(in, text, (size_t)size, 0, e);
    if (status == GF_OK)
        status = gf_mask_parse(mask, text, size, gf_in_name(in), e);
    gf_free(text);
    gf_in_close(&in);
    return status;
}

/* FOLDER/NAME.mask, for a volume FOLDER/NAME-3d.mask before it; *found is false when there is
 * neither. A file that is there but cannot be read is an error, not passed over. */
static enum gf_status look_in_folder(struct gf_mask *mask, const char *folder, size_t length,
                                     const char *name, int dimensions, bool *found,
                                     struct gf_error *e)
{
    char path[PATH_MAX];
    for (int d = dimensions; d >= 2 && length > 0; d--) {
        int size = snprintf(path, sizeof path, "%.*s/%s%s.mask", (int)length, folder, name,
                            d == 3 ? "-3d" : "");
        if (size > 0 && (size_t)size < sizeof path && access(path, F_OK) == 0) {
            *found = true;
            return read_file(mask, path, e);
        }
        /* The table has the 3D form of its names; a picture's mask must not hide it. */
        if (gf_mask_is_named(name))
            break;
    }
    return GF_OK;
}

static enum gf_status look_in_list(struct gf_mask *mask, const char *list, const char *name,
                                   int dimensions, bool *found, struct gf_error *e)
{
    while (list != NULL && *list != '\0' && !*found) {
        size_t length = strcspn(list, ":");
        GF_TRY(look_in_folder(mask, list, gf_min(length, PATH_MAX), name, dimensions, found, e));
        list += length + (list[length] == ':');
    }
    return GF_OK;
}

static enum gf_status look_near_program(struct gf_mask *mask, const char *name, int dimensions,
                                        bool *found, struct gf_error *e)
{
    static const char *const places[] = {"masks", "../masks", "../share/gpufilt/masks"};
    char program[PATH_MAX], folder[PATH_MAX + 40];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    char *slash;
    if (length <= 0)
        return GF_OK;
    program[length] = '\0';
    slash = strrchr(program, '/');
    if (slash == NULL)
        return GF_OK;
    *slash = '\0';
    for (size_t i = 0; i < GF_COUNT(places) && !*found; i++) {
        int size = snprintf(folder, sizeof folder, "%s/%s", program, places[i]);
        GF_TRY(look_in_folder(mask, folder, (size_t)size, name, dimensions, found, e));
    }
    return GF_OK;
}

static enum gf_status look_inside(struct gf_mask *mask, const char *name, int dimensions,
                                  bool *found, struct gf_error *e)
{
    for (int d = dimensions; d >= 2; d--)
        for (const struct gf_mask_file *file = gf_mask_files; file->name != NULL; file++) {
            size_t length = strlen(name);
            if (strncmp(file->name, name, length) == 0 &&
                strcmp(file->name + length, d == 3 ? "-3d" : "") == 0) {
                *found = true;
                return gf_mask_parse(mask, (const char *)file->text, file->length, file->name, e);
            }
        }
    return GF_OK;
}

bool gf_mask_is_given(const char *spec)
{
    return spec[0] == '@' || ends_with(spec, ".mask") || is_inline(spec) || strchr(spec, '/');
}

enum gf_status gf_mask_find(struct gf_mask *mask, const char *spec, int dimensions,
                            struct gf_error *e)
{
    bool found = false;
    memset(mask, 0, sizeof *mask);
    if (spec[0] == '\0')
        return gf_fail(e, GF_EUSAGE, "an empty mask; needed a name, a file or numbers, see "
                       "'gpufilt masks list'");
    if (spec[0] == '@')
        return read_file(mask, spec + 1, e);
    if (ends_with(spec, ".mask"))
        return read_file(mask, spec, e);
    if (is_inline(spec))
        return gf_mask_parse_inline(mask, spec, e);
    if (strchr(spec, '/') != NULL)
        return read_file(mask, spec, e);
    GF_TRY(look_in_list(mask, getenv("GPUFILT_MASK_PATH"), spec, dimensions, &found, e));
    if (found)
        return GF_OK;
    if (gf_mask_is_named(spec))
        return gf_mask_named(mask, spec, dimensions, e);
    GF_TRY(look_near_program(mask, spec, dimensions, &found, e));
    if (!found)
        GF_TRY(look_inside(mask, spec, dimensions, &found, e));
    return found ? GF_OK : gf_mask_unknown(spec, e);
}
