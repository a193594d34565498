/* Makes plans: the one place that validates a filter against an image. */
#ifndef GPUFILT_SRC_PLANNER_H
#define GPUFILT_SRC_PLANNER_H

#include "cli.h"
#include "image.h"
#include "mask.h"
#include "plan.h"

/* Plans `mask` (as a correlation) over `image`, for the CPU. `divide_alpha` asks for colour that
 * is not multiplied by alpha although the input's is: the output format cannot hold it. On an
 * error `plan` holds nothing. `name` is the input in messages.
 *
 * The output type is the one asked for; by default the input's when the weights sum to
 * more than 0, and otherwise (a derivative) one with a sign: f16, f32, f64 as they are,
 * i16 where the largest possible result fits, else i32. */
enum gf_status gf_plan_make(struct gf_plan *plan, const struct gf_request *request,
                            const struct gf_mask *mask, const struct gf_image *image,
                            bool divide_alpha, const char *name, struct gf_error *e);

/* Makes a plan one for a GPU: larger slabs, read and written while others are computed also
 * where the CPU has one thread. On an error the plan is freed. */
enum gf_status gf_plan_for_gpu(struct gf_plan *plan, const struct gf_request *request,
                               const char *name, struct gf_error *e);

/* Accepts a zeroed struct. */
void gf_plan_free(struct gf_plan *plan);

#endif
