/* Notes those parts of a request that claims and placements depend on, before it is applied. Writer
 * thread only. */
#ifndef BERTH_VALET_WRITE_CONSEQUENCES_NOTES_H
#define BERTH_VALET_WRITE_CONSEQUENCES_NOTES_H

#include "engine/plan.h"
#include "replica/consumer.h"
#include "valet/write/consequences_internal.h"

/* Notes what affects claims; there is at least one claim. */
void consequences_note_claims(struct consequences *consequences, const struct plan *plan,
                              const struct change *change);
/* The consumer (NULL: none) loses all its allocations. */
void consequences_note_loss(struct consequences *consequences, const struct plan *plan,
                            const struct consumer *consumer);
/* Whether the provider gets another parent, or none. */
bool consequences_is_moved(const struct version *version, const struct provider *provider,
                           const struct change_provider *change);

#endif
