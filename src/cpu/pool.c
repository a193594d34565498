#include "pool.h"

#include "../alloc.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

struct worker {
    struct gf_pool *pool;
    unsigned number;
    pthread_t thread;
};

struct gf_pool {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    uint64_t round;    /* one more for each gf_pool_run */
    unsigned busy;     /* threads still in this round */
    bool quit;

    void (*task)(void *context, unsigned worker, uint64_t i);
    void *context;
    uint64_t count;
    atomic_uint_fast64_t next;

    unsigned started;
    struct worker workers[];
};

static void take_tasks(struct gf_pool *pool, unsigned worker)
{
    for (;;) {
        uint64_t i = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (i >= pool->count)
            return;
        pool->task(pool->context, worker, i);
    }
}

static void *work(void *argument)
{
    struct worker *me = argument;
    struct gf_pool *pool = me->pool;
    uint64_t seen = 0;

    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->quit && pool->round == seen)
            pthread_cond_wait(&pool->work, &pool->lock);
        if (pool->quit)
            break;
        seen = pool->round;
        pthread_mutex_unlock(&pool->lock);
        take_tasks(pool, me->number);
        pthread_mutex_lock(&pool->lock);
        if (--pool->busy == 0)
            pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

struct gf_pool *gf_pool_open(unsigned threads)
{
    struct gf_pool *pool;
    sigset_t all, old;

    if (threads < 2)
        return NULL;
    pool = gf_alloc_zero(1, sizeof *pool + (threads - 1) * sizeof pool->workers[0]);
    if (pool == NULL)
        return NULL;
    if (pthread_mutex_init(&pool->lock, NULL) != 0) {
        gf_free(pool);
        return NULL;
    }
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->done, NULL);
    /* Signals are for the thread that cleans up. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    while (pool->started < threads - 1) {
        struct worker *w = &pool->workers[pool->started];
        w->pool = pool;
        w->number = pool->started + 1;
        if (pthread_create(&w->thread, NULL, work, w) != 0)
            break;
        pool->started++;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return pool;
}

void gf_pool_run(struct gf_pool *pool, uint64_t count,
                 void (*task)(void *context, unsigned worker, uint64_t i), void *context)
{
    if (pool == NULL || pool->started == 0 || count < 2) {
        for (uint64_t i = 0; i < count; i++)
            task(context, 0, i);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->task = task;
    pool->context = context;
    pool->count = count;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    pool->busy = pool->started;
    pool->round++;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    take_tasks(pool, 0);
    pthread_mutex_lock(&pool->lock);
    while (pool->busy > 0)
        pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

void gf_pool_close(struct gf_pool *pool)
{
    if (pool == NULL)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->quit = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->started; i++)
        pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->work);
    pthread_cond_destroy(&pool->done);
    pthread_mutex_destroy(&pool->lock);
    gf_free(pool);
}
