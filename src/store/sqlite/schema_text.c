/* Upstream's tables and indexes on SQLite, as its migrations leave them, and our two tables.
 * Generated once from a database that the Python service (8.0.0) made; a test compares them again.
 * The texts are SQLAlchemy's rendering, including blanks, so that sqlite_master is the same in our
 * files and in those of the Python service. Constant data. */
#include "store/sqlite/schema_text.h"

#include <stddef.h>

// clang-format off: one line of SQL a line, as SQLAlchemy breaks them
/* In a new database, and as the revision that added consumer types created them. */
#define CREATE_CONSUMER_TYPES                                                                      \
    "CREATE TABLE consumer_types (\n"                                                              \
    "\tcreated_at DATETIME, \n"                                                                    \
    "\tupdated_at DATETIME, \n"                                                                    \
    "\tid INTEGER NOT NULL, \n"                                                                    \
    "\tname VARCHAR(255) NOT NULL, \n"                                                             \
    "\tPRIMARY KEY (id), \n"                                                                       \
    "\tCONSTRAINT uniq_consumer_types0name UNIQUE (name)\n"                                        \
    ")"
#define CONSUMERS_COLUMNS                                                                          \
    "\tcreated_at DATETIME, \n"                                                                    \
    "\tupdated_at DATETIME, \n"                                                                    \
    "\tid INTEGER NOT NULL, \n"                                                                    \
    "\tuuid VARCHAR(36) NOT NULL, \n"                                                              \
    "\tproject_id INTEGER NOT NULL, \n"                                                            \
    "\tuser_id INTEGER NOT NULL, \n"                                                               \
    "\tgeneration INTEGER DEFAULT 0 NOT NULL, \n"                                                  \
    "\tconsumer_type_id INTEGER, \n"                                                               \
    "\tPRIMARY KEY (id), \n"                                                                       \
    "\tCONSTRAINT uniq_consumers0uuid UNIQUE (uuid), \n"                                           \
    "\tCONSTRAINT consumers_consumer_type_id_fkey FOREIGN KEY(consumer_type_id) REFERENCES "       \
    "consumer_types (id)\n"                                                                        \
    ")"
#define CREATE_CONSUMERS_INDEXES                                                                   \
    "CREATE INDEX consumers_project_id_user_id_uuid_idx ON consumers (project_id, user_id, uuid)", \
        "CREATE INDEX consumers_project_id_uuid_idx ON consumers (project_id, uuid)",              \
        "CREATE INDEX consumers_consumer_type_id_idx ON consumers (consumer_type_id)"

static const char *const create_version_table[] = {
    "CREATE TABLE IF NOT EXISTS alembic_version (\n"
    "\tversion_num VARCHAR(32) NOT NULL, \n"
    "\tCONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)\n"
    ")",
    NULL,
};

