/* How many rounds random tests play: all in a plain build, which checks what the code answers.
 * Under a sanitizer a fifth is enough to find errors in the use of memory and threads. */
#ifndef BERTH_TESTS_ROUNDS_H
#define BERTH_TESTS_ROUNDS_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { ROUNDS_PART = 5 };
#else
enum { ROUNDS_PART = 1 };
#endif

/* This build's share of a number of rounds, or of a result that is expected of so many. */
#define ROUNDS_OF(count) ((count) / ROUNDS_PART)

#endif
