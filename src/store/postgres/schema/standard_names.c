/* As the Python service inserts them: a standard class has its position as its id, which does not
 * move the sequence, and a trait gets its id from the sequence. Names that another process inserts
 * meanwhile are left alone. One thread at a time. */
#include "store/postgres/schema/standard_names.h"

#include "base/buf.h"
#include "base/clock.h"
#include "store/instant.h"
#include "store/postgres/session/figure.h"
#include "store/standard.h"

/* The names as an array's text: they consist of capitals, digits and underscores. */
static struct pg_parameter names_as_array(struct arena *arena, const char *const *names, int count)
{
    struct buf text = {0};
    for (int i = 0; i < count; i++)
        buf_printf(&text, "%c%s", i == 0 ? '{' : ',', names[i]);
    buf_append_char(&text, '}');
    struct slice copy = arena_copy(arena, buf_slice(&text));
    buf_free(&text);
    return pg_literal(copy);
}

enum server_outcome standard_names_count_missing(struct pg_session *session, int64_t *count,
                                                 uint64_t deadline_us, struct err *err)
{
    struct arena *arena = arena_create();
    const struct pg_parameter parameters[] = {
        names_as_array(arena, standard_class_names, standard_class_names_count),
        names_as_array(arena, standard_trait_names, standard_trait_names_count),
    };
    struct pg_statement statement = {
        .sql = "SELECT (SELECT count(*) FROM unnest($1::text[]) AS s(n)"
               " WHERE NOT EXISTS (SELECT FROM resource_classes WHERE name = n))"
               " + (SELECT count(*) FROM unnest($2::text[]) AS s(n)"
               " WHERE NOT EXISTS (SELECT FROM traits WHERE name = n))",
        .parameters = parameters,
        .parameters_n = 2,
        .what = "read"};
    struct pg_rows rows = {0};
    enum server_outcome outcome = pg_session_execute(session, &statement, &rows, deadline_us, err);
    if (outcome == SERVER_OK)
        outcome = pg_figure_read(session, &rows, 0, 0, count, err);
    pg_rows_free(&rows);
    arena_destroy(arena);
    return outcome;
}

static enum server_outcome insert_names(struct pg_session *session, const char *sql,
                                        const char *const *names, int count, uint64_t deadline_us,
                                        struct err *err)
{
    struct arena *arena = arena_create();
    char now[INSTANT_LEN];
    instant_format(clock_wall_us(), now);
    const struct pg_parameter parameters[] = {
        names_as_array(arena, names, count),
        pg_literal((struct slice){now, INSTANT_LEN}),
    };
    struct pg_statement statement = {.sql = sql,
                                     .parameters = parameters,
                                     .parameters_n = 2,
                                     .what = "given its standard classes and traits"};
    enum server_outcome outcome = pg_session_execute(session, &statement, NULL, deadline_us, err);
    arena_destroy(arena);
    return outcome;
}

enum server_outcome standard_names_insert(struct pg_session *session, uint64_t deadline_us,
                                          struct err *err)
{
    enum server_outcome outcome = insert_names(
        session,
        "INSERT INTO resource_classes (created_at, id, name)"
        " SELECT $2::timestamp, (i - 1)::int, n FROM unnest($1::text[]) WITH ORDINALITY AS s(n, i)"
        " WHERE NOT EXISTS (SELECT FROM resource_classes WHERE name = n) ORDER BY i"
        " ON CONFLICT (name) DO NOTHING",
        standard_class_names, standard_class_names_count, deadline_us, err);
    if (outcome != SERVER_OK)
        return outcome;
    return insert_names(
        session,
        "INSERT INTO traits (created_at, name)"
        " SELECT $2::timestamp, n FROM unnest($1::text[]) WITH ORDINALITY AS s(n, i)"
        " WHERE NOT EXISTS (SELECT FROM traits WHERE name = n) ORDER BY i"
        " ON CONFLICT (name) DO NOTHING",
        standard_trait_names, standard_trait_names_count, deadline_us, err);
}
