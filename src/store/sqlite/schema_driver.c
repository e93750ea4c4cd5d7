/* See schema_driver.h. Constant. */
#include "store/sqlite/schema_driver.h"

#include "store/sqlite/migrate.h"
#include "store/sqlite/repair.h"

const struct schema_driver sqlite_schema_driver = {
    .sync = migrate_sync,
    .version = migrate_version,
    .stamp = migrate_stamp,
    .find_missing_roots = sqlite_find_missing_roots,
    .count_missing_consumers = sqlite_count_missing_consumers,
    .set_roots = sqlite_set_roots,
    .create_consumers = sqlite_create_consumers,
};
