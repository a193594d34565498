/* Runs a fuzz target on files: REPLAY FILE|FOLDER... A folder stands for the files in it. */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static size_t files;
static double slowest;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void run(const char *path)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = NULL;
    size_t size = 0, room = 0, got = 0;
    double start;

    fuzz_need(f != NULL, "%s: cannot be opened", path);
    do {
        size += got;
        if (size == room)
            data = realloc(data, room = 2 * room + 4096);
        fuzz_need(data != NULL, "no memory");
        got = fread(data + size, 1, room - size, f);
    } while (got > 0);
    fclose(f);
    /* A block of just this size, so that reading beyond it is noticed. */
    data = realloc(data, size > 0 ? size : 1);
    fuzz_need(data != NULL, "no memory");
    fprintf(stderr, "%s\n", path); /* the last line before a crash names the culprit */
    start = seconds();
    LLVMFuzzerTestOneInput(data, size);
    start = seconds() - start;
    slowest = start > slowest ? start : slowest;
    fuzz_need(start < 60, "%s: took %.1f s", path, start);
    free(data);
    files++;
}

static int by_name(const void *a, const void *b)
{
    const struct dirent *const *x = a, *const *y = b;
    return strcmp((*x)->d_name, (*y)->d_name);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct dirent **entries;
        struct stat st;
        int count;
        if (stat(argv[i], &st) == 0 && !S_ISDIR(st.st_mode)) {
            run(argv[i]);
            continue;
        }
        count = scandir(argv[i], &entries, NULL, NULL);
        fuzz_need(count >= 0, "%s: cannot be opened", argv[i]);
        qsort(entries, (size_t)count, sizeof *entries, by_name);
        for (int k = 0; k < count; k++) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", argv[i], entries[k]->d_name);
            if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
                run(path);
            free(entries[k]);
        }
        free(entries);
    }
    printf("%zu files, the slowest took %.3f s\n", files, slowest);
    fuzz_need(files > 0, "there was nothing to run");
    return 0;
}
