/* The number of an error decides what it means (mysqld_error.h; MySQL's "Server Error Message
 * Reference"), not its message, but for a table without its triggers: a syntax error (1064), as
 * those of texts are. SQLSTATEs do not: most of them are HY000, and 1047 (the node is
 * not in the primary component) has that of a broken connection. Numbers from 2000 to 2999 and from
 * 5000 to 5999 are those of client libraries, and those from 9000 on ProxySQL's; proxies send both
 * in place of a server that they have lost. Some numbers from 3000 on mean something else to the
 * other product, which never uses them for what is listed here.
 *
 * After which failures a COMMIT has certainly not happened is a list of what is known to roll back;
 * whatever is not on it counts as unknown. 1180 (error during COMMIT) is not: Galera answers so
 * when the node leaves the cluster while the transaction is being certified, and the other nodes
 * may have it. So it does with 1047, if more seldom. Nor are interruptions, which end the wait for
 * a replica after the commit. Pure; any thread. */
#include "store/mariadb/session/failure.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct meaning {
    unsigned short code;
    unsigned char kind;
    unsigned char outcome;
    bool is_certain; /* as the answer to a COMMIT */
};

#define REFUSED(code, kind)                                                                        \
    {                                                                                              \
        code, kind, SERVER_REFUSED, true                                                           \
    }
#define RETRY(code, kind)                                                                          \
    {                                                                                              \
        code, kind, SERVER_RETRY, false                                                            \
    }
#define CERTAIN(code, kind)                                                                        \
    {                                                                                              \
        code, kind, SERVER_RETRY, true                                                             \
    }
#define LOST(code)                                                                                 \
    {                                                                                              \
        code, MARIADB_PASSES, SERVER_LOST, false                                                   \
    }

