/* Indexes of upstream's tables by which rows are found.
 *
 * Statements name them, because the server's own choice depends on statistics, which may be those
 * of a table that was empty. If the database has such an index under another name, the server
 * chooses: it may read a whole table, and a statement that writes may wait for rows of others. */
#ifndef BERTH_STORE_MARIADB_SESSION_INDEXES_H
#define BERTH_STORE_MARIADB_SESSION_INDEXES_H

#include <stdbool.h>

/* Of inventories, by provider and class. */
#define MARIADB_INVENTORY_INDEX "uniq_inventories0resource_provider_resource_class"
/* Of allocations, by consumer, and by provider. */
#define MARIADB_CONSUMER_INDEX "allocations_consumer_id_idx"
#define MARIADB_PROVIDER_INDEX "allocations_resource_provider_class_used_idx"

/* Which of them the database has. */
struct mariadb_indexes {
    bool has_inventory_index;
    bool has_consumer_index;
    bool has_provider_index;
};

#endif
