/* A request's progress through dispatch.c, write_passage.c and slow_passage.c, and what it waits
 * for. Internal to these files. */
#ifndef BERTH_API_PASSAGE_H
#define BERTH_API_PASSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/route.h"
#include "api/services/slow_lane.h"
#include "keystone/keystone.h"

struct api_request;
struct budget;
struct json_heap;
struct replica_reader;

struct api_passage {
    struct api_request *request; /* the request that it belongs to */
    enum request_phase {
        PHASE_ARRIVED,
        PHASE_OWNER,     /* waits for Keystone; its body has not arrived yet */
        PHASE_BODY,      /* its body is arriving */
        PHASE_TOKEN,     /* waits for Keystone */
        PHASE_FOLLOWING, /* waits until memory is as new as the database */
        PHASE_WRITING,   /* waits for the writer */
        PHASE_SLOW,      /* on the slow lane */
        PHASE_FINISHING, /* on the slow lane: its answer is being written */
        PHASE_AGAIN,     /* waits for the operation that the handler began */
        PHASE_CHECKING,  /* /healthcheck: waits for the results of the checks */
    } phase;

    struct keystone_request tokens; /* with keystone: what the identity points into */
    struct slow_job slow;
    enum api_step slow_step; /* the handler's result there */
    uint64_t slow_limit_us;  /* how long it may stay there, its wait included */
    enum slow_end {
        SLOW_END_NONE,      /* the handler finished */
        SLOW_END_GONE,      /* its client has disconnected */
        SLOW_END_LATE,      /* its time ran out */
        SLOW_END_TOO_MANY,  /* too many were waiting to begin */
        SLOW_END_NO_ROOM,   /* its answer has outgrown the memory for large ones */
        SLOW_END_NO_MEMORY, /* what it needs has outgrown the memory of requests */
    } slow_end;
    unsigned changes_met;          /* how often the write met an optimistic conflict */
    bool is_large;                 /* too large a body to be handled on a worker */
    bool is_on_lane;               /* where the handler runs */
    uint64_t handled_us;           /* when a worker began to handle it, on the worker's own clock */
    uint64_t query_hash;           /* a hash of a GET that goes to the slow lane: see
                                    * services/expensive.h */
    _Atomic unsigned met;          /* on the slow lane: counts the handler's end and api_resume() */
    struct json_heap *heap;        /* where the parsed body is; NULL: in memory of its own */
    struct budget *pace;           /* the budget for reading the body; NULL: a worker reads it */
    struct replica_reader *reader; /* pins the version of an answer in pieces; NULL: not yet */
    bool has_waited;               /* the newest version contains everything that was committed
                                    * before the request arrived */
    bool is_preflight;             /* a CORS preflight: its headers are already set */
};

/* The passage that contains these tokens. */
static inline struct api_passage *api_passage_of_tokens(struct keystone_request *tokens)
{
    return (struct api_passage *)((char *)tokens - offsetof(struct api_passage, tokens));
}

#endif
