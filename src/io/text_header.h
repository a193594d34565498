/* Headers of lines of text, as NRRD and MetaImage have them. */
#ifndef GPUFILT_SRC_IO_TEXT_HEADER_H
#define GPUFILT_SRC_IO_TEXT_HEADER_H

#include "format.h"

/* A header longer than this is taken for something else. */
#define GF_TEXT_HEADER_MOST ((size_t)4 << 20)

/* Bytes of the header at the beginning of `size` bytes of text, which a zero byte follows; 0 when
 * its end is not among them. `all`: the file has no more. */
typedef size_t gf_header_end(const char *text, size_t size, bool all);

/* *text = the header, zero-terminated and without other zero bytes, the caller's to gf_free;
 * *size = its bytes, which is where samples may begin. `what` names the end in the message. */
enum gf_status gf_text_header_read(struct gf_reader *r, gf_header_end *end, const char *what,
                                   char **text, size_t *size, struct gf_error *e);

/* *text = the native header of `format` that the image came with, as above; NULL without one. */
enum gf_status gf_text_header_native(const struct gf_meta *meta, const char *format, char **text,
                                     struct gf_error *e);

/* Cuts the next line off *text: returns it, zero-terminated, without its end and the blanks before
 * it; NULL when there is none. */
char *gf_next_line(char **text);
/* Cuts the next word of blank-separated ones off *text; NULL when there is none. */
char *gf_next_word(char **text);
/* The text without the blanks around it, in place. */
char *gf_trim(char *text);

/* The numbers of a list, all of it; false when it holds anything else, or more than `most`, or one
 * that is not finite unless `special`. */
bool gf_number_list(char *text, bool special, double *numbers, unsigned most, unsigned *count);

/* *at = the offset behind `lines` lines of `in` from `offset` on. GF_EINPUT where there are
 * fewer. */
enum gf_status gf_skip_lines(struct gf_in *in, uint64_t offset, uint64_t lines, uint64_t *at,
                             struct gf_error *e);

/* ---- names of files that make up one volume ---- */

struct gf_name_list {
    char **names;       /* owned, each of them and the list */
    size_t count;
};

/* Appends a copy of the name. */
enum gf_status gf_name_list_add(struct gf_name_list *list, const char *name, struct gf_error *e);
/* The names that `text`, "PATTERN FIRST LAST STEP", stands for: PATTERN has one %d (or %03d, %i),
 * which the numbers from FIRST to LAST replace. More than GF_NAMES_MOST are refused. *rest = what
 * follows. `file` is in messages. */
enum gf_status gf_name_list_pattern(struct gf_name_list *list, char *text, char **rest,
                                    const char *file, struct gf_error *e);
void gf_name_list_free(struct gf_name_list *list);

#define GF_NAMES_MOST 100000

#endif
