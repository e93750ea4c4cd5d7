/* libmariadb looks names up while it connects, and blocks in the TLS handshake even where it is
 * asked not to. So a thread of its own connects, with the functions that block; it is left behind
 * if it takes too long, and then closes what it has opened. libmariadb's own time limit, which is
 * for each address and each answer, ends it about then. The waiting thread waits for a descriptor.
 *
 * What a server, or whoever is on the way to it, may ask of libmariadb is limited: it gets no local
 * files, and no password in clear text over a connection that is not verified. Any thread. */
#include "store/mariadb/session/attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/server/failure.h"
#include "store/store.h"

enum { MESSAGE_BYTES = 512, SECOND_US = 1000000, STACK_BYTES = 128 * 1024 };

/* Shared by two threads; the last one to leave frees it. */
struct job {
    pthread_mutex_t lock;
    bool is_left; /* one of the threads has left */
    int done_fd;  /* an eventfd: readable when the thread is done, with what is below */
    struct arena *arena;
    struct mariadb_login login;
    uint64_t left_us; /* at the start */
    MYSQL *conn;
    unsigned code;
    char sqlstate[6];
    char message[MESSAGE_BYTES];
};

/* libmariadb also makes the process ignore SIGPIPE, which its TLS library would raise. */
static void init_library(void)
{
    check(mysql_library_init(0, NULL, NULL) == 0);
}

/* ---- in the thread ---- */

/* One of several addresses gets a share of the time; libmariadb counts in seconds. The only one
 * gets a second more than there is: then the thread that waits decides that it does not answer. 0:
 * the name cannot be resolved, and the job has the reason. */
static unsigned seconds_of_address(struct job *job)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    uint64_t count = 0;
    int error = job->login.host == NULL ? 0 : getaddrinfo(job->login.host, NULL, &hints, &found);
    if (error != 0) {
        snprintf(job->message, sizeof(job->message), "the name %s cannot be resolved: %s",
                 job->login.host, gai_strerror(error));
        return 0;
    }
    for (const struct addrinfo *one = found; one != NULL; one = one->ai_next)
        count++;
    if (found != NULL)
        freeaddrinfo(found);
    uint64_t seconds = count > 1 ? job->left_us / count / SECOND_US : job->left_us / SECOND_US + 2;
    return seconds == 0 ? 1 : seconds > 3600 ? 3600 : (unsigned)seconds;
}

static int refuse_file(void **cls, const char *name, void *data)
{
    (void)name;
    (void)data;
    *cls = NULL;
    return 1;
}

static int no_file(void *cls, char *out, unsigned int len)
{
    (void)cls;
    snprintf(out, len, "berth sends no files");
    return 2000;
}

static void end_file(void *cls)
{
    (void)cls;
}

static void set_text(MYSQL *conn, enum mysql_option option, const char *value)
{
    if (value != NULL)
        check(mysql_options(conn, option, value) == 0);
}

static void set_tls(MYSQL *conn, const struct mariadb_login *login)
{
    my_bool wanted = login->tls != MARIADB_TLS_OFF;
    my_bool verifies_host = login->tls == MARIADB_TLS_HOST;
    check(mysql_options(conn, MYSQL_OPT_SSL_ENFORCE, &wanted) == 0);
    check(mysql_options(conn, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verifies_host) == 0);
    if (!wanted)
        return;
    set_text(conn, MYSQL_OPT_SSL_CA, login->ssl_ca);
    set_text(conn, MYSQL_OPT_SSL_CAPATH, login->ssl_capath);
    set_text(conn, MYSQL_OPT_SSL_CERT, login->ssl_cert);
    set_text(conn, MYSQL_OPT_SSL_KEY, login->ssl_key);
    set_text(conn, MYSQL_OPT_SSL_CIPHER, login->ssl_cipher);
}

/* How the server may ask for the password. */
#define PLUGINS       "mysql_native_password,client_ed25519,parsec,caching_sha2_password,sha256_password"
#define CLEAR_PLUGINS PLUGINS ",mysql_clear_password"

