/* Consumers by their uuids: which of them there are, and which have allocations and no row
 * (missing_consumers.h). Rows that another process creates meanwhile are left alone. */
#include "base/clock.h"
#include "store/postgres/exchange/exchanges.h"
#include "store/postgres/log/write_texts.h"
#include "store/postgres/session/pipeline.h"
#include "store/postgres/session/session_state.h"

#define ARE_MISSING(uuids)                                                                         \
    "FROM allocations a WHERE a.consumer_id = ANY (" uuids "::text[])"                             \
    " AND NOT EXISTS (SELECT FROM consumers c WHERE c.uuid = a.consumer_id)"

static const char FIND[] = "SELECT c.id, c.uuid FROM consumers c WHERE c.uuid = ANY ($1::text[])"
                           " UNION ALL SELECT DISTINCT 0, a.consumer_id " ARE_MISSING("$1");
static const char CREATE_PROJECT[] =
    "INSERT INTO projects (created_at, external_id) SELECT $1::timestamp, $2::text"
    " WHERE NOT EXISTS (SELECT FROM projects WHERE external_id = $2::text)"
    " ON CONFLICT (external_id) DO NOTHING";
static const char CREATE_USER[] =
    "INSERT INTO users (created_at, external_id) SELECT $1::timestamp, $2::text"
    " WHERE NOT EXISTS (SELECT FROM users WHERE external_id = $2::text)"
    " ON CONFLICT (external_id) DO NOTHING";
static const char CREATE_CONSUMERS[] =
    "INSERT INTO consumers (created_at, uuid, project_id, user_id, generation)"
    " SELECT DISTINCT $1::timestamp, a.consumer_id,"
    " (SELECT id FROM projects WHERE external_id = $2::text),"
    " (SELECT id FROM users WHERE external_id = $3::text), 0 " ARE_MISSING(
        "$4") " ON CONFLICT (uuid) DO NOTHING";

static struct pg_parameter uuids_parameter(struct pg_session *session, const struct slice *uuids,
                                           size_t count)
{
    struct pg_array *array = &session->arrays[0];
    pg_array_begin(array, PG_TEXT_ARRAY);
    for (size_t i = 0; i < count; i++)
        pg_array_add_text(array, uuids[i]);
    return pg_array_parameter(array);
}

enum server_outcome pg_consumers_find(struct server_session *base, const struct slice *uuids,
                                      size_t count, consumer_take *take, void *cls,
                                      uint64_t timeout_us, struct err *err)
{
    struct pg_session *session = pg_session_of(base);
    const struct pg_parameter parameter = uuids_parameter(session, uuids, count);
    const struct pg_statement statement = {.sql = FIND,
                                           .parameters = &parameter,
                                           .parameters_n = 1,
                                           .binary_results = true,
                                           .what = "read"};
    struct pg_rows rows = {0};
    enum server_outcome outcome =
        pg_session_execute(session, &statement, &rows, clock_monotonic_us() + timeout_us, err);
    for (size_t i = 0; i < pg_rows_count(&rows); i++) {
        int64_t id;
        if (pg_rows_int(&rows, i, 0, &id))
            take(cls, id, pg_rows_bytes(&rows, i, 1));
    }
    pg_rows_free(&rows);
    return outcome;
}

/* In one round trip: a connection that breaks leaves no open transaction with these uuids, for
 * which others would have to wait. */
static bool queue_creation(struct pg_session *session, const struct repair_owner *owner,
                           const struct slice *uuids, size_t count, struct err *err)
{
    const struct pg_parameter now = pg_timestamp(clock_wall_us());
    const struct pg_parameter project[] = {now, pg_text(owner->project)};
    const struct pg_parameter user[] = {now, pg_text(owner->user)};
    const struct pg_parameter consumers[] = {now, pg_text(owner->project), pg_text(owner->user),
                                             uuids_parameter(session, uuids, count)};
    const struct pg_statement statements[] = {
        {.sql = CREATE_PROJECT, .parameters = project, .parameters_n = 2, .what = "changed"},
        {.sql = CREATE_USER, .parameters = user, .parameters_n = 2, .what = "changed"},
        {.sql = CREATE_CONSUMERS, .parameters = consumers, .parameters_n = 4, .what = "changed"},
        {.sql = "COMMIT", .is_commit = true, .what = "changed"},
    };
    bool ok = pg_pipeline_queue_begin(session, PG_BEGIN_WRITE, err) == SERVER_OK;
    for (size_t i = 0; ok && i < sizeof(statements) / sizeof(*statements); i++)
        ok = pg_pipeline_queue(session, &statements[i], err) == SERVER_OK;
    return ok;
}

enum server_outcome pg_consumers_create(struct server_session *base,
                                        const struct repair_owner *owner, const struct slice *uuids,
                                        size_t count, uint64_t *created, uint64_t deadline_us,
                                        struct err *err)
{
    enum { BEFORE = 3 }; /* BEGIN, the project and the user */
    struct pg_session *session = pg_session_of(base);
    struct pg_rows rows = {0};
    enum server_outcome outcome = pg_pipeline_begin(session, err);
    if (outcome != SERVER_OK)
        return outcome;
    if (!queue_creation(session, owner, uuids, count, err)) {
        pg_session_close(session);
        return SERVER_LOST;
    }
    outcome = pg_pipeline_send(session, deadline_us, err);
    for (int i = 0; outcome == SERVER_OK && i < BEFORE; i++)
        outcome = pg_pipeline_next(session, NULL, deadline_us, err);
    if (outcome == SERVER_OK)
        outcome = pg_pipeline_next(session, &rows, deadline_us, err);
    if (outcome == SERVER_OK)
        *created = pg_rows_affected(&rows);
    pg_rows_free(&rows);
    return outcome == SERVER_OK ? pg_pipeline_finish(session, deadline_us, err) : outcome;
}
