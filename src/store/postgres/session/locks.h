/* berth's advisory locks. They belong to one database; other programs use numbers of their own. */
#ifndef BERTH_STORE_POSTGRES_SESSION_LOCKS_H
#define BERTH_STORE_POSTGRES_SESSION_LOCKS_H

/* For SQL: "berth" in ASCII (0x6265727468), three bytes with a number. */
#define PG_LOCK_SCHEMA "7090199032651317249" /* 1: the schema is being changed */

#define PG_LOCK_BATCHES "7090199032651317250" /* 2: the next batch (commit.c) */

#endif
