#include "deflate_runs.h"

#include "../util.h"

#include <string.h>

#define PART (32u << 10)  /* data with codes of their own; below 65536, to be stored plain */
#define RUN 8             /* shorter runs cost about as much as their bytes alone */
#define LONGEST 258
#define LITERALS 286
#define END_OF_PART 256
#define CODE_BITS 14      /* four codes and the 7 bits left over fit in 64 */
#define LENGTH_BITS 7     /* deflate's limit for the codes of code lengths */
#define LENGTH_CODES 19
#define STORED_HEAD 5

/* ---- bits ---- */

struct out {
    uint8_t *at;
    uint64_t bits;
    unsigned count; /* below 8 between calls */
};

/* Adds up to 56 bits. Writes 8 bytes, of which the whole ones count. */
static inline void put(struct out *o, uint64_t bits, unsigned count)
{
    uint64_t bytes;
    o->bits |= bits << o->count;
    o->count += count;
    bytes = o->bits;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bytes = __builtin_bswap64(bytes);
#endif
    memcpy(o->at, &bytes, 8);
    o->at += o->count / 8;
    o->bits >>= o->count & 0x38;
    o->count &= 7;
}

static void align(struct out *o)
{
    if (o->count > 0)
        put(o, 0, 8 - o->count);
}

static void put_stored(struct out *o, const uint8_t *data, size_t size, bool last)
{
    put(o, last, 3);
    align(o);
    put(o, size | (uint64_t)(~size & 0xffff) << 16, 32);
    if (size > 0)
        memcpy(o->at, data, size);
    o->at += size;
}

/* ---- codes ---- */

/* Lists the symbols that occur by rising count, equal ones by symbol; how many they are.
 * Counts are below 65536. */
static unsigned sort_symbols(const uint32_t *counts, unsigned symbols, uint16_t *sorted)
{
    uint16_t by_low[LITERALS];
    unsigned used = 0, place[2][256];
    memset(place, 0, sizeof place);
    for (unsigned i = 0; i < symbols; i++) {
        if (counts[i] == 0)
            continue;
        place[0][counts[i] & 255]++;
        place[1][counts[i] >> 8 & 255]++;
        sorted[used++] = (uint16_t)i;
    }
    for (unsigned i = 0, low = 0, high = 0; i < 256; i++) {
        unsigned n_low = place[0][i], n_high = place[1][i];
        place[0][i] = low;
        place[1][i] = high;
        low += n_low;
        high += n_high;
    }
    for (unsigned i = 0; i < used; i++)
        by_low[place[0][counts[sorted[i]] & 255]++] = sorted[i];
    for (unsigned i = 0; i < used; i++)
        sorted[place[1][counts[by_low[i]] >> 8 & 255]++] = by_low[i];
    return used;
}

/* Code lengths of at most `limit` bits for the symbols that occur; 0 for the others. Two
 * symbols at least must occur. */
static void make_lengths(const uint32_t *counts, unsigned symbols, unsigned limit,
                         uint8_t *lengths)
{
    /* Nodes: leaves by rising count, then the inner ones in the order they are made. */
    uint32_t weight[2 * LITERALS];
    uint16_t symbol[LITERALS], parent[2 * LITERALS];
    uint8_t depth[2 * LITERALS];
    unsigned per_length[33] = {0}, leaf = 0, total = 0;
    const unsigned leaves = sort_symbols(counts, symbols, symbol);
    unsigned inner = leaves, made = leaves;

    memset(lengths, 0, symbols);
    for (unsigned i = 0; i < leaves; i++)
        weight[i] = counts[symbol[i]];
    while (made < 2 * leaves - 1) {
        weight[made] = 0;
        for (int child = 0; child < 2; child++) {
            unsigned least = leaf < leaves && (inner == made || weight[leaf] <= weight[inner])
                                 ? leaf++ : inner++;
            weight[made] += weight[least];
            parent[least] = (uint16_t)made;
        }
        made++;
    }
    depth[made - 1] = 0;
    for (unsigned i = made - 1; i-- > 0;) {
        depth[i] = (uint8_t)gf_min(depth[parent[i]] + 1u, 32);
        if (i < leaves)
            per_length[gf_min(depth[i], limit)]++;
    }
    /* What was cut to the limit overfills the code: lengthen the longest of the others
     * until it fits. `total` counts in units of a code of `limit` bits. */
    for (unsigned n = 1; n <= limit; n++)
        total += per_length[n] << (limit - n);
    while (total > 1u << limit) {
        unsigned n = limit - 1;
        while (per_length[n] == 0)
            n--;
        per_length[n]--;
        per_length[n + 1] += 2;
        per_length[limit]--;
        total--;
    }
    leaf = 0;
    for (unsigned n = limit; n > 0; n--)
        for (unsigned i = 0; i < per_length[n]; i++)
            lengths[symbol[leaf++]] = (uint8_t)n;
}

