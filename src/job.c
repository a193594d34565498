#include "job.h"

#include "alloc.h"
#include "engine.h"
#include "explain.h"
#include "filter.h"
#include "folder.h"
#include "io/stack.h"
#include "geometry.h"
#include "message.h"
#include "output.h"
#include "pipeline.h"
#include "planner.h"
#include "signals.h"
#include "stats/session.h"
#include "util.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* One image of the input, planned. */
struct planned {
    struct gf_image in;   /* owns its meta */
    struct gf_image out;  /* shape of the result, meta borrowed from `in` */
    struct gf_mask own;   /* a mask of this image alone */
    const struct gf_mask *mask;
    struct gf_plan plan;
    struct gf_choice choice;
};

/* What all inputs have in common. */
struct run {
    const struct gf_request *request;
    struct gf_kernel kernel;
    struct gf_engine engine;
    struct gf_stats_session *stats;     /* or NULL: the output's are not asked for */
};

/* One input on its way to one output. */
struct job {
    struct run *run;
    const char *in_path;
    const char *out_path;               /* NULL: only explained */
    const struct gf_format *out_format;
    bool slices;                        /* the output is one file a plane, of that format */
    struct gf_reader *reader;
    struct planned first;               /* of image 0: what was explained is what runs */
    struct gf_counts counts;
    uint64_t samples;                   /* written */
    struct gf_writer *writer;           /* until it has every row */
};

static void planned_free(struct planned *p)
{
    gf_plan_free(&p->plan);
    gf_mask_free(&p->own);
    gf_meta_free(&p->in.meta);
    memset(p, 0, sizeof *p);
}

/* The output as messages name it. */
static const char *shown_name(const struct job *job)
{
    return strcmp(job->out_path, "-") == 0 ? "standard output" : job->out_path;
}

/* What the run will do, of which this file's images are taken to be typical. */
static uint64_t images_alike(const struct job *job)
{
    const struct gf_request *r = job->run->request;
    uint64_t files = r->output && gf_folder_wanted(r) ? r->operand_count : 1, images;
    return gf_mul(job->reader->images, files, &images) ? images : UINT64_MAX;
}

/* Reads the header of image `index`, makes its mask and plan, chooses the device, and asks the
 * output format whether it can hold the result. The image stays selected. */
static enum gf_status plan_image(struct job *job, uint64_t index, struct planned *p,
                                 struct gf_error *e)
{
    const struct gf_request *r = job->run->request;
    bool divide_alpha;
    memset(p, 0, sizeof *p);
    GF_TRY(gf_reader_select(job->reader, index, &p->in, e));
    gf_meta_override_spacing(&p->in.meta, r->spacing);
    GF_TRY(gf_filter_mask(r, &job->run->kernel, &p->in, job->reader->name, &p->own, &p->mask, e));
    divide_alpha = p->in.alpha_associated && job->out_format && !job->out_format->associated_alpha;
    GF_TRY(gf_plan_make(&p->plan, r, p->mask, &p->in, divide_alpha, job->reader->name, e));
    gf_engine_choose(&job->run->engine, &p->plan, images_alike(job), &p->choice);
    if (r->explain || r->dry_run)
        GF_TRY(gf_engine_look(&job->run->engine, &p->choice, e));
    if (gf_is_gpu(p->choice.backend))
        GF_TRY(gf_plan_for_gpu(&p->plan, r, job->reader->name, e));
    p->out = p->plan.out;
    p->out.meta = p->in.meta;
    gf_geometry_crop(&p->out.meta.geometry, (const double[]){(double)p->plan.shift[0],
                                                             (double)p->plan.shift[1],
                                                             (double)p->plan.shift[2]});
    if (job->out_format)
        return job->slices ? gf_stack_accepts(job->out_format, &p->out, shown_name(job), e)
                           : job->out_format->accepts(&p->out, job->reader->images,
                                                      shown_name(job), e);
    return GF_OK;
}

