/* One exchange: request line, headers, body, service, answer. Its worker takes it through its
 * stages (handover.c describes which other threads use it).
 *
 * Memory: a small GET needs no malloc by berth; a finished exchange stays in its worker's pool with
 * its arena for reuse. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "http/http_internal.h"

enum {
    KEEP_BYTES = 16 * 1024,
    /* buffers of larger answers, for all workers together: allocating a new one takes half as long
     * as filling it, and each answer being sent uses one */
    LARGE_KEEP_BYTES = 64 << 20,
};

static void exchange_free(struct exchange *exchange)
{
    arena_destroy(exchange->http.arena);
    buf_free(&exchange->body);
    buf_free(&exchange->http.out);
    free(exchange);
}

/* The bytes of a buffer beyond what every exchange may keep. */
static size_t large_bytes(const struct buf *buf)
{
    return buf->cap > KEEP_BYTES ? buf->cap : 0;
}

static struct buf buf_to_keep(struct buf buf, bool even_if_large)
{
    if (large_bytes(&buf) > 0 && !even_if_large)
        buf_free(&buf);
    buf.len = 0;
    return buf;
}

static bool exchange_keep(struct http_process *process, size_t bytes)
{
    if (bytes == 0 || atomic_fetch_add(&process->kept_bytes, bytes) + bytes <= LARGE_KEEP_BYTES)
        return true;
    atomic_fetch_sub(&process->kept_bytes, bytes);
    return false;
}

static struct exchange *exchange_pool_take(struct http_process *process, struct exchange_pool *pool)
{
    struct exchange *exchange = pool->spare;
    if (exchange != NULL) {
        pool->spare = exchange->next_spare;
        pool->spare_count--;
        if (large_bytes(&exchange->http.out) > 0)
            atomic_fetch_sub(&process->kept_bytes, large_bytes(&exchange->http.out));
        return exchange;
    }
    exchange = calloc(1, sizeof(*exchange));
    check(exchange != NULL);
    exchange->http.arena = arena_create();
    arena_charge_to(exchange->http.arena, &exchange->http.arena_share);
    return exchange;
}

static void exchange_pool_put(struct http_process *process, struct exchange_pool *pool,
                              struct exchange *exchange)
{
    if (pool->spare_count == EXCHANGE_POOL_EXCHANGES_MAX) {
        exchange_free(exchange);
        return;
    }
    struct arena *arena = exchange->http.arena;
    struct buf body = buf_to_keep(exchange->body, false);
    bool has_room = exchange_keep(process, large_bytes(&exchange->http.out));
    struct buf out = buf_to_keep(exchange->http.out, has_room);
    arena_reset(arena);
    *exchange = (struct exchange){
        .http = {.arena = arena, .out = out}, .body = body, .next_spare = pool->spare};
    pool->spare = exchange;
    pool->spare_count++;
}

void exchange_pool_clear(struct http_process *process, struct exchange_pool *pool)
{
    while (pool->spare != NULL)
        exchange_free(exchange_pool_take(process, pool));
}

static void deadline_set(struct exchange *exchange, uint64_t deadline_us)
{
    atomic_store_explicit(&exchange->connection->deadline_us, deadline_us, memory_order_relaxed);
}

struct exchange *exchange_begin(struct http_server *server, struct MHD_Connection *mhd,
                                const char *target)
{
    struct connection *connection =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    struct exchange *exchange = exchange_pool_take(server->process, connection->pool);
    exchange->server = server;
    exchange->connection = connection;
    exchange->mhd = mhd;
    exchange->http.share = (struct memory_share){.budget = server->limits.bodies,
                                                 .owner = connection->peer_hash,
                                                 .address = connection->peer_hash,
                                                 .held = &exchange->http.held_bytes};
    /* before the first allocation in the arena, which is charged to this share */
    exchange->http.arena_share = memory_another(&exchange->http.share);
    exchange->http.target =
        arena_copy(exchange->http.arena, target == NULL ? SLICE_LIT("") : slice_of(target));
    exchange->target_end = target == NULL ? NULL : target + exchange->http.target.len;
    exchange->http.tls = server->tls != NULL;
    exchange->http.port = server->listener.port;
    exchange->http.peer = (struct slice){connection->peer, connection->peer_len};
    exchange->http.started_us = clock_monotonic_us();
    count_add(&connection->pool->begun, 1);

    atomic_store_explicit(&connection->has_asked, true, memory_order_relaxed);
    atomic_store_explicit(&connection->line_us, exchange->http.started_us, memory_order_relaxed);
    atomic_store_explicit(&connection->receiving_us, exchange->http.started_us,
                          memory_order_relaxed);
    atomic_store_explicit(&connection->idle_since_us, 0, memory_order_relaxed);
    return exchange;
}

