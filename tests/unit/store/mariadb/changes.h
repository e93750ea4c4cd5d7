/* Changes for the next batch of a server, and what its tables have at first. */
#ifndef BERTH_TESTS_UNIT_STORE_MARIADB_CHANGES_H
#define BERTH_TESTS_UNIT_STORE_MARIADB_CHANGES_H

#include "fixture.h"

enum {
    CREATED_S = 1764273599,
    UPDATED_S = 1764273660
}; /* the times of changes, without fraction */
static const int64_t second_us = 1000000;

/* Appends a change with times that have a fraction. */
struct change *add(struct server *server, enum change_kind kind);

/* The prefix and the number. */
struct slice text_of(struct server *server, const char *prefix, int64_t id);

void add_name(struct server *server, enum change_kind kind, int64_t id, struct slice name);
void add_rename(struct server *server, int64_t id, struct slice before, struct slice name);
/* "uuid-ID", "name-ID", generation 3. */
void add_provider(struct server *server, int64_t id, int64_t parent, int64_t root);
void add_provider_delete(struct server *server, int64_t id, int64_t generation);
void add_generation(struct server *server, int64_t id, int64_t expected, int64_t next);
void add_inventory(struct server *server, enum change_kind kind, int64_t provider, int64_t class,
                   int32_t total, double ratio);
void add_link(struct server *server, enum change_kind kind, int64_t provider, int64_t other);
/* "consumer-ID", without a type. */
struct change *add_consumer(struct server *server, enum change_kind kind, int64_t id,
                            int64_t expected, int64_t next);
void add_allocation(struct server *server, int64_t id, int64_t consumer, int64_t provider,
                    int64_t class);
void add_allocations_of(struct server *server, int64_t consumer);

/* A database with classes, traits and aggregates 1 to 3; a project, a user and a type 1; providers
 * 1 to 3, of which 2 is below 1, each with trait, aggregate, inventories of classes 1 and 2; and
 * consumers 1 to 3, each with generation 7 and an allocation of the provider with its number. */
void begin(struct server *server, const char *charset);

/* The list must be refused with this error of its row at that position, as the message alone tells,
 * and as the message and ROW_NUMBER tell. */
void expect_culprit(struct server *server, unsigned error, size_t by_message, size_t by_row);

#endif
