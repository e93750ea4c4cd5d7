/* The end of a comparison: finds entities whose rows have not, or not all, come. Writer thread. */
#include "replica/compare.h"
#include "replica/compare_internal.h"

static void end_catalog(struct comparison *comparison, enum entity entity)
{
    const struct catalog *catalog = compare_catalog_of(comparison->version, entity);
    if (comparison->catalogs[entity].count == catalog->by_id.count)
        return;
    for (uint32_t number = 0; number < catalog->limit; number++) {
        const struct catalog_row *row = catalog_row_at(catalog, number);
        if (row != NULL && comparison->catalogs[entity].seen[number] == NOT_SEEN)
            compare_note(comparison,
                         (struct difference){
                             .entity = entity, .id = row->id, .is_known = true, .is_gone = true});
    }
}

static void end_provider(struct comparison *comparison, const struct provider *provider)
{
    const struct provider_seen *seen = &comparison->providers[provider->no.v];
    bool has_contents = seen->has_contents || seen->inventories != provider->inventory_count ||
                        seen->traits != provider->traits->count ||
                        seen->aggregates != provider->aggregates->count;
    if (seen->has_come && !seen->has_other_row && !has_contents)
        return;
    compare_note(comparison, (struct difference){
                                 .entity = ENTITY_PROVIDER,
                                 .id = provider->id,
                                 .is_known = true,
                                 .is_gone = !seen->has_come,
                                 .has_moved = seen->has_moved,
                                 .has_contents = has_contents,
                             });
}

/* In descending order of slots, so that in each tree children come before their parents. */
static void end_providers(struct comparison *comparison)
{
    const struct version *version = comparison->version;
    for (uint32_t slot = version->slot_limit; slot-- > 0 && !comparison->is_over;) {
        const struct place *place = version_place(version, (struct slot_no){slot});
        if (place != NULL && place->provider != NULL)
            end_provider(comparison, place->provider);
    }
}

static bool has_all_allocations(const struct consumer_seen *seen)
{
    return seen->allocations == seen->consumer->allocation_count &&
           (seen->has_newest || seen->consumer->allocated_at_us == 0);
}

static void note_missing_consumers(struct comparison *comparison)
{
    struct ptree_iter iter;
    ptree_seek(&comparison->version->consumers, 0, 0, &iter);
    const struct ptree_entry *entry;
    for (; (entry = ptree_iter_get(&iter)) != NULL; ptree_iter_next(&iter)) {
        const struct consumer *consumer = (const struct consumer *)(uintptr_t)entry->value;
        const struct consumer_seen *seen = compare_find_consumer(comparison, consumer->id);
        if (seen == NULL || seen->consumer != consumer)
            compare_note(comparison, (struct difference){.entity = ENTITY_CONSUMER,
                                                         .id = consumer->id,
                                                         .is_known = true,
                                                         .is_gone = true,
                                                         .uuid = consumer_uuid(consumer)});
    }
}

static void end_consumers(struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->consumer_count; i++) {
        const struct consumer_seen *seen = &comparison->consumers[i];
        if (seen->consumer == NULL)
            compare_note(comparison,
                         (struct difference){.entity = ENTITY_CONSUMER, .id = seen->id});
        else if (seen->differs || !has_all_allocations(seen))
            compare_note(comparison, (struct difference){.entity = ENTITY_CONSUMER,
                                                         .id = seen->id,
                                                         .is_known = true,
                                                         .uuid = consumer_uuid(seen->consumer)});
    }
    if (comparison->consumers_known != comparison->version->consumers.count)
        note_missing_consumers(comparison);
}

const struct differences *compare_end(struct comparison *comparison)
{
    for (enum entity entity = 0; entity < ENTITY_PROVIDER; entity++)
        end_catalog(comparison, entity);
    end_providers(comparison);
    end_consumers(comparison);
    for (enum entity entity = ENTITY_NODE; entity < ENTITY_COUNT; entity++)
        compare_skip_records(comparison, entity, INT64_MAX);
    return comparison->is_over ? NULL : &comparison->differences;
}
