/* The limit of strict reads: "SELECT 1" on a PostgreSQL server, through libpq.
 *
 * Keeps N connections busy, each with one statement on its way (closed loop), as the load generator
 * does with HTTP requests. Single-threaded. */
#include <err.h>
#include <libpq-fe.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "latencies.h"

enum { CONNECTIONS_MAX = 1024, BINARY = 1 };

struct asker {
    PGconn *conn;
    double sent_s;
};

static void ask(struct asker *asker)
{
    asker->sent_s = clock_s(CLOCK_MONOTONIC);
    if (PQsendQueryPrepared(asker->conn, "bare", 0, NULL, NULL, NULL, BINARY) != 1)
        errx(1, "%s", PQerrorMessage(asker->conn));
}

static void open_asker(struct asker *asker, const char *url, int epoll)
{
    asker->conn = PQconnectdb(url);
    if (PQstatus(asker->conn) != CONNECTION_OK)
        errx(1, "%s", PQerrorMessage(asker->conn));
    PQclear(PQprepare(asker->conn, "bare", "SELECT 1", 0, NULL));
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = asker};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, PQsocket(asker->conn), &event) != 0)
        err(1, "epoll_ctl");
}

/* False: the answer is not complete. */
static bool read_answer(struct asker *asker)
{
    if (PQconsumeInput(asker->conn) != 1)
        errx(1, "%s", PQerrorMessage(asker->conn));
    if (PQisBusy(asker->conn))
        return false;
    PGresult *result = PQgetResult(asker->conn);
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        errx(1, "%s", PQresultErrorMessage(result));
    PQclear(result);
    return PQgetResult(asker->conn) == NULL;
}

static double run(struct asker *askers, int connections, int epoll, double seconds,
                  struct latencies *latencies)
{
    static struct epoll_event events[CONNECTIONS_MAX];
    double start_s = clock_s(CLOCK_MONOTONIC), end_s = start_s;
    for (int i = 0; i < connections; i++)
        ask(&askers[i]);
    while (end_s - start_s < seconds) {
        int ready = epoll_wait(epoll, events, CONNECTIONS_MAX, -1);
        for (int i = 0; i < ready; i++) {
            struct asker *asker = events[i].data.ptr;
            if (!read_answer(asker))
                continue;
            end_s = clock_s(CLOCK_MONOTONIC);
            latencies_add(latencies, end_s - asker->sent_s);
            ask(asker);
        }
    }
    return end_s - start_s;
}

int main(int argc, char **argv)
{
    static struct asker askers[CONNECTIONS_MAX];
    int connections = argc == 4 ? atoi(argv[2]) : 0;
    double seconds = argc == 4 ? strtod(argv[3], NULL) : 0;
    if (seconds <= 0 || connections < 1 || connections > CONNECTIONS_MAX) {
        fputs("usage: limit_select URL CONNECTIONS SECONDS\n", stderr);
        return 2;
    }
    struct latencies latencies = {0};
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < connections; i++)
        open_asker(&askers[i], argv[1], epoll);
    double took_s = run(askers, connections, epoll, seconds, &latencies);
    latencies_sort(&latencies);
    printf("{\"connections\": %d, \"per_s\": %.1f, \"p50_us\": %.1f, \"p99_us\": %.1f}\n",
           connections, (double)latencies.count / took_s, latencies_percentile(&latencies, 0.50),
           latencies_percentile(&latencies, 0.99));
    return 0;
}
