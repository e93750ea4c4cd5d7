/* See schema_driver.h. Constant. */
#include "store/mariadb/schema_driver.h"

#include "store/mariadb/copy_target.h"
#include "store/mariadb/foreign/coexist.h"
#include "store/mariadb/report/inspect.h"
#include "store/mariadb/schema/migrate.h"
#include "store/mariadb/schema/repair.h"
#include "store/mariadb/session/url.h"

const struct schema_driver mariadb_schema_driver = {
    .matches = mariadb_url_matches,
    .sync = mariadb_migrate_sync,
    .version = mariadb_migrate_version,
    .stamp = mariadb_migrate_stamp,
    .find_missing_roots = mariadb_find_missing_roots,
    .count_missing_consumers = mariadb_count_missing_consumers,
    .set_roots = mariadb_set_roots,
    .create_consumers = mariadb_create_consumers,
    .coexist_enable = mariadb_coexist_enable,
    .coexist_disable = mariadb_coexist_disable,
    .coexist_read_status = mariadb_coexist_read_status,
    .report = mariadb_inspect_connection,
    .copy_target = &mariadb_copy_target,
};