/* clang-format off */
static const struct meaning MEANINGS[] = {
    CERTAIN(1020, MARIADB_CONFLICT),    /* the row has changed (innodb_snapshot_isolation) */
    RETRY(1021, MARIADB_PASSES),        /* disk full */
    REFUSED(1022, MARIADB_DUPLICATE),
    RETRY(1026, MARIADB_PASSES),        /* error while writing a file */
    RETRY(1037, MARIADB_PASSES),        /* out of memory, and the next two */
    RETRY(1038, MARIADB_PASSES),
    RETRY(1041, MARIADB_PASSES),
    RETRY(1040, MARIADB_PASSES),        /* too many connections */
    RETRY(1047, MARIADB_PASSES),        /* Galera: not in the primary component */
    REFUSED(1048, MARIADB_CANNOT_HOLD), /* NULL */
    LOST(1053),                         /* shutdown */
    REFUSED(1062, MARIADB_DUPLICATE),
    LOST(1080),                         /* forcing close of thread */
    RETRY(1114, MARIADB_PASSES),        /* table full */
    REFUSED(1118, MARIADB_CANNOT_HOLD), /* row too large */
    RETRY(1129, MARIADB_PASSES),        /* host blocked after errors */
    RETRY(1135, MARIADB_PASSES),        /* cannot create thread */
    LOST(1152),                         /* aborted connection; the next ones are network errors */
    REFUSED(1153, MARIADB_CANNOT_HOLD), /* larger than max_allowed_packet: was not executed */
    LOST(1156), LOST(1158), LOST(1159), LOST(1160), LOST(1161), LOST(1184),
    RETRY(1180, MARIADB_CONFLICT),      /* error during COMMIT */
    RETRY(1181, MARIADB_PASSES),        /* error during ROLLBACK */
    RETRY(1203, MARIADB_PASSES),        /* too many connections of the user */
    CERTAIN(1205, MARIADB_LOCKED),
    CERTAIN(1206, MARIADB_PASSES),      /* too many locks */
    CERTAIN(1213, MARIADB_CONFLICT),    /* deadlock; Galera: certification has failed */
    REFUSED(1216, MARIADB_REFERENCE),
    REFUSED(1217, MARIADB_REFERENCE),
    RETRY(1226, MARIADB_PASSES),        /* limit of the user */
    REFUSED(1242, MARIADB_NOT_FOUND),
    REFUSED(1263, MARIADB_CANNOT_HOLD),
    REFUSED(1264, MARIADB_CANNOT_HOLD), /* out of range */
    REFUSED(1265, MARIADB_CANNOT_HOLD), /* data truncated */
    CERTAIN(1290, MARIADB_READ_ONLY),
    REFUSED(1292, MARIADB_CANNOT_HOLD), /* incorrect date or number */
    REFUSED(1300, MARIADB_CANNOT_HOLD), /* invalid character string */
    REFUSED(1301, MARIADB_CANNOT_HOLD), /* result larger than max_allowed_packet */
    RETRY(1317, MARIADB_PASSES),        /* interrupted: KILL QUERY */
    REFUSED(1364, MARIADB_CANNOT_HOLD), /* no default */
    REFUSED(1365, MARIADB_CANNOT_HOLD), /* division by zero */
    REFUSED(1366, MARIADB_CANNOT_HOLD), /* incorrect string, such as four bytes under utf8mb3 */
    REFUSED(1367, MARIADB_CANNOT_HOLD),
    REFUSED(1406, MARIADB_CANNOT_HOLD), /* too long */
    REFUSED(1411, MARIADB_CANNOT_HOLD),
    RETRY(1412, MARIADB_CONFLICT),      /* the table has been altered */
    REFUSED(1451, MARIADB_REFERENCE),
    REFUSED(1452, MARIADB_REFERENCE),
    REFUSED(1526, MARIADB_CANNOT_HOLD), /* no partition for the value */
    REFUSED(1586, MARIADB_DUPLICATE),
    RETRY(1615, MARIADB_CONFLICT),      /* to be prepared again */
    RETRY(1637, MARIADB_PASSES),        /* too many transactions */
    REFUSED(1690, MARIADB_CANNOT_HOLD), /* out of range */
    REFUSED(1761, MARIADB_REFERENCE),
    REFUSED(1762, MARIADB_REFERENCE),
    CERTAIN(1792, MARIADB_READ_ONLY),
    CERTAIN(1836, MARIADB_READ_ONLY),
    REFUSED(1859, MARIADB_DUPLICATE),
    REFUSED(1917, MARIADB_CANNOT_HOLD), /* MariaDB: truncated */
    REFUSED(1918, MARIADB_CANNOT_HOLD), /* MariaDB: illegal value */
    LOST(1927),                         /* MariaDB: connection killed; also by MaxScale */
    RETRY(1964, MARIADB_CONFLICT),      /* MariaDB: an earlier commit has failed */
    RETRY(1969, MARIADB_PASSES),        /* MariaDB: max_statement_time */
    REFUSED(1977, MARIADB_CANNOT_HOLD), /* MariaDB: cannot convert a character */
    RETRY(3024, MARIADB_PASSES),        /* MySQL: max_execution_time */
    LOST(3032),                         /* MySQL: offline mode */
    CERTAIN(3101, MARIADB_CONFLICT),    /* MySQL: group replication has rolled back */
    LOST(3168), LOST(3169),             /* MySQL: server unavailable, session killed */
    CERTAIN(3572, MARIADB_LOCKED),      /* MySQL: NOWAIT */
    REFUSED(3819, MARIADB_CANNOT_HOLD), /* MySQL: CHECK */
    REFUSED(3854, MARIADB_CANNOT_HOLD), /* MySQL: cannot convert a string */
    REFUSED(4025, MARIADB_CANNOT_HOLD), /* MariaDB: CHECK */
    LOST(4031),                         /* MySQL: idle for too long */
};
/* clang-format on */

static const struct meaning *meaning_of(unsigned code)
{
    for (size_t i = 0; i < sizeof(MEANINGS) / sizeof(MEANINGS[0]); i++)
        if (MEANINGS[i].code == code)
            return &MEANINGS[i];
    return NULL;
}

/* Of client libraries, or of ProxySQL. */
static bool is_of_connection(unsigned code)
{
    return (code >= 2000 && code < 3000) || (code >= 5000 && code < 6000) || code >= 9000;
}

enum server_outcome mariadb_failure_classify(unsigned code)
{
    const struct meaning *meaning = meaning_of(code);
    if (is_of_connection(code))
        return SERVER_LOST;
    return meaning == NULL ? SERVER_FAILED : (enum server_outcome)meaning->outcome;
}

enum mariadb_kind mariadb_failure_kind(unsigned code)
{
    const struct meaning *meaning = meaning_of(code);
    if (is_of_connection(code))
        return MARIADB_PASSES;
    return meaning == NULL ? MARIADB_OTHER : (enum mariadb_kind)meaning->kind;
}

bool mariadb_failure_of_commit_is_certain(unsigned code)
{
    const struct meaning *meaning = meaning_of(code);
    return meaning != NULL && meaning->is_certain;
}

