/* Small clouds, and requests for allocation candidates in them, written by hand. */
#ifndef BERTH_TESTS_QUERY_SCENE_H
#define BERTH_TESTS_QUERY_SCENE_H

#include "model/change.h"
#include "query/ac_search.h"
#include "replica/replica.h"
#include "unit.h"

enum { CLASS_A = 1, CLASS_B, CLASS_C, CLASS_SHARED };
enum { TRAIT_X = 1, TRAIT_Y, TRAIT_NOBODY, TRAIT_SHARES };
enum { AGGREGATE_1 = 1, AGGREGATE_2 };

struct scene {
    struct arena *arena;
    struct replica *replica;
    struct edit *edit;
    struct change_list changes;
    const struct version *version;
    struct ac_request request;
    struct ac_group groups[4];
};

/* The ids are 1, 2, 3 ...; ends with NULL. */
void names(struct scene *scene, enum change_kind kind, const char *const *list);
/* Called P and its id; parent 0: a root. */
void provider(struct scene *scene, int64_t id, int64_t parent);
void inventory(struct scene *scene, int64_t id, int64_t class_id, int32_t total);
void link_to(struct scene *scene, enum change_kind kind, int64_t id, int64_t other);

/* Trees: P1 with P2 below it; P3 alone; P4 alone, which shares. P1 has class A and trait X and is
 * in aggregate 1, P2 has class B and trait Y, P3 has only the classes A and B, P4 shares class
 * SHARED with aggregate 1. No provider has class C or trait NOBODY, or is in aggregate 2. */
void cloud(struct scene *scene);
/* The same without nesting and sharing, where every filter is in pages. */
void flat_cloud(struct scene *scene);
/* Trees of a root and one child, each with 10 of class A. Every third root and every fifth child is
 * in aggregate 1; every second root has trait X. */
void scene_trees(struct scene *scene, int64_t trees);

void open_scene(struct scene *scene, void (*build)(struct scene *));
void close_scene(struct scene *scene);

/* Another group; class NULL: resourceless. */
struct ac_group *group(struct scene *scene, const char *suffix, const char *class_name,
                       int64_t amount);
struct ac_names one(struct scene *scene, const char *name);
struct ac_names *list_of(struct scene *scene, const char *name);
void require(struct scene *scene, struct ac_group *to, const char *trait);

void emit_nothing(void *cls, const struct ac_candidate *candidate);

#endif
