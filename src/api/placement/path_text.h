/* Path parameters in messages. */
#ifndef BERTH_API_PLACEMENT_PATH_TEXT_H
#define BERTH_API_PLACEMENT_PATH_TEXT_H

#include "base/arena.h"

/* A decoded path parameter as messages show it: its bytes are read as latin-1 (placement spec,
 * Query strings). */
struct slice path_text(struct arena *arena, struct slice arg);

#endif