static void set_options(MYSQL *conn, const struct mariadb_login *login, unsigned seconds)
{
    static const my_bool off = 0;
    static const unsigned no_files = 0;
    static const size_t packet = MARIADB_PACKET_BYTES_MOST;
    bool is_verified = login->tls >= MARIADB_TLS_CHAIN || login->unix_socket != NULL;
    unsigned protocol = login->unix_socket != NULL ? MYSQL_PROTOCOL_SOCKET : MYSQL_PROTOCOL_TCP;
    check(mysql_options(conn, MYSQL_OPT_CONNECT_TIMEOUT, &seconds) == 0);
    check(mysql_options(conn, MYSQL_OPT_PROTOCOL, &protocol) == 0);
    check(mysql_options(conn, MYSQL_OPT_RECONNECT, &off) == 0);
    check(mysql_options(conn, MYSQL_OPT_LOCAL_INFILE, &no_files) == 0);
    mysql_set_local_infile_handler(conn, refuse_file, NULL, end_file, no_file, NULL);
    check(mysql_options(conn, MYSQL_OPT_MAX_ALLOWED_PACKET, &packet) == 0);
    check(mysql_options(conn, MARIADB_OPT_RESTRICTED_AUTH, is_verified ? CLEAR_PLUGINS : PLUGINS) ==
          0);
    set_text(conn, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    set_text(conn, MYSQL_OPT_BIND, login->bind_address);
    set_text(conn, MYSQL_INIT_COMMAND, login->init_command);
    check(mysql_options4(conn, MYSQL_OPT_CONNECT_ATTR_ADD, "program_name", login->program_name) ==
          0);
    set_tls(conn, login);
}

static void keep_error(struct job *job, MYSQL *conn)
{
    job->code = mysql_errno(conn);
    snprintf(job->sqlstate, sizeof(job->sqlstate), "%s", mysql_sqlstate(conn));
    snprintf(job->message, sizeof(job->message), "%s", mysql_error(conn));
}

/* NULL: the job has the reason. */
static MYSQL *log_in(struct job *job)
{
    const struct mariadb_login *login = &job->login;
    const unsigned long flags = CLIENT_MULTI_STATEMENTS | CLIENT_MULTI_RESULTS | CLIENT_FOUND_ROWS;
    unsigned seconds = seconds_of_address(job);
    MYSQL *conn = seconds == 0 ? NULL : mysql_init(NULL);
    if (seconds == 0)
        return NULL;
    check(conn != NULL);
    set_options(conn, login, seconds);
    bool is_open =
        mysql_real_connect(conn, login->host, login->user, login->password, login->database,
                           login->port, login->unix_socket, flags) != NULL;
    if (!is_open)
        keep_error(job, conn);
    bool lacks_tls = is_open && login->tls != MARIADB_TLS_OFF && mysql_get_ssl_cipher(conn) == NULL;
    if (lacks_tls) {
        job->code = 2026;
        snprintf(job->message, sizeof(job->message),
                 "SSL is required, but the server does not support it");
    }
    if (is_open && !lacks_tls)
        return conn;
    mysql_close(conn);
    return NULL;
}

/* Frees the job if the other thread has left, too. */
static void leave_job(struct job *job)
{
    bool is_last = job->is_left;
    job->is_left = true;
    pthread_mutex_unlock(&job->lock);
    if (!is_last)
        return;
    if (job->conn != NULL) {
        shutdown(mysql_get_socket(job->conn), SHUT_RDWR);
        mysql_close(job->conn);
    }
    pthread_mutex_destroy(&job->lock);
    close(job->done_fd);
    arena_destroy(job->arena);
    free(job);
}

static void *run_job(void *cls)
{
    struct job *job = cls;
    MYSQL *conn = log_in(job);
    pthread_mutex_lock(&job->lock);
    job->conn = conn;
    check(eventfd_write(job->done_fd, 1) == 0);
    leave_job(job);
    return NULL;
}

/* ---- in the waiting thread ---- */

static const char *copy_text(struct arena *arena, const char *text)
{
    return text == NULL ? NULL : arena_copy(arena, slice_of(text)).data;
}

static void copy_login(struct job *job, const struct mariadb_attempt *attempt)
{
    struct mariadb_login *login = &job->login;
    *login = *attempt->login;
    if (login->program_name == NULL)
        login->program_name = attempt->program_name;
    const char **texts[] = {
        &login->user,        &login->password,     &login->host,         &login->database,
        &login->unix_socket, &login->bind_address, &login->program_name, &login->init_command,
        &login->ssl_ca,      &login->ssl_capath,   &login->ssl_cert,     &login->ssl_key,
        &login->ssl_cipher,
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        *texts[i] = copy_text(job->arena, *texts[i]);
}

static struct job *create_job(const struct mariadb_attempt *attempt)
{
    struct job *job = calloc(1, sizeof(*job));
    check(job != NULL);
    uint64_t now_us = clock_monotonic_us();
    job->arena = arena_create();
    job->left_us = attempt->deadline_us > now_us ? attempt->deadline_us - now_us : 0;
    job->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    check(pthread_mutex_init(&job->lock, NULL) == 0);
    copy_login(job, attempt);
    return job;
}

/* Without signals, which other threads wait for. */
static bool start_thread(struct job *job)
{
    pthread_attr_t detached;
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    check(pthread_attr_init(&detached) == 0);
    check(pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED) == 0);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&thread, &detached, run_job, job) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&detached);
    return started;
}

