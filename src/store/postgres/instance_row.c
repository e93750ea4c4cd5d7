/* See instance_row.h. Times are the server's, so that the clocks of instances need not agree. One
 * thread at a time. */
#include "store/postgres/instance_row.h"

#include <stdio.h>
#include <unistd.h>

static const char WRITE[] =
    "INSERT INTO berth_instances AS i"
    " (instance, host, pid, version, first_seen, last_seen, followed)"
    " VALUES ($1::text, $2::text, $3::int, $4::text, now() AT TIME ZONE 'UTC',"
    " now() AT TIME ZONE 'UTC', $5::bigint)"
    " ON CONFLICT (instance) DO UPDATE SET last_seen = excluded.last_seen,"
    " followed = excluded.followed";
static const char DELETE_OLD[] = "DELETE FROM berth_instances"
                                 " WHERE last_seen < now() AT TIME ZONE 'UTC' - interval '1 day'";
static const char DELETE_ONE[] = "DELETE FROM berth_instances WHERE instance = $1::text";

bool instance_row_init(struct instance_row *row)
{
    unsigned char b[16];
    *row = (struct instance_row){.pid = (int32_t)getpid()};
    if (getentropy(b, sizeof(b)) != 0)
        return false;
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40); /* RFC 4122: version 4 */
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    snprintf(row->name, sizeof(row->name),
             "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
             b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
             b[15]);
    if (gethostname(row->host, sizeof(row->host) - 1) != 0)
        row->host[0] = '\0';
    return true;
}

enum server_outcome instance_row_write(struct pg_session *session, const struct instance_row *row,
                                       int64_t followed, uint64_t deadline_us, struct err *err)
{
    const struct pg_parameter parameters[] = {
        pg_text(slice_of(row->name)),
        pg_text(slice_of(row->host)),
        pg_int4(row->pid),
        pg_text(SLICE_LIT(BERTH_VERSION)),
        pg_int8(followed),
    };
    const struct pg_statement write = {
        .sql = WRITE, .parameters = parameters, .parameters_n = 5, .what = "written"};
    enum server_outcome outcome = pg_session_execute(session, &write, NULL, deadline_us, err);
    if (outcome == SERVER_OK)
        outcome = pg_session_run(session, DELETE_OLD, "written", deadline_us, err);
    return outcome;
}

enum server_outcome instance_row_delete(struct pg_session *session, const struct instance_row *row,
                                        uint64_t deadline_us, struct err *err)
{
    const struct pg_parameter name = pg_text(slice_of(row->name));
    const struct pg_statement statement = {
        .sql = DELETE_ONE, .parameters = &name, .parameters_n = 1, .what = "written"};
    return pg_session_execute(session, &statement, NULL, deadline_us, err);
}
