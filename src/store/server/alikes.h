/* Texts that a database takes for one another, although memory holds them apart: with most
 * collations of MariaDB and MySQL, 'host' equals 'Host'. Only the database knows which ones; it is
 * asked when it has refused a second row because of the first. The writer only. */
#ifndef BERTH_STORE_SERVER_ALIKES_H
#define BERTH_STORE_SERVER_ALIKES_H

#include "base/hash_map.h"
#include "store/store.h"

enum { ALIKES_MOST = 1024 };

/* All zero: empty. */
struct alikes {
    struct arena *arena; /* of everything; NULL: empty */
    struct alike *items;
    size_t count;
    struct hash_map by_text;
};

/* As in store_find_alike(). */
bool alikes_find(const struct alikes *alikes, enum change_kind insert, unsigned field,
                 struct slice text, struct store_alike *found);

/* The database takes the text for that of the row. If there are too many, all others are forgotten
 * first. */
void alikes_note(struct alikes *alikes, enum change_kind insert, unsigned field, struct slice text,
                 const struct store_alike *row);

/* They are then empty. */
void alikes_free(struct alikes *alikes);

#endif
