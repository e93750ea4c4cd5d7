/* The functions of libpq that read results. One thread. */
#include <stdio.h>

#include "result.h"

void PQclear(PGresult *result)
{
    result_free(result);
}

ExecStatusType PQresultStatus(const PGresult *result)
{
    return result == NULL ? PGRES_FATAL_ERROR : result->status;
}

char *PQresultErrorMessage(const PGresult *result)
{
    return (char *)(result == NULL || result->message == NULL ? "" : result->message);
}

char *PQresultErrorField(const PGresult *result, int field)
{
    if (result == NULL)
        return NULL;
    switch (field) {
    case PG_DIAG_SEVERITY_NONLOCALIZED:
        return (char *)result->severity;
    case PG_DIAG_SQLSTATE:
        return (char *)result->sqlstate;
    case PG_DIAG_MESSAGE_PRIMARY:
        return (char *)result->message;
    case PG_DIAG_MESSAGE_DETAIL:
        return (char *)result->detail;
    case PG_DIAG_CONSTRAINT_NAME:
        return (char *)result->constraint;
    default:
        return NULL;
    }
}

char *PQcmdStatus(PGresult *result)
{
    return (char *)result->tag;
}

char *PQcmdTuples(PGresult *result)
{
    static char text[24];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)result->affected);
    return text;
}

int PQntuples(const PGresult *result)
{
    return result == NULL ? 0 : result->rows;
}

int PQnfields(const PGresult *result)
{
    return result == NULL ? 0 : result->columns;
}

static struct slice value_at(const PGresult *result, int row, int column)
{
    return result->values[row * result->columns + column];
}

char *PQgetvalue(const PGresult *result, int row, int column)
{
    struct slice value = value_at(result, row, column);
    return (char *)(value.data == NULL ? "" : value.data);
}

int PQgetlength(const PGresult *result, int row, int column)
{
    return (int)value_at(result, row, column).len;
}

int PQgetisnull(const PGresult *result, int row, int column)
{
    return value_at(result, row, column).data == NULL;
}

Oid PQftype(const PGresult *result, int column)
{
    return (Oid)result->types[column];
}

int PQfformat(const PGresult *result, int column)
{
    (void)column;
    return result->is_binary;
}
