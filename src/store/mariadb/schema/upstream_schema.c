/* Upstream's tables and indexes on MariaDB and MySQL as its migrations leave them. A test compares
 * what SHOW CREATE TABLE says of them with a database of the Python service (8.0.0). Character set,
 * collation and engine are the database's and the server's, as in upstream's.
 *
 * DDL is not part of a transaction. Each statement can be repeated, or fails because it has been
 * done already (mariadb_migrate_at_start()). Whatever was created by the Python service's tool at
 * the same time, in the form of its first revision, is upgraded by the statements after it. The
 * server lists an index that was restored after those that it has kept. Constant data. */
#include "store/mariadb/schema/upstream_schema.h"

#include <stddef.h>

// clang-format off: one line of SQL a line
#define CREATE "CREATE TABLE IF NOT EXISTS "
#define TIMES  "created_at DATETIME, updated_at DATETIME, "
#define ID     "id INTEGER NOT NULL AUTO_INCREMENT, "
/* In upstream's order: the server drops the index that it has made for the foreign key. */
#define ADD_CONSUMER_TYPES                                                                         \
    CREATE "consumer_types (" TIMES ID "name VARCHAR(255) NOT NULL, "                              \
           "PRIMARY KEY (id), UNIQUE KEY uniq_consumer_types0name (name))",                        \
        "ALTER TABLE consumers ADD COLUMN consumer_type_id INTEGER",                               \
        "ALTER TABLE consumers ADD CONSTRAINT consumers_consumer_type_id_fkey"                     \
        " FOREIGN KEY (consumer_type_id) REFERENCES consumer_types (id)",                          \
        "CREATE INDEX consumers_consumer_type_id_idx ON consumers (consumer_type_id)"
#define DROP_INDEXES                                                                               \
    "DROP INDEX inventories_resource_provider_id_idx ON inventories",                              \
        "DROP INDEX inventories_resource_provider_resource_class_idx ON inventories",              \
        "DROP INDEX ix_placement_aggregates_uuid ON placement_aggregates",                         \
        "DROP INDEX resource_providers_name_idx ON resource_providers",                            \
        "DROP INDEX resource_providers_uuid_idx ON resource_providers"

static const char *const create_version_table[] = {
    CREATE "alembic_version (version_num VARCHAR(32) NOT NULL, PRIMARY KEY (version_num))",
    NULL,
};

