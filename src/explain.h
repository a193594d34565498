/* --explain: the plan in words and numbers, from the very structures that run. */
#ifndef GPUFILT_SRC_EXPLAIN_H
#define GPUFILT_SRC_EXPLAIN_H

#include "cli.h"
#include "engine.h"
#include "io/format.h"
#include "mask.h"
#include "plan.h"
#include "text.h"

/* Standard deviation, in pixels, of the planned taps along an axis; NAN when the plan is not
 * separable or a tap is below 0. */
double gf_explain_sigma(const struct gf_plan *plan, int axis);

/* Appends the explanation. `out_path` and `out_format` may be NULL (no output named). */
void gf_explain(struct gf_buffer *text, const struct gf_request *request,
                const struct gf_mask *mask, const struct gf_plan *plan,
                const struct gf_image *image, const struct gf_reader *reader,
                const char *out_path, const struct gf_format *out_format);
/* And where it will be computed. */
void gf_explain_device(struct gf_buffer *text, const struct gf_engine *engine,
                       const struct gf_choice *choice, const struct gf_plan *plan);

#endif
