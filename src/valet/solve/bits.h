/* Sets of hosts, or of other objects with small numbers, as bits. Any thread. */
#ifndef BERTH_VALET_SOLVE_BITS_H
#define BERTH_VALET_SOLVE_BITS_H

#include <stdint.h>

#include "base/arena.h"

#define BITS_NONE 0xffffffffu

static inline uint32_t bits_words(uint32_t count)
{
    return (count + 63) / 64;
}

/* An empty set of numbers below `count`. */
static inline uint64_t *bits_create(struct arena *arena, uint32_t count)
{
    return arena_zalloc(arena, (bits_words(count) + 1) * sizeof(uint64_t));
}

static inline bool bits_has(const uint64_t *bits, uint32_t at)
{
    return bits[at / 64] >> (at % 64) & 1;
}

static inline void bits_add(uint64_t *bits, uint32_t at)
{
    bits[at / 64] |= (uint64_t)1 << (at % 64);
}

static inline void bits_remove(uint64_t *bits, uint32_t at)
{
    bits[at / 64] &= ~((uint64_t)1 << (at % 64));
}

static inline uint32_t bits_count(const uint64_t *bits, uint32_t words)
{
    uint32_t count = 0;
    for (uint32_t w = 0; w < words; w++)
        count += (uint32_t)__builtin_popcountll(bits[w]);
    return count;
}

/* The smallest member not below `from`, or BITS_NONE. */
static inline uint32_t bits_next(const uint64_t *bits, uint32_t words, uint32_t from)
{
    uint32_t w = from / 64;
    if (w >= words)
        return BITS_NONE;
    uint64_t word = bits[w] & ~(uint64_t)0 << (from % 64);
    while (word == 0) {
        if (++w == words)
            return BITS_NONE;
        word = bits[w];
    }
    return w * 64 + (uint32_t)__builtin_ctzll(word);
}

#define BITS_EACH(at, bits, words)                                                                 \
    for (uint32_t at = bits_next((bits), (words), 0); at != BITS_NONE;                             \
         at = bits_next((bits), (words), at + 1))

#endif
