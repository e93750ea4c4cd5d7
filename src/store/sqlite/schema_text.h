/* The statements that make a schema on SQLite. */
#ifndef BERTH_STORE_SQLITE_SCHEMA_TEXT_H
#define BERTH_STORE_SQLITE_SCHEMA_TEXT_H

#include "store/migration.h"

extern const struct migration_texts sqlite_migration_texts;

/* berth_head and berth_log; idempotent. NULL-terminated. */
extern const char *const sqlite_create_ours[];

#endif
