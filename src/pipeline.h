/* Moves one image through a backend: reader -> slabs -> backend -> slabs -> writer, the
 * three overlapped in threads when there is more than one slab. */
#ifndef GPUFILT_SRC_PIPELINE_H
#define GPUFILT_SRC_PIPELINE_H

#include "engine.h"
#include "io/format.h"
#include "plan.h"
#include "stats/feeder.h"

/* Filters the image selected in `reader` as `plan` says, on `backend` or what `engine` puts in
 * its place. Begins image `out` in `writer` when its first rows are there, so that nothing
 * comes out when no backend can be opened, and hands it every row in order; gf_writer_end is
 * the caller's. Reads every input row of a coded file, also those nothing needs, so that
 * checksums are verified. Adds to *counts. The output's samples go to `feeder` as well; either it
 * or `writer` may be NULL. */
enum gf_status gf_pipeline_run(const struct gf_plan *plan, struct gf_engine *engine,
                               const struct gf_backend *backend, struct gf_reader *reader,
                               struct gf_writer *writer, struct gf_feeder *feeder,
                               const struct gf_image *out, struct gf_counts *counts,
                               struct gf_error *e);

#endif