static enum gf_status explain(struct job *job, struct gf_error *e)
{
    const struct planned *p = &job->first;
    struct gf_buffer text = {0};
    const struct gf_request *r = job->run->request;
    bool to_stderr = job->out_path && strcmp(job->out_path, "-") == 0 && !r->dry_run;
    gf_explain(&text, r, p->mask, &p->plan, &p->in, job->reader, job->out_path,
               job->out_format);
    gf_explain_device(&text, &job->run->engine, &p->choice, &p->plan);
    return gf_output_text(&text, to_stderr, e);
}

static void note_device(const struct job *job)
{
    struct gf_buffer text = {0};
    gf_engine_describe(&text, &job->run->engine, &job->first.choice, &job->first.plan);
    if (!text.failed)
        gf_print_note("%s: device %s", job->reader->name, text.data);
    gf_buffer_free(&text);
}

/* A Gaussian much narrower than a pixel is not what its samples make of it. */
static void warn_of_narrow_sigma(const struct job *job)
{
    const struct planned *p = &job->first;
    for (int a = 0; a < 3 && job->run->request->sigma_count; a++) {
        double asked = p->mask->sigma[a], realised = gf_explain_sigma(&p->plan, a);
        if (asked > 0 && fabs(realised - asked) > 0.1 * asked)
            gf_print_warning("%s: sigma along %c: %.3g px asked for, %.3g realised by %u tap%s",
                             job->reader->name, "xyz"[a], asked, realised, p->plan.size[a],
                             p->plan.size[a] == 1 ? "" : "s");
    }
}

/* Plans every image before anything is written; *bytes is the size of all results, *planes how many
 * they have. */
static enum gf_status plan_all(struct job *job, uint64_t *bytes, uint64_t *planes,
                               struct gf_error *e)
{
    const struct gf_request *r = job->run->request;
    *bytes = *planes = 0;
    for (uint64_t i = 0; i < job->reader->images; i++) {
        struct planned other, *p = i == 0 ? &job->first : &other;
        enum gf_status status = plan_image(job, i, p, e);
        if (status == GF_OK) {
            *bytes += gf_image_bytes(&p->out);
            *planes += p->out.depth;
        }
        if (status == GF_OK && job->run->stats && p->out.type != job->first.out.type)
            status = gf_fail(e, GF_EFEATURE, "%s: page %llu would be %s, page 1 %s; --stats is of "
                             "one type, choose it with -t", shown_name(job),
                             (unsigned long long)i + 1, gf_type_name(p->out.type),
                             gf_type_name(job->first.out.type));
        if (status == GF_OK && i == 0) {
            warn_of_narrow_sigma(job);
            note_device(job);
            if (r->explain || r->dry_run)
                status = explain(job, e);
        }
        if (i > 0)
            planned_free(&other);
        if (status != GF_OK)
            return status;
        if (gf_signal_pending())
            return GF_ESIGNAL;
    }
    return GF_OK;
}

static enum gf_status filter_image(struct job *job, const struct planned *p,
                                   struct gf_feeder *feeder, struct gf_error *e)
{
    GF_TRY(gf_pipeline_run(&p->plan, &job->run->engine, p->choice.backend, job->reader, job->writer,
                           feeder, &p->out, &job->counts, e));
    job->samples += p->out.width * p->out.height * p->out.depth * p->out.channels;
    return job->writer ? gf_writer_end(job->writer, e) : GF_OK;
}

static enum gf_status filter_all(struct job *job, struct gf_feeder *feeder, struct gf_error *e)
{
    if (job->reader->images > 1) {
        /* Planning went on to the last image; back to the first. */
        struct gf_image again;
        GF_TRY(gf_reader_select(job->reader, 0, &again, e));
        gf_meta_free(&again.meta);
    }
    GF_TRY(filter_image(job, &job->first, feeder, e));
    for (uint64_t i = 1; i < job->reader->images; i++) {
        struct planned p;
        enum gf_status status = plan_image(job, i, &p, e);
        if (status == GF_OK)
            status = filter_image(job, &p, feeder, e);
        planned_free(&p);
        if (status != GF_OK)
            return status;
    }
    return GF_OK;
}

