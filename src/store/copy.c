/* Each row of the source is read three times: to check that the target can hold it, before anything
 * is written; to write it; and to compare it with what the target then has. The source is locked,
 * so that these are the same rows. Both databases are read in the order of the keys, row by row, so
 * the memory needed does not grow with them.
 *
 * A server checks a provider's references when the row is written. Those that lead to a provider
 * with a larger id are set after all providers.
 *
 * Who else may write to the target cannot be known. It is examined again when it is locked or
 * marked, and rows of others are found when all rows are compared. One thread. */
#include "store/copy.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "store/coexist.h"
#include "store/copy_driver.h"
#include "store/copy_values.h"
#include "store/instant.h"
#include "store/schema.h"
#include "store/schema_drivers.h"
#include "store/store.h"

enum {
    REPORT_ROWS = 256,
    DIFFERENCES_SHOWN = 10,
    INSTANCE_S = 180,
    IDLE_US = 5000000 /* proxies end connections that are idle for a minute, or less */
};

struct late_parents {
    int64_t id, root_id, parent_id;
};

struct copy {
    struct slice target_url;
    const struct copy_source_driver *source_driver;
    const struct copy_target_driver *target_driver;
    void *source;
    void *target;
    struct copy_table *tables; /* COPY_TABLES */
    int64_t rows[COPY_TABLES]; /* of the source */
    struct copy_limits limits;
    struct late_parents *late;
    size_t late_n;
    size_t late_room;
    int64_t ratios_changed; /* to the target's form */
    int64_t times_changed;
    struct slice ratio_changed; /* the first, for a message; in the arena of the whole copy */
    uint64_t target_used_us;    /* when the target's connection was last used, while others work */
    const struct copy_watch *watch;
    struct copy_result *result;
    struct arena *arena;
    struct arena *row_arena; /* of one line */
};

static void copy_go_on(const struct copy *c, const char *what, unsigned table, int64_t rows,
                       int64_t all)
{
    if (rows % REPORT_ROWS == 0)
        c->watch->go_on(c->watch->cls, what, c->tables[table].name, rows, all);
}

/* ---- what the target contains ---- */

static bool has_rows(const struct copy *c, const char *table, const char *where, bool *has,
                     struct err *err)
{
    int64_t rows = 0;
    bool exists = false;
    *has = false;
    if (!c->target_driver->has_table(c->target, table, &exists, err) || !exists)
        return !err_is_set(err);
    struct slice sql = arena_printf(
        err->arena, "SELECT count(*) FROM (SELECT 1 AS n FROM %s%s LIMIT 1) AS t", table, where);
    if (!c->target_driver->query_int(c->target, sql.data, &rows, err))
        return false;
    *has = rows > 0;
    return true;
}

static bool refuse_rows(const struct copy *c, unsigned table, struct err *err)
{
    bool is_names = table == ROWS_CLASSES || table == ROWS_TRAITS;
    return err_set(err, 400, NULL, "the target is not empty: its table %s has %s",
                   c->tables[table].name, is_names ? "custom names" : "rows");
}

static bool refuse_instances(const struct copy *c, struct err *err)
{
    char since[INSTANT_LEN];
    bool has = false;
    instant_format(clock_wall_us() - INSTANCE_S * INT64_C(1000000), since);
    struct slice where = arena_printf(err->arena, " WHERE last_seen > '%.*s'", INSTANT_LEN, since);
    if (!has_rows(c, "berth_instances", where.data, &has, err))
        return false;
    return !has || err_set(err, 400, NULL,
                           "the target is in use by berthd: stop it, or wait %d seconds after it "
                           "was killed",
                           INSTANCE_S);
}

