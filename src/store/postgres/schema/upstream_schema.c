/* Upstream's tables and indexes on PostgreSQL as its migrations leave them. A test compares what
 * pg_dump shows of them with a database of the Python service (8.0.0). The server gives the names
 * that are missing here: TABLE_id_seq, TABLE_pkey, TABLE_COLUMN_fkey. Constant data. */
#include "store/postgres/schema/upstream_schema.h"

#include <stddef.h>

// clang-format off: one line of SQL a line
#define TIMES "created_at TIMESTAMP WITHOUT TIME ZONE, updated_at TIMESTAMP WITHOUT TIME ZONE, "
#define ID    "id SERIAL NOT NULL, "
#define CREATE_CONSUMER_TYPES                                                                      \
    "CREATE TABLE consumer_types (" TIMES ID "name VARCHAR(255) NOT NULL, "                        \
    "PRIMARY KEY (id), CONSTRAINT uniq_consumer_types0name UNIQUE (name))"
/* The foreign key comes with its own statement, as a table that has rows gets it. */
#define ADD_TYPE_OF_CONSUMERS                                                                      \
    "ALTER TABLE consumers ADD COLUMN consumer_type_id INTEGER",                                   \
        "ALTER TABLE consumers ADD CONSTRAINT consumers_consumer_type_id_fkey"                     \
        " FOREIGN KEY (consumer_type_id) REFERENCES consumer_types (id)",                          \
        "CREATE INDEX consumers_consumer_type_id_idx ON consumers (consumer_type_id)"

static const char *const create_version_table[] = {
    "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL,"
    " CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))",
    NULL,
};

static const char *const create_newest[] = {
    "CREATE TABLE allocations (" TIMES ID
    "resource_provider_id INTEGER NOT NULL, consumer_id VARCHAR(36) NOT NULL,"
    " resource_class_id INTEGER NOT NULL, used INTEGER NOT NULL, "
    "PRIMARY KEY (id))",
    "CREATE INDEX allocations_resource_provider_class_used_idx ON allocations"
    " (resource_provider_id, resource_class_id, used)",
    "CREATE INDEX allocations_resource_class_id_idx ON allocations (resource_class_id)",
    "CREATE INDEX allocations_consumer_id_idx ON allocations (consumer_id)",
    "CREATE TABLE consumers (" TIMES ID
    "uuid VARCHAR(36) NOT NULL, project_id INTEGER NOT NULL, user_id INTEGER NOT NULL,"
    " generation INTEGER DEFAULT 0 NOT NULL, "
    "PRIMARY KEY (id), CONSTRAINT uniq_consumers0uuid UNIQUE (uuid))",
    "CREATE INDEX consumers_project_id_user_id_uuid_idx ON consumers (project_id, user_id, uuid)",
    "CREATE INDEX consumers_project_id_uuid_idx ON consumers (project_id, uuid)",
    "CREATE TABLE inventories (" TIMES ID
    "resource_provider_id INTEGER NOT NULL, resource_class_id INTEGER NOT NULL,"
    " total INTEGER NOT NULL, reserved INTEGER NOT NULL, min_unit INTEGER NOT NULL,"
    " max_unit INTEGER NOT NULL, step_size INTEGER NOT NULL, allocation_ratio FLOAT NOT NULL, "
    "PRIMARY KEY (id), CONSTRAINT uniq_inventories0resource_provider_resource_class"
    " UNIQUE (resource_provider_id, resource_class_id))",
    "CREATE INDEX inventories_resource_class_id_idx ON inventories (resource_class_id)",
    "CREATE TABLE placement_aggregates (" TIMES ID "uuid VARCHAR(36), "
    "PRIMARY KEY (id), CONSTRAINT uniq_placement_aggregates0uuid UNIQUE (uuid))",
    "CREATE TABLE projects (" TIMES ID "external_id VARCHAR(255) NOT NULL, "
    "PRIMARY KEY (id), CONSTRAINT uniq_projects0external_id UNIQUE (external_id))",
    "CREATE TABLE resource_classes (" TIMES ID "name VARCHAR(255) NOT NULL, "
    "PRIMARY KEY (id), CONSTRAINT uniq_resource_classes0name UNIQUE (name))",
    "CREATE TABLE resource_provider_aggregates (" TIMES
    "resource_provider_id INTEGER NOT NULL, aggregate_id INTEGER NOT NULL, "
    "PRIMARY KEY (resource_provider_id, aggregate_id))",
    "CREATE INDEX resource_provider_aggregates_aggregate_id_idx"
    " ON resource_provider_aggregates (aggregate_id)",
    "CREATE TABLE resource_providers (" TIMES ID
    "uuid VARCHAR(36) NOT NULL, name VARCHAR(200), generation INTEGER,"
    " root_provider_id INTEGER, parent_provider_id INTEGER, "
    "PRIMARY KEY (id), "
    "FOREIGN KEY (parent_provider_id) REFERENCES resource_providers (id), "
    "FOREIGN KEY (root_provider_id) REFERENCES resource_providers (id), "
    "CONSTRAINT uniq_resource_providers0name UNIQUE (name), "
    "CONSTRAINT uniq_resource_providers0uuid UNIQUE (uuid))",
    "CREATE INDEX resource_providers_parent_provider_id_idx"
    " ON resource_providers (parent_provider_id)",
    "CREATE INDEX resource_providers_root_provider_id_idx ON resource_providers (root_provider_id)",
    "CREATE TABLE traits (" TIMES ID "name VARCHAR(255) NOT NULL, "
    "PRIMARY KEY (id), CONSTRAINT uniq_traits0name UNIQUE (name))",
    "CREATE TABLE users (" TIMES ID "external_id VARCHAR(255) NOT NULL, "
    "PRIMARY KEY (id), CONSTRAINT uniq_users0external_id UNIQUE (external_id))",
    "CREATE TABLE resource_provider_traits (" TIMES
    "trait_id INTEGER NOT NULL, resource_provider_id INTEGER NOT NULL, "
    "PRIMARY KEY (trait_id, resource_provider_id), "
    "FOREIGN KEY (resource_provider_id) REFERENCES resource_providers (id), "
    "FOREIGN KEY (trait_id) REFERENCES traits (id))",
    "CREATE INDEX resource_provider_traits_resource_provider_trait_idx"
    " ON resource_provider_traits (resource_provider_id, trait_id)",
    CREATE_CONSUMER_TYPES,
    ADD_TYPE_OF_CONSUMERS,
    NULL,
};

