/* See fake_keystone.h. */
#include "fake_keystone.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"

struct connection {
    struct fake_keystone *fake;
    int fd;
};

static void stamp(char out[40], int seconds)
{
    time_t at = time(NULL) + seconds;
    struct tm parts;
    gmtime_r(&at, &parts);
    strftime(out, 40, "%Y-%m-%dT%H:%M:%S.000000Z", &parts);
}

static void take_header(const char *text, const char *name, char out[FAKE_TEXT_BYTES])
{
    const char *at = strcasestr(text, name);
    size_t len = 0;
    if (at == NULL)
        return;
    at += strlen(name);
    while (*at == ' ')
        at++;
    while (at[len] != '\0' && at[len] != '\r' && len < FAKE_TEXT_BYTES - 1)
        len++;
    memcpy(out, at, len);
    out[len] = '\0';
}

/* Reads headers, and a body of the announced length. */
static bool read_query(int fd, char *text, size_t room, struct fake_query *query)
{
    size_t len = 0;
    char length[FAKE_TEXT_BYTES] = "";
    for (;;) {
        ssize_t got = recv(fd, text + len, room - 1 - len, 0);
        if (got <= 0)
            return false;
        len += (size_t)got;
        text[len] = '\0';
        const char *body = strstr(text, "\r\n\r\n");
        if (body == NULL)
            continue;
        take_header(text, "\r\nContent-Length:", length);
        if (text + len - (body + 4) >= atoi(length))
            break;
    }
    memset(query, 0, sizeof(*query));
    if (sscanf(text, "%15s %511s", query->method, query->target) != 2)
        return false;
    take_header(text, "\r\nX-Auth-Token:", query->own);
    take_header(text, "\r\nX-Subject-Token:", query->subject);
    take_header(text, "\r\nX-Openstack-Request-Id:", query->request_id);
    return true;
}

static const char PROJECTS[] = "/v3/projects/";

static void send_answer(int fd, int status, const char *header, const char *body)
{
    char text[4096];
    int len = snprintf(text, sizeof(text),
                       "HTTP/1.1 %d X\r\nContent-Type: application/json\r\nConnection: close\r\n"
                       "%sContent-Length: %zu\r\n\r\n%s",
                       status, header, strlen(body), body);
    for (int sent = 0; sent < len;) {
        ssize_t put = send(fd, text + sent, (size_t)(len - sent), MSG_NOSIGNAL);
        if (put <= 0)
            return;
        sent += (int)put;
    }
}

static void answer_login(struct fake_keystone *fake, int fd)
{
    char issued[40], expires[40], header[64], body[1024];
    pthread_mutex_lock(&fake->lock);
    unsigned number = ++fake->logins;
    int status = fake->login_status;
    pthread_mutex_unlock(&fake->lock);
    stamp(issued, 0);
    stamp(expires, 3600);
    snprintf(header, sizeof(header), "X-Subject-Token: own-%u\r\n", number);
    snprintf(body, sizeof(body),
             "{\"token\": {\"issued_at\": \"%s\", \"expires_at\": \"%s\", \"catalog\": [{\"type\": "
             "\"identity\", \"endpoints\": [{\"interface\": \"internal\", \"region\": \"One\", "
             "\"url\": \"%s/v3\"}]}]}}",
             issued, expires, fake->url);
    send_answer(fd, status, header, body);
}

static void answer_token(struct fake_keystone *fake, int fd, const struct fake_query *query)
{
    char expires[40], body[1024];
    pthread_mutex_lock(&fake->lock);
    fake->queries++;
    fake->last = *query;
    pthread_cond_broadcast(&fake->changed);
    while (fake->held && !fake->stopping)
        pthread_cond_wait(&fake->changed, &fake->lock);
    int status = fake->token_status;
    unsigned own = 0;
    if (sscanf(query->own, "own-%u", &own) != 1 || own < fake->own_valid)
        status = 401;
    pthread_mutex_unlock(&fake->lock);
    char kind = query->subject[0];
    bool expired_allowed = strstr(query->target, "allow_expired=1") != NULL;
    if (status == 0)
        status = kind == 'g' || kind == 's' || (kind == 'e' && expired_allowed) ? 200 : 404;
    stamp(expires, kind == 'e' ? -60 : 3600);
    snprintf(body, sizeof(body),
             "{\"token\": {\"user\": {\"id\": \"user-of-%s\"}, \"expires_at\": \"%s\", \"roles\": "
             "[{\"name\": \"%s\"}]}}",
             query->subject, expires, kind == 's' ? "service" : "admin");
    send_answer(fd, status, "", status == 200 ? body : "{\"error\": {}}");
}

