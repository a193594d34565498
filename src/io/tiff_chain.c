/* The main chain of directories, walked here and not by libtiff: once, in linear time, and
 * with an end even when the links go round in a circle. */
#include "tiff.h"

#include "../alloc.h"
#include "../message.h"
#include "../util.h"

#include <string.h>

#define HEAD_BYTES 1024 /* of a directory read at once: 84 tags of a classic file */

static uint64_t number(const uint8_t *p, unsigned bytes, bool big_endian)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)p[i] << (8 * (big_endian ? bytes - 1 - i : i));
    return value;
}

/* The value of an entry with one SHORT, LONG or LONG8; 0 for others. */
static uint64_t entry_value(const uint8_t *entry, const struct gf_tiff_chain *chain)
{
    uint64_t type = number(entry + 2, 2, chain->big_endian);
    uint64_t count = number(entry + 4, chain->big ? 8 : 4, chain->big_endian);
    const uint8_t *value = entry + (chain->big ? 12 : 8);

    if (count != 1)
        return 0;
    if (type == TIFF_SHORT)
        return number(value, 2, chain->big_endian);
    if (type == TIFF_LONG)
        return number(value, 4, chain->big_endian);
    if (type == TIFF_LONG8 && chain->big)
        return number(value, 8, chain->big_endian);
    return 0;
}

/* Reads the directory at dir->offset: sizes, kind of page, and the next one's offset. */
static enum gf_status read_dir(const struct gf_tiff_chain *chain, struct gf_in *in,
                               const char *name, uint64_t page, struct gf_tiff_dir *dir,
                               uint64_t *kind, uint64_t *next, struct gf_error *e)
{
    unsigned count_bytes = chain->big ? 8 : 2, entry_bytes = chain->big ? 20 : 12;
    unsigned link_bytes = chain->big ? 8 : 4;
    uint8_t head[HEAD_BYTES], link[8];
    uint64_t entries, end, at = dir->offset;
    size_t got;

    *kind = 0;
    dir->width = dir->height = 0;
    dir->palette = false;
    GF_TRY(gf_in_read_some(in, head, sizeof head, at, &got, e));
    if (got < count_bytes)
        return gf_fail(e, GF_EINPUT, "%s: truncated: page %llu should be at byte %llu, and the "
                       "file ends at %llu", name, (unsigned long long)page,
                       (unsigned long long)at, (unsigned long long)gf_in_size(in));
    entries = number(head, count_bytes, chain->big_endian);
    if (entries == 0 || entries > 65535)
        return gf_fail(e, GF_EINPUT, "%s: page %llu has a directory of %llu tags; the file is "
                       "damaged", name, (unsigned long long)page, (unsigned long long)entries);
    end = at + count_bytes + entries * entry_bytes;
    dir->next_at = end;
    if (end < at || end + link_bytes > gf_in_size(in))
        return gf_fail(e, GF_EINPUT, "%s: truncated: the directory of page %llu needs %llu "
                       "bytes, and the file ends at %llu", name, (unsigned long long)page,
                       (unsigned long long)(end + link_bytes),
                       (unsigned long long)gf_in_size(in));
    at += count_bytes;
    for (size_t where = count_bytes; entries > 0; entries--) {
        const uint8_t *entry;
        uint64_t tag;

        if (where + entry_bytes > got) {
            GF_TRY(gf_in_read_some(in, head, sizeof head, at, &got, e));
            where = 0;
            if (got < entry_bytes)
                return gf_fail(e, GF_EINPUT, "%s: truncated in the directory of page %llu", name,
                               (unsigned long long)page);
        }
        entry = head + where;
        tag = number(entry, 2, chain->big_endian);
        if (tag == TIFFTAG_SUBFILETYPE)
            *kind = entry_value(entry, chain);
        else if (tag == TIFFTAG_IMAGEWIDTH)
            dir->width = (uint32_t)gf_min(entry_value(entry, chain), UINT32_MAX);
        else if (tag == TIFFTAG_IMAGELENGTH)
            dir->height = (uint32_t)gf_min(entry_value(entry, chain), UINT32_MAX);
        else if (tag == TIFFTAG_PHOTOMETRIC)
            dir->palette = entry_value(entry, chain) == PHOTOMETRIC_PALETTE;
        where += entry_bytes;
        at += entry_bytes;
    }
    GF_TRY(gf_in_read(in, link, link_bytes, end, e));
    *next = number(link, link_bytes, chain->big_endian);
    return GF_OK;
}

