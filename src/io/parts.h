/* Samples in several files of equal share, one after the other, or behind more than a header in
 * one file: what the detached headers of NRRD and MetaImage can say beyond voxels.h. Read only. */
#ifndef GPUFILT_SRC_IO_PARTS_H
#define GPUFILT_SRC_IO_PARTS_H

#include "source.h"
#include "text_header.h"

struct gf_parts {
    struct gf_image image;      /* of each image; its meta are owned */
    uint64_t images;
    struct gf_name_list names;  /* of the files, seen from the header's folder; none: the header's
                                 * own file holds all samples. Owned */
    uint64_t offset;            /* bytes of each file before its lines to skip, */
    uint64_t lines;             /* lines after them, */
    uint64_t skip;              /* and bytes after these; where deflated, of what it inflates to */
    bool at_end;                /* instead: the samples are the last bytes of each file */
    enum gf_coding coding;
    bool swap;                  /* the other byte order */
};

/* Takes the parts (leaves zeros) as the state of the reader, after a look at every file:
 * GF_EINPUT when one is missing, too short or, where it can be told, too long. Sets r->images and
 * r->random_access. */
enum gf_status gf_parts_open(struct gf_reader *r, struct gf_parts *p, struct gf_error *e);
/* Releases parts that were not taken; accepts zeros. */
void gf_parts_free(struct gf_parts *p);

/* For a format's table. */
enum gf_status gf_parts_select(struct gf_reader *r, uint64_t index, struct gf_image *image,
                               struct gf_error *e);
enum gf_status gf_parts_read_rows(struct gf_reader *r, uint64_t first, uint64_t count, void *rows,
                                  struct gf_error *e);
enum gf_status gf_parts_finish(struct gf_reader *r, struct gf_error *e);
void gf_parts_close(struct gf_reader *r);
#define GF_PARTS_READER                                                                          \
    .select = gf_parts_select, .read_rows = gf_parts_read_rows, .finish = gf_parts_finish,       \
    .close = gf_parts_close

#endif