/* Standard names are in every database that has been served. */
static bool refuse_unless_empty(const struct copy *c, struct err *err)
{
    static const char IS_CUSTOM[] = " WHERE LEFT(name, 7) = 'CUSTOM_'";
    for (unsigned i = 0; i < COPY_TABLES; i++) {
        bool has = false;
        bool is_names = i == ROWS_CLASSES || i == ROWS_TRAITS;
        if (!has_rows(c, c->tables[i].name, is_names ? IS_CUSTOM : "", &has, err))
            return false;
        if (has)
            return refuse_rows(c, i, err);
    }
    return refuse_instances(c, err);
}

static bool refuse_triggers(const struct copy *c, struct err *err)
{
    struct coexist_status status = {0};
    if (!coexist_read_status(c->target_url, &status, err))
        return false;
    return status.triggers == 0 ||
           err_set(err, 400, NULL,
                   "the target has the triggers of \"placement-manage db coexist\": disable them "
                   "first");
}

struct cleaning {
    const struct copy *copy;
};

static void cleaning_go_on(void *cls, int64_t rows)
{
    const struct cleaning *cleaning = cls;
    cleaning->copy->watch->go_on(cleaning->copy->watch->cls, "removing", "the unfinished copy",
                                 rows, 0);
}

static bool clean_unfinished(const struct copy *c, struct err *err)
{
    struct cleaning cleaning = {c};
    if (c->target_driver->clean == NULL)
        return true;
    c->watch->notice(c->watch->cls,
                     SLICE_LIT("the target has an unfinished copy, which is removed first"));
    return c->target_driver->clean(c->target, c->tables, cleaning_go_on, &cleaning, err);
}

static bool prepare_target(const struct copy *c, struct err *err)
{
    char revision[STORE_REVISION_BYTES];
    if (!schema_version(c->target_url, revision, err))
        return false;
    if (schema_is_unfinished_copy(revision) && !clean_unfinished(c, err))
        return false;
    return refuse_unless_empty(c, err) && schema_sync(c->target_url, err) &&
           refuse_triggers(c, err);
}

/* ---- checking the source ---- */

/* While the source is checked, the connection is not used otherwise. */
static bool keep_connection(struct copy *c, struct err *err)
{
    int64_t one = 0;
    uint64_t now_us = clock_monotonic_us();
    if (now_us - c->target_used_us < IDLE_US)
        return true;
    c->target_used_us = now_us;
    return c->target_driver->query_int(c->target, "SELECT 1", &one, err);
}

static void count_change(struct copy *c, const struct copy_table *table, unsigned column,
                         const struct cell *before, const struct cell *after)
{
    if (table->columns[column].cell == CELL_TIME)
        c->times_changed++;
    else if (c->ratios_changed++ == 0)
        c->ratio_changed = arena_printf(
            c->arena, "%.*s: %.*s becomes %.*s",
            SLICE_ARG(copy_table_row_name(table, before, c->arena)),
            SLICE_ARG(copy_value_text(&table->columns[column], &before[column], c->arena)),
            SLICE_ARG(copy_value_text(&table->columns[column], &after[column], c->arena)));
}

/* What the target can hold only in another form. */
static void count_changes(struct copy *c, const struct copy_table *table, const struct cell *cells)
{
    const struct value_forms *forms = &c->target_driver->forms;
    struct cell formed[COPY_COLUMNS_MOST];
    if (rows_is_record(table->rows) || (!forms->has_whole_seconds && !forms->has_single_ratios))
        return;
    memcpy(formed, cells, table->count * sizeof(*cells));
    copy_values_form(forms, table, formed);
    for (unsigned i = 0; i < table->count; i++)
        if (!copy_value_equal(&table->columns[i], &cells[i], &formed[i]))
            count_change(c, table, i, cells, formed);
}

static void note_changes(const struct copy *c)
{
    if (c->times_changed > 0)
        c->watch->notice(c->watch->cls, SLICE_LIT("the target keeps times in whole seconds: "
                                                  "fractions are cut off"));
    if (c->ratios_changed > 0)
        c->watch->notice(
            c->watch->cls,
            arena_printf(
                c->arena,
                "the target keeps six digits of an allocation ratio: %lld are rounded, the "
                "first is that of %.*s",
                (long long)c->ratios_changed, SLICE_ARG(c->ratio_changed)));
}