static enum gf_status append(struct gf_tiff_chain *chain, const struct gf_tiff_dir *dir,
                             struct gf_error *e)
{
    if ((chain->count & (chain->count - 1)) == 0) {
        uint64_t room = chain->count > 0 ? 2 * chain->count : 1;
        struct gf_tiff_dir *dirs;

        GF_TRY(gf_memory_check(room * sizeof *dirs, "the list of pages", e));
        dirs = gf_realloc(chain->dirs, room, sizeof *dirs);
        if (!dirs)
            return gf_fail(e, GF_EMEMORY, "not enough memory for a list of %llu pages; raise "
                           "--max-memory", (unsigned long long)room);
        chain->dirs = dirs;
    }
    chain->dirs[chain->count++] = *dir;
    return GF_OK;
}

enum gf_status gf_tiff_chain_read(struct gf_tiff_chain *chain, struct gf_in *in,
                                  const char *name, struct gf_error *e)
{
    static const uint16_t one = 1;
    bool machine_big = *(const uint8_t *)&one == 0;
    uint8_t header[16];
    uint64_t offset, page = 0, mark, mark_at = 1, skipped = 0;
    size_t got;

    GF_TRY(gf_in_read_some(in, header, sizeof header, 0, &got, e));
    if (got < 8)
        return gf_fail(e, GF_EINPUT, "%s: truncated: %zu bytes, and the header of a TIFF has 8",
                       name, got);
    chain->big_endian = header[0] == 'M';
    chain->swap = chain->big_endian != machine_big;
    chain->big = number(header + 2, 2, chain->big_endian) == 43;
    if (chain->big && (got < 16 || number(header + 4, 2, chain->big_endian) != 8))
        return gf_fail(e, GF_EINPUT, "%s: the header of the BigTIFF is damaged", name);
    offset = chain->big ? number(header + 8, 8, chain->big_endian)
                        : number(header + 4, 4, chain->big_endian);
    if (offset == 0)
        return gf_fail(e, GF_EINPUT, "%s: a TIFF without any page; the writer did not finish it",
                       name);

    /* A circle is found by comparing with a page seen before; the one remembered moves on
     * at each power of two, so that it is inside the circle sooner or later (Brent). */
    mark = 0;
    while (offset != 0) {
        struct gf_tiff_dir dir = {.offset = offset};
        uint64_t kind, next;

        page++;
        if (offset == mark)
            return gf_fail(e, GF_EINPUT, "%s: the chain of pages goes in a circle back to byte "
                           "%llu; the file is damaged", name, (unsigned long long)offset);
        if (page == mark_at) {
            mark = offset;
            mark_at *= 2;
        }
        GF_TRY(read_dir(chain, in, name, page, &dir, &kind, &next, e));
        if (kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK))
            skipped++;
        else
            GF_TRY(append(chain, &dir, e));
        offset = next;
    }
    if (chain->count == 0)
        return gf_fail(e, GF_EFEATURE, "%s: all %llu pages are reduced images or masks of "
                       "another image, there is none to read", name, (unsigned long long)page);
    if (skipped > 0)
        gf_print_warning("%s: %llu of %llu pages are reduced copies or masks of another page "
                         "and are left out", name, (unsigned long long)skipped,
                         (unsigned long long)page);
    return GF_OK;
}
