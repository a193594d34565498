#include "ring.h"

static uint32_t *place(struct gf_ring *ring, int64_t i)
{
    int64_t m = i % (int64_t)ring->capacity;
    return &ring->slot_of[m < 0 ? m + (int64_t)ring->capacity : m];
}

void gf_ring_clear(struct gf_ring *ring)
{
    for (size_t s = 0; s < ring->slots; s++) {
        ring->holds[s] = -2;
        ring->users[s] = 0;
    }
    ring->first = ring->end = INT64_MIN;
}

void gf_ring_advance(struct gf_ring *ring, int64_t first)
{
    if (ring->end < first) {
        /* The window is left behind altogether; what it holds may still be of use. */
        for (size_t s = 0; s < ring->slots; s++)
            ring->users[s] = 0;
        ring->end = first;
    } else {
        for (int64_t i = ring->first; i < first; i++)
            ring->users[*place(ring, i)]--;
    }
    ring->first = first;
}

size_t gf_ring_append(struct gf_ring *ring, int64_t index, int *fresh)
{
    size_t found = ring->slots, unused = ring->slots;

    for (size_t s = 0; s < ring->slots && found == ring->slots; s++) {
        if (ring->holds[s] == index)
            found = s;
        else if (ring->users[s] == 0 && (unused == ring->slots || ring->holds[s] == -2))
            unused = s;
    }
    *fresh = found == ring->slots;
    if (*fresh) {
        found = unused;
        ring->holds[found] = index;
    }
    ring->users[found]++;
    *place(ring, ring->end++) = (uint32_t)found;
    return found;
}
