/* See loss_json.h. Rows of nodes may contain the passwords of their machines, so a record is
 * identified, and the fields that differ are named, but no other value is written. Writer
 * thread. */
#include "engine/loss_json.h"

#include "base/json_write.h"
#include "replica/rows.h"

struct writing {
    struct buf *buf;
    const struct version *before;
    const struct version *after;
};

static void write_name(struct buf *buf, const char *name)
{
    buf_printf(buf, ", \"%s\": ", name);
}

/* Without data: null. */
void loss_json_text(struct buf *buf, const char *name, struct slice text)
{
    write_name(buf, name);
    if (text.data == NULL)
        buf_append_lit(buf, "null");
    else
        json_write_string(buf, text);
}

void loss_json_number(struct buf *buf, const char *name, int64_t value)
{
    write_name(buf, name);
    buf_append_int(buf, value);
}

static void write_row_name(struct buf *buf, const char *name, const struct catalog *catalog,
                           uint32_t number)
{
    struct slice none = {NULL, 0};
    loss_json_text(buf, name,
                   number == NUMBER_NONE ? none : catalog_name(catalog_row_at(catalog, number)));
}

static void write_inventories(struct buf *buf, const struct version *version,
                              const struct provider *provider)
{
    write_name(buf, "inventories");
    buf_append_char(buf, '{');
    for (uint32_t i = 0; i < provider->inventory_count; i++) {
        const struct provider_inventory *inventory = &provider->inventory[i];
        const struct inventory_figures *figures = &inventory->figures;
        if (i > 0)
            buf_append_lit(buf, ", ");
        json_write_string(buf,
                          catalog_name(catalog_row_at(&version->classes, inventory->class_no.v)));
        buf_append_lit(buf, ": {\"total\": ");
        buf_append_int(buf, figures->total);
        loss_json_number(buf, "reserved", figures->reserved);
        loss_json_number(buf, "min_unit", figures->min_unit);
        loss_json_number(buf, "max_unit", figures->max_unit);
        loss_json_number(buf, "step_size", figures->step_size);
        write_name(buf, "allocation_ratio");
        json_write_double(buf, figures->allocation_ratio);
        buf_append_char(buf, '}');
    }
    buf_append_char(buf, '}');
}

static void write_provider(struct buf *buf, const struct version *version,
                           const struct provider *provider)
{
    struct slice parent = {NULL, 0};
    if (provider->parent.v != NUMBER_NONE)
        parent = provider_uuid(version_provider(version, provider->parent));
    buf_append_lit(buf, "{\"name\": ");
    json_write_string(buf, provider_name(provider));
    loss_json_text(buf, "parent_provider_uuid", parent);
    loss_json_number(buf, "generation", provider->generation);
    write_inventories(buf, version, provider);
    write_name(buf, "traits");
    buf_append_slice(buf, name_set_json(provider->traits));
    write_name(buf, "aggregates");
    buf_append_slice(buf, name_set_json(provider->aggregates));
    buf_append_char(buf, '}');
}

static void loss_json_consumer(struct buf *buf, const struct version *version,
                               const struct consumer *consumer)
{
    buf_append_lit(buf, "{\"generation\": ");
    buf_append_int(buf, consumer->generation);
    write_row_name(buf, "project_id", &version->projects, consumer->project);
    write_row_name(buf, "user_id", &version->users, consumer->user);
    write_row_name(buf, "consumer_type", &version->types, consumer->type);
    write_name(buf, "allocations");
    buf_append_char(buf, '[');
    for (uint32_t i = 0; i < consumer->allocation_count; i++) {
        const struct consumer_allocation *allocation = &consumer->allocation[i];
        const struct provider *provider = version_provider(version, allocation->provider);
        buf_append_slice(buf, i == 0 ? SLICE_LIT("{\"resource_provider\": ")
                                     : SLICE_LIT(", {\"resource_provider\": "));
        json_write_string(buf, provider_uuid(provider));
        loss_json_text(buf, "name", provider_name(provider));
        write_row_name(buf, "resource_class", &version->classes, allocation->class_no.v);
        loss_json_number(buf, "used", allocation->used);
        buf_append_char(buf, '}');
    }
    buf_append_lit(buf, "]}");
}

