/* See libpq.h. What is sent arrives at once and in order; when it is executed is the server's
 * matter. The functions have libpq's signatures, and behave as its documentation of pipeline mode
 * says. One thread. */
#include "libpq.h"

#include <poll.h>
#include <stdlib.h>

#include "process.h"
#include "server.h"

enum { CONNECTIONS = 64, FIRST_SOCKET = 100000 };

static struct pg_conn *connections[CONNECTIONS];
static uint64_t serials;

/* ---- connections ---- */

static bool has_answers(const struct pg_conn *conn)
{
    return conn->first != NULL && process_now_us() >= conn->answers_at_us && !conn->is_swallowed;
}

bool libpq_has(int socket)
{
    return socket >= FIRST_SOCKET;
}

bool libpq_is_ready(int socket, short events)
{
    const struct pg_conn *conn = connections[socket - FIRST_SOCKET];
    if (conn->is_swallowed)
        return false;
    return conn->is_connecting || !conn->is_open || has_answers(conn) || (events & POLLOUT) != 0;
}

uint64_t libpq_serial(int socket)
{
    const struct pg_conn *conn = connections[socket - FIRST_SOCKET];
    return conn == NULL ? 0 : conn->serial;
}

uint64_t libpq_next_us(int socket)
{
    const struct pg_conn *conn = libpq_has(socket) ? connections[socket - FIRST_SOCKET] : NULL;
    return conn == NULL || conn->first == NULL || conn->is_swallowed ? UINT64_MAX
                                                                     : conn->answers_at_us;
}

void libpq_deliver(struct pg_conn *conn, struct pg_result *result)
{
    if (conn->last == NULL)
        conn->first = result;
    else
        conn->last->next = result;
    conn->last = result;
}

static void drop_answers(struct pg_conn *conn)
{
    while (conn->first != NULL) {
        struct pg_result *gone = conn->first;
        conn->first = gone->next;
        result_free(gone);
    }
    conn->last = NULL;
}

void libpq_break(struct pg_conn *conn, bool drops)
{
    conn->session = NULL;
    conn->is_open = false;
    conn->drops = drops;
    if (drops)
        drop_answers(conn);
}

static int node_of(const char *const *keywords, const char *const *values)
{
    for (; *keywords != NULL; keywords++, values++)
        if (strcmp(*keywords, "host") == 0)
            return atoi(*values + strlen("/node"));
    return 0;
}

PGconn *PQconnectStartParams(const char *const *keywords, const char *const *values, int expands)
{
    (void)expands;
    struct pg_conn *conn = calloc(1, sizeof(*conn));
    check(conn != NULL);
    conn->process = process_current();
    conn->is_connecting = true;
    conn->process->node = node_of(keywords, values);
    while (connections[conn->slot] != NULL)
        check(++conn->slot < CONNECTIONS);
    connections[conn->slot] = conn;
    conn->serial = ++serials;
    return conn;
}

PostgresPollingStatusType PQconnectPoll(PGconn *conn)
{
    conn->is_connecting = false;
    if (!conn->process->is_ending)
        conn->session = fake_server_connect(conn, conn->process->node);
    conn->is_open = conn->session != NULL;
    conn->transaction = PQTRANS_IDLE;
    return conn->is_open ? PGRES_POLLING_OK : PGRES_POLLING_FAILED;
}

static void free_messages(struct message *first)
{
    while (first != NULL) {
        struct message *gone = first;
        first = gone->next;
        free(gone);
    }
}

void PQfinish(PGconn *conn)
{
    if (conn == NULL)
        return;
    if (conn->session != NULL)
        fake_server_hang_up(conn->session);
    drop_answers(conn);
    free_messages(conn->unsent);
    connections[conn->slot] = NULL;
    free(conn);
}

static bool is_usable(const PGconn *conn)
{
    return conn != NULL && conn->is_open && !conn->process->is_ending;
}

ConnStatusType PQstatus(const PGconn *conn)
{
    return is_usable(conn) || (conn != NULL && conn->is_connecting) ? CONNECTION_OK
                                                                    : CONNECTION_BAD;
}

PGTransactionStatusType PQtransactionStatus(const PGconn *conn)
{
    if (conn == NULL || !conn->is_open)
        return PQTRANS_UNKNOWN;
    return conn->in_pipeline ? PQTRANS_ACTIVE : (PGTransactionStatusType)conn->transaction;
}

char *PQerrorMessage(const PGconn *conn)
{
    (void)conn;
    static char message[] = "connection to server failed: gone";
    return message;
}

int PQsocket(const PGconn *conn)
{
    return FIRST_SOCKET + conn->slot;
}

int PQbackendPID(const PGconn *conn)
{
    return conn->session == NULL ? 0 : conn->session->pid;
}

const char *PQparameterStatus(const PGconn *conn, const char *name)
{
    (void)conn;
    return strcmp(name, "server_encoding") == 0 ? "UTF8" : NULL;
}

int PQserverVersion(const PGconn *conn)
{
    (void)conn;
    return 150000;
}

char *PQhost(const PGconn *conn)
{
    (void)conn;
    static char host[] = "fake";
    return host;
}

char *PQport(const PGconn *conn)
{
    return PQhost(conn);
}

int PQsslInUse(PGconn *conn)
{
    (void)conn;
    return 0;
}

