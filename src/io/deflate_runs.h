/* The fast coding of filtered rows: Huffman codes and runs of one byte, nothing else.
 * Filtered pictures have few repeats that a search would find; what it costs is most of
 * deflate's time. */
#ifndef GPUFILT_SRC_IO_DEFLATE_RUNS_H
#define GPUFILT_SRC_IO_DEFLATE_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that `out` needs for `size` bytes of data. */
size_t gf_deflate_runs_bound(size_t size);
/* Writes `data` as raw deflate that ends on a whole byte; with `last` the stream ends
 * there. The number of bytes written. It depends on the data alone. */
size_t gf_deflate_runs(const uint8_t *data, size_t size, bool last, uint8_t *out);

#endif
