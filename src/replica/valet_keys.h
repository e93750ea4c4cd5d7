/* THE table of the keys, besides the id, by which rows of model/valet.h are found. */
#ifndef BERTH_REPLICA_VALET_KEYS_H
#define BERTH_REPLICA_VALET_KEYS_H

#include "replica/version.h"

enum valet_key_kind {
    VALET_KEY_NONE,
    VALET_KEY_TEXT,     /* its hash; null has no entry */
    VALET_KEY_ID,       /* valet_id_hash; null has no entry */
    VALET_KEY_REFERENCE /* or BOOL */
};

struct valet_key {
    enum valet_key_kind kind;
    unsigned field;
};

/* The trees of a table, in the order of version.valet[table].by. */
enum {
    VALET_GROUP_BY_UUID = 0,
    VALET_GROUP_BY_NAME = 1,
    VALET_MEMBER_BY_GROUP = 0,
    VALET_MEMBER_BY_PROJECT = 1,
    VALET_CLAIM_BY_GROUP = 0,
    VALET_CLAIM_BY_PROVIDER = 1,
    VALET_CLAIM_BY_RACK = 2,  /* of hosts: the rack with which they were claimed */
    VALET_CLAIM_BY_LEVEL = 3, /* RECORD_TRUE: of racks */
    VALET_PLAN_BY_UUID = 0,
    VALET_PLAN_BY_STACK = 1,
    VALET_PLACEMENT_BY_UUID = 0,
    VALET_PLACEMENT_BY_ORCHESTRATION = 1,
    VALET_PLACEMENT_BY_RESOURCE = 2,
    VALET_PLACEMENT_BY_PLAN = 3,
};

extern const struct valet_key VALET_KEYS[VALET_TABLE_COUNT][VALET_KEYS_MAX];

/* The row's key; false: it has none. Any thread. */
bool valet_key_of(const struct valet_key *key, const struct record *record, uint64_t *value);

#endif
