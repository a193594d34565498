#include "job.h"

#include "alloc.h"
#include "backend.h"
#include "explain.h"
#include "filter.h"
#include "message.h"
#include "output.h"
#include "pipeline.h"
#include "planner.h"
#include "signals.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* One input on its way to one output. */
struct job {
    const struct gf_request *request;
    const char *in_path, *out_path;     /* out_path NULL: only explained */
    const struct gf_format *out_format;
    struct gf_reader *reader;
    struct gf_counts counts;
};

/* One image of the input, planned. */
struct planned {
    struct gf_image in;   /* owns its meta */
    struct gf_image out;  /* shape of the result, meta borrowed from `in` */
    struct gf_mask mask;
    struct gf_plan plan;
};

static void planned_free(struct planned *p)
{
    gf_plan_free(&p->plan);
    gf_mask_free(&p->mask);
    gf_meta_free(&p->in.meta);
    memset(p, 0, sizeof *p);
}

/* Reads the header of image `index`, makes its mask and plan, and asks the output format
 * whether it can hold the result. */
static enum gf_status plan_image(struct job *job, uint64_t index, struct planned *p, struct gf_error *e)
{
    const struct gf_request *r = job->request;
    bool divide_alpha;
    memset(p, 0, sizeof *p);
    GF_TRY(gf_reader_select(job->reader, index, &p->in, e));
    for (int a = 0; a < 3; a++)
        if (r->spacing[a] > 0)
            p->in.meta.spacing[a] = r->spacing[a];
    GF_TRY(gf_filter_mask(r, &p->in, job->reader->name, &p->mask, e));
    divide_alpha = p->in.alpha_associated && job->out_format && !job->out_format->associated_alpha;
    GF_TRY(gf_plan_make(&p->plan, r, &p->mask, &p->in, divide_alpha, job->reader->name, e));
    p->out = p->plan.out;
    p->out.meta = p->in.meta;
    if (job->out_format)
        return job->out_format->accepts(&p->out, job->reader->images, job->out_path, e);
    return GF_OK;
}

/* Plans every image before anything is written; *bytes is the size of all results. */
static enum gf_status plan_all(struct job *job, uint64_t *bytes, struct gf_error *e)
{
    *bytes = 0;
    for (uint64_t i = 0; i < job->reader->images; i++) {
        struct planned p;
        enum gf_status status = plan_image(job, i, &p, e);
        if (status == GF_OK) {
            *bytes += gf_image_bytes(&p.out);
            if (i == 0 && (job->request->explain || job->request->dry_run)) {
                struct gf_buffer text = {0};
                bool to_stderr = job->out_path && strcmp(job->out_path, "-") == 0 &&
                                 !job->request->dry_run;
                gf_explain(&text, job->request, &p.mask, &p.plan, &p.in, job->reader, job->out_path,
                           job->out_format);
                status = gf_output_text(&text, to_stderr, e);
            }
        }
        planned_free(&p);
        if (status != GF_OK)
            return status;
        if (gf_signal_pending())
            return GF_ESIGNAL;
    }
    return GF_OK;
}

static enum gf_status filter_image(struct job *job, uint64_t index, struct gf_writer *writer,
                                   struct gf_error *e)
{
    struct planned p;
    enum gf_status status = plan_image(job, index, &p, e);
    if (status == GF_OK)
        status = gf_writer_begin(writer, &p.out, e);
    if (status == GF_OK)
        status = gf_pipeline_run(&p.plan, &gf_backend_cpu, job->reader, writer, &job->counts, e);
    if (status == GF_OK)
        status = gf_writer_end(writer, e);
    planned_free(&p);
    return status;
}