/* A code, first bit lowest, and above it its length. */
#define CODE(value, length) ((uint32_t)(value) | (uint32_t)(length) << 16)

static void make_codes(const uint8_t *lengths, unsigned symbols, uint32_t *codes)
{
    unsigned next[17] = {0}, per_length[17] = {0};
    for (unsigned i = 0; i < symbols; i++)
        per_length[lengths[i]]++;
    per_length[0] = 0;
    for (unsigned n = 1; n <= 16; n++)
        next[n] = (next[n - 1] + per_length[n - 1]) << 1;
    for (unsigned i = 0; i < symbols; i++) {
        unsigned value = next[lengths[i]]++, turned = 0;
        for (unsigned bit = 0; bit < lengths[i]; bit++)
            turned |= (value >> bit & 1) << (lengths[i] - 1 - bit);
        codes[i] = CODE(turned, lengths[i]);
    }
}

static inline void put_code(struct out *o, uint32_t code) { put(o, code & 0xffff, code >> 16); }

/* The symbol for a run of 3 to 258 bytes, and the bits that follow its code. */
static unsigned length_symbol(unsigned length, unsigned *extra_bits)
{
    unsigned n = length - 3, bits = 0;
    *extra_bits = 0;
    if (length == LONGEST)
        return 285;
    if (n < 8)
        return 257 + n;
    while (n >> (bits + 3))
        bits++;
    *extra_bits = bits;
    return 257 + 4 * bits + (n >> bits);
}

/* ---- a part ---- */

struct token {
    uint32_t literals; /* so many bytes as they are, then */
    uint32_t run;      /* the last of them so many times again */
};

struct part {
    const uint8_t *data;
    size_t size;
    struct token tokens[PART / RUN + 2];
    size_t token_count;
    uint32_t counts[LITERALS];
    uint8_t lengths[LITERALS + 2]; /* and the two distances */
    uint32_t codes[LITERALS];
    /* The code lengths, themselves in codes. */
    struct {
        uint8_t symbol, extra;
    } packed[LITERALS + 2];
    size_t packed_count;
    uint32_t packed_counts[LENGTH_CODES];
    uint8_t packed_lengths[LENGTH_CODES];
    unsigned literals;             /* symbols that are sent */
};

