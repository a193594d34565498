#include "output.h"

#include "io/file.h"

#include <unistd.h>

enum gf_status gf_output_text(struct gf_buffer *buffer, int to_stderr, struct gf_error *e)
{
    enum gf_status status = gf_buffer_status(buffer, "the text of the result", e);
    if (status == GF_OK)
        status = gf_out_text(to_stderr ? STDERR_FILENO : STDOUT_FILENO, buffer->data, buffer->size,
                             e);
    gf_buffer_free(buffer);
    return status;
}
