/* Asking for a turn (turns.h): an instance whose batches were refused several times in a row says
 * so in the database, because whoever writes without a pause cannot know it from the log.
 *
 * An ask is a row that no other one conflicts with. Instances that write look for it about ten
 * times a second, and only on a cluster. Each counts once; an instance that needs another turn
 * withdraws it, and asks anew with the next serial number. One whose instance has ended is deleted
 * after a while by the others. The writer only. */
#ifndef BERTH_STORE_SERVER_ASKS_H
#define BERTH_STORE_SERVER_ASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ASKS_MOST = 16 };

struct turn_ask {
    uint64_t instance;
    unsigned char serial;
};

/* What a look has found, if there are no more than that. */
struct turn_asks {
    struct turn_ask at[ASKS_MOST];
    size_t count;
};

/* One that is known. */
struct seen_ask {
    struct turn_ask ask;
    uint64_t since_us;
};

/* All zero: there are none. */
struct server_asks {
    struct seen_ask seen[ASKS_MOST];
    size_t count;
    unsigned refused; /* batches of this instance, in a row */
    bool is_due;      /* it is to ask */
    bool has_asked;   /* its row is there: */
    struct turn_ask own;
    uint64_t asked_us;
};

struct server_store;

/* A batch was refused because of another one; or is committed. */
void server_asks_refused(struct server_store *store);
void server_asks_committed(struct server_store *store);

/* Asks, if that is due. Between batches, when it may take a moment. */
void server_ask(struct server_store *store);

/* Looks for what others ask, and withdraws what is no longer needed. The same. */
void server_look_for_asks(struct server_store *store);

#endif
