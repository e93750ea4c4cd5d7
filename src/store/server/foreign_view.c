/* See foreign_view.h. Pure; any thread. */
#include "store/server/foreign_view.h"

#include <stdlib.h>

#include "store/cell.h"
#include "store/reread.h"

void foreign_view_free(struct foreign_view *view)
{
    free(view->text);
    *view = (struct foreign_view){0};
}

void foreign_view_copy(struct foreign_view *to, const struct foreign_view *from)
{
    char *text = from->text == NULL ? NULL : slice_dup(slice_of(from->text));
    free(to->text);
    *to = *from;
    to->text = text;
}

bool foreign_view_set(struct foreign_view *view, char *text, const struct server_id *server)
{
    if (text == NULL)
        return false;
    free(view->text);
    view->text = text;
    view->server = *server;
    return true;
}

void foreign_notes_free(struct foreign_notes *notes)
{
    free(notes->view);
    log_entries_free(&notes->entries);
    *notes = (struct foreign_notes){0};
}

static const char *const entities[ENTITY_NODE] = {
    [ENTITY_CLASS] = "class",         [ENTITY_TRAIT] = "trait",
    [ENTITY_AGGREGATE] = "aggregate", [ENTITY_PROJECT] = "project",
    [ENTITY_USER] = "user",           [ENTITY_CONSUMER_TYPE] = "consumer type",
    [ENTITY_PROVIDER] = "provider",   [ENTITY_CONSUMER] = "consumer",
};

static enum entity entity_named(struct slice name)
{
    for (int entity = 0; entity < ENTITY_NODE; entity++)
        if (slice_equal(name, slice_of(entities[entity])))
            return (enum entity)entity;
    return ENTITY_COUNT;
}

/* A consumer whose uuid is none is invisible. */
static bool is_visible(struct slice uuid)
{
    return uuid.len <= sizeof(((struct log_entry *)NULL)->uuid) && cell_is_uuid(uuid);
}

void foreign_notes_add(struct foreign_notes *notes, struct slice name, int64_t id,
                       struct slice uuid)
{
    enum entity entity = entity_named(name);
    notes->count++;
    notes->is_everything |= entity == ENTITY_COUNT || notes->count > FOREIGN_ROWS_MOST;
    if (entity == ENTITY_COUNT || id == 0 || (entity == ENTITY_CONSUMER && !is_visible(uuid)))
        return;
    const struct log_entry entry =
        reread_entry(entity, id, entity == ENTITY_CONSUMER ? uuid : (struct slice){0});
    log_entries_push(&notes->entries, &entry);
}