static const char *const create_newest[] = {
    "CREATE TABLE allocations (\n"
    "\tcreated_at DATETIME, \n"
    "\tupdated_at DATETIME, \n"
    "\tid INTEGER NOT NULL, \n"
    "\tresource_provider_id INTEGER NOT NULL, \n"
    "\tconsumer_id VARCHAR(36) NOT NULL, \n"
    "\tresource_class_id INTEGER NOT NULL, \n"
    "\tused INTEGER NOT NULL, \n"
    "\tPRIMARY KEY (id)\n"
    ")",
    "CREATE INDEX allocations_resource_provider_class_used_idx ON allocations "
    "(resource_provider_id, resource_class_id, used)",
    "CREATE INDEX allocations_resource_class_id_idx ON allocations (resource_class_id)",
    "CREATE INDEX allocations_consumer_id_idx ON allocations (consumer_id)",
    "CREATE TABLE inventories (\n"
    "\tcreated_at DATETIME, \n"
    "\tupdated_at DATETIME, \n"
    "\tid INTEGER NOT NULL, \n"
    "\tresource_provider_id INTEGER NOT NULL, \n"
    "\tresource_class_id INTEGER NOT NULL, \n"
    "\ttotal INTEGER NOT NULL, \n"
    "\treserved INTEGER NOT NULL, \n"
    "\tmin_unit INTEGER NOT NULL, \n"
    "\tmax_unit INTEGER NOT NULL, \n"
    "\tstep_size INTEGER NOT NULL, \n"
    "\tallocation_ratio FLOAT NOT NULL, \n"
    "\tPRIMARY KEY (id), \n"
    "\tCONSTRAINT uniq_inventories0resource_provider_resource_class UNIQUE (resource_provider_id, "
    "resource_class_id)\n"
    ")",
    "CREATE INDEX inventories_resource_class_id_idx ON inventories (resource_class_id)",
    "CREATE TABLE placement_aggregates (\n"
    "\tcreated_at DATETIME, \n"
    "\tupdated_at DATETIME, \n"
    "\tid INTEGER NOT NULL, \n"
    "\tuuid VARCHAR(36), \n"
    "\tPRIMARY KEY (id), \n"
    "\tCONSTRAINT uniq_placement_aggregates0uuid UNIQUE (uuid)\n"
    ")",
    "CREATE TABLE projects (\n"
    "\tcreated_at DATETIME, \n"
    "\tupdated_at DATETIME, \n"
    "\tid INTEGER NOT NULL, \n"
    "\texternal_id VARCHAR(255) NOT NULL, \n"
    "\tPRIMARY KEY (id), \n"
    "\tCONSTRAINT uniq_projects0external_id UNIQUE (external_id)\n"
    ")",
    "CREATE TABLE resource_classes (\n"
    "\tcreated_at DATETIME, \n"
    "\tupdated_at DATETIME, \n"
    "\tid INTEGER NOT NULL, \n"
    "\tname VARCHAR(255) NOT NULL, \n"
    "\tPRIMARY KEY (id), \n"
    "\tCONSTRAINT uniq_resource_classes0name UNIQUE (name)\n"
    ")",
    "CREATE TABLE resource_provider_aggregates (\n"
    "\tcreated_at DATETIME, \n"
    "\tupdated_at DATETIME, \n"
    "\tresource_provider_id INTEGER NOT NULL, \n"
    "\taggregate_id INTEGER NOT NULL, \n"
    "\tPRIMARY KEY (resource_provider_id, aggregate_id)\n"
    ")",
    "CREATE INDEX resource_provider_aggregates_aggregate_id_idx ON resource_provider_aggregates "
    "(aggregate_id)",
    "CREATE TABLE resource_providers (\n"
    "\tcreated_at DATETIME, \n"
    "\tupdated_at DATETIME, \n"
    "\tid INTEGER NOT NULL, \n"
    "\tuuid VARCHAR(36) NOT NULL, \n"
    "\tname VARCHAR(200), \n"
    "\tgeneration INTEGER, \n"
    "\troot_provider_id INTEGER, \n"
    "\tparent_provider_id INTEGER, \n"
    "\tPRIMARY KEY (id), \n"
    "\tFOREIGN KEY(parent_provider_id) REFERENCES resource_providers (id), \n"
    "\tFOREIGN KEY(root_provider_id) REFERENCES resource_providers (id), \n"
    "\tCONSTRAINT uniq_resource_providers0name UNIQUE (name), \n"
    "\tCONSTRAINT uniq_resource_providers0uuid UNIQUE (uuid)\n"
    ")",
    "CREATE INDEX resource_providers_parent_provider_id_idx ON resource_providers "
    "(parent_provider_id)",
    "CREATE INDEX resource_providers_root_provider_id_idx ON resource_providers (root_provider_id)",
    "CREATE TABLE traits (\n"
    "\tcreated_at DATETIME, \n"
    "\tupdated_at DATETIME, \n"
    "\tid INTEGER NOT NULL, \n"
    "\tname VARCHAR(255) NOT NULL, \n"
    "\tPRIMARY KEY (id), \n"
    "\tCONSTRAINT uniq_traits0name UNIQUE (name)\n"
    ")",
    "CREATE TABLE users (\n"
    "\tcreated_at DATETIME, \n"
    "\tupdated_at DATETIME, \n"
    "\tid INTEGER NOT NULL, \n"
    "\texternal_id VARCHAR(255) NOT NULL, \n"
    "\tPRIMARY KEY (id), \n"
    "\tCONSTRAINT uniq_users0external_id UNIQUE (external_id)\n"
    ")",
    "CREATE TABLE resource_provider_traits (\n"
    "\tcreated_at DATETIME, \n"
    "\tupdated_at DATETIME, \n"
    "\ttrait_id INTEGER NOT NULL, \n"
    "\tresource_provider_id INTEGER NOT NULL, \n"
    "\tPRIMARY KEY (trait_id, resource_provider_id), \n"
    "\tFOREIGN KEY(resource_provider_id) REFERENCES resource_providers (id), \n"
    "\tFOREIGN KEY(trait_id) REFERENCES traits (id)\n"
    ")",
    "CREATE INDEX resource_provider_traits_resource_provider_trait_idx ON resource_provider_traits "
    "(resource_provider_id, trait_id)",
    CREATE_CONSUMER_TYPES,
    "CREATE TABLE \"consumers\" (\n" CONSUMERS_COLUMNS,
    CREATE_CONSUMERS_INDEXES,
    NULL,
};

