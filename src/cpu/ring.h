/* A window that slides over rows or planes of the bordered image and keeps what it has
 * computed. Several bordered indices may be one index of the image; each image index is
 * kept once. */
#ifndef GPUFILT_SRC_CPU_RING_H
#define GPUFILT_SRC_CPU_RING_H

#include <stddef.h>
#include <stdint.h>

struct gf_ring {
    size_t slots;      /* at least the different image indices a window can hold */
    size_t capacity;   /* greatest window */
    int64_t *holds;    /* [slots] image index in a slot; -1 the fill; -2 nothing */
    uint32_t *users;   /* [slots] bordered indices of the window that are in it */
    uint32_t *slot_of; /* [capacity] slot of bordered index i at i mod capacity */
    int64_t first, end;
};

void gf_ring_clear(struct gf_ring *ring);
/* Drops what is before `first`. */
void gf_ring_advance(struct gf_ring *ring, int64_t first);
/* The next bordered index, ring->end, is image index `index`: its slot; *fresh when the
 * caller must compute what it holds. */
size_t gf_ring_append(struct gf_ring *ring, int64_t index, int *fresh);

static inline size_t gf_ring_slot(const struct gf_ring *ring, int64_t i)
{
    int64_t m = i % (int64_t)ring->capacity;
    return ring->slot_of[m < 0 ? m + (int64_t)ring->capacity : m];
}

#endif
