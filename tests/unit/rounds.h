/* How many rounds random tests play. Sanitizers look for errors in how memory and threads are used,
 * which a part of the rounds finds; what the code answers is checked in all of them, without. */
#ifndef BERTH_TESTS_ROUNDS_H
#define BERTH_TESTS_ROUNDS_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { ROUNDS_PART = 5 };
#else
enum { ROUNDS_PART = 1 };
#endif

/* Of this many without sanitizers, those that are played here; also a number that is checked
 * because of them. */
#define ROUNDS_OF(count) ((count) / ROUNDS_PART)

#endif