/* Says what did not fit the type; GF_NO when the request makes that an error. */
static enum gf_status report_counts(const struct job *job, struct gf_error *e)
{
    const struct gf_counts *c = &job->counts;
    const struct planned *p = &job->first;
    const struct gf_request *r = job->run->request;
    uint64_t clipped = c->clipped_low + c->clipped_high;
    char text[256] = "", number[GF_NUMBER_TEXT];
    if (r->on_clip == GF_CLIP_IGNORE || (clipped == 0 && c->nan == 0))
        return GF_OK;
    if (clipped)
        snprintf(text, sizeof text, "%llu of %llu samples do not fit %s and %s (%llu "
                 "below, %llu above)", (unsigned long long)clipped,
                 (unsigned long long)job->samples,
                 gf_type_name(p->plan.out.type),
                 r->on_clip == GF_CLIP_ERROR ? "would be clipped" : "were clipped",
                 (unsigned long long)c->clipped_low,
                 (unsigned long long)c->clipped_high);
    if (c->nan)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%llu NaN became 0",
                 clipped ? ", " : "", (unsigned long long)c->nan);
    if (p->plan.gain > 1 && clipped)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "; the weights sum to %s, a divisor would keep the level",
                 gf_format_double(number, p->plan.gain));
    else
        snprintf(text + strlen(text), sizeof text - strlen(text), "; %s",
                 r->type_given ? "values are not rescaled: -t takes a wider type, or "
                                 "correlate -k '1 / N' scales"
                               : "-t chooses a wider type");
    if (r->on_clip == GF_CLIP_ERROR)
        return gf_fail(e, GF_NO, "%s: not written: %s", shown_name(job), text);
    gf_print_warning("%s: %s", shown_name(job), text);
    return GF_OK;
}

/* The samples of a detached header go to a file that nobody named: it must not be the input. */
static enum gf_status spare_input(const struct job *job, struct gf_error *e)
{
    char second[PATH_MAX], out[PATH_MAX], in[PATH_MAX];
    if (!job->out_format->second_file ||
        !job->out_format->second_file(job->out_path, &job->run->request->write, second,
                                      sizeof second) ||
        !realpath(second, out) || !realpath(job->in_path, in) || strcmp(out, in) != 0)
        return GF_OK;
    return gf_fail(e, GF_EUSAGE, "%s: its samples would go to %s, which is the input; choose "
                   "another name", job->out_path, second);
}

/* The output's format: -f, or the name's extension; for standard output the input's, so it is
 * NULL until the input is open. */
static enum gf_status choose_format(struct job *job, struct gf_error *e)
{
    const struct gf_request *r = job->run->request;
    bool standard_output = strcmp(job->out_path, "-") == 0;
    const char *name = shown_name(job);
    char list[160];
    if (*name == '\0')
        return gf_fail(e, GF_EUSAGE, "the name of the output is empty; name a file, or '-' for "
                       "standard output");
    job->out_format = r->format ? r->format
                      : !standard_output ? gf_format_by_path(job->out_path)
                      : job->reader ? job->reader->format : NULL;
    if (standard_output && !job->reader && !job->out_format)
        return GF_OK;
    gf_format_names(list, sizeof list);
    if (!job->out_format)
        return gf_fail(e, GF_EUSAGE, "%s: no format by this name; give -f FORMAT or a name that "
                       "says it: %s", name, list);
    if (!job->out_format->create)
        return gf_fail(e, GF_EFEATURE, "%s: %s is only read; give -f FORMAT or a name that says "
                       "it: %s", name, job->out_format->name, list);
    GF_TRY(gf_compression_check(job->out_format, job->out_path, &r->write, e));
    return job->slices ? GF_OK : spare_input(job, e);
}

/* Slices get the numbers of the slices they come from. */
static struct gf_stack_plan stack_plan(const struct job *job, uint64_t planes)
{
    return (struct gf_stack_plan){job->out_path, job->out_format, gf_stack_first(job->reader),
                                  planes};
}

/* --dry-run: refuses what the run would refuse to open. Pipes, devices and a folder that the run
 * would make are left alone. */
