/* One large transfer shared out to a few threads: a single one copies to and from the page
 * cache at a fraction of what memory can do. */
#ifndef GPUFILT_SRC_IO_SPREAD_H
#define GPUFILT_SRC_IO_SPREAD_H

#include "../status.h"

#include <stddef.h>
#include <stdint.h>

/* Threads at most, the caller included; as long as nobody says, all processors. Not for use
 * while a transfer is under way. */
void gf_spread_limit(unsigned threads);

/* Moves bytes [begin, end) of the transfer; called from several threads at once. */
typedef enum gf_status gf_spread_part(void *context, size_t begin, size_t end,
                                      struct gf_error *e);

/* Calls `part` for disjoint pieces that make up [0, size), small transfers as one piece in the
 * calling thread. Returns the failure of the first piece in order, if any. */
enum gf_status gf_spread(size_t size, gf_spread_part *part, void *context, struct gf_error *e);

#endif
