/* Upstream's schema on PostgreSQL. */
#ifndef BERTH_STORE_POSTGRES_SCHEMA_UPSTREAM_SCHEMA_H
#define BERTH_STORE_POSTGRES_SCHEMA_UPSTREAM_SCHEMA_H

#include "store/migration.h"

extern const struct migration_texts pg_migration_texts;

#endif
