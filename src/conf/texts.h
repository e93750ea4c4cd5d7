/* Lists of texts: as they are read, and while they grow. */
#ifndef BERTH_CONF_TEXTS_H
#define BERTH_CONF_TEXTS_H

#include <stddef.h>

#include "base/arena.h"

struct conf_texts {
    const char *const *items;
    size_t n;
};

/* Begins as {0}; its memory is the arena's. */
struct texts_builder {
    const char **items;
    size_t n;
    size_t room;
};

/* Keeps the pointer. */
void texts_add(struct texts_builder *texts, struct arena *arena, const char *text);

/* What was added so far. */
struct conf_texts texts_done(const struct texts_builder *texts);

#endif