static const char *const create_newest[] = {
    CREATE MARIADB_CREATING_TABLE " (id INTEGER NOT NULL PRIMARY KEY) ENGINE=InnoDB",
    CREATE "allocations (" TIMES ID
           "resource_provider_id INTEGER NOT NULL, consumer_id VARCHAR(36) NOT NULL,"
           " resource_class_id INTEGER NOT NULL, used INTEGER NOT NULL, "
           "PRIMARY KEY (id), "
           "KEY allocations_resource_provider_class_used_idx"
           " (resource_provider_id, resource_class_id, used), "
           "KEY allocations_resource_class_id_idx (resource_class_id), "
           "KEY allocations_consumer_id_idx (consumer_id))",
    CREATE "consumers (" TIMES ID
           "uuid VARCHAR(36) NOT NULL, project_id INTEGER NOT NULL, user_id INTEGER NOT NULL,"
           " generation INTEGER NOT NULL DEFAULT 0, "
           "PRIMARY KEY (id), UNIQUE KEY uniq_consumers0uuid (uuid), "
           "KEY consumers_project_id_user_id_uuid_idx (project_id, user_id, uuid), "
           "KEY consumers_project_id_uuid_idx (project_id, uuid))",
    CREATE
    "inventories (" TIMES ID
    "resource_provider_id INTEGER NOT NULL, resource_class_id INTEGER NOT NULL,"
    " total INTEGER NOT NULL, reserved INTEGER NOT NULL, min_unit INTEGER NOT NULL,"
    " max_unit INTEGER NOT NULL, step_size INTEGER NOT NULL, allocation_ratio FLOAT NOT NULL, "
    "PRIMARY KEY (id), UNIQUE KEY uniq_inventories0resource_provider_resource_class"
    " (resource_provider_id, resource_class_id), "
    "KEY inventories_resource_class_id_idx (resource_class_id))",
    CREATE "placement_aggregates (" TIMES ID "uuid VARCHAR(36), "
           "PRIMARY KEY (id), UNIQUE KEY uniq_placement_aggregates0uuid (uuid))",
    CREATE "projects (" TIMES ID "external_id VARCHAR(255) NOT NULL, "
           "PRIMARY KEY (id), UNIQUE KEY uniq_projects0external_id (external_id))",
    CREATE "resource_classes (" TIMES ID "name VARCHAR(255) NOT NULL, "
           "PRIMARY KEY (id), UNIQUE KEY uniq_resource_classes0name (name))",
    CREATE "resource_provider_aggregates (" TIMES
           "resource_provider_id INTEGER NOT NULL, aggregate_id INTEGER NOT NULL, "
           "PRIMARY KEY (resource_provider_id, aggregate_id), "
           "KEY resource_provider_aggregates_aggregate_id_idx (aggregate_id))",
    CREATE "resource_providers (" TIMES ID
           "uuid VARCHAR(36) NOT NULL, name VARCHAR(200), generation INTEGER,"
           " root_provider_id INTEGER, parent_provider_id INTEGER, "
           "PRIMARY KEY (id), "
           "UNIQUE KEY uniq_resource_providers0uuid (uuid), "
           "UNIQUE KEY uniq_resource_providers0name (name), "
           "KEY resource_providers_parent_provider_id_idx (parent_provider_id), "
           "KEY resource_providers_root_provider_id_idx (root_provider_id), "
           "FOREIGN KEY (parent_provider_id) REFERENCES resource_providers (id), "
           "FOREIGN KEY (root_provider_id) REFERENCES resource_providers (id))",
    CREATE "traits (" TIMES ID "name VARCHAR(255) NOT NULL, "
           "PRIMARY KEY (id), UNIQUE KEY uniq_traits0name (name))",
    CREATE "users (" TIMES ID "external_id VARCHAR(255) NOT NULL, "
           "PRIMARY KEY (id), UNIQUE KEY uniq_users0external_id (external_id))",
    CREATE
    "resource_provider_traits (" TIMES
    "trait_id INTEGER NOT NULL, resource_provider_id INTEGER NOT NULL, "
    "PRIMARY KEY (trait_id, resource_provider_id), "
    "KEY resource_provider_traits_resource_provider_trait_idx (resource_provider_id, trait_id), "
    "FOREIGN KEY (resource_provider_id) REFERENCES resource_providers (id), "
    "FOREIGN KEY (trait_id) REFERENCES traits (id))",
    ADD_CONSUMER_TYPES,
    DROP_INDEXES,
    NULL,
};

static const char *const add_consumer_types[] = {
    ADD_CONSUMER_TYPES,
    NULL,
};

static const char *const drop_indexes[] = {
    DROP_INDEXES,
    NULL,
};

static const char *const restore_indexes[] = {
    "CREATE INDEX inventories_resource_provider_id_idx ON inventories (resource_provider_id)",
    ("CREATE INDEX inventories_resource_provider_resource_class_idx"
     " ON inventories (resource_provider_id, resource_class_id)"),
    "CREATE INDEX ix_placement_aggregates_uuid ON placement_aggregates (uuid)",
    "CREATE INDEX resource_providers_name_idx ON resource_providers (name)",
    "CREATE INDEX resource_providers_uuid_idx ON resource_providers (uuid)",
    NULL,
};

#define COUNT_TABLES                                                                               \
    "SELECT COUNT(*) FROM information_schema.TABLES"                                               \
    " WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME "
const char mariadb_count_creating[] = COUNT_TABLES "= '" MARIADB_CREATING_TABLE "'";
const char mariadb_drop_creating[] = "DROP TABLE IF EXISTS " MARIADB_CREATING_TABLE;
// clang-format on

/* Two programs that write the same revision at once must not leave it twice, nor two revisions: one
 * waits, and then fails with a duplicate or a deadlock. */
const struct migration_texts mariadb_migration_texts = {
    .create_version_table = create_version_table,
    .create_newest = create_newest,
    .add_consumer_types = add_consumer_types,
    .drop_indexes = drop_indexes,
    .restore_indexes = restore_indexes,
    .count_version_tables = COUNT_TABLES "= 'alembic_version'",
    .count_upstream_tables = COUNT_TABLES
    "IN ('resource_providers', 'allocations', 'consumers')"
    " AND NOT EXISTS (SELECT 1 FROM information_schema.TABLES AS t"
    " WHERE t.TABLE_SCHEMA = DATABASE() AND t.TABLE_NAME = '" MARIADB_CREATING_TABLE "')",
    .begin_revision = "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; START TRANSACTION",
    .end_revision = "COMMIT",
};
