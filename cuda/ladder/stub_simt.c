/* In place of the ladders on the simt device in a build without it. */
#define GF_LADDER_DEVICE gf_ladder_simt
#define GF_LADDER_NAME "simt"
#define GF_LADDER_WHY "this gpufilt was built with ThreadSanitizer and so without the simt device"
#include "stub.h"

#include "bench/simulate.h"

enum gf_status gf_simulate_rounds(enum gf_ladder_step_id form, unsigned threads,
                                  struct gf_rounds *rounds, struct gf_error *e)
{
    (void)form;
    (void)threads;
    (void)rounds;
    return gf_fail(e, GF_EDEVICE, GF_LADDER_WHY);
}

enum gf_status gf_simulate_banks(struct gf_bank_pattern pattern[GF_BANK_PATTERNS],
                                 struct gf_error *e)
{
    (void)pattern;
    return gf_fail(e, GF_EDEVICE, GF_LADDER_WHY);
}

enum gf_status gf_simulate_reversal(bool barrier, struct gf_reversal *r, struct gf_error *e)
{
    (void)barrier;
    (void)r;
    return gf_fail(e, GF_EDEVICE, GF_LADDER_WHY);
}
