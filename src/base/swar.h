/* Tests eight bytes of a text at once, in one word. Pure; any thread. */
#ifndef BERTH_BASE_SWAR_H
#define BERTH_BASE_SWAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SWAR_EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

static inline uint64_t swar_load(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof(word));
    return word;
}

/* A mask that is not 0 if a byte of the word is less than `limit` (at most 0x80). */
static inline uint64_t swar_below(uint64_t word, unsigned char limit)
{
    return (word - SWAR_EACH(limit)) & ~word & SWAR_EACH(0x80);
}

/* A mask that is not 0 if a byte of the word equals `byte`. */
static inline uint64_t swar_equal(uint64_t word, unsigned char byte)
{
    return swar_below(word ^ SWAR_EACH(byte), 1);
}

/* A mask that is not 0 if a byte of the word is 0x80 or more. */
static inline uint64_t swar_high(uint64_t word)
{
    return word & SWAR_EACH(0x80);
}

#endif