static enum gf_status try_output(const struct job *job, uint64_t planes, struct gf_error *e)
{
    const struct gf_stack_plan slices = stack_plan(job, planes);
    char second[PATH_MAX];
    struct stat info;
    struct gf_out *out = NULL;
    enum gf_status status;
    if (strcmp(job->out_path, "-") == 0 ||
        (stat(job->out_path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)))
        return GF_OK;
    if (job->run->request->output && gf_folder_wanted(job->run->request) &&
        stat(job->run->request->output, &info) != 0)
        return GF_OK;
    if (job->slices)
        return gf_stack_try(&slices, &job->run->request->out, e);
    status = gf_out_open(&out, job->out_path, &job->run->request->out, e);
    gf_out_abort(&out);
    if (status == GF_OK && job->out_format->second_file &&
        job->out_format->second_file(job->out_path, &job->run->request->write, second,
                                     sizeof second)) {
        status = gf_out_open(&out, second, &job->run->request->out, e);
        gf_out_abort(&out);
    }
    return status;
}

/* ---- statistics of the output ---- */

/* The image of the output that holds its sample of this index. Images after the first are planned
 * again for it. */
static enum gf_status output_place(const void *of, uint64_t index, struct gf_place *place,
                                   struct gf_error *e)
{
    struct job *job = *(struct job *const *)of;
    for (uint64_t i = 0; i < job->reader->images; i++) {
        struct planned other = {0}, *p = i == 0 ? &job->first : &other;
        enum gf_status status = i == 0 ? GF_OK : plan_image(job, i, p, e);
        const struct gf_image image = p->out;
        uint64_t pixels = image.width * image.height * image.depth, pixel = index / image.channels;
        planned_free(&other);
        GF_TRY(status);
        if (pixel < pixels) {
            *place = (struct gf_place){.x = pixel % image.width,
                                       .y = pixel / image.width % image.height,
                                       .z = pixel / image.width / image.height,
                                       .channel = index % image.channels, .page = i};
            return GF_OK;
        }
        index -= pixels * image.channels;
    }
    return gf_fail(e, GF_EINPUT, "%s: changed while it was read", job->reader->name);
}

static enum gf_status back_to_start(struct job *job, struct gf_error *e)
{
    const struct gf_image *in = &job->first.in;
    struct gf_image again = {.alpha = -1};
    enum gf_status status;
    if (!gf_in_again(job->in_path) && !gf_is_stack(job->reader))
        return gf_fail(e, GF_EMEMORY, "%s: these statistics take more than one look at the samples "
                       "and it cannot be read again; save it to a file, or leave out "
                       "median and percentiles with --stats=mean,std", job->reader->name);
    gf_reader_close(&job->reader);
    GF_TRY(gf_reader_open(&job->reader, job->in_path, &job->run->request->read, e));
    status = gf_reader_select(job->reader, 0, &again, e);
    gf_meta_free(&again.meta);
    GF_TRY(status);
    /* The plan is of the image that was there first. */
    if (!gf_same_shape(&again, in))
        return gf_fail(e, GF_EINPUT, "%s: changed while it was read", job->reader->name);
    return GF_OK;
}

static enum gf_status write_all(struct job *job, struct gf_feeder *feeder, struct gf_error *e)
{
    GF_TRY(filter_all(job, feeder, e));
    job->writer = NULL;
    return gf_reader_finish(job->reader, e);
}

/* The first time the output is written as well; later the filter runs again, which gives the same
 * samples. */
static enum gf_status output_run(const void *of, const struct gf_sink *sinks, unsigned count,
                                 struct gf_error *e)
{
    struct job *job = *(struct job *const *)of;
    const struct gf_counts counts = job->counts;
    const uint64_t samples = job->samples;
    bool first = job->writer != NULL;
    struct gf_feeder feeder;
    enum gf_status status = gf_feeder_open(&feeder, job->first.out.type, sinks, count, e);
    if (status == GF_OK)
        status = first ? write_all(job, &feeder, e) : back_to_start(job, e);
    if (status == GF_OK && !first) {
        status = filter_all(job, &feeder, e);
        job->counts = counts;
        job->samples = samples;
    }
    if (status == GF_OK)
        status = gf_feeder_end(&feeder, e);
    gf_feeder_close(&feeder);
    return status;
}

