#include "apart.h"

#include <string.h>

void gf_copy_apart(void *to, size_t to_step, const void *from, size_t from_step, size_t size,
                   uint64_t count)
{
    const uint8_t *f = from;
    uint8_t *t = to;

    /* A size that the compiler knows makes a move of each memcpy(). */
#define COPY(bytes)                                              \
    do {                                                         \
        for (uint64_t i = 0; i < count; i++)                     \
            memcpy(t + i * to_step, f + i * from_step, bytes);   \
    } while (0)
    if (size == 1)
        COPY(1);
    else if (size == 2)
        COPY(2);
    else if (size == 4)
        COPY(4);
    else if (size == 8)
        COPY(8);
    else
        COPY(size);
#undef COPY
}
