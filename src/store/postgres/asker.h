/* Asks a PostgreSQL server for the newest state on a session of its own, without ever waiting
 * (store_open_asker()). */
#ifndef BERTH_STORE_POSTGRES_ASKER_H
#define BERTH_STORE_POSTGRES_ASKER_H

#include "store/postgres/session_types.h"
#include "store/store.h"

struct pg_connector;
struct postgres_asker;
struct postgres_head;

/* The caller provides the head, the connector, the URL, the lineage and the counts, which outlive
 * it. `recycle_us`: the age at which its session is replaced; 0: never. */
struct postgres_asker *
postgres_asker_create(struct postgres_head *head, struct pg_connector *connector,
                      const struct pg_url *url, struct server_lineage *lineage,
                      struct pg_connection_counts *counts, uint64_t recycle_us);

/* For tests. */
const struct pg_session *postgres_asker_session(const struct postgres_asker *asker);

/* See store.h. */
void postgres_asker_close(struct store_asker *asker);
int postgres_asker_ask(struct store_asker *asker);
enum store_asked postgres_asker_take(struct store_asker *asker, struct store_head *head);
void postgres_asker_forget(struct store_asker *asker);

#endif
