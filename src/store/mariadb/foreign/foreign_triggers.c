/* See foreign_triggers.h.
 *
 * The only statement is INSERT … VALUES of one row without a unique key but its id: InnoDB takes
 * the id without a lock that lasts. (INSERT … SELECT would lock the table's counter until the end
 * of the program's statement, and INSERT IGNORE into a unique key, or a SELECT, would wait for
 * transactions that are open.)
 *
 * A trigger cannot know whether an earlier note belongs to the same transaction, and whether that
 * was committed; so nothing of another statement can stand for a note. Rows are counted within a
 * statement, which is known by the time when it began: the same microsecond in the same session.
 * A whole second is not relied on, because programs set such times (SET TIMESTAMP).
 *
 * Without the table there is no berth that the note could be for, and the program goes on. Pure;
 * any thread. */
#include "store/mariadb/foreign/foreign_triggers.h"

#include "base/check.h"

struct noted_table {
    const char *name;
    const char *entity; /* of foreign_view.c */
    const char *id;     /* the column that has its id; NULL: none has */
    const char *uuid;   /* of a consumer; NULL: none has */
};

static const struct noted_table tables[MARIADB_FOREIGN_TABLES] = {
    {"allocations", "consumer", NULL, "consumer_id"},
    {"consumer_types", "consumer type", "id", NULL},
    {"consumers", "consumer", "id", "uuid"},
    {"inventories", "provider", "resource_provider_id", NULL},
    {"placement_aggregates", "aggregate", "id", NULL},
    {"projects", "project", "id", NULL},
    {"resource_classes", "class", "id", NULL},
    {"resource_provider_aggregates", "provider", "resource_provider_id", NULL},
    {"resource_provider_traits", "provider", "resource_provider_id", NULL},
    {"resource_providers", "provider", "id", NULL},
    {"traits", "trait", "id", NULL},
    {"users", "user", "id", NULL},
};

static const char *const events[MARIADB_FOREIGN_EVENTS] = {"INSERT", "UPDATE", "DELETE"};
enum noted_event { NOTED_INSERT, NOTED_UPDATE, NOTED_DELETE };

static const struct noted_table *table_of(unsigned trigger)
{
    check(trigger < MARIADB_FOREIGN_TRIGGERS);
    return &tables[trigger / MARIADB_FOREIGN_EVENTS];
}

static enum noted_event event_of(unsigned trigger)
{
    return (enum noted_event)(trigger % MARIADB_FOREIGN_EVENTS);
}

const char *mariadb_foreign_trigger_table(unsigned trigger)
{
    return table_of(trigger)->name;
}

const char *mariadb_foreign_trigger_event(unsigned trigger)
{
    return events[event_of(trigger)];
}

static void append_name(unsigned trigger, struct buf *text)
{
    static const char *const names[MARIADB_FOREIGN_EVENTS] = {"insert", "update", "delete"};
    buf_printf(text, "berth_foreign_%s_%s", names[event_of(trigger)], table_of(trigger)->name);
}

void mariadb_foreign_trigger_name(unsigned trigger, struct buf *text)
{
    append_name(trigger, text);
    buf_append_char(text, '\0');
}

#define INTO "INSERT INTO berth_foreign (entity, entity_id, consumer_uuid) VALUES ("

/* `side`: OLD or NEW. */
static void append_note(const struct noted_table *table, const char *side, struct buf *sql)
{
    buf_printf(sql, INTO "'%s', ", table->entity);
    if (table->id == NULL)
        buf_append_lit(sql, "0, ");
    else
        buf_printf(sql, "%s.%s, ", side, table->id);
    if (table->uuid == NULL)
        buf_append_lit(sql, "'');");
    else
        buf_printf(sql, "%s.%s);", side, table->uuid);
}

/* An update may have taken a row from one entity to another. */
static void append_notes(const struct noted_table *table, enum noted_event event, struct buf *sql)
{
    append_note(table, event == NOTED_DELETE ? "OLD" : "NEW", sql);
    if (event != NOTED_UPDATE)
        return;
    buf_append_lit(sql, " IF NOT (TRUE");
    if (table->id != NULL)
        buf_printf(sql, " AND OLD.%s <=> NEW.%s", table->id, table->id);
    if (table->uuid != NULL)
        buf_printf(sql, " AND HEX(OLD.%s) <=> HEX(NEW.%s)", table->uuid, table->uuid);
    buf_append_lit(sql, ") THEN ");
    append_note(table, "OLD", sql);
    buf_append_lit(sql, " END IF;");
}

void mariadb_foreign_trigger_create(unsigned trigger, struct buf *sql)
{
    const struct noted_table *table = table_of(trigger);
    buf_append_lit(sql, "CREATE TRIGGER ");
    append_name(trigger, sql);
    buf_printf(sql,
               " AFTER %s ON %s FOR EACH ROW BEGIN"
               " DECLARE CONTINUE HANDLER FOR 1146 BEGIN END;"
               " IF @berth_writer IS NULL THEN"
               " IF @berth_statement = UTC_TIMESTAMP(6) + 0 AND MICROSECOND(UTC_TIMESTAMP(6)) <> 0"
               " THEN SET @berth_rows = @berth_rows + 1;"
               " ELSE SET @berth_statement = UTC_TIMESTAMP(6) + 0, @berth_rows = 1; END IF;"
               " IF @berth_rows <= %d THEN ",
               events[event_of(trigger)], table->name, MARIADB_FOREIGN_ROWS_OF_STATEMENT);
    append_notes(table, event_of(trigger), sql);
    buf_printf(sql, " ELSEIF @berth_rows = %d THEN " INTO "'everything', 0, '');",
               MARIADB_FOREIGN_ROWS_OF_STATEMENT + 1);
    buf_printf(sql, " END IF; END IF; END%c", '\0');
}

void mariadb_foreign_trigger_drop(unsigned trigger, struct buf *sql)
{
    buf_append_lit(sql, "DROP TRIGGER IF EXISTS ");
    append_name(trigger, sql);
    buf_append_char(sql, '\0');
}
