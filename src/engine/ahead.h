/* The next batch, planned on top of the one that is on its way to the database.
 *
 * Nothing of it is answered, published or handed to the store before the batch below it has been
 * published: then it is committed as any other batch. If that batch comes to nothing, or if news
 * are published first, the plan is thrown away, and its requests are at the head of the queue
 * again. The writer only. */
#ifndef BERTH_ENGINE_AHEAD_H
#define BERTH_ENGINE_AHEAD_H

#include "engine/pipeline_request.h"
#include "engine/planned.h"
#include "replica/edit.h"

struct pipeline;

struct ahead {
    struct arena *arena;    /* the plan's, apart from the batch's below */
    struct queue requests;  /* taken out of the queue and planned */
    struct edit *edit;      /* with what they change; NULL: nothing is planned */
    struct planned planned; /* the same */
    bool is_off; /* a request cannot be planned in this way: none is, until the batch below
                    is decided */
};

/* Plans what is queued on top of the edit, or of what has been planned on it before. */
void ahead_plan(struct pipeline *pipeline, const struct edit *below);

/* Throws the plan away. */
void ahead_drop(struct pipeline *pipeline);

/* The batch below has been published: returns the first of the planned requests, with all that were
 * queued meanwhile, which now are the current batch; NULL: there is none. try() in batch.c takes
 * the plan, with the arena. */
struct pipeline_request *ahead_adopt(struct pipeline *pipeline, unsigned *count);

#endif
