#include "masks_run.h"

#include "masks_command.h"
#include "output.h"

#include <string.h>

static enum gf_status make(const struct gf_request *r, const char *kind, int dimensions,
                           struct gf_buffer *text, struct gf_error *e)
{
    double sigma[3] = {0, 0, 0};
    for (unsigned a = 0; a < 3 && r->sigma_count; a++) {
        const struct gf_length *length = &r->sigma[r->sigma_count == 1 ? 0 : a];
        if (r->sigma_count > 1 && a >= r->sigma_count)
            break;
        if (length->physical)
            return gf_fail(e, GF_EUSAGE, "masks make: --sigma is in pixels here; a mask has no voxel size");
        sigma[a] = length->value;
    }
    return gf_masks_make(kind, sigma, r->mask_size, r->truncate, dimensions, text, e);
}

enum gf_status gf_masks_run(const struct gf_request *r, struct gf_error *e)
{
    static const char usage[] = "gpufilt masks list | show MASK | make gauss|box|log [OPTION]...";
    struct gf_buffer text = {0};
    const char *action = r->operand_count ? r->operands[0] : "list";
    int dimensions = r->dimensions ? r->dimensions : 2;
    enum gf_status status;

    if (strcmp(action, "list") == 0 && r->operand_count <= 1)
        status = gf_masks_list(&text, e);
    else if (strcmp(action, "show") == 0 && r->operand_count == 2)
        status = gf_masks_show(r->operands[1], dimensions, &text, e);
    else if (strcmp(action, "make") == 0 && r->operand_count == 2)
        status = make(r, r->operands[1], dimensions, &text, e);
    else
        return gf_fail(e, GF_EUSAGE, "masks: expected %s", usage);
    if (status != GF_OK) {
        gf_buffer_free(&text);
        return status;
    }
    return gf_output_text(&text, 0, e);
}