static bool check_table(struct copy *c, unsigned at, struct err *err)
{
    const struct copy_table *table = &c->tables[at];
    struct cell cells[COPY_COLUMNS_MOST];
    unsigned wrong;
    bool has_row;
    if (!c->source_driver->begin(c->source, table, err))
        return false;
    for (c->rows[at] = 0;; c->rows[at]++) {
        copy_go_on(c, "checking", at, c->rows[at], 0);
        if (c->rows[at] % REPORT_ROWS == 0 && !keep_connection(c, err))
            return false;
        if (!c->source_driver->next(c->source, cells, &wrong, &has_row, err))
            return false;
        if (!has_row)
            return true;
        if (!copy_values_fit(&c->limits, table, cells, wrong, err))
            return false;
        count_changes(c, table, cells);
    }
}

static bool check_references(const struct copy *c, struct err *err)
{
    for (unsigned i = 0; i < COPY_REFERENCES; i++) {
        const struct copy_reference *reference = &copy_references[i];
        int64_t id = 0;
        bool is_found = false;
        if (!c->source_driver->find_dangling(c->source, reference, &id, &is_found, err))
            return false;
        if (is_found)
            return err_set(err, 400, NULL,
                           "the target cannot hold %s with %s %lld: no row of %s has this id",
                           rows_name(reference->table), reference->column, (long long)id,
                           rows_name(reference->refers_to));
    }
    return true;
}

static bool check_unique_texts(const struct copy *c, const struct copy_unique *unique,
                               struct err *err)
{
    const struct copy_table *table = &c->tables[unique->table];
    const struct copy_column *column = &table->columns[copy_table_find(table, unique->column)];
    unsigned ignores = c->limits.ignores[unique->table][column->in_rows];
    struct slice one;
    struct slice other;
    bool is_found = false;
    if (ignores == 0)
        return true;
    if (!c->source_driver->find_equal(c->source, table->name, column->name, ignores, &one, &other,
                                      &is_found, err))
        return false;
    return !is_found ||
           err_set(err, 400, NULL,
                   "the target cannot hold %s with %s '%.*s' and '%.*s': they are equal to it",
                   table->name, column->name, SLICE_ARG(one), SLICE_ARG(other));
}

static bool check_source(struct copy *c, struct err *err)
{
    for (unsigned i = 0; i < COPY_TABLES; i++)
        if (!check_table(c, i, err))
            return false;
    for (unsigned i = 0; i < COPY_UNIQUES; i++)
        if (!check_unique_texts(c, &copy_uniques[i], err) || !keep_connection(c, err))
            return false;
    if (!check_references(c, err))
        return false;
    note_changes(c);
    return true;
}

/* ---- writing ---- */

static int64_t reference_of(const struct copy_table *table, const struct cell *cells,
                            const char *column)
{
    const struct cell *cell = &cells[copy_table_find(table, column)];
    return cell->is_null ? 0 : cell->integer;
}

static void keep_late(struct copy *c, struct late_parents parents)
{
    if (c->late_n == c->late_room) {
        c->late_room = c->late_room == 0 ? 64 : 2 * c->late_room;
        c->late = reallocarray(c->late, c->late_room, sizeof(*c->late));
        check(c->late != NULL);
    }
    c->late[c->late_n++] = parents;
}

/* Leaves out references to providers that are not written yet. */
static void postpone_parents(struct copy *c, const struct copy_table *table, struct cell *cells)
{
    static const struct cell null = {.is_null = true};
    const struct late_parents parents = {
        cells[table->key[0]].integer,
        reference_of(table, cells, "root_provider_id"),
        reference_of(table, cells, "parent_provider_id"),
    };
    if (parents.root_id <= parents.id && parents.parent_id <= parents.id)
        return;
    keep_late(c, parents);
    cells[copy_table_find(table, "root_provider_id")] = null;
    cells[copy_table_find(table, "parent_provider_id")] = null;
}

