/* Any bytes as an image file: never a crash, a leak or more memory than allowed, and the same
 * samples however the rows are asked for and whatever was in memory before. */
#include "fuzz.h"

#include "alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    struct fuzz_way ways[2] = {{.pattern = 0xa5, .step = 1 + fuzz_hash(data, size) % 7},
                               {.pattern = 0x5a, .step = 1 << 20, .backwards = true}};

    for (int stack = 0; stack < 2; stack++) {
        struct fuzz_pictures found[2];
        enum gf_status status[2];
        struct gf_error e;
        bool more;
        for (int i = 0; i < 2; i++) {
            ways[i].options.stack_pages = stack;
            status[i] = fuzz_read(path, &ways[i], &found[i], &e);
        }
        /* More rows at once need more memory now and then. Of two faults either is named. */
        if (status[0] != GF_EMEMORY && status[1] != GF_EMEMORY) {
            fuzz_need((status[0] == GF_OK) == (status[1] == GF_OK),
                      "status %d, and in another way %d", status[0], status[1]);
            fuzz_need(status[0] != GF_OK || fuzz_same(&found[0], &found[1]),
                      "other samples when read in another way");
        }
        more = found[0].images > 1;
        fuzz_pictures_free(&found[0]);
        fuzz_pictures_free(&found[1]);
        fuzz_need(gf_memory_used() == 0, "%llu bytes of memory were not given back",
                  (unsigned long long)gf_memory_used());
        if (!more)
            break;
    }
    return 0;
}
