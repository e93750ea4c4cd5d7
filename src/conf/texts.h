/* Lists of texts, constant and growing. */
#ifndef BERTH_CONF_TEXTS_H
#define BERTH_CONF_TEXTS_H

#include <stddef.h>

#include "base/arena.h"

struct conf_texts {
    const char *const *items;
    size_t n;
};

/* Initialised with {0}; its memory belongs to the arena. */
struct texts_builder {
    const char **items;
    size_t n;
    size_t room;
};

/* Stores the pointer; the text is not copied. */
void texts_add(struct texts_builder *texts, struct arena *arena, const char *text);

/* The texts added so far. */
struct conf_texts texts_done(const struct texts_builder *texts);

#endif