static inline uint64_t load8(const uint8_t *p)
{
    uint64_t value;
    memcpy(&value, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

/* Finds the places where a byte and at least RUN more are equal. */
static void find_runs(struct part *p)
{
    const uint8_t *data = p->data;
    size_t at = 0, start = 0;
    p->token_count = 0;
    while (at + RUN + 1 <= p->size) {
        uint64_t unequal = load8(data + at) ^ load8(data + at + 1);
        size_t end;
        if (unequal != 0) {
            /* No run can start before the last byte that differs from the next. */
            at += (size_t)(63 - __builtin_clzll(unequal)) / 8 + 1;
            continue;
        }
        for (end = at + RUN + 1; end < p->size && data[end] == data[at]; end++)
            ;
        p->tokens[p->token_count++] = (struct token){(uint32_t)(at + 1 - start),
                                                     (uint32_t)(end - at - 1)};
        at = start = end;
    }
    p->tokens[p->token_count++] = (struct token){(uint32_t)(p->size - start), 0};
}

/* How many of a run's bytes the next match takes: never 1 or 2 are left over. */
static unsigned next_match(uint32_t run)
{
    return run <= LONGEST ? run : run < LONGEST + 3 ? LONGEST - 3 : LONGEST;
}

/* Counts the symbols; in four tables, so that equal neighbours do not wait for each other. */
static void count_symbols(struct part *p)
{
    uint32_t counts[4][256];
    const uint8_t *data = p->data;
    memset(counts, 0, sizeof counts);
    memset(p->counts, 0, sizeof p->counts);
    for (size_t t = 0; t < p->token_count; t++) {
        uint32_t run = p->tokens[t].run, n = p->tokens[t].literals, i = 0;
        for (; i + 4 <= n; i += 4) {
            counts[0][data[i]]++;
            counts[1][data[i + 1]]++;
            counts[2][data[i + 2]]++;
            counts[3][data[i + 3]]++;
        }
        for (; i < n; i++)
            counts[0][data[i]]++;
        data += n + run;
        while (run > 0) {
            unsigned extra, match = next_match(run);
            p->counts[length_symbol(match, &extra)]++;
            run -= match;
        }
    }
    for (unsigned i = 0; i < 256; i++)
        p->counts[i] = counts[0][i] + counts[1][i] + counts[2][i] + counts[3][i];
    p->counts[END_OF_PART] = 1;
}

/* Packs the code lengths: zeros and repeats are counted. */
static void pack_lengths(struct part *p)
{
    size_t count, i = 0;
    uint8_t all[LITERALS + 2];
    for (p->literals = LITERALS; p->lengths[p->literals - 1] == 0;)
        p->literals--;
    memcpy(all, p->lengths, p->literals);
    /* Two distances, of which the first is used: some decoders want a full code. */
    all[p->literals] = all[p->literals + 1] = 1;
    count = p->literals + 2;
    memset(p->packed_counts, 0, sizeof p->packed_counts);
    p->packed_count = 0;
    while (i < count) {
        size_t same = 1, most = all[i] == 0 ? 138 : 7;
        uint8_t symbol = all[i], extra = 0;
        while (same < most && i + same < count && all[i + same] == all[i])
            same++;
        if (all[i] == 0 && same >= 3) {
            symbol = same <= 10 ? 17 : 18;
            extra = (uint8_t)(same - (same <= 10 ? 3 : 11));
            i += same;
        } else if (same >= 4) {
            /* The length itself, and then it again 3 to 6 times. */
            p->packed[p->packed_count].symbol = symbol;
            p->packed[p->packed_count++].extra = 0;
            p->packed_counts[symbol]++;
            symbol = 16;
            extra = (uint8_t)(same - 1 - 3);
            i += same;
        } else {
            i++;
        }
        p->packed[p->packed_count].symbol = symbol;
        p->packed[p->packed_count++].extra = extra;
        p->packed_counts[symbol]++;
    }
    make_lengths(p->packed_counts, LENGTH_CODES, LENGTH_BITS, p->packed_lengths);
}

static unsigned packed_extra_bits(uint8_t symbol)
{
    return symbol < 16 ? 0 : symbol == 16 ? 2 : symbol == 17 ? 3 : 7;
}

/* The order in which deflate sends the lengths of the codes of lengths. */
static const uint8_t length_order[LENGTH_CODES] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                   11, 4,  12, 3, 13, 2, 14, 1, 15};

static unsigned lengths_sent(const struct part *p)
{
    unsigned sent = LENGTH_CODES;
    while (sent > 4 && p->packed_lengths[length_order[sent - 1]] == 0)
        sent--;
    return sent;
}

/* Bits that the part takes in codes. */
static uint64_t coded_bits(const struct part *p)
{
    uint64_t bits = 3 + 14 + 3 * lengths_sent(p);
    for (size_t i = 0; i < p->packed_count; i++)
        bits += p->packed_lengths[p->packed[i].symbol] + packed_extra_bits(p->packed[i].symbol);
    for (unsigned i = 0; i < LITERALS; i++) {
        unsigned extra = i < 265 || i == 285 ? 0 : (i - 261) / 4;
        bits += (uint64_t)p->counts[i] * (p->lengths[i] + (i > END_OF_PART ? extra + 1 : 0));
    }
    return bits;
}

static void put_head(struct out *o, const struct part *p, bool last)
{
    uint32_t codes[LENGTH_CODES];
    const unsigned sent = lengths_sent(p);
    make_codes(p->packed_lengths, LENGTH_CODES, codes);
    put(o, (unsigned)last | 2u << 1, 3); /* codes of its own */
    put(o, (p->literals - 257) | (2 - 1) << 5 | (sent - 4) << 10, 14);
    for (unsigned i = 0; i < sent; i++)
        put(o, p->packed_lengths[length_order[i]], 3);
    for (size_t i = 0; i < p->packed_count; i++) {
        put_code(o, codes[p->packed[i].symbol]);
        put(o, p->packed[i].extra, packed_extra_bits(p->packed[i].symbol));
    }
}

static void put_literals(struct out *o, const uint32_t *codes, const uint8_t *data, uint32_t n)
{
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4) {
        uint32_t a = codes[data[i]], b = codes[data[i + 1]];
        uint32_t c = codes[data[i + 2]], d = codes[data[i + 3]];
        uint64_t ab = (a & 0xffff) | (uint64_t)(b & 0xffff) << (a >> 16);
        uint64_t cd = (c & 0xffff) | (uint64_t)(d & 0xffff) << (c >> 16);
        unsigned n_ab = (a >> 16) + (b >> 16), n_cd = (c >> 16) + (d >> 16);
        put(o, ab | cd << n_ab, n_ab + n_cd);
    }
    for (; i < n; i++)
        put_code(o, codes[data[i]]);
}

