/* The SQLSTATE decides what a failure means (PostgreSQL's appendix A, "Error Codes"), never the
 * message, which is translated. Pure; any thread. */
#include "store/postgres/session/failure.h"

#include <stdio.h>
#include <string.h>

enum server_outcome pg_failure_classify(const char *sqlstate)
{
    static const struct {
        const char *prefix;
        enum server_outcome result;
    } known[] = {
        {"22", SERVER_REFUSED}, {"23", SERVER_REFUSED}, {"44", SERVER_REFUSED},
        {"54", SERVER_REFUSED}, {"08", SERVER_RETRY},   {"40", SERVER_RETRY},
        {"53", SERVER_RETRY},   {"57", SERVER_RETRY},   {"25006", SERVER_RETRY},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strncmp(sqlstate, known[i].prefix, strlen(known[i].prefix)) == 0)
            return known[i].result;
    return SERVER_FAILED;
}

enum server_reason pg_failure_reason(const char *sqlstate)
{
    static const struct {
        const char *prefix;
        enum server_reason reason;
    } known[] = {
        {"55P03", SERVER_REASON_LOCKED},    {"40P01", SERVER_REASON_CONFLICT},
        {"40001", SERVER_REASON_CONFLICT},  {"25006", SERVER_REASON_READ_ONLY},
        {"23505", SERVER_REASON_DUPLICATE}, {"23503", SERVER_REASON_REFERENCE},
        {"22", SERVER_REASON_CANNOT_HOLD},  {"54", SERVER_REASON_CANNOT_HOLD},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strncmp(sqlstate, known[i].prefix, strlen(known[i].prefix)) == 0)
            return known[i].reason;
    return SERVER_REASON_OTHER;
}

static void copy_field(char *out, size_t room, const PGresult *result, int field)
{
    const char *text = PQresultErrorField(result, field);
    snprintf(out, room, "%s", text == NULL ? "" : text);
}

void pg_failure_read(struct pg_failure *failure, const PGresult *result)
{
    *failure = (struct pg_failure){0};
    copy_field(failure->sqlstate, sizeof(failure->sqlstate), result, PG_DIAG_SQLSTATE);
    copy_field(failure->schema, sizeof(failure->schema), result, PG_DIAG_SCHEMA_NAME);
    copy_field(failure->table, sizeof(failure->table), result, PG_DIAG_TABLE_NAME);
    copy_field(failure->column, sizeof(failure->column), result, PG_DIAG_COLUMN_NAME);
    copy_field(failure->constraint, sizeof(failure->constraint), result, PG_DIAG_CONSTRAINT_NAME);
    copy_field(failure->detail, sizeof(failure->detail), result, PG_DIAG_MESSAGE_DETAIL);
}
