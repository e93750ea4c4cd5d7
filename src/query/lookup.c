/* Resolves names to slot sets. Pure; any thread, on a pinned version. */
#include "query/lookup.h"

#include "base/buf.h"

static const struct slotset *slots_of(const struct catalog *catalog, struct slice name)
{
    const struct catalog_row *row = catalog_find(catalog, name);
    return row == NULL ? NULL : &catalog_at(catalog, row->number)->slots;
}

bool lookup_traits(const struct version *version, struct arena *arena, const struct ac_names *names,
                   const struct slotset ***sets)
{
    *sets = arena_array(arena, names->count, sizeof(**sets));
    for (uint32_t i = 0; i < names->count; i++) {
        (*sets)[i] = slots_of(&version->traits, names->names[i]);
        if ((*sets)[i] == NULL)
            return false;
    }
    return true;
}

struct slice lookup_missing_traits(const struct version *version, struct arena *arena,
                                   const struct ac_names *names, bool one)
{
    struct buf text = {0};
    uint32_t count = 0;
    buf_append_lit(&text, "No such trait(s): ");
    for (uint32_t i = 0; i < names->count; i++) {
        if (slots_of(&version->traits, names->names[i]) != NULL || (one && count > 0))
            continue;
        if (count++ > 0)
            buf_append_lit(&text, ", ");
        buf_append_slice(&text, names->names[i]);
    }
    buf_append_char(&text, '.');
    struct slice result = arena_copy(arena, buf_slice(&text));
    buf_free(&text);
    return result;
}

uint32_t lookup_aggregates(const struct version *version, struct arena *arena,
                           const struct ac_names *names, const struct slotset ***sets)
{
    uint32_t count = 0;
    *sets = arena_array(arena, names->count, sizeof(**sets));
    for (uint32_t i = 0; i < names->count; i++) {
        const struct slotset *set = slots_of(&version->aggregates, names->names[i]);
        if (set != NULL)
            (*sets)[count++] = set;
    }
    return count;
}

void lookup_group_aggregates(const struct version *version, struct arena *arena,
                             const struct ac_group *group, struct fit_filter *filter)
{
    struct fit_any *any = arena_array(arena, group->member_of_count, sizeof(*any));
    for (uint32_t i = 0; i < group->member_of_count; i++)
        any[i].count = lookup_aggregates(version, arena, &group->member_of[i], &any[i].sets);
    filter->any = any;
    filter->any_count = group->member_of_count;
    filter->none_count =
        lookup_aggregates(version, arena, &group->forbidden_aggregates, &filter->none);
}
