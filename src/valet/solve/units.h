/* Servers grouped by the stack's constraints (Valet spec, 7.2 and 9.1): units, which share one
 * host; blocks of units, which share one rack; sets of units or blocks that are kept apart; the
 * exclusivity group of each unit. Pure; any thread. */
#ifndef BERTH_VALET_SOLVE_UNITS_H
#define BERTH_VALET_SOLVE_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/slice.h"

#define UNITS_NONE 0xffffffffu

struct unit {
    uint32_t *placed; /* servers that are to get a host */
    uint32_t placed_count;
    uint32_t *fixed; /* servers that stay on their hosts */
    uint32_t fixed_count;
    uint32_t block;
    uint32_t exclusive;        /* index in units.exclusives, or UNITS_NONE */
    bool claims_rack;          /* exclusive at the level of racks */
    bool needs_rack;           /* has a constraint at the level of racks */
    uint32_t *anti_affinities; /* host sets that it is in */
    uint32_t apart_count;
    uint64_t *apart_from; /* units that are in a set with it; NULL: none */
};

struct block {
    uint32_t *units;
    uint32_t unit_count;
    uint32_t *anti_affinities; /* rack sets that it is in */
    uint32_t apart_count;
    uint64_t *apart_from; /* blocks that are in a set with it; NULL: none */
};

/* The set of a diversity group: no two members share a host, or a rack. It has at least two
 * members; no set is part of another one of its level, as far as that was checked. */
struct apart {
    uint32_t group; /* of the stack */
    bool is_rack;   /* members are blocks, else units */
    uint32_t *members;
    uint32_t member_count;
};

struct exclusive {
    struct slice uuid;
    struct slice name;
};

/* Absent servers are in no unit, block or set. */
struct units {
    struct unit *unit;
    uint32_t unit_count;
    struct block *block;
    uint32_t block_count;
    struct apart *apart;
    uint32_t apart_count;
    struct exclusive *exclusives;
    uint32_t exclusive_count;
    uint32_t *of_server; /* or UNITS_NONE */
};

/* Appends to a list that is initially NULL and empty; returns its new address. */
uint32_t *units_append(struct arena *arena, uint32_t *list, uint32_t *count, uint32_t value);

#endif
