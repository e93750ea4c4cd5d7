/* Pseudo-random numbers from a seed: splitmix64. */
#ifndef BERTH_TESTS_RNG_H
#define BERTH_TESTS_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
    uint64_t state;
};

static inline uint64_t rng_mix(uint64_t value)
{
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

static inline uint64_t rng_next(struct rng *rng)
{
    rng->state += 0x9e3779b97f4a7c15u;
    return rng_mix(rng->state);
}

/* 0 to n - 1. */
static inline int rng_below(struct rng *rng, int n)
{
    return (int)(rng_next(rng) % (uint64_t)n);
}

static inline bool rng_permille(struct rng *rng, int permille)
{
    return rng_below(rng, 1000) < permille;
}

#endif
