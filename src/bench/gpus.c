#include "gpus.h"

#include "../util.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SECTOR 32.0             /* bytes */

const struct gf_gpu gf_gpus[] = {
#define GPU(key, name, processors, schedulers, megahertz, gigabytes) \
    {#key, name, processors, schedulers, (megahertz) * 1e6, (gigabytes) * 1e9},
#include "gpus.def"
#undef GPU
    {0},
};

/* Without blanks and hyphens, and without the maker's and the make's name in front. */
static void plain(char to[64], const char *name)
{
    static const char *const fronts[] = {"nvidia", "geforce"};
    size_t n = 0;
    for (; *name && n < 63; name++)
        if (!strchr(" -_", *name))
            to[n++] = *name;
    to[n] = '\0';
    for (size_t i = 0; i < GF_COUNT(fronts); i++)
        if (strncasecmp(to, fronts[i], strlen(fronts[i])) == 0)
            memmove(to, to + strlen(fronts[i]), strlen(to + strlen(fronts[i])) + 1);
}

enum gf_status gf_gpu_find(const struct gf_gpu **gpu, const char *name, struct gf_error *e)
{
    char list[512] = "", wanted[64], key[64];
    plain(wanted, name);
    for (const struct gf_gpu *g = gf_gpus; g->key; g++) {
        plain(key, g->key);
        if (strcasecmp(key, wanted) == 0) {
            *gpu = g;
            return GF_OK;
        }
        snprintf(list + strlen(list), sizeof list - strlen(list), " %s", g->key);
    }
    return gf_fail(e, GF_EUSAGE, "--gpu '%s': unknown; known:%s", name, list);
}

double gf_gpu_issue_time(const struct gf_gpu *gpu, const struct gf_ladder_counts *counts)
{
    return (double)counts->warp_instructions / (gpu->processors * gpu->schedulers * gpu->clock);
}

double gf_gpu_memory_time(const struct gf_gpu *gpu, const struct gf_ladder_counts *counts)
{
    return (double)counts->global_sectors * SECTOR / gpu->bytes;
}
