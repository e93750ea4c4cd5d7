/* The counter. Compilers call the first function at each basic block of what is built with
 * -fsanitize-coverage=trace-pc; the linker sends the counted code's calls of the C library's
 * functions to the wrappers (--wrap), because a square may hide in one memmove(). */
#include "steps.h"

#include <string.h>

#include "unit.h"

enum { WORD_BYTES = 16 };

static _Thread_local uint64_t steps_taken;

void __sanitizer_cov_trace_pc(void);
void *__real_memcpy(void *to, const void *from, size_t bytes);
void *__wrap_memcpy(void *to, const void *from, size_t bytes);
void *__real_memmove(void *to, const void *from, size_t bytes);
void *__wrap_memmove(void *to, const void *from, size_t bytes);
void *__real_memset(void *to, int value, size_t bytes);
void *__wrap_memset(void *to, int value, size_t bytes);
int __real_memcmp(const void *a, const void *b, size_t bytes);
int __wrap_memcmp(const void *a, const void *b, size_t bytes);

void __sanitizer_cov_trace_pc(void)
{
    steps_taken++;
}

void *__wrap_memcpy(void *to, const void *from, size_t bytes)
{
    steps_taken += bytes / WORD_BYTES;
    return __real_memcpy(to, from, bytes);
}

void *__wrap_memmove(void *to, const void *from, size_t bytes)
{
    steps_taken += bytes / WORD_BYTES;
    return __real_memmove(to, from, bytes);
}

void *__wrap_memset(void *to, int value, size_t bytes)
{
    steps_taken += bytes / WORD_BYTES;
    return __real_memset(to, value, bytes);
}

int __wrap_memcmp(const void *a, const void *b, size_t bytes)
{
    steps_taken += bytes / WORD_BYTES;
    return __real_memcmp(a, b, bytes);
}

uint64_t steps_now(void)
{
    return steps_taken;
}

uint64_t steps_since(uint64_t before)
{
    uint64_t taken = steps_taken - before;
    assert_true(taken > 0);
    return taken;
}

void steps_assert_linear(const char *what, struct steps_cost small, struct steps_cost large)
{
    if (large.steps * small.size > small.steps * large.size / 4 * 5)
        fail_msg("%s: %llu steps for a size of %llu, %llu for %llu", what,
                 (unsigned long long)small.steps, (unsigned long long)small.size,
                 (unsigned long long)large.steps, (unsigned long long)large.size);
}
