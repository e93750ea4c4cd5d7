/* See version_text.h. */
#include "version_text.h"

#include "replica/rows.h"

static int64_t id_of(const struct catalog *catalog, uint32_t number)
{
    return number == NUMBER_NONE ? 0 : catalog_row_at(catalog, number)->id;
}

static void write_catalog(struct buf *out, const char *title, const struct catalog *catalog)
{
    struct ptree_iter iter;
    const struct ptree_entry *entry;
    ptree_seek(&catalog->by_id, 0, 0, &iter);
    for (; (entry = ptree_iter_get(&iter)) != NULL; ptree_iter_next(&iter)) {
        const struct catalog_row *row = catalog_row_at(catalog, (uint32_t)entry->value);
        buf_printf(out, "%s %ld %.*s %ld %ld\n", title, row->id, SLICE_ARG(catalog_name(row)),
                   row->created_at_us, row->updated_at_us);
    }
}

static void write_provider(struct buf *out, const struct version *version,
                           const struct provider *provider)
{
    int64_t parent_id = 0;
    if (provider->parent.v != NUMBER_NONE)
        parent_id = version_provider(version, provider->parent)->id;
    buf_printf(out, "provider %ld %.*s %.*s generation %d at %ld parent %ld root %ld\n",
               provider->id, SLICE_ARG(provider_uuid(provider)), SLICE_ARG(provider_name(provider)),
               provider->generation, provider->modified_at_us, parent_id,
               version_provider(version, provider->root)->id);
    for (uint32_t i = 0; i < provider->inventory_count; i++) {
        const struct provider_inventory *inventory = &provider->inventory[i];
        const struct inventory_figures *figures = &inventory->figures;
        buf_printf(out, "  class %ld: %d %d %d %d %d %a at %ld used %ld\n",
                   id_of(&version->classes, inventory->class_no.v), figures->total,
                   figures->reserved, figures->min_unit, figures->max_unit, figures->step_size,
                   figures->allocation_ratio, inventory->modified_at_us, inventory->used);
    }
    buf_printf(out, "  %.*s %.*s\n", SLICE_ARG(name_set_json(provider->traits)),
               SLICE_ARG(name_set_json(provider->aggregates)));
}

static void write_consumer(struct buf *out, const struct version *version,
                           const struct consumer *consumer)
{
    buf_printf(out, "consumer %ld %.*s project %ld user %ld type %ld generation %d at %ld\n",
               consumer->id, SLICE_ARG(consumer_uuid(consumer)),
               id_of(&version->projects, consumer->project), id_of(&version->users, consumer->user),
               id_of(&version->types, consumer->type), consumer->generation,
               consumer->allocated_at_us);
    for (uint32_t i = 0; i < consumer->allocation_count; i++) {
        const struct consumer_allocation *allocation = &consumer->allocation[i];
        buf_printf(out, "  provider %ld class %ld: %ld\n",
                   version_provider(version, allocation->provider)->id,
                   id_of(&version->classes, allocation->class_no.v), allocation->used);
    }
}

static void write_rows(struct buf *out, const char *title, const struct ptree *rows)
{
    for (int64_t id = 0; (id = rows_next_id(rows, id)) != 0;) {
        const struct record *record = rows_at(rows, id);
        const unsigned char *bytes = (const unsigned char *)record;
        buf_printf(out, "%s %ld ", title, id);
        for (size_t i = 0; i < record->bytes; i++)
            if (bytes[i] >= ' ' && bytes[i] <= '~')
                buf_append_char(out, (char)bytes[i]);
            else if (bytes[i] != 0)
                buf_printf(out, "<%02x>", bytes[i]);
            else
                buf_append_char(out, '.');
        buf_append_char(out, '\n');
    }
}

void version_write_text(const struct version *version, struct buf *out)
{
    struct ptree_iter iter;
    const struct ptree_entry *entry;
    write_catalog(out, "class", &version->classes);
    write_catalog(out, "trait", &version->traits);
    write_catalog(out, "aggregate", &version->aggregates);
    write_catalog(out, "project", &version->projects);
    write_catalog(out, "user", &version->users);
    write_catalog(out, "type", &version->types);
    ptree_seek(&version->provider_by_id, 0, 0, &iter);
    for (; (entry = ptree_iter_get(&iter)) != NULL; ptree_iter_next(&iter))
        write_provider(out, version,
                       version_provider(version, (struct provider_no){(uint32_t)entry->value}));
    ptree_seek(&version->consumers, 0, 0, &iter); /* by a hash that all versions share */
    for (; (entry = ptree_iter_get(&iter)) != NULL; ptree_iter_next(&iter))
        write_consumer(out, version, (const struct consumer *)(uintptr_t)entry->value);
    write_rows(out, "node", &version->nodes);
    write_rows(out, "node allocation", &version->node_allocations);
    for (unsigned i = 0; i < VALET_TABLE_COUNT; i++)
        write_rows(out, "valet", &version->valet[i].rows);
}
