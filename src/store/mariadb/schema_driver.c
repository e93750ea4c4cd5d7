/* See schema_driver.h. Constant. */
#include "store/mariadb/schema_driver.h"

#include "store/mariadb/migrate.h"
#include "store/mariadb/repair.h"
#include "store/mariadb/url.h"

static bool refuse_triggers(struct err *err)
{
    return err_set(err, 503, NULL, "this version has no triggers for MariaDB and MySQL");
}

static bool refuse_to_coexist(struct slice connection, struct err *err)
{
    (void)connection;
    return refuse_triggers(err);
}

static bool refuse_coexist_status(struct slice connection, struct coexist_status *status,
                                  struct err *err)
{
    (void)connection;
    (void)status;
    return refuse_triggers(err);
}

const struct schema_driver mariadb_schema_driver = {
    .matches = mariadb_url_matches,
    .sync = mariadb_migrate_sync,
    .version = mariadb_migrate_version,
    .stamp = mariadb_migrate_stamp,
    .find_missing_roots = mariadb_find_missing_roots,
    .count_missing_consumers = mariadb_count_missing_consumers,
    .set_roots = mariadb_set_roots,
    .create_consumers = mariadb_create_consumers,
    .coexist_enable = refuse_to_coexist,
    .coexist_disable = refuse_to_coexist,
    .coexist_read_status = refuse_coexist_status,
};