int PQsetnonblocking(PGconn *conn, int is_nonblocking)
{
    (void)conn;
    (void)is_nonblocking;
    return 0;
}

PQnoticeReceiver PQsetNoticeReceiver(PGconn *conn, PQnoticeReceiver receiver, void *cls)
{
    (void)conn;
    (void)receiver;
    (void)cls;
    return NULL;
}

PGVerbosity PQsetErrorVerbosity(PGconn *conn, PGVerbosity verbosity)
{
    (void)conn;
    return verbosity;
}

/* ---- statements ---- */

int PQenterPipelineMode(PGconn *conn)
{
    if (!is_usable(conn))
        return 0;
    conn->in_pipeline = true;
    return 1;
}

int PQexitPipelineMode(PGconn *conn)
{
    check(conn->first == NULL);
    conn->in_pipeline = false;
    return 1;
}

static char *append(char **end, const char *bytes, size_t len)
{
    char *copied = *end;
    memcpy(copied, bytes, len);
    copied[len] = '\0';
    *end += len + 1;
    return copied;
}

struct sent {
    const char *name, *sql;
    int count;
    const char *const *values;
    const int *lengths;
    const int *formats;
    bool is_binary;
};

static size_t length_of(const struct sent *sent, int at)
{
    return sent->values[at] == NULL ? 0
           : sent->formats[at] == 0 ? strlen(sent->values[at])
                                    : (size_t)sent->lengths[at];
}

static int queue(PGconn *conn, enum message_kind kind, const struct sent *sent)
{
    if (!is_usable(conn))
        return 0;
    size_t count = sent->values == NULL ? 0 : (size_t)sent->count;
    size_t bytes = sizeof(struct message) + count * sizeof(struct parameter) + 2 +
                   (sent->name == NULL ? 0 : strlen(sent->name)) +
                   (sent->sql == NULL ? 0 : strlen(sent->sql));
    for (size_t i = 0; i < count; i++)
        bytes += length_of(sent, (int)i) + 1;
    struct message *message = malloc(bytes);
    check(message != NULL);
    *message = (struct message){.kind = kind,
                                .is_binary = sent->is_binary,
                                .single_rows = conn->single_rows,
                                .count = (unsigned)count};
    char *end = (char *)&message->parameters[count];
    message->name = sent->name == NULL ? NULL : append(&end, sent->name, strlen(sent->name));
    message->sql = sent->sql == NULL ? NULL : append(&end, sent->sql, strlen(sent->sql));
    for (size_t i = 0; i < count; i++) {
        size_t len = length_of(sent, (int)i);
        message->parameters[i].is_text = sent->formats[i] == 0;
        message->parameters[i].bytes = (struct slice){0};
        if (sent->values[i] != NULL)
            message->parameters[i].bytes = (struct slice){append(&end, sent->values[i], len), len};
    }
    if (conn->unsent == NULL)
        conn->unsent = message;
    else
        conn->unsent_last->next = message;
    conn->unsent_last = message;
    return 1;
}

int PQsendPrepare(PGconn *conn, const char *name, const char *sql, int count, const Oid *types)
{
    (void)count;
    (void)types;
    return queue(conn, MESSAGE_PREPARE, &(struct sent){.name = name, .sql = sql});
}

int PQsendQueryParams(PGconn *conn, const char *sql, int count, const Oid *types,
                      const char *const *values, const int *lengths, const int *formats,
                      int result_format)
{
    (void)types;
    return queue(conn, MESSAGE_EXECUTE,
                 &(struct sent){NULL, sql, count, values, lengths, formats, result_format == 1});
}

int PQsendQueryPrepared(PGconn *conn, const char *name, int count, const char *const *values,
                        const int *lengths, const int *formats, int result_format)
{
    return queue(conn, MESSAGE_EXECUTE,
                 &(struct sent){name, NULL, count, values, lengths, formats, result_format == 1});
}

/* Of the statement that was queued last: nothing has been sent yet. */
int PQsetSingleRowMode(PGconn *conn)
{
    conn->unsent_last->single_rows = true;
    return 1;
}

int PQpipelineSync(PGconn *conn)
{
    return queue(conn, MESSAGE_SYNC, &(struct sent){0});
}

int PQflush(PGconn *conn)
{
    if (!is_usable(conn))
        return -1;
    struct message *messages = conn->unsent;
    conn->unsent = conn->unsent_last = NULL;
    if (conn->is_swallowed || conn->session == NULL)
        free_messages(messages);
    else if (messages != NULL)
        fake_server_receive(conn->session, messages);
    return 0;
}

/* ---- results ---- */

int PQisBusy(PGconn *conn)
{
    return is_usable(conn) && !has_answers(conn);
}

int PQconsumeInput(PGconn *conn)
{
    return has_answers(conn) || is_usable(conn);
}

PGresult *PQgetResult(PGconn *conn)
{
    struct pg_result *result = conn->first;
    if (result == NULL)
        return NULL;
    conn->first = result->next;
    conn->last = conn->first == NULL ? NULL : conn->last;
    if (result->status == PGRES_PIPELINE_SYNC)
        conn->transaction = result->transaction;
    if (!result->is_end)
        return result;
    result_free(result);
    return NULL;
}