static enum gf_status write_and_measure(struct job *job, struct gf_error *e)
{
    const struct gf_image *out = &job->first.out;
    const struct gf_source source = {shown_name(job), out->type, &job, output_run, output_place,
                                     0};
    struct gf_stats stats = gf_stats_new(shown_name(job));
    stats.width = out->width;
    stats.height = out->height;
    stats.depth = out->depth;
    stats.channels = out->channels;
    stats.pages = job->reader->images;
    return gf_stats_session_row(job->run->stats, &source, &stats, e);
}

static enum gf_status write_result(struct job *job, uint64_t bytes, uint64_t planes,
                                   struct gf_error *e)
{
    const struct gf_stack_plan slices = stack_plan(job, planes);
    const struct gf_request *r = job->run->request;
    struct gf_writer *writer = NULL;
    struct gf_write_options options = r->write;
    struct gf_out_options out = r->out;
    enum gf_status status;
    options.threads = r->jobs;
    /* What went down a pipe cannot be taken back, so it has to wait for the verdict. */
    out.seekable = r->on_clip == GF_CLIP_ERROR;
    status = job->slices ? gf_stack_create(&writer, &slices, job->reader->images, bytes, &options,
                                           &out, e)
                         : gf_writer_open(&writer, job->out_path, job->out_format,
                                          job->reader->images, bytes, &options, &out, e);
    job->writer = writer;
    if (job->run->stats)
        gf_stats_session_file(job->run->stats);
    if (status == GF_OK)
        status = job->run->stats ? write_and_measure(job, e) : write_all(job, NULL, e);
    if (status == GF_OK)
        status = report_counts(job, e);
    if (status == GF_OK && gf_signal_pending())
        status = GF_ESIGNAL;
    if (status == GF_OK)
        status = gf_writer_commit(&writer, e);
    gf_writer_abort(&writer);
    return job->run->stats ? gf_stats_session_file_end(job->run->stats, status, e) : status;
}

/* `out_path` NULL: the request only asks for an explanation. */
static enum gf_status run_one(struct run *run, const char *in_path, const char *out_path,
                              bool slices, struct gf_error *e)
{
    const struct gf_request *r = run->request;
    struct job job = {.run = run, .in_path = in_path, .out_path = out_path, .slices = slices};
    uint64_t bytes, planes;
    enum gf_status status = out_path ? choose_format(&job, e) : GF_OK;
    if (status == GF_OK)
        status = gf_reader_open(&job.reader, in_path, &r->read, e);
    if (status == GF_OK && out_path && !job.out_format)
        status = choose_format(&job, e);
    if (status == GF_OK)
        status = plan_all(&job, &bytes, &planes, e);
    if (status == GF_OK && out_path)
        status = r->dry_run ? try_output(&job, planes, e) : write_result(&job, bytes, planes, e);
    if (status == GF_EMEMORY &&
        !(out_path && strncmp(e->text, shown_name(&job), strlen(shown_name(&job))) == 0))
        gf_name_error(job.reader ? job.reader->name : in_path, status, e);
    planned_free(&job.first);
    gf_reader_close(&job.reader);
    return status;
}

/* A file that fails is reported and the others are done; a GPU that fails would fail them all. */
static enum gf_status run_into_folder(struct run *run, struct gf_error *e)
{
    const struct gf_request *r = run->request;
    struct gf_folder folder;
    enum gf_status status = gf_folder_prepare(&folder, r, e);
    size_t failed = 0;
    for (size_t i = 0; status == GF_OK && i < r->operand_count; i++) {
        struct gf_error mine = {""};
        /* A file whose own name has a % in it is no stack; its output neither. */
        enum gf_status one = run_one(run, r->operands[i], folder.names[i],
                                     gf_slices_wanted(r->operands[i]), &mine);
        if (one == GF_EDEVICE && i + 1 < r->operand_count) {
            status = gf_fail(e, one, "%s; %zu of %zu files are not done", mine.text,
                             r->operand_count - i, r->operand_count);
        } else if (one == GF_ESIGNAL || one == GF_EDEVICE ||
                   (one != GF_OK && r->operand_count == 1)) {
            *e = mine;
            status = one;
        } else if (one != GF_OK) {
            gf_print_error("%s", mine.text);
            failed++;
        }
    }
    gf_folder_free(&folder);
    if (status != GF_OK || failed == 0)
        return status;
    if (failed == r->operand_count)
        return gf_fail(e, GF_EBATCH, "all %zu files failed", failed);
    return gf_fail(e, GF_EBATCH, "%zu of %zu files failed, the others are done", failed,
                   r->operand_count);
}

