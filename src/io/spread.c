#include "spread.h"

#include "../processors.h"
#include "../util.h"

#include <pthread.h>

/* A thread repays its start only with this much to move; and a handful of them reach what
 * memory allows. */
#define PART_BYTES ((size_t)4 << 20)
#define MOST_PARTS 8

struct part {
    gf_spread_part *move;
    void *context;
    size_t begin, end;
    enum gf_status status;
    struct gf_error error;
};

static unsigned thread_limit; /* 0: all processors */

void gf_spread_limit(unsigned threads) { thread_limit = threads; }

static void *move_part(void *argument)
{
    struct part *p = argument;
    p->status = p->move(p->context, p->begin, p->end, &p->error);
    return NULL;
}

enum gf_status gf_spread(size_t size, gf_spread_part *part, void *context, struct gf_error *e)
{
    struct part parts[MOST_PARTS];
    pthread_t threads[MOST_PARTS];
    size_t most = thread_limit ? thread_limit : gf_processors(), started = 1;
    size_t count = gf_min(gf_min(size / PART_BYTES, most), MOST_PARTS);

    if (count < 2)
        return part(context, 0, size, e);
    for (size_t i = 0; i < count; i++)
        parts[i] = (struct part){.move = part, .context = context,
                                 .begin = size / count * i,
                                 .end = i + 1 < count ? size / count * (i + 1) : size};
    while (started < count &&
           pthread_create(&threads[started], NULL, move_part, &parts[started]) == 0)
        started++;
    move_part(&parts[0]);
    /* What no thread could be started for. */
    for (size_t i = started; i < count; i++)
        move_part(&parts[i]);
    for (size_t i = 1; i < started; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < count; i++)
        if (parts[i].status != GF_OK) {
            if (e)
                *e = parts[i].error;
            return parts[i].status;
        }
    return GF_OK;
}
