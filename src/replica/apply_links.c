/* Changes of the links between providers and traits or aggregates.
 *
 * Links come row by row but are interned as whole sets (name_set.h): those of one provider are
 * gathered, and applied at the next change of another provider, another kind of link or any other
 * kind (apply_links_flush). The slot sets are updated at once. Writer only. */
#include <stdlib.h>

#include "replica/apply_internal.h"
#include "replica/markers.h"

/* Adds the provider to the markers of its aggregates, or removes it. */
static void put_markers(struct edit *edit, const struct provider *provider, bool is_one)
{
    struct version *version = edit->version;
    const struct name_set *aggregates = provider->aggregates;
    for (uint32_t i = 0; i < aggregates->count; i++) {
        if (is_one)
            ptree_set(&edit->cow, &version->markers, aggregates->numbers[i], provider->no.v, 0);
        else
            ptree_remove(&edit->cow, &version->markers, aggregates->numbers[i], provider->no.v);
    }
}

/* A provider is a marker only with both sets, because a new one gets them one after the other. */
static bool is_marker(const struct edit *edit, const struct provider *provider)
{
    return provider->traits != NULL && provider->aggregates != NULL &&
           marker_has_traits(edit->version, provider->traits);
}

void apply_links_set(struct edit *edit, struct provider *provider, bool is_traits,
                     uint32_t *numbers, uint32_t count)
{
    struct version *version = edit->version;
    struct name_sets *sets = is_traits ? &version->trait_sets : &version->aggregate_sets;
    const struct catalog *catalog = is_traits ? &version->traits : &version->aggregates;
    const struct name_set **at = is_traits ? &provider->traits : &provider->aggregates;
    const struct name_set *before = *at;
    if (is_marker(edit, provider))
        put_markers(edit, provider, false);
    *at = name_sets_take(&edit->cow, sets, catalog, numbers, count);
    if (is_marker(edit, provider))
        put_markers(edit, provider, true);
    if (before != NULL)
        name_sets_release(&edit->cow, sets, before);
}

static void links_append(struct edit_links *links, uint32_t number)
{
    if (number >= links->at_capacity) {
        uint32_t capacity = number < 512 ? 1024 : number * 2;
        uint32_t *at = realloc(links->at, capacity * sizeof(*at));
        check(at != NULL);
        memset(at + links->at_capacity, 0, (capacity - links->at_capacity) * sizeof(*at));
        links->at = at;
        links->at_capacity = capacity;
    }
    if (links->at[number] != 0)
        return;
    if (links->count == links->capacity) {
        uint32_t capacity = links->capacity == 0 ? 64 : links->capacity * 2;
        uint32_t *numbers = realloc(links->numbers, capacity * sizeof(*numbers));
        check(numbers != NULL);
        links->numbers = numbers;
        links->capacity = capacity;
    }
    links->numbers[links->count++] = number;
    links->at[number] = links->count;
}

static void links_begin(struct edit *edit, struct provider_no no, bool is_traits)
{
    struct edit_links *links = &edit->links;
    if (links->active && links->provider.v == no.v && links->is_traits == is_traits)
        return;
    apply_links_flush(edit);
    const struct provider *provider = version_provider(edit->version, no);
    const struct name_set *set = is_traits ? provider->traits : provider->aggregates;
    links->active = true;
    links->is_traits = is_traits;
    links->provider = no;
    for (uint32_t i = 0; i < links->count; i++)
        links->at[links->numbers[i]] = 0;
    links->count = 0;
    for (uint32_t i = 0; i < set->count; i++)
        links_append(links, set->numbers[i]);
}

static void links_remove(struct edit_links *links, uint32_t number)
{
    uint32_t at = number < links->at_capacity ? links->at[number] : 0;
    if (at == 0)
        return;
    uint32_t last = links->numbers[--links->count];
    links->numbers[at - 1] = last;
    links->at[last] = at;
    links->at[number] = 0;
}

void apply_links_flush(struct edit *edit)
{
    struct edit_links *links = &edit->links;
    if (!links->active)
        return;
    links->active = false;
    apply_links_set(edit, edit_own_provider(edit, links->provider), links->is_traits,
                    links->numbers, links->count);
}

void apply_link_change(struct edit *edit, const struct change *change)
{
    enum change_kind kind = change->kind;
    bool is_traits = kind == CHANGE_PROVIDER_TRAIT_INSERT || kind == CHANGE_PROVIDER_TRAIT_DELETE;
    bool is_insert =
        kind == CHANGE_PROVIDER_TRAIT_INSERT || kind == CHANGE_PROVIDER_AGGREGATE_INSERT;
    check(is_traits || is_insert || kind == CHANGE_PROVIDER_AGGREGATE_DELETE);
    struct provider_no no = apply_provider_no(edit, change->link.provider_id);
    struct catalog *catalog = is_traits ? &edit->version->traits : &edit->version->aggregates;
    const struct catalog_row *row = catalog_find_id(catalog, change->link.other_id);
    check(row != NULL);
    links_begin(edit, no, is_traits);
    struct slotset *slots = catalog_own_slots(&edit->cow, catalog, row->number);
    if (is_insert) {
        links_append(&edit->links, row->number);
        slotset_add(&edit->cow, slots, version_slot(edit->version, no));
    } else {
        links_remove(&edit->links, row->number);
        slotset_remove(&edit->cow, slots, version_slot(edit->version, no));
    }
}