static const char *const add_consumer_types[] = {
    CREATE_CONSUMER_TYPES,
    "CREATE TABLE _alembic_tmp_consumers (\n" CONSUMERS_COLUMNS,
    "INSERT INTO _alembic_tmp_consumers (created_at, updated_at, id, uuid, project_id, user_id, "
    "generation)"
    " SELECT created_at, updated_at, id, uuid, project_id, user_id, generation FROM consumers",
    "DROP TABLE consumers",
    "ALTER TABLE _alembic_tmp_consumers RENAME TO consumers",
    CREATE_CONSUMERS_INDEXES,
    NULL,
};

static const char *const drop_indexes[] = {
    "DROP INDEX IF EXISTS inventories_resource_provider_id_idx",
    "DROP INDEX IF EXISTS inventories_resource_provider_resource_class_idx",
    "DROP INDEX IF EXISTS ix_placement_aggregates_uuid",
    "DROP INDEX IF EXISTS resource_providers_name_idx",
    "DROP INDEX IF EXISTS resource_providers_uuid_idx",
    NULL,
};

static const char *const restore_indexes[] = {
    "CREATE INDEX IF NOT EXISTS inventories_resource_provider_id_idx ON inventories "
    "(resource_provider_id)",
    "CREATE INDEX IF NOT EXISTS inventories_resource_provider_resource_class_idx ON inventories "
    "(resource_provider_id, resource_class_id)",
    "CREATE INDEX IF NOT EXISTS ix_placement_aggregates_uuid ON placement_aggregates (uuid)",
    "CREATE INDEX IF NOT EXISTS resource_providers_name_idx ON resource_providers (name)",
    "CREATE INDEX IF NOT EXISTS resource_providers_uuid_idx ON resource_providers (uuid)",
    NULL,
};

/* berth_head.seq is the last row of berth_log. berth_log: one row per committed batch; `mark` finds
 * a batch whose commit failed half-way, `entities` names the entities it changed (log.h),
 * `change` is the wal-index's count of commits after it (NULL: not known). */
const char *const sqlite_create_ours[] = {
    "CREATE TABLE IF NOT EXISTS berth_head (id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT "
    "NULL)",
    "INSERT OR IGNORE INTO berth_head (id, seq) VALUES (1, 0)",
    "CREATE TABLE IF NOT EXISTS berth_log ("
    " seq INTEGER PRIMARY KEY, mark BLOB NOT NULL, created_at DATETIME NOT NULL,"
    " change INTEGER, entities BLOB NOT NULL)",
    NULL,
};
// clang-format on

const struct migration_texts sqlite_migration_texts = {
    .create_version_table = create_version_table,
    .create_newest = create_newest,
    .add_consumer_types = add_consumer_types,
    .drop_indexes = drop_indexes,
    .restore_indexes = restore_indexes,
    .count_version_tables = "SELECT count(*) FROM sqlite_master WHERE name = 'alembic_version'",
    .count_upstream_tables = "SELECT count(*) FROM sqlite_master WHERE type = 'table'"
                             " AND name IN ('resource_providers', 'allocations', 'consumers')",
};
