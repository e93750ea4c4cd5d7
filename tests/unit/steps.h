/* What code costs, in counted steps: basic blocks that run, and words that are copied or compared.
 * Unlike time, they are the same on every machine and under any load; only the random key of the
 * hash tables makes a small difference. The sources that meson.build lists are counted, libraries
 * are not. Each thread has its own count. */
#ifndef BERTH_TESTS_STEPS_H
#define BERTH_TESTS_STEPS_H

#include <stdint.h>

uint64_t steps_now(void);

/* Steps since `before`, which came from steps_now(). Fails if there are none: then the code in
 * between was not built to be counted. */
uint64_t steps_since(uint64_t before);

/* What work of that size took; the sizes of two are in one unit. */
struct steps_cost {
    uint64_t size;
    uint64_t steps;
};

/* Fails unless the steps grow at most as the size does, and a quarter more. If one size is eight
 * times the other, that finds what grows with the square once it is a twentieth of the smaller
 * cost. */
void steps_assert_linear(const char *what, struct steps_cost small, struct steps_cost large);

#endif
