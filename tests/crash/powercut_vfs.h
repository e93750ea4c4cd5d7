/* A SQLite VFS under which a killed process is a power cut. */
#ifndef BERTH_TESTS_POWERCUT_VFS_H
#define BERTH_TESTS_POWERCUT_VFS_H

#include <stdbool.h>

/* Makes it the default. early_share: of 256 unsynced writes so many reach the disk at once, in
 * their own order, as a system under pressure does it; the others are lost when the process is
 * killed. */
void powercut_register(unsigned early_share);

/* From now on so many of 1024 syncs, and of 1024 writes, fail; seed: where chance goes on from, 0:
 * where it is. */
void powercut_fail(unsigned syncs, unsigned writes, unsigned long long seed);

/* Called after each write and sync, by whatever thread made it; NULL: nobody. */
void powercut_watch(void (*watch)(void));

/* Nothing reaches the real files meanwhile: they are what a power cut would leave now. */
void powercut_hold(bool hold);

#endif
