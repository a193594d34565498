/* What the fuzz targets share. A target is one LLVMFuzzerTestOneInput(): libFuzzer drives it
 * in a build with GPUFILT_FUZZ, replay.c feeds it files in every other one. A target ends the
 * program when a promise is broken; a refused input is fine. */
#ifndef GPUFILT_TESTS_FUZZ_FUZZ_H
#define GPUFILT_TESTS_FUZZ_FUZZ_H

#include "io/format.h"
#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the program may take for one input, and what a target lets it decode. */
#define FUZZ_MEMORY ((uint64_t)64 << 20)
#define FUZZ_SAMPLES ((uint64_t)4 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Prints the text and aborts unless `holds`. */
void fuzz_need(bool holds, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Ends with an error line or without one, as the status says, and with one of `allowed` (bits
 * 1 << status). */
void fuzz_need_status(enum gf_status status, unsigned allowed, const struct gf_error *e);

/* A file that holds these bytes, in memory; the path is good until the next call. */
const char *fuzz_file(const uint8_t *data, size_t size);

/* A whole number that depends on the input alone, for choices. */
uint32_t fuzz_hash(const uint8_t *data, size_t size);

/* All that was read of a file. */
struct fuzz_picture {
    struct gf_image image;
    uint8_t *samples;      /* from malloc, NULL when there were too many */
};

struct fuzz_pictures {
    struct fuzz_picture *list;
    size_t count;
    uint64_t images;       /* that the file has */
    uint64_t bytes;        /* of the samples taken */
    bool whole;            /* every sample was read, and the trailing checks made */
    bool random_access;
    const struct gf_format *format;
};

/* Ways to read a file that must not change what comes out. */
struct fuzz_way {
    uint8_t pattern;       /* the buffers hold this before */
    uint64_t step;         /* rows at once */
    bool backwards;        /* where the reader allows it */
    struct gf_read_options options;
};

/* Reads all images, at most FUZZ_SAMPLES bytes, and checks what a reader promises about each. */
enum gf_status fuzz_read(const char *path, const struct fuzz_way *way, struct fuzz_pictures *p,
                         struct gf_error *e);
/* The same shapes and samples. */
bool fuzz_same(const struct fuzz_pictures *a, const struct fuzz_pictures *b);
void fuzz_pictures_free(struct fuzz_pictures *p);

#endif
