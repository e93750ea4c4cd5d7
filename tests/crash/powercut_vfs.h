/* A SQLite VFS under which a killed process is a power cut. */
#ifndef BERTH_TESTS_POWERCUT_VFS_H
#define BERTH_TESTS_POWERCUT_VFS_H

/* Makes it the default. early_share: of 256 unsynced writes so many reach the disk at once, in
 * their own order, as a system under pressure does it; the others are lost when the process is
 * killed. */
void powercut_register(unsigned early_share);

#endif