/* A dead peer is noticed within 15 seconds even on a connection that waits for nothing. No program
 * that this one starts inherits the socket. Then nothing blocks any more. */
static void set_socket(MYSQL *conn, bool is_tcp)
{
    static const struct {
        int level, option, value;
    } options[] = {
        {SOL_SOCKET, SO_KEEPALIVE, 1},          {IPPROTO_TCP, TCP_KEEPIDLE, 5},
        {IPPROTO_TCP, TCP_KEEPINTVL, 5},        {IPPROTO_TCP, TCP_KEEPCNT, 2},
        {IPPROTO_TCP, TCP_USER_TIMEOUT, 15000},
    };
    static const size_t stack = STACK_BYTES;
    int fd = mysql_get_socket(conn);
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]) && is_tcp; i++)
        (void)setsockopt(fd, options[i].level, options[i].option, &options[i].value,
                         sizeof(options[i].value));
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    check(mysql_options(conn, MYSQL_OPT_NONBLOCK, &stack) == 0);
}

static struct slice place_of(const struct mariadb_attempt *attempt)
{
    const struct mariadb_login *login = attempt->login;
    if (login->host == NULL)
        return arena_printf(attempt->arena, "the socket %s", login->unix_socket);
    return arena_printf(attempt->arena, "%s port %u", login->host, login->port);
}

/* libmariadb's message of a failed connect() lacks the port, and ends with the errno of the wait
 * for it (EINPROGRESS), which says nothing. */
static struct slice reason_of(const struct mariadb_attempt *attempt, const struct job *job)
{
    static const struct slice in_progress = SLICE_LIT(" (115)");
    struct slice line = server_failure_line(attempt->arena, job->message);
    if (job->code != 2002 && job->code != 2003 && job->code != 2013)
        return line;
    if (line.len > in_progress.len &&
        memcmp(line.data + line.len - in_progress.len, in_progress.data, in_progress.len) == 0)
        line.len -= in_progress.len;
    return arena_printf(attempt->arena, "%.*s: %.*s", SLICE_ARG(place_of(attempt)),
                        SLICE_ARG(line));
}

static enum server_outcome take_failure(const struct mariadb_attempt *attempt,
                                        const struct job *job, struct mariadb_failure *failure,
                                        struct slice *reason)
{
    bool passes = job->code == 0 || mariadb_failure_of_login_passes(job->code, job->message);
    mariadb_failure_read(failure, job->code, job->sqlstate, job->message);
    *reason = reason_of(attempt, job);
    return passes ? SERVER_RETRY : SERVER_FAILED;
}

static enum server_outcome take_job(struct mariadb_attempt *attempt, struct job *job,
                                    enum server_io waited, struct mariadb_failure *failure,
                                    struct slice *reason)
{
    *failure = (struct mariadb_failure){0};
    if (waited != SERVER_IO_READY) {
        bool stops = waited == SERVER_IO_OVER;
        *reason = stops ? SLICE_LIT(STORE_STOPPING)
                        : arena_printf(attempt->arena, "%.*s does not answer",
                                       SLICE_ARG(place_of(attempt)));
        return SERVER_TIMEOUT;
    }
    if (job->conn == NULL)
        return take_failure(attempt, job, failure, reason);
    attempt->conn = job->conn;
    job->conn = NULL;
    set_socket(attempt->conn, attempt->login->host != NULL);
    return SERVER_OK;
}

enum server_outcome mariadb_attempt_run(struct mariadb_attempt *attempt,
                                        struct mariadb_failure *failure, struct slice *reason)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    check(pthread_once(&once, init_library) == 0);
    struct job *job = create_job(attempt);
    enum server_io waited = SERVER_IO_READY;
    if (job->done_fd < 0 || !start_thread(job)) {
        job->is_left = true;
        snprintf(job->message, sizeof(job->message), "cannot begin: %s", strerror(EAGAIN));
    } else {
        waited = server_io_wait(attempt->meanwhile, job->done_fd, POLLIN, attempt->stop_fd,
                                attempt->deadline_us);
    }
    pthread_mutex_lock(&job->lock);
    attempt->conn = NULL;
    enum server_outcome outcome = take_job(attempt, job, waited, failure, reason);
    leave_job(job);
    return outcome;
}
