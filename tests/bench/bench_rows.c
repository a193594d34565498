#include "bench_rows.h"

#include "../unit/bench_plan.h"
#include "util.h"

#include <unistd.h>

static const struct bench_row rows[] = {
    {"f32 3x3", GF_F32, 16384, 16384, 1, 1, 3, 0, false, false},
    {"f32 5x5", GF_F32, 16384, 16384, 1, 1, 5, 0, false, false},
    {"f32 7x7", GF_F32, 16384, 16384, 1, 1, 7, 0, false, false},
    {"f32 9x9", GF_F32, 16384, 16384, 1, 1, 9, 0, false, false},
    {"u8 gauss5", GF_U8, 16384, 16384, 1, 1, 5, 0, true, false},
    {"u16 gauss5", GF_U16, 16384, 16384, 1, 1, 5, 0, true, false},
    {"f32 gauss5", GF_F32, 16384, 16384, 1, 1, 5, 0, true, false},
    {"u8 sigma 2", GF_U8, 16384, 16384, 1, 1, 17, 2, true, false},
    {"u16 sigma 2", GF_U16, 16384, 16384, 1, 1, 17, 2, true, false},
    {"f32 sigma 2", GF_F32, 16384, 16384, 1, 1, 17, 2, true, false},
    {"f32 3x3x3", GF_F32, 1024, 1024, 1024, 1, 3, 0, false, false},
    {"f32 5x5x5", GF_F32, 1024, 1024, 1024, 1, 5, 0, false, false},
    {"u16 3D gauss5", GF_U16, 1024, 1024, 1024, 1, 5, 0, true, false},
    {"f32 3D gauss5", GF_F32, 1024, 1024, 1024, 1, 5, 0, true, false},
    {"u16 3D sigma 1.5", GF_U16, 1024, 1024, 1024, 1, 13, 1.5, true, false},
    {"f32 3D sigma 1.5", GF_F32, 1024, 1024, 1024, 1, 13, 1.5, true, false},
    /* Plans that only the family for every plan takes. */
    {"f32 31x31", GF_F32, 16384, 16384, 1, 1, 31, 0, false, false},
    {"f32 sigma 20", GF_F32, 16384, 16384, 1, 1, 161, 20, true, false},
    {"u8 RGBA gauss5", GF_U8, 8192, 8192, 1, 4, 5, 0, true, true},
    {"f64 5x5", GF_F64, 8192, 8192, 1, 1, 5, 0, false, false},
    {"f64 sigma 2", GF_F64, 8192, 8192, 1, 1, 17, 2, true, false},
};

size_t bench_row_count(void) { return GF_COUNT(rows); }

const char *bench_row_name(size_t row) { return rows[row].name; }

void bench_row_plan(size_t row, bool small, struct gf_plan *plan)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    struct bench_row r = rows[row];

    if (small) {
        bool volume = r.depth > 1;
        r.width = volume ? 251 : 1021;
        r.height = volume ? 131 : 1031;
        r.depth = volume ? 67 : 1;
    }
    bench_plan(plan, &r, processors > 0 ? (unsigned)processors : 1);
}

void bench_row_plan_end(struct gf_plan *plan) { plan_end(plan); }
