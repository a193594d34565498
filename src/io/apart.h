/* Things that lie apart from each other. */
#ifndef GPUFILT_SRC_IO_APART_H
#define GPUFILT_SRC_IO_APART_H

#include <stddef.h>
#include <stdint.h>

/* Copies `count` things of `size` bytes from places `from_step` bytes apart to places `to_step`
 * bytes apart. */
void gf_copy_apart(void *to, size_t to_step, const void *from, size_t from_step, size_t size,
                   uint64_t count);

#endif