static bool write_late_parents(struct copy *c, struct err *err)
{
    for (size_t i = 0; i < c->late_n; i++)
        if (!c->target_driver->write_parents(c->target, c->late[i].id, c->late[i].root_id,
                                             c->late[i].parent_id, err))
            return false;
    return c->target_driver->flush(c->target, err);
}

static bool write_table(struct copy *c, unsigned at, struct err *err)
{
    const struct copy_table *table = &c->tables[at];
    struct cell cells[COPY_COLUMNS_MOST];
    unsigned wrong;
    bool has_row;
    if (!c->source_driver->begin(c->source, table, err))
        return false;
    for (int64_t rows = 0;; rows++, c->result->rows++) {
        copy_go_on(c, "copying", at, rows, c->rows[at]);
        if (!c->source_driver->next(c->source, cells, &wrong, &has_row, err))
            return false;
        if (!has_row)
            return c->target_driver->flush(c->target, err);
        copy_values_form(&c->target_driver->forms, table, cells);
        if (table->rows == ROWS_PROVIDERS)
            postpone_parents(c, table, cells);
        if (!c->target_driver->write(c->target, table, cells, err))
            return false;
    }
}

static bool write_all(struct copy *c, struct err *err)
{
    if (!c->target_driver->delete_names(c->target, err))
        return false;
    for (unsigned i = 0; i < COPY_TABLES; i++)
        if (!write_table(c, i, err) || (i == ROWS_PROVIDERS && !write_late_parents(c, err)))
            return false;
    return true;
}

/* ---- comparing ---- */

static void note_difference(struct copy *c, struct slice line)
{
    if (c->result->differences++ < DIFFERENCES_SHOWN)
        c->watch->notice(c->watch->cls, line);
    arena_reset(c->row_arena);
}

static void note_missing(struct copy *c, const struct copy_table *table, const struct cell *cells,
                         const char *what)
{
    struct slice row = copy_table_row_name(table, cells, c->row_arena);
    note_difference(c, arena_printf(c->row_arena, "%.*s: %s", SLICE_ARG(row), what));
}

static void note_values(struct copy *c, const struct copy_table *table, unsigned column,
                        const struct cell *expected, const struct cell *found)
{
    struct slice row = copy_table_row_name(table, expected, c->row_arena);
    struct slice one = copy_value_text(&table->columns[column], &expected[column], c->row_arena);
    struct slice other = copy_value_text(&table->columns[column], &found[column], c->row_arena);
    note_difference(c,
                    arena_printf(c->row_arena, "%.*s: %s is %.*s instead of %.*s", SLICE_ARG(row),
                                 table->columns[column].name, SLICE_ARG(other), SLICE_ARG(one)));
}

/* A row of each side, if there is one. */
struct side {
    struct cell cells[COPY_COLUMNS_MOST];
    bool has_row;
};

static bool next_of_source(struct copy *c, const struct copy_table *table, struct side *side,
                           struct err *err)
{
    unsigned wrong;
    if (!c->source_driver->next(c->source, side->cells, &wrong, &side->has_row, err))
        return false;
    if (side->has_row)
        copy_values_form(&c->target_driver->forms, table, side->cells);
    return true;
}

static bool next_of_target(struct copy *c, struct side *side, struct err *err)
{
    return c->target_driver->read_next(c->target, side->cells, &side->has_row, err);
}

