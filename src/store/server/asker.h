/* Asks a PostgreSQL server for the newest state on a session of its own, without ever waiting
 * (store_open_asker()). */
#ifndef BERTH_STORE_SERVER_ASKER_H
#define BERTH_STORE_SERVER_ASKER_H

#include "store/server/session.h"
#include "store/store.h"

struct server_connector;
struct server_asker;
struct server_head;

/* The caller provides the head, the connector, the URL, the lineage and the counts, which outlive
 * it. `recycle_us`: the age at which its session is replaced; 0: never. */
struct server_asker *
server_asker_create(struct server_head *head, struct server_connector *connector,
                    const struct server_address *address, struct server_lineage *lineage,
                    struct server_connection_counts *counts, uint64_t recycle_us);

/* For tests. */
const struct server_session *server_asker_session(const struct server_asker *asker);

/* See store.h. */
void server_asker_close(struct store_asker *asker);
int server_asker_ask(struct store_asker *asker);
enum store_asked server_asker_take(struct store_asker *asker, struct store_head *head);
void server_asker_forget(struct store_asker *asker);

#endif
