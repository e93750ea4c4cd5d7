/* The part of peer.h that each kind of server has of its own. */
#ifndef BERTH_TESTS_UNIT_STORE_SERVER_PEER_KINDS_H
#define BERTH_TESTS_UNIT_STORE_SERVER_PEER_KINDS_H

#include "base/arena.h"
#include "base/buf.h"
#include "store/server/session.h"

struct peer_kind {
    /* Executes text, and appends the first row of the last result. */
    enum server_outcome (*execute)(struct server_session *session, const char *sql, struct buf *row,
                                   uint64_t deadline_us, struct err *err);
    int64_t (*connection)(const struct server_session *session);
    /* The other functions return a statement, in the arena. */
    const char *(*terminate)(struct arena *arena, int64_t connection);
    /* 1 once it has ended. */
    const char *(*has_ended)(struct arena *arena, int64_t connection);
    const char *(*set_last_id)(struct arena *arena, const char *table, int64_t last);
    const char *queue; /* how many connections wait for a lock */
    /* Statements; NULL: there is none. */
    const char *standby[4];
    const char *primary[2];
    const char *hold[5]; /* commits */
    const char *release[2];
};

extern const struct peer_kind peer_postgres;
extern const struct peer_kind peer_mariadb;
extern const struct peer_kind peer_mysql;

#endif