/* Says what was clipped; GF_NO when the request makes that an error. */
static enum gf_status report_counts(const struct job *job, struct gf_error *e)
{
    const struct gf_counts *c = &job->counts;
    char nan[80] = "";
    const char *hint = "; -t chooses a wider type";
    if (job->request->on_clip == GF_CLIP_IGNORE || !(c->clipped_low || c->clipped_high || c->nan))
        return GF_OK;
    if (c->nan)
        snprintf(nan, sizeof nan, ", %llu NaN became 0", (unsigned long long)c->nan);
    if (job->request->on_clip == GF_CLIP_ERROR)
        return gf_fail(e, GF_NO, "%s: not written: %llu samples would be clipped (%llu below, %llu above)%s%s",
                       job->out_path, (unsigned long long)(c->clipped_low + c->clipped_high),
                       (unsigned long long)c->clipped_low, (unsigned long long)c->clipped_high, nan, hint);
    gf_print_warning("%s: %llu samples clipped (%llu below, %llu above)%s%s", job->out_path,
                     (unsigned long long)(c->clipped_low + c->clipped_high),
                     (unsigned long long)c->clipped_low, (unsigned long long)c->clipped_high, nan, hint);
    return GF_OK;
}

/* The output's format: -f, the name's extension, or what standard output was asked for. */
static enum gf_status choose_format(struct job *job, struct gf_error *e)
{
    const struct gf_request *r = job->request;
    if (!job->out_path)
        return GF_OK;
    job->out_format = r->format ? r->format : gf_format_by_path(job->out_path);
    if (job->out_format && job->out_format->create)
        return GF_OK;
    if (strcmp(job->out_path, "-") == 0)
        return gf_fail(e, GF_EUSAGE, "standard output: needs -f FORMAT (png, tiff, pnm, pfm or raw)");
    if (job->out_format)
        return gf_fail(e, GF_EFEATURE, "%s: %s is only read; name a .png, .tif, .pnm, .pfm or .raw, or give -f",
                       job->out_path, job->out_format->name);
    return gf_fail(e, GF_EUSAGE, "%s: no format by this name; name a .png, .tif, .pnm, .pfm or .raw, or give -f",
                   job->out_path);
}

static enum gf_status write_result(struct job *job, uint64_t bytes, struct gf_error *e)
{
    const struct gf_request *r = job->request;
    struct gf_writer *writer = NULL;
    struct gf_write_options options = r->write;
    enum gf_status status;
    options.threads = r->jobs;
    status = gf_writer_open(&writer, job->out_path, job->out_format, job->reader->images, bytes,
                            &options, &r->out, e);
    for (uint64_t i = 0; status == GF_OK && i < job->reader->images; i++)
        status = filter_image(job, i, writer, e);
    if (status == GF_OK)
        status = gf_reader_finish(job->reader, e);
    if (status == GF_OK)
        status = report_counts(job, e);
    if (status == GF_OK && gf_signal_pending())
        status = GF_ESIGNAL;
    if (status == GF_OK)
        return gf_writer_commit(&writer, e);
    gf_writer_abort(&writer);
    return status;
}

/* `out_path` NULL: the request only asks for an explanation. */
static enum gf_status run_one(const struct gf_request *r, const char *in_path, const char *out_path,
                              struct gf_error *e)
{
    struct job job = {.request = r, .in_path = in_path, .out_path = out_path};
    uint64_t bytes;
    enum gf_status status = choose_format(&job, e);
    if (status == GF_OK)
        status = gf_reader_open(&job.reader, in_path, NULL, &r->read, e);
    if (status == GF_OK)
        status = plan_all(&job, &bytes, e);
    if (status == GF_OK && out_path && !r->dry_run)
        status = write_result(&job, bytes, e);
    gf_reader_close(&job.reader);
    return status;
}

/* ---- several inputs into a folder ---- */

static bool is_folder(const char *path)
{
    struct stat s;
    size_t length = strlen(path);
    return (length && path[length - 1] == '/') || (stat(path, &s) == 0 && S_ISDIR(s.st_mode));
}

/* DIR/STEM SUFFIX.EXT: the extension is -f's, else the input's when it can be written, else
 * png. */
