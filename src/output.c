#include "output.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum gf_status gf_output_text(struct gf_buffer *buffer, int to_stderr, struct gf_error *e)
{
    enum gf_status status = gf_buffer_status(buffer, "the text of the result", e);
    size_t done = 0;
    while (status == GF_OK && done < buffer->size) {
        ssize_t n = write(to_stderr ? STDERR_FILENO : STDOUT_FILENO, buffer->data + done, buffer->size - done);
        if (n > 0)
            done += (size_t)n;
        else if (n < 0 && errno != EINTR)
            status = gf_fail(e, GF_EOUTPUT, "standard output: could not be written: %s", strerror(errno));
    }
    gf_buffer_free(buffer);
    return status;
}
