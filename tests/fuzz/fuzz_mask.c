/* Any text as a mask, in the format of gpufilt-mask(5) and as on the command line: what is
 * accepted makes sense, and printed and read again it is the same mask. */
#include "fuzz.h"

#include "alloc.h"
#include "mask.h"
#include "util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALLOWED (1u << GF_OK | 1u << GF_EUSAGE | 1u << GF_EINPUT | 1u << GF_EMEMORY)

static void check(const struct gf_mask *m)
{
    uint64_t taps = 1;
    for (int a = 0; a < 3; a++) {
        fuzz_need(m->size[a] >= 1 && m->size[a] <= GF_MASK_MAX_AXIS, "size %u", m->size[a]);
        fuzz_need(m->origin[a] < m->size[a], "origin %u of %u", m->origin[a], m->size[a]);
        fuzz_need(!m->separable == !m->factor[a], "factors of a mask that has none");
        taps *= m->size[a];
    }
    fuzz_need(m->separable || taps <= GF_MASK_MAX_TAPS, "%llu taps", (unsigned long long)taps);
    fuzz_need(m->divisor > 0 && isfinite(m->divisor), "divisor %g", m->divisor);
    fuzz_need(memchr(m->name, '\0', sizeof m->name), "a name without an end");
    if (taps > 1 << 16)
        return;
    for (uint32_t k = 0; k < m->size[2]; k++)
        for (uint32_t j = 0; j < m->size[1]; j++)
            for (uint32_t i = 0; i < m->size[0]; i++) {
                double tap = gf_mask_tap(m, i, j, k);
                fuzz_need(isfinite(tap), "tap %g", tap);
                fuzz_need(!m->integer || tap == rint(tap), "tap %g of integers", tap);
            }
}

static bool same(const struct gf_mask *a, const struct gf_mask *b)
{
    if (memcmp(a->size, b->size, sizeof a->size) != 0 ||
        memcmp(a->origin, b->origin, sizeof a->origin) != 0 || a->divisor != b->divisor ||
        a->integer != b->integer || a->separable != b->separable)
        return false;
    for (uint32_t k = 0; k < a->size[2]; k++)
        for (uint32_t j = 0; j < a->size[1]; j++)
            for (uint32_t i = 0; i < a->size[0]; i++)
                if (gf_mask_tap(a, i, j, k) != gf_mask_tap(b, i, j, k))
                    return false;
    return true;
}

static void print_and_read(const struct gf_mask *m)
{
    struct gf_error e = {""};
    struct gf_mask again;
    char *text;
    enum gf_status status = gf_mask_print(m, &text, &e);
    fuzz_need_status(status, 1u << GF_OK | 1u << GF_EMEMORY, &e);
    if (status != GF_OK)
        return;
    status = gf_mask_parse(&again, text, strlen(text), "again.mask", &e);
    fuzz_need_status(status, 1u << GF_OK | 1u << GF_EMEMORY, &e);
    if (status == GF_OK) {
        fuzz_need(same(m, &again), "another mask when printed and read again:\n%s", text);
        gf_mask_flip(&again);
        gf_mask_flip(&again);
        fuzz_need(same(m, &again), "another mask when turned round twice:\n%s", text);
        gf_mask_free(&again);
    }
    gf_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    fuzz_need(text != NULL, "no memory");
    memcpy(text, data, size);
    text[size] = '\0';
    gf_memory_set_limit(FUZZ_MEMORY);
    for (int form = 0; form < 2; form++) {
        struct gf_error e = {""};
        struct gf_mask m;
        enum gf_status status;
        if (form == 0)
            status = gf_mask_parse(&m, (const char *)data, size, "folder/some.mask", &e);
        else
            status = gf_mask_parse_inline(&m, text, &e);
        fuzz_need_status(status, ALLOWED, &e);
        if (status == GF_OK) {
            check(&m);
            if ((uint64_t)m.size[0] * m.size[1] * m.size[2] <= 1 << 16)
                print_and_read(&m);
            gf_mask_free(&m);
        }
        fuzz_need(gf_memory_used() == 0, "%llu bytes of memory were not given back",
                  (unsigned long long)gf_memory_used());
    }
    free(text);
    return 0;
}