static enum gf_status name_in_folder(const struct gf_request *r, const char *in_path, char *name,
                                     size_t room, struct gf_error *e)
{
    const char *slash = strrchr(in_path, '/');
    const char *base = slash ? slash + 1 : in_path;
    const char *dot = strrchr(base, '.');
    int stem = dot && dot != base ? (int)(dot - base) : (int)strlen(base);
    const struct gf_format *format = r->format ? r->format : gf_format_by_path(in_path);
    const char *extension = "png";
    int length, n;
    if (r->format || (format && format->create && !dot))
        extension = format->extensions;
    else if (format && format->create)
        extension = dot + 1;
    length = (int)strcspn(extension, " ");
    n = snprintf(name, room, "%s/%.*s%s.%.*s", r->output, stem, base, r->suffix ? r->suffix : "",
                 length, extension);
    if (n < 0 || (size_t)n >= room)
        return gf_fail(e, GF_EOUTPUT, "%s: the output's name in '%s' is too long", in_path, r->output);
    return GF_OK;
}

static enum gf_status make_folder(const char *path, struct gf_error *e)
{
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && is_folder(path)))
        return GF_OK;
    return gf_fail(e, GF_EOUTPUT, "%s: the folder could not be made: %s", path, strerror(errno));
}

/* Two inputs of one output would silently lose one of them. */
static enum gf_status refuse_same_names(const struct gf_request *r, struct gf_error *e)
{
    char a[4096], b[4096];
    for (size_t i = 0; i < r->operand_count; i++) {
        GF_TRY(name_in_folder(r, r->operands[i], a, sizeof a, e));
        for (size_t j = 0; j < i; j++) {
            GF_TRY(name_in_folder(r, r->operands[j], b, sizeof b, e));
            if (strcmp(a, b) == 0)
                return gf_fail(e, GF_EUSAGE, "%s and %s: both would be written to %s; nothing was read",
                               r->operands[j], r->operands[i], a);
        }
    }
    return GF_OK;
}

static enum gf_status run_into_folder(const struct gf_request *r, struct gf_error *e)
{
    char name[4096];
    size_t failed = 0;
    GF_TRY(refuse_same_names(r, e));
    if (!r->dry_run)
        GF_TRY(make_folder(r->output, e));
    for (size_t i = 0; i < r->operand_count; i++) {
        struct gf_error mine = {""};
        enum gf_status status = name_in_folder(r, r->operands[i], name, sizeof name, &mine);
        if (status == GF_OK)
            status = run_one(r, r->operands[i], name, &mine);
        if (status == GF_ESIGNAL)
            return status;
        if (status == GF_OK)
            continue;
        if (r->operand_count == 1) {
            *e = mine;
            return status;
        }
        gf_print_error("%s", mine.text);
        failed++;
    }
    if (failed)
        return gf_fail(e, GF_EBATCH, "%zu of %zu files failed, the others are done", failed, r->operand_count);
    return GF_OK;
}

/* A mask that does not exist in any dimension is a usage error before anything is read. */
static enum gf_status check_kernel(const struct gf_request *r, struct gf_error *e)
{
    struct gf_mask mask = {0};
    enum gf_status status;
    if (!r->kernel)
        return GF_OK;
    status = gf_mask_find(&mask, r->kernel, 2, e);
    if (status == GF_EUSAGE && gf_mask_find(&mask, r->kernel, 3, NULL) == GF_OK)
        status = GF_OK;
    gf_mask_free(&mask);
    return status;
}

enum gf_status gf_job_run(const struct gf_request *r, struct gf_error *e)
{
    GF_TRY(check_kernel(r, e));
    if (r->output && (r->operand_count > 1 || is_folder(r->output)))
        return run_into_folder(r, e);
    if (r->output)
        return run_one(r, r->operands[0], r->output, e);
    return run_one(r, r->operands[0], r->operand_count == 2 ? r->operands[1] : NULL, e);
}
