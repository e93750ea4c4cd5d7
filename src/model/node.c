/* The table of a node's fields, and what can be derived from its row alone. Constant data; pure. */
#include "model/node.h"

#include "base/arena.h"

// clang-format off: a table
enum {
    POST = RECORD_IN_POST,
    PATCH = RECORD_IN_PATCH,
    USER = RECORD_IN_POST | RECORD_IN_PATCH,
    SORT = RECORD_SORTABLE,
    NULLABLE = RECORD_NULLABLE,
    INTERNAL = RECORD_INTERNAL,
};

#define FIELD(at, text, minor, what, with, value, limit)                                           \
    [NODE_##at] = {.name = (text),                                                                 \
                   .since = (minor),                                                               \
                   .kind = RECORD_##what,                                                          \
                   .flags = (with),                                                                \
                   .initial = (value),                                                             \
                   .max_chars = (limit)}
#define INTERFACE(at, text, minor, value) FIELD(at, text, minor, TEXT, USER | SORT, value, 255)

static const struct record_field node_fields[NODE_FIELD_COUNT] = {
    FIELD(UUID, "uuid", 1, TEXT, POST | SORT | RECORD_UNIQUE | RECORD_IS_UUID, NULL, 36),
    FIELD(NAME, "name", 5, TEXT, USER | SORT | NULLABLE | RECORD_UNIQUE, NULL, 255),
    FIELD(DRIVER, "driver", 1, TEXT, USER | SORT | RECORD_REQUIRED, "fake-hardware", 255),
    FIELD(DRIVER_INFO, "driver_info", 1, JSON, USER | RECORD_SECRET, "{}", 0),
    FIELD(PROPERTIES, "properties", 1, JSON, USER, "{}", 0),
    FIELD(EXTRA, "extra", 1, JSON, USER, "{}", 0),
    FIELD(INSTANCE_INFO, "instance_info", 1, JSON, USER | RECORD_SECRET, "{}", 0),
    FIELD(INSTANCE_UUID, "instance_uuid", 1, TEXT,
          USER | SORT | NULLABLE | RECORD_UNIQUE | RECORD_IS_UUID, NULL, 36),
    FIELD(RESOURCE_CLASS, "resource_class", 21, TEXT, USER | SORT | NULLABLE, NULL, 80),
    FIELD(MAINTENANCE, "maintenance", 1, BOOL, USER | SORT, "false", 0),
    FIELD(OWNER, "owner", 50, TEXT, USER | SORT | NULLABLE, NULL, 255),
    FIELD(LESSEE, "lessee", 65, TEXT, USER | SORT | NULLABLE, NULL, 255),
    FIELD(DESCRIPTION, "description", 51, TEXT, USER | SORT | NULLABLE, NULL, 4096),
    FIELD(CONDUCTOR_GROUP, "conductor_group", 46, TEXT, USER | SORT, "", 255),
    FIELD(AUTOMATED_CLEAN, "automated_clean", 47, BOOL, USER | SORT | NULLABLE, NULL, 0),
    FIELD(NETWORK_DATA, "network_data", 66, JSON, USER, "{}", 0),
    FIELD(PROTECTED, "protected", 48, BOOL, PATCH | SORT, "false", 0),
    FIELD(PROTECTED_REASON, "protected_reason", 48, TEXT, PATCH | SORT | NULLABLE, NULL, 0),
    FIELD(RETIRED, "retired", 61, BOOL, USER | SORT, "false", 0),
    FIELD(RETIRED_REASON, "retired_reason", 61, TEXT, USER | SORT | NULLABLE, NULL, 0),
    FIELD(SHARD, "shard", 82, TEXT, USER | SORT | NULLABLE, NULL, 255),
    INTERFACE(BIOS_INTERFACE, "bios_interface", 40, "fake"),
    INTERFACE(BOOT_INTERFACE, "boot_interface", 31, "fake"),
    INTERFACE(CONSOLE_INTERFACE, "console_interface", 31, "fake"),
    INTERFACE(DEPLOY_INTERFACE, "deploy_interface", 31, "fake"),
    INTERFACE(INSPECT_INTERFACE, "inspect_interface", 31, "fake"),
    INTERFACE(MANAGEMENT_INTERFACE, "management_interface", 31, "fake"),
    INTERFACE(NETWORK_INTERFACE, "network_interface", 20, "noop"),
    INTERFACE(POWER_INTERFACE, "power_interface", 31, "fake"),
    INTERFACE(RAID_INTERFACE, "raid_interface", 31, "fake"),
    INTERFACE(RESCUE_INTERFACE, "rescue_interface", 38, "fake"),
    INTERFACE(STORAGE_INTERFACE, "storage_interface", 33, "noop"),
    INTERFACE(VENDOR_INTERFACE, "vendor_interface", 31, "fake"),

    FIELD(PROVISION_STATE, "provision_state", 1, TEXT, SORT, "enroll", 0),
    FIELD(TARGET_PROVISION_STATE, "target_provision_state", 1, TEXT, SORT | NULLABLE, NULL, 0),
    FIELD(PROVISION_UPDATED_AT, "provision_updated_at", 1, TIME, SORT, NULL, 0),
    FIELD(POWER_STATE, "power_state", 1, TEXT, SORT | NULLABLE, NULL, 0),
    FIELD(TARGET_POWER_STATE, "target_power_state", 1, TEXT, SORT | NULLABLE, NULL, 0),
    FIELD(LAST_ERROR, "last_error", 1, TEXT, SORT | NULLABLE, NULL, 0),
    FIELD(MAINTENANCE_REASON, "maintenance_reason", 1, TEXT, SORT | NULLABLE, NULL, 0),
    FIELD(FAULT, "fault", 42, TEXT, SORT | NULLABLE, NULL, 0),
    FIELD(RESERVATION, "reservation", 1, TEXT, SORT | NULLABLE, NULL, 0),
    FIELD(TRAITS, "traits", 37, WORDS, RECORD_SORTED, "", 0),
    FIELD(DRIVER_INTERNAL_INFO, "driver_internal_info", 3, JSON, 0, "{}", 0),
    FIELD(CLEAN_STEP, "clean_step", 7, JSON, 0, "{}", 0),
    FIELD(DEPLOY_STEP, "deploy_step", 44, JSON, 0, "{}", 0),
    FIELD(RAID_CONFIG, "raid_config", 12, JSON, 0, "{}", 0),
    FIELD(TARGET_RAID_CONFIG, "target_raid_config", 12, JSON, 0, "{}", 0),
    FIELD(INSPECTION_STARTED_AT, "inspection_started_at", 6, TIME, SORT, NULL, 0),
    FIELD(INSPECTION_FINISHED_AT, "inspection_finished_at", 6, TIME, SORT, NULL, 0),
    FIELD(CONSOLE_ENABLED, "console_enabled", 1, BOOL, SORT, "false", 0),
    FIELD(BOOT_MODE, "boot_mode", 75, TEXT, SORT | NULLABLE, NULL, 0),
    FIELD(SECURE_BOOT, "secure_boot", 75, BOOL, SORT | NULLABLE, NULL, 0),
    FIELD(CREATED_AT, "created_at", 1, TIME, SORT, NULL, 0),
    FIELD(UPDATED_AT, "updated_at", 1, TIME, SORT, NULL, 0),

    FIELD(OWNER_INSTANCE, "owner_instance", 1, TEXT, INTERNAL | NULLABLE, NULL, 0),
    FIELD(DUE_AT, "due_at", 1, TIME, INTERNAL, NULL, 0),
    FIELD(PASSING_TO, "passing_to", 1, TEXT, INTERNAL | NULLABLE, NULL, 0),
    FIELD(PASSING_POWER, "passing_power", 1, TEXT, INTERNAL | NULLABLE, NULL, 0),
    FIELD(PASSING_ERROR, "passing_error", 1, TEXT, INTERNAL | NULLABLE, NULL, 0),
    FIELD(PROVIDER_ADOPTED, "provider_adopted", 1, BOOL, INTERNAL | NULLABLE, NULL, 0),
    FIELD(MIRRORED_CLASS, "mirrored_class", 1, TEXT, INTERNAL | NULLABLE, NULL, 0),
    FIELD(MIRRORED_TRAITS, "mirrored_traits", 1, TEXT, INTERNAL | NULLABLE, NULL, 0),
    FIELD(MIRRORED_CONSUMER, "mirrored_consumer", 1, TEXT, INTERNAL | NULLABLE, NULL, 0),

    FIELD(ALLOCATION, "allocation_uuid", 52, DERIVED, 0, NULL, 0),
    FIELD(CHASSIS_UUID, "chassis_uuid", 1, DERIVED, USER, NULL, 0),
    FIELD(CONDUCTOR, "conductor", 49, DERIVED, 0, NULL, 0),
    FIELD(LINKS, "links", 1, DERIVED, 0, NULL, 0),
    FIELD(PORTS, "ports", 1, DERIVED, 0, NULL, 0),
    FIELD(PORTGROUPS, "portgroups", 24, DERIVED, 0, NULL, 0),
    FIELD(STATES, "states", 14, DERIVED, 0, NULL, 0),
    FIELD(VOLUME, "volume", 32, DERIVED, 0, NULL, 0),
};
// clang-format on

const struct record_shape NODE_SHAPE = {node_fields, NODE_FIELD_COUNT, NODE_STORED_COUNT};

struct node_draft node_draft_new(int64_t id)
{
    struct node_draft draft = {.id = id};
    record_init(&NODE_SHAPE, draft.value);
    return draft;
}

struct node_draft node_draft_of(const struct node *node)
{
    struct node_draft draft = {.id = node->record.id};
    record_open(&NODE_SHAPE, &node->record, draft.value);
    return draft;
}

const struct node *node_pack(const struct node_draft *draft, struct arena *arena)
{
    check(draft->value[NODE_UUID].text.len > 0);
    return node_of(record_pack(&NODE_SHAPE, draft->id, draft->value, arena));
}

bool node_is_free(const struct node *node)
{
    return node_text_is(node, NODE_PROVISION_STATE, "available") &&
           node_is_null(node, NODE_INSTANCE_UUID) && !node_is_null(node, NODE_POWER_STATE) &&
           !node_text_is(node, NODE_POWER_STATE, "error") && !node_bool(node, NODE_MAINTENANCE);
}