/* Sends the answer, or leaves the exchange suspended. */
static enum MHD_Result service_follow(struct exchange *exchange, enum http_step step)
{
    while (step == HTTP_PENDING) {
        if (exchange_suspend(exchange))
            return MHD_YES;
        step = exchange_call(exchange, exchange->server->service.on_resume);
    }
    check(step == HTTP_ANSWERED);
    enum MHD_Result sent = answer_send(exchange);
    exchange_leave_service(exchange);
    return sent;
}

static enum MHD_Result service_start(struct exchange *exchange)
{
    struct http_server *server = exchange->server;
    if (!exchange_enter_service(exchange))
        return MHD_NO;
    deadline_set(exchange, 0);
    atomic_store_explicit(&exchange->connection->receiving_us, 0, memory_order_relaxed);
    exchange->stage = STAGE_SERVICE;
    exchange->served = true;
    return service_follow(exchange, exchange_call(exchange, server->service.on_request));
}

static enum MHD_Result service_go_on(struct exchange *exchange)
{
    check(atomic_load(&exchange->wait) == WAIT_RESUMED);
    atomic_store(&exchange->wait, WAIT_RUNNING);
    return service_follow(exchange, exchange_call(exchange, exchange->server->service.on_resume));
}

static enum MHD_Result body_follow(struct exchange *exchange, enum body_verdict verdict)
{
    if (verdict == BODY_ANSWERS)
        return service_start(exchange);
    return verdict == BODY_BREAKS ? MHD_NO : MHD_YES;
}

static enum MHD_Result headers_have_come(struct exchange *exchange, const char *method,
                                         const char *version)
{
    atomic_store_explicit(&exchange->connection->line_us, 0, memory_order_relaxed);
    exchange->http.method = slice_of(method);
    request_read_headers(exchange, method, version);
    exchange->stage = STAGE_BODY;
    return body_follow(exchange, body_begin(exchange));
}

static enum MHD_Result body_goes_on(struct exchange *exchange, const char *data, size_t *size)
{
    enum body_verdict verdict =
        *size > 0 ? body_take(exchange, data, *size) : body_finish(exchange);
    if (verdict == BODY_GOES_ON)
        *size = 0;
    return body_follow(exchange, verdict);
}

enum MHD_Result exchange_continue(struct exchange *exchange, const char *method,
                                  const char *version, const char *data, size_t *size)
{
    if (atomic_load(&exchange->wait) == WAIT_SUSPENDED)
        return MHD_YES; /* the library runs its state machine once more before it waits */
    switch (exchange->stage) {
    case STAGE_HEADERS:
        return headers_have_come(exchange, method, version);
    case STAGE_BODY:
        return body_goes_on(exchange, data, size);
    case STAGE_SERVICE:
        return service_go_on(exchange);
    case STAGE_ANSWERED:
        break;
    }
    return MHD_YES;
}

void exchange_end(struct exchange *exchange)
{
    struct http_server *server = exchange->server;
    struct connection *connection = exchange->connection;
    if (exchange->stage == STAGE_SERVICE || exchange->is_piece_pending) /* its connection broke */
        exchange_leave_service(exchange);
    if (exchange->served)
        server->service.on_finished(&exchange->http, server->service.cls);
    answer_forget(exchange);
    body_release(exchange);
    exchange_pool_put(server->process, connection->pool, exchange);
    atomic_store_explicit(&connection->line_us, 0, memory_order_relaxed);
    atomic_store_explicit(&connection->receiving_us, 0, memory_order_relaxed);
    atomic_store_explicit(&connection->sending_us, 0, memory_order_relaxed);
    atomic_store_explicit(&connection->deadline_us, 0, memory_order_relaxed);
    atomic_store_explicit(&connection->idle_since_us, clock_monotonic_us(), memory_order_relaxed);
    count_add(&connection->pool->begun, 0U - 1);
}

void http_take_memory(struct http_exchange *exchange, struct http_memory *memory)
{
    *memory = (struct http_memory){exchange->arena, exchange->arena_share, exchange->out};
    memory_detach(&memory->share);
    arena_charge_to(memory->arena, &memory->share);
    exchange->arena_share.bytes = 0;
    exchange->arena = arena_create();
    arena_charge_to(exchange->arena, &exchange->arena_share);
    exchange->out = (struct buf){0};
}

void http_set_owner(struct http_exchange *exchange, uint64_t owner)
{
    if (exchange->share.bytes == 0)
        exchange->share.owner = owner;
    /* searches of many projects come through one proxy, so their arenas are not charged to an
     * address */
    if (exchange->arena_share.bytes == 0)
        exchange->arena_share.owner = exchange->arena_share.address = owner;
}
