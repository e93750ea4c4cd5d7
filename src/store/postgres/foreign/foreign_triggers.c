/* See foreign_triggers.h. One function for each table, because a statement in it names columns of
 * the table; it is planned when it is first executed, so the transition tables that an event lacks
 * do no harm. Pure; any thread. */
#include "store/postgres/foreign/foreign_triggers.h"

#include <stdbool.h>

#include "base/check.h"

/* Beyond that size, nobody has read the table for long, and nothing is noted any more. */
#define SIZE_MOST "67108864"

/* As many as make a reader compare all rows anyway (FOREIGN_ROWS_MOST), and one more. */
#define ROWS_MOST "4001"

struct noted_table {
    const char *name;
    const char *entity;  /* of foreign_rows.c */
    const char *columns; /* entity_id, consumer_uuid */
};

#define OWN_ID      "id, ''"
#define PROVIDER_ID "resource_provider_id, ''"

/* In the order in which they are locked. */
static const struct noted_table tables[FOREIGN_TABLES] = {
    {"allocations", "consumer", "0, consumer_id"},
    {"consumer_types", "consumer type", OWN_ID},
    {"consumers", "consumer", "id, uuid"},
    {"inventories", "provider", PROVIDER_ID},
    {"placement_aggregates", "aggregate", OWN_ID},
    {"projects", "project", OWN_ID},
    {"resource_classes", "class", OWN_ID},
    {"resource_provider_aggregates", "provider", PROVIDER_ID},
    {"resource_provider_traits", "provider", PROVIDER_ID},
    {"resource_providers", "provider", OWN_ID},
    {"traits", "trait", OWN_ID},
    {"users", "user", OWN_ID},
};

struct noted_event {
    const char *name;
    const char *trigger;
    const char *rows; /* the transition tables: */
    bool has_old;
    bool has_new;
};

static const struct noted_event events[FOREIGN_EVENTS] = {
    {"INSERT", "berth_foreign_insert", "REFERENCING NEW TABLE AS new_rows ", false, true},
    {"UPDATE", "berth_foreign_update", "REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows ",
     true, true},
    {"DELETE", "berth_foreign_delete", "REFERENCING OLD TABLE AS old_rows ", true, false},
    {"TRUNCATE", "berth_foreign_truncate", "", false, false},
};

void foreign_triggers_lock(bool writers, struct buf *sql)
{
    buf_append_lit(sql, "LOCK TABLE ");
    for (unsigned i = 0; i < FOREIGN_TABLES; i++)
        buf_printf(sql, "%s%s", i == 0 ? "" : ", ", tables[i].name);
    buf_printf(sql, " IN %s MODE%c", writers ? "SHARE ROW EXCLUSIVE" : "ACCESS EXCLUSIVE", '\0');
}

/* The entities of the rows that an event has changed. */
static void append_insert(struct buf *sql, const struct noted_table *table, struct slice own,
                          const struct noted_event *event)
{
    const char *separator = "";
    buf_printf(sql,
               " INSERT INTO %.*s (txid, entity, entity_id, consumer_uuid)"
               " SELECT DISTINCT txid_current(), '%s', n.* FROM (",
               SLICE_ARG(own), table->entity);
    if (event->has_old)
        buf_printf(sql, "SELECT %s FROM old_rows", table->columns);
    if (event->has_old && event->has_new)
        separator = " UNION ALL ";
    if (event->has_new)
        buf_printf(sql, "%sSELECT %s FROM new_rows", separator, table->columns);
    buf_append_lit(sql, ") n LIMIT " ROWS_MOST " ON CONFLICT DO NOTHING;");
}

void foreign_triggers_function(unsigned table, struct slice own, struct slice literal,
                               struct buf *sql)
{
    check(table < FOREIGN_TABLES);
    const struct noted_table *noted = &tables[table];
    buf_printf(sql,
               "CREATE OR REPLACE FUNCTION berth_foreign_of_%s() RETURNS trigger LANGUAGE plpgsql"
               " SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $berth$ BEGIN"
               " IF pg_relation_size(%.*s) < " SIZE_MOST " THEN",
               noted->name, SLICE_ARG(literal));
    for (unsigned event = 0; event < FOREIGN_EVENTS; event++) {
        if (!events[event].has_old && !events[event].has_new)
            continue;
        buf_printf(sql, " %s TG_OP = '%s' THEN", event == 0 ? "IF" : "ELSIF", events[event].name);
        append_insert(sql, noted, own, &events[event]);
    }
    buf_printf(sql,
               " ELSE INSERT INTO %.*s (txid, entity, entity_id, consumer_uuid)"
               " VALUES (txid_current(), 'everything', 0, '') ON CONFLICT DO NOTHING;"
               " END IF; END IF; RETURN NULL; END $berth$%c",
               SLICE_ARG(own), '\0');
}

void foreign_triggers_create(unsigned table, unsigned event, struct buf *sql)
{
    check(table < FOREIGN_TABLES && event < FOREIGN_EVENTS);
    buf_printf(sql,
               "CREATE TRIGGER %s AFTER %s ON %s %sFOR EACH STATEMENT WHEN (NULL::berth_foreign IS"
               " NULL AND current_setting('berth.writer', true) IS DISTINCT FROM 'on')"
               " EXECUTE FUNCTION berth_foreign_of_%s()%c",
               events[event].trigger, events[event].name, tables[table].name, events[event].rows,
               tables[table].name, '\0');
}

void foreign_triggers_drop(unsigned table, unsigned event, struct buf *sql)
{
    check(table < FOREIGN_TABLES && event < FOREIGN_EVENTS);
    buf_printf(sql, "DROP TRIGGER IF EXISTS %s ON %s%c", events[event].trigger, tables[table].name,
               '\0');
}

void foreign_triggers_drop_function(unsigned table, struct buf *sql)
{
    check(table < FOREIGN_TABLES);
    buf_printf(sql, "DROP FUNCTION IF EXISTS berth_foreign_of_%s()%c", tables[table].name, '\0');
}

const char *foreign_triggers_name(unsigned event)
{
    check(event < FOREIGN_EVENTS);
    return events[event].trigger;
}

const char *foreign_triggers_table(unsigned table)
{
    check(table < FOREIGN_TABLES);
    return tables[table].name;
}
