/* Lines for a destination that may make its sender wait (syslog, the journal): a separate thread
 * sends them from a bounded queue, so that no other thread ever waits. Lines that do not fit are
 * dropped and counted.
 *
 * A frame contains a line's fields, each preceded by its length:
 *
 *     length of the frame, number of fields, (length, bytes)…
 *
 * Invariant: the queue contains whole frames. */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/wait.h"
#include "log/internal.h"

static atomic_uint_fast64_t lost_bytes;

void log_count_lost(size_t bytes)
{
    atomic_fetch_add_explicit(&lost_bytes, bytes, memory_order_relaxed);
}

uint64_t log_lost_bytes(void)
{
    return atomic_load_explicit(&lost_bytes, memory_order_relaxed);
}

struct log_queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    struct buf frames; /* protected by the lock, as the next two are */
    bool stopping;
    bool ended;
    bool abandoned;       /* nobody waits for the thread any more: it ends by itself */
    atomic_size_t on_way; /* bytes that the thread has taken and neither sent nor dropped yet */
    log_send *send;
    void (*end)(void *sender);
    void *sender;
};

static void put_u32(struct buf *out, size_t at, uint32_t value)
{
    memcpy(out->data + at, &value, sizeof(value));
}

static uint32_t take_u32(struct slice *from)
{
    uint32_t value;
    memcpy(&value, from->data, sizeof(value));
    *from = slice_skip(*from, sizeof(value));
    return value;
}

static void append_u32(struct buf *out, uint32_t value)
{
    buf_append(out, &value, sizeof(value));
}

size_t log_frame_begin(struct buf *out)
{
    append_u32(out, 0);
    append_u32(out, 0);
    return out->len;
}

size_t log_field_begin(struct buf *out)
{
    append_u32(out, 0);
    return out->len;
}

void log_field_end(struct buf *out, size_t begin)
{
    put_u32(out, begin - sizeof(uint32_t), (uint32_t)(out->len - begin));
}

void log_frame_end(struct buf *out, size_t begin)
{
    struct slice rest = slice_skip(buf_slice(out), begin);
    uint32_t count = 0;
    for (; rest.len > 0; count++) {
        uint32_t len = take_u32(&rest);
        rest = slice_skip(rest, len);
    }
    check(count > 0 && count <= LOG_FIELDS_MAX);
    put_u32(out, begin - 2 * sizeof(uint32_t), (uint32_t)(out->len - begin));
    put_u32(out, begin - sizeof(uint32_t), count);
}

void log_cut(struct buf *out, size_t begin, size_t max)
{
    if (out->len - begin <= max)
        return;
    size_t end = begin + max;
    while (end > begin && ((unsigned char)out->data[end] & 0xc0) == 0x80)
        end--;
    out->len = end;
}

static void send_all(struct log_queue *queue, struct slice frames)
{
    while (frames.len > 0) {
        struct slice fields[LOG_FIELDS_MAX];
        size_t len = take_u32(&frames);
        uint32_t count = take_u32(&frames);
        struct slice rest = {frames.data, len};
        for (uint32_t i = 0; i < count; i++) {
            fields[i].len = take_u32(&rest);
            fields[i].data = rest.data;
            rest = slice_skip(rest, fields[i].len);
        }
        bool sent = queue->send(queue->sender, fields, count);
        size_t left = atomic_exchange(&queue->on_way, frames.len - len);
        if (left == 0)
            return; /* the rest was abandoned while this frame hung, and has been counted */
        if (!sent)
            log_count_lost(len);
        frames = slice_skip(frames, len);
    }
}

static void destroy(struct log_queue *queue)
{
    if (queue->end != NULL)
        queue->end(queue->sender);
    buf_free(&queue->frames);
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}

static void *queue_run(void *argument)
{
    struct log_queue *queue = argument;
    struct buf taken = {0};
    pthread_mutex_lock(&queue->lock);
    while (!queue->stopping || queue->frames.len > 0) {
        if (queue->frames.len == 0) {
            pthread_cond_wait(&queue->changed, &queue->lock);
            continue;
        }
        struct buf full = queue->frames;
        queue->frames = taken;
        atomic_store(&queue->on_way, full.len);
        pthread_mutex_unlock(&queue->lock);
        send_all(queue, buf_slice(&full));
        full.len = 0;
        taken = full;
        pthread_mutex_lock(&queue->lock);
    }
    queue->ended = true;
    bool abandoned = queue->abandoned;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    buf_free(&taken);
    if (abandoned)
        destroy(queue);
    return NULL;
}

struct log_queue *log_queue_start(log_send *send, void (*end)(void *sender), void *sender)
{
    struct log_queue *queue = calloc(1, sizeof(*queue));
    check(queue != NULL);
    *queue = (struct log_queue){.send = send, .end = end, .sender = sender};
    pthread_mutex_init(&queue->lock, NULL);
    wait_init(&queue->changed);
    check(pthread_create(&queue->thread, NULL, queue_run, queue) == 0);
    return queue;
}

void log_queue_push(struct log_queue *queue, struct slice frames)
{
    pthread_mutex_lock(&queue->lock);
    size_t fits = 0;
    while (!queue->stopping && fits < frames.len) {
        struct slice at = slice_skip(frames, fits);
        size_t whole = take_u32(&at) + 2 * sizeof(uint32_t);
        if (queue->frames.len + fits + whole > LOG_QUEUE_BYTES)
            break;
        fits += whole;
    }
    buf_append(&queue->frames, frames.data, fits);
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    log_count_lost(frames.len - fits);
}

static bool wait_for_end(struct log_queue *queue)
{
    uint64_t until_us = clock_monotonic_us() + LOG_QUEUE_STOP_MS * 1000;
    while (!queue->ended && wait_until(&queue->changed, &queue->lock, until_us))
        continue;
    return queue->ended;
}

void log_queue_stop(struct log_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->stopping = true;
    pthread_cond_broadcast(&queue->changed);
    bool ended = wait_for_end(queue);
    if (!ended) {
        log_count_lost(queue->frames.len + atomic_exchange(&queue->on_way, 0));
        queue->frames.len = 0;
        queue->abandoned = true;
        pthread_detach(queue->thread);
    }
    pthread_mutex_unlock(&queue->lock);
    if (!ended)
        return;
    pthread_join(queue->thread, NULL);
    destroy(queue);
}
