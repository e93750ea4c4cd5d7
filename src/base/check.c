/* check(): prints the place of the failure and aborts. Any thread. */
#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>

void check_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "berth: check failed: %s at %s:%d\n", condition, file, line);
    abort();
}
