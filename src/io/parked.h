/* A complete file that waits for its name. For src/io/ only; file.h has the rest. */
#ifndef GPUFILT_SRC_IO_PARKED_H
#define GPUFILT_SRC_IO_PARKED_H

#include "file.h"
#include "target.h"

/* Takes over the file under `temp` in the target's folder; NULL, and nothing is taken over, when
 * there is no memory. `name` is for messages. */
struct gf_parked *gf_parked_new(struct gf_temp *temp, const struct gf_target *t, const char *name);

#endif
