/* Upstream's schema on MariaDB and MySQL. */
#ifndef BERTH_STORE_MARIADB_SCHEMA_UPSTREAM_SCHEMA_H
#define BERTH_STORE_MARIADB_SCHEMA_UPSTREAM_SCHEMA_H

#include "store/migration.h"

extern const struct migration_texts mariadb_migration_texts;

/* A table that is there while the schema is created from nothing: upstream's tables without a
 * revision are then not somebody else's, but those of a sync that was broken off. */
#define MARIADB_CREATING_TABLE "berth_creating"
extern const char mariadb_count_creating[];
extern const char mariadb_drop_creating[];

#endif
