/* See schema_driver.h. Constant. */
#include "store/postgres/schema_driver.h"

#include "store/postgres/copy_target.h"
#include "store/postgres/foreign/coexist.h"
#include "store/postgres/report/inspect.h"
#include "store/postgres/schema/migrate.h"
#include "store/postgres/schema/repair.h"
#include "store/postgres/session/url.h"

const struct schema_driver pg_schema_driver = {
    .matches = pg_url_matches,
    .sync = pg_migrate_sync,
    .version = pg_migrate_version,
    .stamp = pg_migrate_stamp,
    .find_missing_roots = pg_find_missing_roots,
    .count_missing_consumers = pg_count_missing_consumers,
    .set_roots = pg_set_roots,
    .create_consumers = pg_create_consumers,
    .coexist_enable = pg_coexist_enable,
    .coexist_disable = pg_coexist_disable,
    .coexist_read_status = pg_coexist_read_status,
    .report = pg_inspect_connection,
    .copy_target = &pg_copy_target,
};