static void put_coded(struct out *o, const struct part *p, bool last)
{
    const uint8_t *data = p->data;
    put_head(o, p, last);
    for (size_t t = 0; t < p->token_count; t++) {
        uint32_t run = p->tokens[t].run, n = p->tokens[t].literals;
        put_literals(o, p->codes, data, n);
        data += n + run;
        while (run > 0) {
            unsigned extra, match = next_match(run);
            unsigned symbol = length_symbol(match, &extra);
            put_code(o, p->codes[symbol]);
            put(o, (match - 3) & ((1u << extra) - 1), extra);
            put(o, 0, 1); /* distance 1 */
            run -= match;
        }
    }
    put_code(o, p->codes[END_OF_PART]);
}

/* ---- the whole ---- */

size_t gf_deflate_runs_bound(size_t size)
{
    /* A part is stored when its codes would take more; put() writes 8 bytes at a time. */
    return size + (size / PART + 2) * (STORED_HEAD + 1) + 8;
}

size_t gf_deflate_runs(const uint8_t *data, size_t size, bool last, uint8_t *out)
{
    struct out o = {.at = out};
    struct part p;
    size_t at = 0;

    while (at < size) {
        bool end;
        p.data = data + at;
        p.size = (size_t)gf_min(PART, size - at);
        at += p.size;
        end = last && at == size;
        find_runs(&p);
        count_symbols(&p);
        make_lengths(p.counts, LITERALS, CODE_BITS, p.lengths);
        make_codes(p.lengths, LITERALS, p.codes);
        pack_lengths(&p);
        if (coded_bits(&p) >= 8 * ((uint64_t)p.size + STORED_HEAD - 1))
            put_stored(&o, p.data, p.size, end);
        else
            put_coded(&o, &p, end);
    }
    if (last && size > 0)
        align(&o);
    else
        put_stored(&o, NULL, 0, last);
    return (size_t)(o.at - out);
}
