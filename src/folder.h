/* -o DIR: the names of the outputs of several inputs. */
#ifndef GPUFILT_SRC_FOLDER_H
#define GPUFILT_SRC_FOLDER_H

#include "cli.h"

struct gf_folder {
    char **names; /* of the output of each operand; owned */
    size_t count;
    const char *made; /* the folder, when it was not there before */
};

/* Whether the path is a folder or ends in '/'. */
bool gf_folder_named(const char *path);
/* Whether -o names a folder: it is one, it ends in '/', or there are several inputs, or its
 * name says no format and -f is not given. */
bool gf_folder_wanted(const struct gf_request *request);

/* Finds the names and, but for --dry-run, makes the folder. A name is the input's with
 * --suffix before the extension; the extension is -f's, else the input's when that can be
 * written, else png. Two inputs of one name are GF_EUSAGE before anything is read or made. */
enum gf_status gf_folder_prepare(struct gf_folder *folder, const struct gf_request *request,
                                 struct gf_error *e);
/* Removes a folder that was made for outputs that did not come; accepts a zeroed struct. */
void gf_folder_free(struct gf_folder *folder);

#endif
