/* Turns of instances that write through different nodes of a cluster, where no lock orders them:
 * the second writer of a row of the log is refused, and has worked in vain.
 *
 * The log says who has written each row, and through which node. Whoever has waited longest for a
 * row of its own writes the next one; the others leave it some time for that, one after the other,
 * and those that do not use it are not waited for again until they have written. So all that is
 * known of others is what they have written, and nothing is agreed on: two that write at once
 * refuse each other as without turns. The writer only. */
#ifndef BERTH_STORE_SERVER_TURNS_H
#define BERTH_STORE_SERVER_TURNS_H

#include "store/server/log_rows.h"
#include "store/store.h"

enum { TURNS_MOST = 8 };

/* Another instance that writes. */
struct turns_member {
    uint64_t instance;
    int64_t number;    /* of its last row; 0: it has only asked for a turn */
    uint64_t until_us; /* for so long, the turn that it has asked for is its own; 0: it has not
                          asked for one */
    uint16_t node;
    bool is_steady; /* it has used its last turn */
};

/* All zero: nobody has written. */
struct turns {
    struct turns_member members[TURNS_MOST];
    unsigned count;
    int64_t own_number; /* of the last row of this instance; 0: there is none */
    uint64_t own_us;    /* when it was written */
    int64_t newest;     /* the newest row */
    uint64_t newest_us; /* when it was seen */
    uint64_t commit_us; /* how long a commit usually takes; 0: not known */
    uint64_t others_us; /* how soon others usually write after the newest row; the same */
};

/* Tells the nodes of a cluster apart by their names; two of them may rarely have the same number,
 * and instances on these then only wait less for each other. 0 for "": the server is no node. */
uint16_t turns_node(const char *name);

/* The mark of a row that this instance writes. */
void turns_make_mark(uint64_t instance, uint64_t batch, uint16_t node,
                     unsigned char mark[static LOG_MARK_LEN]);

/* A row of the log has been seen; in their order, but some may be left out. */
void turns_note(struct turns *turns, uint64_t own, int64_t number, const unsigned char *mark,
                uint64_t now_us);

/* Another instance, on any node, has been refused several times, and asks for a turn. Each asks
 * only once for each time that it is to be waited for. */
void turns_note_ask(struct turns *turns, uint64_t instance, uint64_t now_us);

/* A commit of this instance has taken that long. */
void turns_note_commit(struct turns *turns, uint64_t took_us);

/* Whether this instance has written within the last second, so that others may have to ask. */
bool turns_has_written(const struct turns *turns, uint64_t now_us);

/* `node`: through which this instance would write. */
struct store_turn turns_next(const struct turns *turns, uint16_t node, uint64_t now_us);

#endif
