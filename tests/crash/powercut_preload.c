/* Preloaded into a program that uses SQLite, this puts the power-cut VFS under it before main().
 * POWERCUT_EARLY is powercut_register's argument. */
#include <stdio.h>
#include <stdlib.h>

#include "powercut_vfs.h"

__attribute__((constructor)) static void put_under(void)
{
    const char *early = getenv("POWERCUT_EARLY");
    powercut_register(early == NULL ? 0 : (unsigned)strtoul(early, NULL, 10));
    fprintf(stderr, "powercut: in place\n");
}
