/* See schema_driver.h. Constant. */
#include "store/sqlite/schema_driver.h"

#include "store/coexist.h"
#include "store/sqlite/copy_source.h"
#include "store/sqlite/migrate.h"
#include "store/sqlite/repair.h"

static bool refuse(struct err *err)
{
    return err_set(err, 400, NULL,
                   "coexist is not needed for SQLite: berthd notices each write of other programs "
                   "before it answers");
}

static bool refuse_change(struct slice connection, struct err *err)
{
    (void)connection;
    return refuse(err);
}

static bool refuse_status(struct slice connection, struct coexist_status *status, struct err *err)
{
    (void)connection;
    (void)status;
    return refuse(err);
}

const struct schema_driver sqlite_schema_driver = {
    .sync = migrate_sync,
    .version = migrate_version,
    .stamp = migrate_stamp,
    .find_missing_roots = sqlite_find_missing_roots,
    .count_missing_consumers = sqlite_count_missing_consumers,
    .set_roots = sqlite_set_roots,
    .create_consumers = sqlite_create_consumers,
    .coexist_enable = refuse_change,
    .coexist_disable = refuse_change,
    .coexist_read_status = refuse_status,
    .copy_source = &sqlite_copy_source,
};