bool mariadb_failure_of_login_passes(unsigned code, const char *message)
{
    static const unsigned short final[] = {2007, 2047, 2049, 2054, 2059, 2061, 5004, 5010};
    for (size_t i = 0; i < sizeof(final) / sizeof(final[0]); i++)
        if (final[i] == code)
            return false;
    if (code == 2026) /* TLS */
        return strstr(message, "ertificate") == NULL && strstr(message, "SSL is required") == NULL;
    enum server_outcome outcome = mariadb_failure_classify(code);
    return outcome == SERVER_RETRY || outcome == SERVER_LOST;
}

/* ---- names in messages ---- */

static void copy_name(char *out, const char *from, const char *end)
{
    size_t len = (size_t)(end - from);
    if (len >= MARIADB_NAME_BYTES)
        len = MARIADB_NAME_BYTES - 1;
    memcpy(out, from, len);
    out[len] = '\0';
}

/* The last text in quotes before `end`: what is in front of it may be a value with quotes. */
static bool last_quoted(const char *message, const char *end, char quote, const char **from,
                        const char **to)
{
    const char *closing = memrchr(message, quote, (size_t)(end - message));
    const char *opening =
        closing == NULL ? NULL : memrchr(message, quote, (size_t)(closing - message));
    if (opening == NULL)
        return false;
    *from = opening + 1;
    *to = closing;
    return true;
}

/* "Duplicate entry 'x' for key 'name'", or 'table.name' by MySQL. */
static void read_key(struct mariadb_failure *failure, const char *message)
{
    const char *from, *to;
    if (!last_quoted(message, message + strlen(message), '\'', &from, &to))
        return;
    const char *dot = memchr(from, '.', (size_t)(to - from));
    if (dot != NULL)
        copy_name(failure->table, from, dot);
    copy_name(failure->key, dot == NULL ? from : dot + 1, to);
}

/* "… (`db`.`child`, CONSTRAINT `name` FOREIGN KEY (…", "CONSTRAINT `name` failed for …" by MariaDB,
 * "Check constraint 'name' is violated." by MySQL. */
static void read_constraint(struct mariadb_failure *failure, const char *message)
{
    const char *from = strstr(message, "CONSTRAINT `");
    char quote = '`';
    if (from == NULL) {
        from = strstr(message, "constraint '");
        quote = '\'';
    }
    if (from == NULL)
        return;
    from += strlen("CONSTRAINT `");
    const char *to = strchr(from, quote);
    if (to != NULL)
        copy_name(failure->key, from, to);
}

/* "… for column 'name' at row 2", "… for column `db`.`table`.`name` at row 2", "Column 'name'
 * cannot be null". */
static void read_column(struct mariadb_failure *failure, const char *message)
{
    const char *end = message + strlen(message);
    for (const char *at = message; (at = strstr(at, " at row ")) != NULL; at++)
        end = at;
    const char *digit = end[0] == '\0' ? end : end + strlen(" at row ");
    for (; isdigit((unsigned char)*digit) && failure->row < UINT64_MAX / 100; digit++)
        failure->row = failure->row * 10 + (uint64_t)(*digit - '0');
    const char *from, *to;
    char quote = end > message && end[-1] == '`' ? '`' : '\'';
    if (last_quoted(message, end, quote, &from, &to))
        copy_name(failure->column, from, to);
}

/* "Trigger 'name' has an error in its body: …", or "Unknown trigger has …". */
static bool read_trigger(struct mariadb_failure *failure, const char *message)
{
    const char *from, *to;
    const char *end = strstr(message, "rigger ");
    end = end == NULL ? NULL : strstr(end, " has an error in its body");
    if (end != NULL && last_quoted(message, end, '\'', &from, &to))
        copy_name(failure->key, from, to);
    return end != NULL;
}

enum server_outcome mariadb_failure_read(struct mariadb_failure *failure, unsigned code,
                                         const char *sqlstate, const char *message)
{
    *failure = (struct mariadb_failure){.code = code, .kind = mariadb_failure_kind(code)};
    snprintf(failure->sqlstate, sizeof(failure->sqlstate), "%s", sqlstate);
    snprintf(failure->message, sizeof(failure->message), "%s", message);
    if (failure->kind == MARIADB_DUPLICATE)
        read_key(failure, message);
    else if (failure->kind == MARIADB_REFERENCE || code == 4025 || code == 3819)
        read_constraint(failure, message);
    else if (failure->kind == MARIADB_CANNOT_HOLD)
        read_column(failure, message);
    failure->is_broken_table = code == 1064 && read_trigger(failure, message);
    if (!failure->is_broken_table)
        return mariadb_failure_classify(code);
    failure->kind = MARIADB_CONFLICT;
    return SERVER_RETRY;
}
