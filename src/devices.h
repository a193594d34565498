/* The GPUs of this machine and why one cannot be used. */
#ifndef GPUFILT_SRC_DEVICES_H
#define GPUFILT_SRC_DEVICES_H

#include "status.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gf_gpu_info {
    int index;                  /* among the visible devices: N of --device cuda:N */
    char name[256];             /* "NVIDIA H200" */
    char bus[32];               /* PCI address, "0000:3b:00.0"; "" when unknown */
    int major, minor;           /* compute capability */
    int processors;             /* streaming multiprocessors */
    uint64_t memory;            /* bytes */
    uint64_t memory_free;       /* bytes; 0 when not asked for, or not usable */
    int driver, runtime;        /* highest CUDA version of the driver, version of ours:
                                 * 1000 * major + 10 * minor */
    bool usable;
    char why_not[512];          /* one clause and what to do, "" when usable */
};

/* The visible GPUs (CUDA_VISIBLE_DEVICES counts), in the order of their index; *list is for
 * gf_free. GF_EDEVICE, and a line that says why and what to do, when there is none: built
 * without CUDA, no driver or one too old, no device. Starts the driver, and a context on each
 * usable device (0.2 s), because only that tells whether it can be used. */
enum gf_status gf_devices_list(struct gf_gpu_info **list, unsigned *count, struct gf_error *e);

/* One of them: GF_EDEVICE, and a line as above, also when there is none of this index or it
 * cannot be used. Touches no other GPU. */
enum gf_status gf_device_find(unsigned index, struct gf_gpu_info *info, struct gf_error *e);

/* For --version: "13.0, for sm_75 sm_80 ..."; NULL in a build without CUDA. Starts nothing. */
const char *gf_devices_built(void);

#ifdef __cplusplus
}
#endif
#endif