/* The next row of each side that has the first one. */
static bool compare_next(struct copy *c, const struct copy_table *table, struct side *source,
                         struct side *target, struct err *err)
{
    int order = !source->has_row   ? 1
                : !target->has_row ? -1
                                   : copy_table_compare_keys(table, source->cells, target->cells);
    if (order < 0)
        note_missing(c, table, source->cells, "missing in the target");
    if (order > 0)
        note_missing(c, table, target->cells, "only in the target");
    if (order == 0) {
        unsigned column = copy_values_differ(table, source->cells, target->cells);
        if (column < table->count)
            note_values(c, table, column, source->cells, target->cells);
    }
    return (order > 0 || next_of_source(c, table, source, err)) &&
           (order < 0 || next_of_target(c, target, err));
}

static bool compare_table(struct copy *c, unsigned at, struct err *err)
{
    const struct copy_table *table = &c->tables[at];
    struct side source;
    struct side target;
    bool ok = c->source_driver->begin(c->source, table, err) &&
              c->target_driver->read_begin(c->target, table, err) &&
              next_of_source(c, table, &source, err) && next_of_target(c, &target, err);
    for (int64_t rows = 0; ok && (source.has_row || target.has_row); rows++) {
        copy_go_on(c, "comparing", at, rows, c->rows[at]);
        ok = compare_next(c, table, &source, &target, err);
    }
    return ok;
}

static bool compare_all(struct copy *c, struct err *err)
{
    for (unsigned i = 0; i < COPY_TABLES; i++)
        if (!compare_table(c, i, err))
            return false;
    return c->result->differences == 0 ||
           err_set(err, 503, NULL, "%lld rows of the target differ from the source",
                   (long long)c->result->differences);
}

/* ---- the whole copy ---- */

static bool start_target(const struct copy *c, struct err *err)
{
    if (!c->target_driver->start(c->target, c->tables, err))
        return false;
    if (refuse_unless_empty(c, err))
        return true;
    struct err ignored = {.arena = err->arena};
    (void)!c->target_driver->abandon(c->target, &ignored);
    return false;
}

static bool copy_started(struct copy *c, struct err *err)
{
    struct err failed = {.arena = err->arena};
    if (write_all(c, &failed) && compare_all(c, &failed) &&
        c->target_driver->finish(c->target, c->tables, &failed))
        return true;
    return err_set(err, failed.status, failed.code, "%.*s; %s", SLICE_ARG(failed.message),
                   c->target_driver->left_behind);
}

static bool copy_rows(struct copy *c, struct err *err)
{
    return prepare_target(c, err) && c->target_driver->read_limits(c->target, &c->limits, err) &&
           check_source(c, err) && start_target(c, err) && copy_started(c, err);
}

static bool find_drivers(struct copy *c, struct slice source, struct err *err)
{
    c->source_driver = schema_driver_of(source)->copy_source;
    c->target_driver = schema_driver_of(c->target_url)->copy_target;
    if (c->source_driver == NULL)
        return err_set(err, 400, NULL,
                       "only an SQLite database can be copied: [placement_database] connection "
                       "names a database server");
    return c->target_driver != NULL ||
           err_set(err, 400, NULL,
                   "the target is not the URL of a database server that this berth supports");
}

bool copy_make(struct slice source, struct slice target, const struct copy_watch *watch,
               struct copy_result *result, struct err *err)
{
    struct copy c = {.target_url = target, .watch = watch, .result = result};
    *result = (struct copy_result){0};
    if (!find_drivers(&c, source, err))
        return false;
    c.arena = arena_create();
    c.row_arena = arena_create();
    c.tables = calloc(COPY_TABLES, sizeof(*c.tables));
    check(c.tables != NULL);
    for (unsigned i = 0; i < COPY_TABLES; i++)
        copy_table_describe((enum rows_table)i, &c.tables[i]);
    bool ok = (c.source = c.source_driver->open(source, err)) != NULL &&
              (c.target = c.target_driver->open(target, err)) != NULL && copy_rows(&c, err);
    if (c.target != NULL)
        c.target_driver->close(c.target);
    if (c.source != NULL)
        c.source_driver->close(c.source);
    arena_destroy(c.row_arena);
    arena_destroy(c.arena);
    free(c.tables);
    free(c.late);
    return ok;
}
