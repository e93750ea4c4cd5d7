/* Standard resource classes and traits in the database.
 *
 * Upstream inserts missing names and leaves everything else alone, and so do we; but traits are
 * inserted in the order of data/, whereas upstream's order is that of a set. One thread at a
 * time. */
#include "store/standard.h"

#include "base/clock.h"
#include "store/instant.h"
#include "store/sqlite/migrate.h"

static bool insert_missing(struct db *db, const char *sql, const char *const *names, int count,
                           bool with_ids, struct err *err)
{
    sqlite3_stmt *insert = db_prepare(db, sql, err);
    if (insert == NULL)
        return false;
    char now[INSTANT_LEN];
    instant_format(clock_wall_us(), now);
    sqlite3_bind_text(insert, 2, now, INSTANT_LEN, SQLITE_STATIC);
    for (int i = 0; i < count && !err_is_set(err); i++) {
        sqlite3_bind_text(insert, 1, names[i], -1, SQLITE_STATIC);
        if (with_ids)
            sqlite3_bind_int(insert, 3, i);
        if (sqlite3_step(insert) != SQLITE_DONE)
            db_fail(db, "given its standard classes and traits", err);
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    return !err_is_set(err);
}

bool standard_sync(struct db *db, struct err *err)
{
    return insert_missing(db,
                          "INSERT INTO resource_classes (name, created_at, id) SELECT ?1, ?2, ?3"
                          " WHERE NOT EXISTS (SELECT 1 FROM resource_classes WHERE name = ?1)",
                          standard_class_names, standard_class_names_count, true, err) &&
           insert_missing(db,
                          "INSERT INTO traits (name, created_at) SELECT ?1, ?2"
                          " WHERE NOT EXISTS (SELECT 1 FROM traits WHERE name = ?1)",
                          standard_trait_names, standard_trait_names_count, false, err);
}
