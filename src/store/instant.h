/* The text form of a timestamp, as SQLAlchemy writes it: "YYYY-MM-DD HH:MM:SS.ffffff", UTC. */
#ifndef BERTH_STORE_INSTANT_H
#define BERTH_STORE_INSTANT_H

#include <stdint.h>

#include "base/slice.h"

enum { INSTANT_LEN = 26 };

/* Microseconds since 1970; 0 for text that is not a timestamp (also NULL). The fraction may be
 * absent or shorter. */
int64_t instant_parse(struct slice text);

/* Writes INSTANT_LEN bytes, no NUL. us is clamped to the years 0 to 9999. */
void instant_format(int64_t us, char text[static INSTANT_LEN]);

/* The last formatted timestamp, reused while the next one is equal; zero: none yet. */
struct instant_text {
    int64_t us;
    char text[INSTANT_LEN];
};

#endif