static enum gf_status run_all(struct run *run, struct gf_error *e)
{
    const struct gf_request *r = run->request;
    const char *out;
    if (r->output && gf_folder_wanted(r))
        return run_into_folder(run, e);
    out = r->output ? r->output : r->operand_count == 2 ? r->operands[1] : NULL;
    return run_one(run, r->operands[0], out, out && gf_slices_numbered(out), e);
}

/* The same with statistics of the outputs, which go where samples do not. */
static enum gf_status run_and_measure(struct run *run, struct gf_error *e)
{
    const struct gf_request *r = run->request;
    const char *out = r->output ? r->output : r->operands[r->operand_count - 1];
    struct gf_stats_session stats;
    struct gf_error mine = {""};
    enum gf_status status, printed;
    GF_TRY(gf_stats_session_begin(&stats, r, e));
    run->stats = &stats;
    status = run_all(run, e);
    if (stats.report.rows == 0) {
        gf_stats_session_drop(&stats);
        return status;
    }
    printed = gf_stats_session_end(&stats, strcmp(out, "-") == 0, &mine);
    if (printed == GF_OK)
        return status;
    if (status != GF_OK) { /* a batch, of which some files failed */
        gf_print_error("%s", mine.text);
        return status;
    }
    *e = mine;
    return printed;
}

/* Names of slices that are not understood, before anything is read. */
static enum gf_status check_slices(const struct gf_request *r, struct gf_error *e)
{
    struct gf_numbering n;
    for (size_t i = 0; i < r->operand_count + (r->output ? 1 : 0); i++) {
        const char *path = i < r->operand_count ? r->operands[i] : r->output;
        bool input = i < (r->output ? r->operand_count : 1);
        struct stat info;
        if (input && lstat(path, &info) == 0)
            continue;
        GF_TRY(gf_numbering_parse(&n, path, e));
        gf_numbering_free(&n);
        if (input && r->output && gf_folder_wanted(r) && gf_slices_wanted(path) &&
            !gf_slices_numbered(path))
            return gf_fail(e, GF_EUSAGE, "%s: slices that are to go to a folder need a numbered "
                           "name there: -o '%s%sslice_%%04d.EXT'", path, r->output,
                           r->output[strlen(r->output) - 1] == '/' ? "" : "/");
    }
    return GF_OK;
}

static enum gf_status check_request(const struct gf_request *r, struct gf_error *e)
{
    GF_TRY(check_slices(r, e));
    if (r->suffix && !gf_folder_wanted(r))
        return gf_fail(e, GF_EUSAGE, "--suffix goes with -o DIR, and -o %s is a file", r->output);
    for (size_t i = 0; r->kernel && i < (r->output ? r->operand_count : 1); i++)
        if (strcmp(r->kernel, "@-") == 0 && strcmp(r->operands[i], "-") == 0)
            return gf_fail(e, GF_EUSAGE, "standard input cannot be both the mask and the image");
    if (!r->output && r->operand_count == 2 && gf_folder_named(r->operands[1]) &&
        !gf_format_by_path(r->operands[1]))
        return gf_fail(e, GF_EUSAGE, "%s: is a folder; -o %s writes there", r->operands[1],
                       r->operands[1]);
    return GF_OK;
}

enum gf_status gf_job_run(const struct gf_request *r, struct gf_error *e)
{
    struct run run = {.request = r};
    enum gf_status status;
    GF_TRY(check_request(r, e));
    GF_TRY(gf_engine_init(&run.engine, r, e));
    GF_TRY(gf_kernel_load(&run.kernel, r, e));
    status = r->stats_wanted && !r->dry_run ? run_and_measure(&run, e) : run_all(&run, e);
    gf_kernel_free(&run.kernel);
    return status;
}
