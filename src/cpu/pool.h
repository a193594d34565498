/* A few threads that share out numbered tasks. */
#ifndef GPUFILT_SRC_CPU_POOL_H
#define GPUFILT_SRC_CPU_POOL_H

#include <stdint.h>

struct gf_pool;

/* `threads` counts the caller. Threads that cannot be started are done without: fewer
 * threads never change a result. NULL when there is no memory; then and for 1 thread
 * gf_pool_run does all the tasks itself. */
struct gf_pool *gf_pool_open(unsigned threads);
/* Calls task(context, worker, i) once for each i < count; worker < threads, and no two
 * calls with the same worker at the same time. Returns when all are done. */
void gf_pool_run(struct gf_pool *pool, uint64_t count,
                 void (*task)(void *context, unsigned worker, uint64_t i), void *context);
/* Accepts NULL. */
void gf_pool_close(struct gf_pool *pool);

#endif
