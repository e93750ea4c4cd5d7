/* Passes an exchange from its worker to the service and back. Only http_resume() and the two query
 * functions after it may be called by other threads.
 *
 * `wait` is RUNNING while the service runs. http_resume() sets RESUMED. A worker that receives
 * HTTP_PENDING first suspends the connection and then sets SUSPENDED. So the thread that finds
 * SUSPENDED may wake the library, and a worker that finds RESUMED instead wakes itself. After its
 * atomic exchange, http_resume() does not use the exchange any more. */
#include "base/event_loop.h"
#include "base/wait.h"
#include "http/http_internal.h"

/* Like count_add(), but ordered before a read of `cutting`: on x86 this takes one locked
 * instruction per request. */
static void count_enter(_Atomic unsigned *count)
{
    atomic_store(count, atomic_load_explicit(count, memory_order_relaxed) + 1);
}

bool exchange_enter_service(struct exchange *exchange)
{
    count_enter(&exchange->connection->pool->in_service);
    if (!atomic_load(&exchange->server->cutting))
        return true;
    exchange_leave_service(exchange);
    return false;
}

void exchange_leave_service(struct exchange *exchange)
{
    count_add(&exchange->connection->pool->in_service, 0U - 1);
}

enum http_step exchange_call(struct exchange *exchange,
                             enum http_step (*call)(struct http_exchange *, void *))
{
    _Atomic uint64_t *called_us = &exchange->connection->pool->called_us;
    atomic_store_explicit(called_us, clock_coarse_us(), memory_order_relaxed);
    enum http_step step = call(&exchange->http, exchange->server->service.cls);
    atomic_store_explicit(called_us, 0, memory_order_relaxed);
    return step;
}

/* When the library continues a connection, it reads first, and closes it at the end of the stream.
 * That must not happen before the answer, so this worker waits. Only requests that arrived at the
 * last moment of a stop get here. */
static void await_resume(struct exchange *exchange)
{
    while (atomic_load(&exchange->wait) != WAIT_RESUMED) {
        event_loop_run_own(); /* the answer may depend on what only this thread does */
        if (atomic_load(&exchange->wait) != WAIT_RESUMED)
            wait_sleep_us(NAP_US);
    }
}

bool exchange_suspend(struct exchange *exchange)
{
    if (connection_is_unread(exchange->connection))
        await_resume(exchange);
    if (atomic_load(&exchange->wait) != WAIT_RESUMED) {
        int expected = WAIT_RUNNING;
        MHD_suspend_connection(exchange->mhd);
        if (!atomic_compare_exchange_strong(&exchange->wait, &expected, WAIT_SUSPENDED))
            MHD_resume_connection(exchange->mhd);
        return true;
    }
    atomic_store(&exchange->wait, WAIT_RUNNING);
    return false;
}

void http_resume(struct http_exchange *exchange)
{
    struct exchange *own = (struct exchange *)exchange;
    struct http_server *server = own->server;
    struct MHD_Connection *mhd = own->mhd;
    bool asking = own->body_state == BODY_ASKING;
    /* keeps the server alive if the exchange ends before this function returns */
    atomic_fetch_add(&server->resumings, 1);
    int before = atomic_exchange(&own->wait, WAIT_RESUMED);
    check(before != WAIT_RESUMED);
    if (before == WAIT_SUSPENDED)
        MHD_resume_connection(mhd);
    if (asking)
        atomic_fetch_sub(&server->asking, 1);
    atomic_fetch_sub(&server->resumings, 1);
}

bool http_is_cut(const struct http_exchange *exchange)
{
    return atomic_load(&((const struct exchange *)exchange)->server->cutting);
}

bool http_client_gone(const struct http_exchange *exchange)
{
    const struct exchange *own = (const struct exchange *)exchange;
    if (atomic_load(&own->server->cutting))
        return true; /* a stop does not wait for ever */
    return connection_is_gone(own->connection);
}
