/* Bytes of requests that have no declared encoding, as text. */
#ifndef BERTH_API_TEXT_LATIN1_H
#define BERTH_API_TEXT_LATIN1_H

#include "base/arena.h"

/* A header or a decoded path parameter as messages show it: its bytes are read as latin-1
 * (placement spec, Query strings). Valid as long as the arena and `arg`. */
struct slice latin1_text(struct arena *arena, struct slice arg);

#endif
