/* Preloaded into a program that uses SQLite, this puts the power-cut VFS under it before main().
 * POWERCUT_EARLY is powercut_register's argument, POWERCUT_FAIL how many of 1024 syncs and writes
 * fail once the program has made a few: its start is to succeed. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "powercut_vfs.h"

enum { FAIL_AFTER = 60 };

static unsigned from_environment(const char *name)
{
    const char *text = getenv(name);
    return text == NULL ? 0 : (unsigned)strtoul(text, NULL, 10);
}

static void count(void)
{
    static atomic_uint calls;
    unsigned failing = from_environment("POWERCUT_FAIL");
    if (atomic_fetch_add(&calls, 1) + 1 == FAIL_AFTER)
        powercut_fail(failing, failing, 0);
}

__attribute__((constructor)) static void put_under(void)
{
    powercut_register(from_environment("POWERCUT_EARLY"));
    powercut_watch(count);
    fprintf(stderr, "powercut: in place\n");
}