static const char *const add_consumer_types[] = {
    CREATE_CONSUMER_TYPES,
    ADD_TYPE_OF_CONSUMERS,
    NULL,
};

static const char *const drop_indexes[] = {
    "DROP INDEX IF EXISTS inventories_resource_provider_id_idx,"
    " inventories_resource_provider_resource_class_idx, ix_placement_aggregates_uuid,"
    " resource_providers_name_idx, resource_providers_uuid_idx",
    NULL,
};

static const char *const restore_indexes[] = {
    "CREATE INDEX IF NOT EXISTS inventories_resource_provider_id_idx"
    " ON inventories (resource_provider_id)",
    "CREATE INDEX IF NOT EXISTS inventories_resource_provider_resource_class_idx"
    " ON inventories (resource_provider_id, resource_class_id)",
    "CREATE INDEX IF NOT EXISTS ix_placement_aggregates_uuid ON placement_aggregates (uuid)",
    "CREATE INDEX IF NOT EXISTS resource_providers_name_idx ON resource_providers (name)",
    "CREATE INDEX IF NOT EXISTS resource_providers_uuid_idx ON resource_providers (uuid)",
    NULL,
};
// clang-format on

/* Tables are those that an unqualified name finds along the search_path, as for SQLAlchemy. */
const struct migration_texts pg_migration_texts = {
    .create_version_table = create_version_table,
    .create_newest = create_newest,
    .add_consumer_types = add_consumer_types,
    .drop_indexes = drop_indexes,
    .restore_indexes = restore_indexes,
    .count_version_tables = "SELECT (to_regclass('alembic_version') IS NOT NULL)::int",
    .count_upstream_tables = "SELECT num_nonnulls(to_regclass('resource_providers'),"
                             " to_regclass('allocations'), to_regclass('consumers'))",
};
