/* A bare metal node: THE table of its fields (bare metal spec, 8.2) and its row.
 *
 * JSON, `fields`, what POST and PATCH accept, sort keys and the columns of berth_nodes are derived
 * from the table. A `struct node` never changes. A draft is a node being edited; until it is
 * packed, other objects own its texts. Pure; any thread. */
#ifndef BERTH_MODEL_NODE_H
#define BERTH_MODEL_NODE_H

#include "model/record.h"

enum node_field {
    /* set by the user */
    NODE_UUID,
    NODE_NAME,
    NODE_DRIVER,
    NODE_DRIVER_INFO,
    NODE_PROPERTIES,
    NODE_EXTRA,
    NODE_INSTANCE_INFO,
    NODE_INSTANCE_UUID,
    NODE_RESOURCE_CLASS,
    NODE_MAINTENANCE,
    NODE_OWNER,
    NODE_LESSEE,
    NODE_DESCRIPTION,
    NODE_CONDUCTOR_GROUP,
    NODE_AUTOMATED_CLEAN,
    NODE_NETWORK_DATA,
    NODE_PROTECTED,
    NODE_PROTECTED_REASON,
    NODE_RETIRED,
    NODE_RETIRED_REASON,
    NODE_SHARD,
    NODE_BIOS_INTERFACE,
    NODE_BOOT_INTERFACE,
    NODE_CONSOLE_INTERFACE,
    NODE_DEPLOY_INTERFACE,
    NODE_INSPECT_INTERFACE,
    NODE_MANAGEMENT_INTERFACE,
    NODE_NETWORK_INTERFACE,
    NODE_POWER_INTERFACE,
    NODE_RAID_INTERFACE,
    NODE_RESCUE_INTERFACE,
    NODE_STORAGE_INTERFACE,
    NODE_VENDOR_INTERFACE,
    /* set by the service */
    NODE_PROVISION_STATE,
    NODE_TARGET_PROVISION_STATE,
    NODE_PROVISION_UPDATED_AT,
    NODE_POWER_STATE,
    NODE_TARGET_POWER_STATE,
    NODE_LAST_ERROR,
    NODE_MAINTENANCE_REASON,
    NODE_FAULT,
    NODE_RESERVATION,
    NODE_TRAITS,
    NODE_DRIVER_INTERNAL_INFO,
    NODE_CLEAN_STEP,
    NODE_DEPLOY_STEP,
    NODE_RAID_CONFIG,
    NODE_TARGET_RAID_CONFIG,
    NODE_INSPECTION_STARTED_AT,
    NODE_INSPECTION_FINISHED_AT,
    NODE_CONSOLE_ENABLED,
    NODE_BOOT_MODE,
    NODE_SECURE_BOOT,
    NODE_CREATED_AT,
    NODE_UPDATED_AT,
    /* used only by the conductor */
    NODE_OWNER_INSTANCE,   /* the process that acts on it */
    NODE_DUE_AT,           /* when the transient state or the power operation ends */
    NODE_PASSING_TO,       /* the provision state that follows */
    NODE_PASSING_POWER,    /* the power state that follows */
    NODE_PASSING_ERROR,    /* the last_error that follows; null: none */
    NODE_PROVIDER_ADOPTED, /* its resource provider existed before the node (spec, C1); null: it has
                            * no resource provider */
    /* The state last mirrored to Placement: the class ("" for no class), the traits and the
     * consumer. Set only where that differs from the row because the mirror has been off since;
     * otherwise null. */
    NODE_MIRRORED_CLASS,
    NODE_MIRRORED_TRAITS,
    NODE_MIRRORED_CONSUMER, /* of an allocation that no longer exists */
    NODE_STORED_COUNT,
    /* derived when the node is shown */
    NODE_ALLOCATION = NODE_STORED_COUNT, /* its uuid: "allocation_uuid" */
    NODE_CHASSIS_UUID,                   /* there is no chassis: always null */
    NODE_CONDUCTOR,
    NODE_LINKS,
    NODE_PORTS,
    NODE_PORTGROUPS,
    NODE_STATES,
    NODE_VOLUME,
    NODE_FIELD_COUNT
};

extern const struct record_shape NODE_SHAPE;

struct node {
    struct record record;
};

struct node_draft {
    int64_t id;
    struct record_value value[NODE_STORED_COUNT];
};

static inline const struct node *node_of(const struct record *record)
{
    return (const struct node *)record;
}

static inline struct slice node_text(const struct node *node, enum node_field field)
{
    return record_text(&node->record, field);
}

static inline bool node_is_null(const struct node *node, enum node_field field)
{
    return record_is_null(&node->record, field);
}

/* Null counts as false. */
static inline bool node_bool(const struct node *node, enum node_field field)
{
    return record_bool(&node->record, field);
}

/* Microseconds since 1970 UTC; 0: null. */
static inline int64_t node_time(const struct node *node, enum node_field field)
{
    return record_number(&node->record, field);
}

/* Whether the field has exactly that text. */
static inline bool node_text_is(const struct node *node, enum node_field field, const char *text)
{
    struct slice has = node_text(node, field);
    return has.data != NULL && slice_equal(has, slice_of(text));
}

/* A draft of a new node: every field has its initial value, `uuid` must still be set. */
struct node_draft node_draft_new(int64_t id);

/* A draft of an existing node, which still owns the texts. */
struct node_draft node_draft_of(const struct node *node);

static inline void node_set_text(struct node_draft *draft, enum node_field field, struct slice text)
{
    draft->value[field].text = text;
}

static inline void node_set_bool(struct node_draft *draft, enum node_field field, bool is_true)
{
    draft->value[field].number = is_true ? RECORD_TRUE : RECORD_FALSE;
}

static inline void node_set_time(struct node_draft *draft, enum node_field field, int64_t us)
{
    draft->value[field].number = us;
}

/* Sets null, or the initial value of a field that cannot be null. */
static inline void node_set_null(struct node_draft *draft, enum node_field field)
{
    draft->value[field] = (struct record_value){{NULL, 0}, RECORD_NULL};
}

const struct node *node_pack(const struct node_draft *draft, struct arena *arena);

static inline size_t node_bytes(const struct node *node)
{
    return node->record.bytes;
}

/* Whether an allocation may take the node according to its own row (spec, 4 and C2): it is
 * available, has no instance, its power state is known and not an error, and it is not in
 * maintenance. Its lock is not considered. */
bool node_is_free(const struct node *node);

#endif
