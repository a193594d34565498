/* The sum of taps for one lane kind; included once for each.
 * Parameters: K, the kind as simd.h names it; T, the C type of a lane; SKIP_ZERO, 1 where
 * a tap of 0 may be left out (integers: yes; floats: no, 0 * inf is NaN and -0 + 0 is 0). */

#define GLUE_(a, b) a##_##b
#define GLUE(a, b) GLUE_(a, b)
#define FN(name) GLUE(K, name)
#define V FN(vec)
#define W FN(WIDTH)

/* Vectors of a row summed together: as many accumulators as there are registers for, and
 * no fewer than hide the latency of a multiply-add (4 cycles, two a cycle: 8 in flight). */
#define ONE_VECTORS 8
#if GF_SIMD_REGISTERS >= 32
#define ROW_VECTORS 4
#else
#define ROW_VECTORS 3
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
    for (; x + 3 * W <= c->lanes; x += 3 * W)
        FN(sum_vectors)(c, o, x, 3);
    for (; x < c->lanes; x += W)
        FN(sum_vectors)(c, o, x, 1);
}

/* One input row into the sums of outputs [first, end), whose taps start `nx` apart; `tap`
 * is that of output `first`. first, end and n are constants where this is called. */
static inline __attribute__((always_inline)) void
FN(add_row)(V acc[GF_CHAIN_ROWS][ROW_VECTORS], const T *from, const T *tap, size_t nx,
            size_t step, const int first, const int end, const int n)
{
    for (size_t i = 0; i < nx; i++, from += step, tap++) {
        V in[ROW_VECTORS];
        UNROLL
        for (int v = 0; v < n; v++)
            in[v] = FN(load)(from + v * W);
        UNROLL
        for (int o = first; o < end; o++) {
            V w = FN(set)(tap[-(ptrdiff_t)((size_t)(o - first) * nx)]);
            UNROLL
            for (int v = 0; v < n; v++)
                acc[o][v] = FN(fma)(w, in[v], acc[o][v]);
        }
    }
}

/* GF_CHAIN_ROWS outputs at once: an input row is loaded once for all outputs that use it.
 * Going down the input rows, each output meets its taps in rising order. The first and the
 * last rows do not reach every output. */
static inline __attribute__((always_inline)) void
FN(sum_rows)(const struct gf_chain *c, size_t x, const int n)
{
    enum { R = GF_CHAIN_ROWS };
    size_t nx = c->nx, ny = c->ny, step = c->step;
    const T *tap = c->taps;
    const void *const *row = c->rows;
    V acc[R][ROW_VECTORS];

    UNROLL
    for (int o = 0; o < R; o++)
        UNROLL
        for (int v = 0; v < n; v++)
            acc[o][v] = FN(zero)();
    /* As written for R = 4: rows 0, 1 and 2 are of one, two and three outputs. */
    for (size_t k = 0; k < c->nz; k++, row += ny + R - 1, tap += ny * nx) {
        FN(add_row)(acc, (const T *)row[0] + x, tap, nx, step, 0, 1, n);
        FN(add_row)(acc, (const T *)row[1] + x, tap + nx, nx, step, 0, 2, n);
        FN(add_row)(acc, (const T *)row[2] + x, tap + 2 * nx, nx, step, 0, 3, n);
        for (size_t r = R - 1; r < ny; r++)
            FN(add_row)(acc, (const T *)row[r] + x, tap + r * nx, nx, step, 0, R, n);
        const T *last = tap + (ny - 1) * nx;
        FN(add_row)(acc, (const T *)row[ny] + x, last, nx, step, 1, R, n);
        FN(add_row)(acc, (const T *)row[ny + 1] + x, last, nx, step, 2, R, n);
        FN(add_row)(acc, (const T *)row[ny + 2] + x, last, nx, step, 3, R, n);
    }
    UNROLL
    for (int o = 0; o < R; o++)
        UNROLL
        for (int v = 0; v < n; v++)
            FN(store)((T *)c->to[o] + x + v * W, acc[o][v]);
}

static void FN(chain)(const struct gf_chain *c)
{
    size_t x = 0;

    /* The first rows must not be the last ones too. */
    if (c->outputs == GF_CHAIN_ROWS && c->ny >= GF_CHAIN_ROWS - 1) {
        for (; x + ROW_VECTORS * W <= c->lanes; x += ROW_VECTORS * W)
            FN(sum_rows)(c, x, ROW_VECTORS);
        for (; x < c->lanes; x += W)
            FN(sum_rows)(c, x, 1);
        return;
    }
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
