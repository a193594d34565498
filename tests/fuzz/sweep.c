/* Every truncation and every one-bit flip of files: SWEEP RULE FILE...
 *
 * Nothing may crash, leak, or give samples that depend on what was in memory before. By RULE:
 * checked    wrong samples with status 0 fail, whatever the damage (PNG)
 * deflate    so do they after flips inside deflate-coded strips and tiles (TIFF)
 * any        flips may give other samples: the format cannot tell
 * A file cut short must never pass with other samples, nor with fewer of them. */
#include "fuzz.h"

#include "alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

#define LARGEST (64 << 10)

static uint8_t file[LARGEST];
static size_t size;
static bool coded[LARGEST];   /* bytes that a checksum inside the file covers */
static struct fuzz_pictures good;
static unsigned long long cuts, flips, refused, other;

/* Marks the bytes of the strips and tiles that deflate made. */
static void mark_coded(const char *path)
{
    TIFF *t;
    memset(coded, 0, sizeof coded);
    TIFFSetWarningHandler(NULL);
    t = TIFFOpen(path, "r");
    fuzz_need(t != NULL, "%s: libtiff cannot open it", path);
    do {
        uint16_t coding = 0;
        uint32_t count = TIFFIsTiled(t) ? TIFFNumberOfTiles(t) : TIFFNumberOfStrips(t);
        TIFFGetField(t, TIFFTAG_COMPRESSION, &coding);
        for (uint32_t i = 0; i < count; i++) {
            uint64_t at = TIFFGetStrileOffset(t, i), bytes = TIFFGetStrileByteCount(t, i);
            if (coding == COMPRESSION_DEFLATE || coding == COMPRESSION_ADOBE_DEFLATE)
                memset(coded + at, true, bytes);
        }
    } while (TIFFReadDirectory(t));
    TIFFClose(t);
}

static void load(const char *path)
{
    FILE *f = fopen(path, "rb");
    fuzz_need(f != NULL, "%s: cannot be opened", path);
    size = fread(file, 1, sizeof file, f);
    fclose(f);
    fuzz_need(size > 0 && size < sizeof file, "%s: empty or too large for a sweep", path);
}

/* Reads the damaged file, now and then in a second way. */
static enum gf_status attempt(size_t bytes, unsigned long long number, bool *same)
{
    const char *path = fuzz_file(file, bytes);
    const struct fuzz_way ways[2] = {{.pattern = 0xa5, .step = 3}, {.pattern = 0x5a, .step = 3}};
    struct fuzz_pictures first, second;
    const uint64_t used = gf_memory_used();
    struct gf_error e;
    enum gf_status status = fuzz_read(path, &ways[0], &first, &e), again;

    *same = status == GF_OK && fuzz_same(&first, &good);
    if (status == GF_OK && (!*same || number % 16 == 0)) {
        again = fuzz_read(path, &ways[1], &second, &e);
        fuzz_need(again == GF_OK && fuzz_same(&first, &second), "another result the second time");
        fuzz_pictures_free(&second);
    }
    fuzz_pictures_free(&first);
    fuzz_need(gf_memory_used() == used, "memory was not given back");
    return status;
}

static void sweep(const char *path, const char *rule)
{
    const bool checked = strcmp(rule, "checked") == 0, deflate = strcmp(rule, "deflate") == 0;
    const struct fuzz_way way = {.pattern = 0x33, .step = 1};
    struct gf_error e;
    bool same;

    load(path);
    fuzz_need(fuzz_read(path, &way, &good, &e) == GF_OK && good.whole, "%s: not good: %s", path,
              e.text);
    if (deflate)
        mark_coded(path);
    for (size_t cut = 0; cut < size; cut++, cuts++) {
        enum gf_status status = attempt(cut, cuts, &same);
        fuzz_need(status != GF_OK || same, "%s: cut to %zu of %zu bytes: other samples", path, cut,
                  size);
        fuzz_need(status != GF_OK || !checked, "%s: cut to %zu of %zu bytes: accepted", path, cut,
                  size);
        refused += status != GF_OK;
    }
    for (size_t bit = 0; bit < 8 * size; bit++, flips++) {
        enum gf_status status;
        file[bit / 8] ^= (uint8_t)(1u << bit % 8);
        status = attempt(size, flips, &same);
        file[bit / 8] ^= (uint8_t)(1u << bit % 8);
        fuzz_need(status != GF_OK || same || !(checked || (deflate && coded[bit / 8])),
                  "%s: bit %zu of byte %zu flipped: other samples", path, bit % 8, bit / 8);
        refused += status != GF_OK;
        other += status == GF_OK && !same;
    }
    fuzz_pictures_free(&good);
}

int main(int argc, char **argv)
{
    fuzz_need(argc > 2, "sweep RULE FILE...");
    for (int i = 2; i < argc; i++) {
        fprintf(stderr, "%s\n", argv[i]);
        sweep(argv[i], argv[1]);
    }
    printf("%d files, %llu cuts, %llu flips: %llu refused, %llu read as other samples\n", argc - 2,
           cuts, flips, refused, other);
    return 0;
}
