/* A small cloud with groups, racks, plans and placements in a real file, written through a pipeline
 * without a thread, one request per batch. Everything has a short name, from which its uuid is
 * made; hosts have inventory of VCPU and MEMORY_MB. */
#ifndef BERTH_TESTS_VALET_BENCH_H
#define BERTH_TESTS_VALET_BENCH_H

#include <sqlite3.h>

#include "base/arena.h"
#include "engine/claim.h"
#include "engine/pipeline.h"
#include "products/products.h"
#include "valet/state/hosts.h"
#include "valet/state/placement_location.h"

struct valet_bench {
    char directory[64];
    char path[96];
    char url[112];
    struct arena *arena;
    struct store *store;
    struct replica *replica;
    struct products products;
    const struct rule *author; /* of the writes; NULL: none */
    struct pipeline *pipeline;
    sqlite3 *shell; /* somebody else's connection */
    struct err err; /* of the last request */
};

enum { HOST_VCPU = 8, HOST_MEMORY = 100 };

void valet_open(struct valet_bench *bench);
void valet_close(struct valet_bench *bench);
/* As after a restart of the process. */
void valet_open_again(struct valet_bench *bench);
void valet_shell(struct valet_bench *bench, const char *sql);
/* Another process on the first one's file; ends before it. */
void valet_join(struct valet_bench *other, const struct valet_bench *first);
void valet_part(struct valet_bench *other);
/* Memory becomes as new as the file, as before the answer to a read. */
void valet_read(struct valet_bench *bench);

const struct version *valet_version(struct valet_bench *bench);

/* The uuid of "h1". In the bench's arena. */
struct slice valet_uuid(struct valet_bench *bench, const char *name);

/* Writes by the real planners: 0, or the status. */
typedef bool valet_step(void *cls, const struct plan *plan, struct err *err);
int valet_write(struct valet_bench *bench, valet_step *step, void *cls);

void valet_provider(struct valet_bench *bench, const char *name,
                    const char *parent); /* NULL: a root */
void valet_delete_provider(struct valet_bench *bench, const char *name);
void valet_parent(struct valet_bench *bench, const char *name,
                  const char *parent);                        /* NULL: becomes a root */
void valet_host(struct valet_bench *bench, const char *name); /* with inventory */
/* Sets the provider's aggregates and traits, separated by blanks; "": none. */
void valet_aggregates(struct valet_bench *bench, const char *name, const char *aggregates);
void valet_traits(struct valet_bench *bench, const char *name, const char *traits);
void valet_rack(struct valet_bench *bench, const char *name, const char *aggregate);

/* Rows, as the planners of Valet's API write them. */
void valet_group(struct valet_bench *bench, const char *name);
void valet_member(struct valet_bench *bench, const char *group, const char *project);
/* An automatic claim: aggregate and row; of a rack: those of all its hosts, and its own row. */
void valet_claim_host(struct valet_bench *bench, const char *group, const char *host);
void valet_claim_rack(struct valet_bench *bench, const char *group, const char *rack);
/* A placement of that name with orchestration id `server`; its hold of that many VCPU on the host
 * is written with it (host NULL: no hold). */
void valet_place(struct valet_bench *bench, const char *placement, const char *server,
                 const char *host, int64_t vcpus);
void valet_bind(struct valet_bench *bench, const char *placement, const char *server);

/* Consumers' claims: "c1 p h1:VCPU=2,h2:VCPU=1": consumer, project, and what it is to hold ("-":
 * nothing). Type NULL: not given. */
struct claim valet_parse(struct valet_bench *bench, const char *text, const char *type);
int valet_put(struct valet_bench *bench, const char *claim);
int valet_put_typed(struct valet_bench *bench, const char *claim, const char *type);
int valet_post(struct valet_bench *bench, const char *const *claims, size_t count);
int valet_reshape(struct valet_bench *bench, const char *const *claims, size_t count,
                  const char *type);
int valet_release(struct valet_bench *bench, const char *consumer);

/* What there is. */
const struct provider *valet_find(struct valet_bench *bench, const char *name);
const struct valet_placement *valet_placement(struct valet_bench *bench, const char *name);
bool valet_is_in(struct valet_bench *bench, const char *host, const char *aggregate);
bool valet_has_claim(struct valet_bench *bench, const char *group, const char *provider);
/* The VCPU that the consumer holds on the host. */
int64_t valet_holds(struct valet_bench *bench, const char *consumer, const char *host);
void valet_assert_location(struct valet_bench *bench, const char *placement, const char *host);
/* The last write was refused with that text. */
void valet_assert_refused(struct valet_bench *bench, const char *text);

#endif