/* GET /v3/projects/ID: ids that begin with g exist. */
static void answer_project(struct fake_keystone *fake, int fd, const struct fake_query *query,
                           const char *id)
{
    pthread_mutex_lock(&fake->lock);
    fake->queries++;
    fake->last = *query;
    fake->projects_open++;
    if (fake->projects_open > fake->projects_most)
        fake->projects_most = fake->projects_open;
    pthread_cond_broadcast(&fake->changed);
    while (fake->held && !fake->stopping)
        pthread_cond_wait(&fake->changed, &fake->lock);
    int status = fake->token_status != 0 ? fake->token_status : id[0] == 'g' ? 200 : 404;
    unsigned own = 0;
    if (sscanf(query->own, "own-%u", &own) != 1 || own < fake->own_valid)
        status = 401;
    fake->projects_open--;
    pthread_mutex_unlock(&fake->lock);
    send_answer(fd, status, "", "{}");
}

static void *serve(void *cls)
{
    struct connection *connection = cls;
    struct fake_keystone *fake = connection->fake;
    struct fake_query query;
    char text[16384];
    if (read_query(connection->fd, text, sizeof(text), &query)) {
        if (strcmp(query.method, "POST") == 0)
            answer_login(fake, connection->fd);
        else if (query.subject[0] != '\0')
            answer_token(fake, connection->fd, &query);
        else if (strncmp(query.target, PROJECTS, strlen(PROJECTS)) == 0)
            answer_project(fake, connection->fd, &query, query.target + strlen(PROJECTS));
        else
            send_answer(connection->fd, 404, "", "{}");
    }
    close(connection->fd);
    free(connection);
    pthread_mutex_lock(&fake->lock);
    fake->open--;
    pthread_cond_broadcast(&fake->changed);
    pthread_mutex_unlock(&fake->lock);
    return NULL;
}

static void *accept_all(void *cls)
{
    struct fake_keystone *fake = cls;
    for (;;) {
        int fd = accept(fake->fd, NULL, NULL);
        if (fd < 0)
            return NULL;
        struct connection *connection = malloc(sizeof(*connection));
        check(connection != NULL);
        *connection = (struct connection){fake, fd};
        pthread_mutex_lock(&fake->lock);
        fake->open++;
        pthread_mutex_unlock(&fake->lock);
        pthread_t thread;
        check(pthread_create(&thread, NULL, serve, connection) == 0);
        pthread_detach(thread);
    }
}

void fake_keystone_start(struct fake_keystone *fake)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    memset(fake, 0, sizeof(*fake));
    fake->login_status = 201;
    pthread_mutex_init(&fake->lock, NULL);
    pthread_cond_init(&fake->changed, NULL);
    fake->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    check(fake->fd >= 0 && bind(fake->fd, (struct sockaddr *)&at, sizeof(at)) == 0 &&
          listen(fake->fd, 128) == 0 && getsockname(fake->fd, (struct sockaddr *)&at, &len) == 0);
    fake->port = ntohs(at.sin_port);
    snprintf(fake->url, sizeof(fake->url), "http://127.0.0.1:%d", fake->port);
    check(pthread_create(&fake->acceptor, NULL, accept_all, fake) == 0);
}

void fake_keystone_stop(struct fake_keystone *fake)
{
    shutdown(fake->fd, SHUT_RDWR);
    pthread_join(fake->acceptor, NULL);
    close(fake->fd);
    pthread_mutex_lock(&fake->lock);
    fake->stopping = true;
    pthread_cond_broadcast(&fake->changed);
    while (fake->open > 0)
        pthread_cond_wait(&fake->changed, &fake->lock);
    pthread_mutex_unlock(&fake->lock);
    pthread_cond_destroy(&fake->changed);
    pthread_mutex_destroy(&fake->lock);
}

void fake_keystone_hold(struct fake_keystone *fake, bool held)
{
    pthread_mutex_lock(&fake->lock);
    fake->held = held;
    pthread_cond_broadcast(&fake->changed);
    pthread_mutex_unlock(&fake->lock);
}

bool fake_keystone_await_queries(struct fake_keystone *fake, unsigned queries)
{
    struct timespec end;
    int waited = 0;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 20;
    pthread_mutex_lock(&fake->lock);
    while (fake->queries < queries && waited != ETIMEDOUT)
        waited = pthread_cond_timedwait(&fake->changed, &fake->lock, &end);
    bool come = fake->queries >= queries;
    pthread_mutex_unlock(&fake->lock);
    return come;
}

unsigned fake_keystone_query_count(struct fake_keystone *fake)
{
    pthread_mutex_lock(&fake->lock);
    unsigned queries = fake->queries;
    pthread_mutex_unlock(&fake->lock);
    return queries;
}

unsigned fake_keystone_logins(struct fake_keystone *fake)
{
    pthread_mutex_lock(&fake->lock);
    unsigned logins = fake->logins;
    pthread_mutex_unlock(&fake->lock);
    return logins;
}
