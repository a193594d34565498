#include "picture.h"

#include "util.h"

#include <string.h>
#include <strings.h>

enum gf_picture gf_picture_kind(const char *path)
{
    static const struct {
        const char *extension;
        enum gf_picture kind;
    } kinds[] = {{".svg", GF_PICTURE_SVG}, {".png", GF_PICTURE_PNG}};
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    for (size_t i = 0; dot != NULL && i < GF_COUNT(kinds); i++)
        if (strcasecmp(dot, kinds[i].extension) == 0)
            return kinds[i].kind;
    return GF_PICTURE_NONE;
}

void gf_svg_text(struct gf_buffer *t, const char *text)
{
    struct gf_buffer shown = {0};
    gf_buffer_escaped(&shown, text, strlen(text));
    t->failed = t->failed || shown.failed;
    for (const char *c = shown.failed ? "" : shown.data ? shown.data : ""; *c != '\0'; c++) {
        if (*c == '&')
            gf_buffer_text(t, "&amp;");
        else if (*c == '<')
            gf_buffer_text(t, "&lt;");
        else if (*c == '>')
            gf_buffer_text(t, "&gt;");
        else if (strncmp(c, "\xef\xbf\xbe", 3) == 0 || strncmp(c, "\xef\xbf\xbf", 3) == 0) {
            gf_buffer_text(t, "\xef\xbf\xbd");
            c += 2;
        } else
            gf_buffer_append(t, c, 1);
    }
    gf_buffer_free(&shown);
}

void gf_svg_begin(struct gf_buffer *t, int width, int height, const char *title)
{
    gf_buffer_printf(t, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                     "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"13\">\n<title>",
                     width, height, width, height);
    gf_buffer_text(t, title);
    gf_buffer_text(t, "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
}

enum gf_status gf_svg_write(struct gf_buffer *t, const char *path, const char *what,
                            const struct gf_out_options *options, struct gf_error *e)
{
    struct gf_out *out = NULL;
    enum gf_status status = gf_buffer_status(t, what, e);
    if (status == GF_OK)
        status = gf_out_open(&out, path, options, e);
    if (status == GF_OK)
        status = gf_out_write(out, t->data, t->size, e);
    if (status == GF_OK)
        status = gf_out_commit(&out, e);
    gf_out_abort(&out);
    gf_buffer_free(t);
    return status;
}
