/* Lists of texts that grow in an arena. Pure; one thread per list. */
#include "conf/texts.h"

void texts_add(struct texts_builder *texts, struct arena *arena, const char *text)
{
    texts->items = arena_grow(arena, texts->items, texts->n, &texts->room, sizeof(*texts->items));
    texts->items[texts->n++] = text;
}

struct conf_texts texts_done(const struct texts_builder *texts)
{
    return (struct conf_texts){texts->items, texts->n};
}
