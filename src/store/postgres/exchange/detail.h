/* Which values an error of a constraint names. */
#ifndef BERTH_STORE_POSTGRES_EXCHANGE_DETAIL_H
#define BERTH_STORE_POSTGRES_EXCHANGE_DETAIL_H

#include "store/bundle.h"

/* Reads the key from a DETAIL such as `Key (name)=(a (b)) already exists.`, in any language of the
 * server. False: it names none, or may have been cut (`room`: its length would then be at least
 * that). The key refers to the text. */
bool pg_detail_key(struct slice detail, size_t room, struct bundle_key *key) BERTH_MUST_CHECK;

#endif