/* The uuid of the group or plan to which the row belongs. */
static struct slice json_owner_of(const struct version *version, enum entity entity, int64_t id)
{
    bool is_placement = entity == ENTITY_VALET + VALET_PLACEMENTS;
    const struct record *owner =
        rows_at(&version->valet[is_placement ? VALET_PLANS : VALET_GROUPS].rows, id);
    return owner == NULL ? (struct slice){NULL, 0} : record_text(owner, 0);
}

/* The first fields of every table tell which row it is. */
static void write_identity(struct buf *buf, const struct version *version, enum entity entity,
                           const struct record *record)
{
    static const struct {
        unsigned fields;
        const char *owner; /* what a reference among these fields is called */
    } identities[ENTITY_COUNT] = {
        [ENTITY_NODE] = {2, NULL},
        [ENTITY_NODE_ALLOCATION] = {2, NULL},
        [ENTITY_VALET + VALET_GROUPS] = {2, NULL},
        [ENTITY_VALET + VALET_MEMBERS] = {2, "group_uuid"},
        [ENTITY_VALET + VALET_CLAIMS] = {2, "group_uuid"},
        [ENTITY_VALET + VALET_PLANS] = {4, NULL},
        [ENTITY_VALET + VALET_PLACEMENTS] = {6, "plan_uuid"},
    };
    const struct record_shape *shape = losses_shape(entity);
    for (unsigned i = 0; i < identities[entity].fields; i++) {
        if (shape->fields[i].kind == RECORD_REFERENCE)
            loss_json_text(buf, identities[entity].owner,
                           json_owner_of(version, entity, record_number(record, i)));
        else
            loss_json_text(buf, shape->fields[i].name, record_text(record, i));
    }
}

static void write_differences(struct buf *buf, const struct loss *loss)
{
    const struct record_shape *shape = losses_shape(loss->entity);
    bool is_first = true;
    write_name(buf, "differing_fields");
    buf_append_char(buf, '[');
    for (unsigned i = 0; i < shape->stored; i++) {
        if (!losses_field_differs(shape, loss->had.record, loss->has.record, i))
            continue;
        if (!is_first)
            buf_append_lit(buf, ", ");
        json_write_string(buf, slice_of(shape->fields[i].name));
        is_first = false;
    }
    buf_append_char(buf, ']');
}

static void write_record(struct writing *writing, const struct loss *loss)
{
    bool had = loss->had.record != NULL;
    write_identity(writing->buf, had ? writing->before : writing->after, loss->entity,
                   had ? loss->had.record : loss->has.record);
    if (loss->state == LOSS_CHANGED)
        write_differences(writing->buf, loss);
}

/* Its uuid or name; `had` and `has` follow, if the kind has them. */
static void write_sides(struct writing *writing, const struct loss *loss)
{
    struct buf *buf = writing->buf;
    const struct loss_side *known = loss->state == LOSS_APPEARED ? &loss->has : &loss->had;
    bool is_provider = loss->entity == ENTITY_PROVIDER;
    loss_json_text(buf, "uuid",
                   is_provider ? provider_uuid(known->provider) : consumer_uuid(known->consumer));
    write_name(buf, "had");
    if (loss->state == LOSS_APPEARED)
        buf_append_lit(buf, "null");
    else if (is_provider)
        write_provider(buf, writing->before, loss->had.provider);
    else
        loss_json_consumer(buf, writing->before, loss->had.consumer);
    write_name(buf, "has");
    if (loss->state == LOSS_GONE)
        buf_append_lit(buf, "null");
    else if (is_provider)
        write_provider(buf, writing->after, loss->has.provider);
    else
        loss_json_consumer(buf, writing->after, loss->has.consumer);
}

void loss_json_write(struct buf *buf, const struct loss *loss, const struct version *before,
                     const struct version *after)
{
    struct writing writing = {buf, before, after};
    buf_printf(buf, "{\"kind\": \"%s\", \"state\": \"%s\"", losses_kind_name(loss->entity),
               losses_state_name(loss->state));
    if (loss->entity == ENTITY_PROVIDER || loss->entity == ENTITY_CONSUMER)
        write_sides(&writing, loss);
    else if (loss->entity < ENTITY_PROVIDER)
        loss_json_text(buf, "name",
                       catalog_name(loss->state == LOSS_APPEARED ? loss->has.row : loss->had.row));
    else
        write_record(&writing, loss);
    buf_append_lit(buf, "}\n");
}
