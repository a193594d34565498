/* Writes a synthetic CT-like volume: raw little-endian u16, x fastest, then y, then z.
 * A chest of ellipsoids (body, lungs, heart, spine, ribs, a few nodules) in Hounsfield
 * units plus 1000, with noise. Integer arithmetic and a generator of its own, so every
 * machine writes the same bytes.
 *
 *     make_ct OUT.raw        (96x96x64, as samples/ct_96x96x64_u16le.raw) */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 96, HEIGHT = 96, DEPTH = 64 };

/* Places are in units of 1/256 of half the axis, from the centre: the shapes do not
 * depend on the size in voxels. */
struct ellipsoid {
    int cx, cy, cz;    /* centre */
    int rx, ry, rz;    /* half axes, > 0 */
    int value;         /* Hounsfield units + 1000 */
};

/* Later ones lie over earlier ones. */
static const struct ellipsoid shapes[] = {
    {0, 0, 0, 230, 175, 400, 920},       /* fat */
    {0, 0, 0, 215, 160, 390, 1045},      /* muscle */
    {-100, -10, 0, 85, 120, 225, 160},   /* right lung */
    {100, -10, 0, 80, 118, 220, 170},    /* left lung */
    {25, -35, -20, 70, 62, 110, 1060},   /* heart */
    {40, -30, -20, 34, 30, 60, 1210},    /* heart chamber with contrast agent */
    {-12, 52, 0, 22, 22, 420, 1190},     /* aorta */
    {0, 118, 0, 36, 32, 450, 1420},      /* vertebrae */
    {0, 120, 0, 24, 20, 450, 1230},      /* their marrow */
    {0, 92, 0, 13, 11, 450, 1030},       /* spinal canal */
    {-130, -20, 60, 11, 11, 17, 1050},   /* nodules */
    {-80, 45, -90, 8, 8, 12, 1040},
    {120, 30, 110, 14, 13, 20, 1055},
    {96, -60, -140, 6, 6, 9, 1400},      /* calcified */
};

/* Ribs: shells of ellipses, cut into slices along z. */
enum { RIB_VALUE = 1500, RIB_PERIOD = 72, RIB_WIDTH = 26 };

/* Fully specified by C: unsigned 64-bit arithmetic wraps. */
static uint32_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

/* Roughly bell-shaped, mean 0, between -48 and 48. */
static int noise(uint64_t *state)
{
    int sum = 0;
    for (int i = 0; i < 4; i++)
        sum += (int)(next_random(state) % 25) - 12;
    return sum;
}

/* Of voxel `i` of `n`, in units of 1/256 of half the axis. */
static int place(int i, int n)
{
    return ((2 * i + 1 - n) * 256) / n;
}

/* (x/rx)^2 + (y/ry)^2 + (z/rz)^2 times 4096. */
static int64_t distance(const struct ellipsoid *s, int x, int y, int z)
{
    int64_t dx = x - s->cx, dy = y - s->cy, dz = z - s->cz;
    return dx * dx * 4096 / ((int64_t)s->rx * s->rx) + dy * dy * 4096 / ((int64_t)s->ry * s->ry) +
           dz * dz * 4096 / ((int64_t)s->rz * s->rz);
}

static int tissue(int x, int y, int z)
{
    static const struct ellipsoid inner = {0, 0, 0, 196, 146, 4000, 0};
    static const struct ellipsoid outer = {0, 0, 0, 208, 156, 4000, 0};
    int value = 0; /* air */
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        if (distance(&shapes[i], x, y, z) <= 4096)
            value = shapes[i].value;
    }
    /* Ribs slope: the phase of the period moves with y. */
    if (distance(&outer, x, y, z) <= 4096 && distance(&inner, x, y, z) > 4096 &&
        (z + 512 + y / 2) % RIB_PERIOD < RIB_WIDTH)
        value = RIB_VALUE;
    return value;
}

int main(int argc, char **argv)
{
    uint64_t state = 20;
    if (argc != 2) {
        fputs("usage: make_ct OUT.raw\n", stderr);
        return 2;
    }
    FILE *out = fopen(argv[1], "wb");
    if (!out) {
        perror(argv[1]);
        return 4;
    }
    for (int z = 0; z < DEPTH; z++) {
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                int value = tissue(place(x, WIDTH), place(y, HEIGHT), place(z, DEPTH)) +
                            noise(&state);
                value = value < 0 ? 0 : value;
                putc(value & 255, out);
                putc(value >> 8, out);
            }
        }
    }
    if (ferror(out) | fclose(out)) {
        perror(argv[1]);
        return 4;
    }
    return 0;
}
