/* Bringing what a chunk reads onto the device. */
#ifndef GPUFILT_CUDA_FEED_H
#define GPUFILT_CUDA_FEED_H

#include "state.h"

namespace GF_DEVICE {

/* Fills set->in with the input rows and planes of a chunk of the output (its y, z, rows and
 * planes), in the order of the upload stream: from the slab `in`, and from `before`, the set
 * of the chunk before or NULL, what that holds already. Fills the tables, too, and the
 * members of *chunk that tell where the input lies. set->host_tables must not be in use. */
cudaError_t feed(struct state *s, struct set *set, const struct set *before,
                 const struct gf_slab *in, struct gf_chunk *chunk);

}

#endif
