/* The sum of taps for one lane kind; included once for each.
 * Parameters: K, the kind as simd.h names it; T, the C type of a lane; SKIP_ZERO, 1 where
 * a tap of 0 may be left out (integers: yes; floats: no, 0 * inf is NaN and -0 + 0 is 0). */

#define GLUE_(a, b) a##_##b
#define GLUE(a, b) GLUE_(a, b)
#define FN(name) GLUE(K, name)
#define V FN(vec)
#define W FN(WIDTH)

/* Vectors of a row summed together: as many accumulators as registers and the latency of
 * a multiply-add (4 cycles, two a cycle: 8 in flight) ask for. */
#if GF_SIMD_REGISTERS >= 32
#define ONE_VECTORS 8
#define ROW_VECTORS 4
#else
#define ONE_VECTORS 8
#define ROW_VECTORS 2
#endif

/* Output o of the chain for lanes from x, `n` vectors; n is a constant where this is called. */
static inline __attribute__((always_inline)) void
FN(sum_vectors)(const struct gf_chain *c, size_t o, size_t x, const int n)
{
    size_t stride = c->ny + c->outputs - 1;
    const T *tap = c->taps;
    T *to = (T *)c->to[o] + x;
    V acc[ONE_VECTORS];

    UNROLL
    for (int v = 0; v < n; v++)
        acc[v] = FN(zero)();
    for (size_t k = 0; k < c->nz; k++)
        for (size_t j = 0; j < c->ny; j++) {
            const T *from = (const T *)c->rows[k * stride + o + j] + x;
            for (size_t i = 0; i < c->nx; i++, from += c->step) {
                T t = *tap++;
                if (SKIP_ZERO && t == 0)
                    continue;
                V w = FN(set)(t);
                UNROLL
                for (int v = 0; v < n; v++)
                    acc[v] = FN(fma)(w, FN(load)(from + v * W), acc[v]);
            }
        }
    UNROLL
    for (int v = 0; v < n; v++)
        FN(store)(to + v * W, acc[v]);
}

static void FN(sum_one)(const struct gf_chain *c, size_t o, size_t x)
{
    for (; x + ONE_VECTORS * W <= c->lanes; x += ONE_VECTORS * W)
        FN(sum_vectors)(c, o, x, ONE_VECTORS);
    for (; x < c->lanes; x += W)
        FN(sum_vectors)(c, o, x, 1);
}

/* GF_CHAIN_ROWS outputs at once: an input row is loaded once for all outputs that use it.
 * Going down the input rows, each output meets its taps in rising order. */
static inline __attribute__((always_inline)) void FN(sum_rows)(const struct gf_chain *c, size_t x)
{
    enum { R = GF_CHAIN_ROWS, N = ROW_VECTORS };
    size_t stride = c->ny + R - 1;
    V acc[R][N];

    UNROLL
    for (int o = 0; o < R; o++)
        UNROLL
        for (int v = 0; v < N; v++)
            acc[o][v] = FN(zero)();
    for (size_t k = 0; k < c->nz; k++) {
        const T *plane = (const T *)c->taps + k * c->ny * c->nx;
        for (size_t r = 0; r < stride; r++) {
            const T *from = (const T *)c->rows[k * stride + r] + x;
            if (r >= R - 1 && r < c->ny) {
                const T *tap = plane + r * c->nx;
                for (size_t i = 0; i < c->nx; i++, from += c->step, tap++) {
                    V in[N];
                    UNROLL
                    for (int v = 0; v < N; v++)
                        in[v] = FN(load)(from + v * W);
                    UNROLL
                    for (int o = 0; o < R; o++) {
                        V w = FN(set)(tap[-(ptrdiff_t)((size_t)o * c->nx)]);
                        UNROLL
                        for (int v = 0; v < N; v++)
                            acc[o][v] = FN(fma)(w, in[v], acc[o][v]);
                    }
                }
                continue;
            }
            /* The first and last rows do not reach every output. */
            UNROLL
            for (int o = 0; o < R; o++) {
                if (r < (size_t)o || r - (size_t)o >= c->ny)
                    continue;
                const T *t = plane + (r - (size_t)o) * c->nx;
                for (size_t i = 0; i < c->nx; i++) {
                    V w = FN(set)(t[i]);
                    UNROLL
                    for (int v = 0; v < N; v++)
                        acc[o][v] = FN(fma)(w, FN(load)(from + i * c->step + v * W), acc[o][v]);
                }
            }
        }
    }
    UNROLL
    for (int o = 0; o < R; o++)
        UNROLL
        for (int v = 0; v < N; v++)
            FN(store)((T *)c->to[o] + x + v * W, acc[o][v]);
}

static void FN(chain)(const struct gf_chain *c)
{
    size_t x = 0;

    if (c->outputs == GF_CHAIN_ROWS)
        for (; x + ROW_VECTORS * W <= c->lanes; x += ROW_VECTORS * W)
            FN(sum_rows)(c, x);
    for (size_t o = 0; o < c->outputs; o++)
        FN(sum_one)(c, o, x);
}

#undef GLUE_
#undef GLUE
#undef FN
#undef V
#undef W
#undef ONE_VECTORS
#undef ROW_VECTORS
#undef K
#undef T
#undef SKIP_ZERO
