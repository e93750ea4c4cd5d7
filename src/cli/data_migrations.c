/* Two migrations, in the order of upstream's releases, batch after batch. A batch ends early when
 * it has used up its count. If one migration fails, the next still runs, because one may need rows
 * that the other completes. One thread. */
#include "cli/data_migrations.h"

#include "base/arena.h"
#include "cli/table.h"
#include "conf/value.h"
#include "log/log.h"
#include "store/repair.h"

enum { BATCH = 50, MIGRATION_COUNT = 2 };

struct migration {
    const char *name;
    bool (*run)(const struct conf *conf, int64_t most, int64_t *done, struct err *err);
};

struct tally {
    bool ran;
    int64_t total;
};

static bool set_roots(const struct conf *conf, int64_t most, int64_t *done, struct err *err)
{
    return repair_set_roots(slice_of(conf->connection), most, done, err);
}

static bool create_consumers(const struct conf *conf, int64_t most, int64_t *done, struct err *err)
{
    const struct repair_owner owner = {slice_of(conf->incomplete_consumer_project_id),
                                       slice_of(conf->incomplete_consumer_user_id)};
    return repair_create_consumers(slice_of(conf->connection), &owner, most, done, err);
}

static const struct migration migrations[MIGRATION_COUNT] = {
    {"set_root_provider_ids", set_roots},
    {"create_incomplete_consumers", create_consumers},
};

/* The number of rows completed, at most `most`. */
static int64_t run_batch(const struct conf *conf, int64_t most, struct tally *tallies, bool *failed,
                         FILE *out)
{
    int64_t ran = 0;
    *failed = false;
    for (size_t i = 0; i < MIGRATION_COUNT && ran < most; i++) {
        struct err err = {.arena = arena_create()};
        int64_t done = 0;
        if (!migrations[i].run(conf, most - ran, &done, &err)) {
            *failed = true;
            fprintf(out, "Error attempting to run %s\n", migrations[i].name);
            log_write(LOG_LEVEL_ERROR, "placement.cmd.manage", LOG_NO_CONTEXT,
                      "Error attempting to run %s: %.*s", migrations[i].name,
                      SLICE_ARG(err.message));
        }
        arena_destroy(err.arena);
        if (done > 0)
            fprintf(out, "%lld rows matched query %s, %lld migrated\n", (long long)done,
                    migrations[i].name, (long long)done);
        tallies[i].ran = true;
        tallies[i].total += done;
        ran += done;
    }
    return ran;
}

static void print_tallies(const struct tally *tallies, FILE *out)
{
    static const char *const titles[] = {"Migration", "Total Found", "Completed"};
    const char *cells[3 * MIGRATION_COUNT];
    char totals[MIGRATION_COUNT][DECIMAL_MAX + 1];
    struct table table = {.columns = 3, .titles = titles, .cells = cells};
    for (size_t i = 0; i < MIGRATION_COUNT; i++) {
        if (!tallies[i].ran)
            continue;
        const char **row = &cells[3 * table.rows++];
        snprintf(totals[i], sizeof(totals[i]), "%lld", (long long)tallies[i].total);
        row[0] = migrations[i].name;
        row[1] = row[2] = totals[i];
    }
    table_print(&table, out);
}

/* Parses like Python's int(); 0: not a positive number. */
static int64_t read_count(const char *text, struct arena *arena)
{
    const struct option option = {.type = OPTION_INTEGER};
    struct conf_value value = {.option = &option};
    const struct slice given = slice_of(text);
    struct slice why;
    if (!value_convert(&value, &given, 1, arena, &why) || !value.is_set || value.integer < 1)
        return 0;
    return value.integer;
}

int data_migrations_run(const struct conf *conf, const char *max_count, FILE *out)
{
    struct tally tallies[MIGRATION_COUNT] = {0};
    int64_t most = BATCH;
    int64_t ran;
    bool failed;
    if (max_count != NULL)
        most = read_count(max_count, conf->arena);
    if (most == 0) {
        fputs("Must supply a positive value for max_count\n", out);
        return 127;
    }
    if (max_count == NULL)
        fprintf(out, "Running batches of %d until complete\n", BATCH);
    do
        ran = run_batch(conf, most, tallies, &failed, out);
    while (max_count == NULL && ran > 0);
    print_tallies(tallies, out);
    if (failed && ran == 0) {
        fputs("Some migrations failed unexpectedly. Check log for details.\n", out);
        return 2;
    }
    return ran > 0 ? 1 : 0;
}
