/* The policy in force: who asks gets it without waiting, and it changes with its files. */
#ifndef BERTH_POLICY_KEEPER_H
#define BERTH_POLICY_KEEPER_H

#include "policy/files.h"

struct policy_keeper;

/* Reads what the places name, logs what there is to say, and keeps the result. The texts of places
 * and options must outlive the keeper. NULL: err has one line. The main thread, as the next
 * three. */
struct policy_keeper *policy_keeper_open(const struct policy_places *places,
                                         const struct policy_options *options,
                                         struct err *err) BERTH_MUST_CHECK;

/* A keeper of this policy alone, which takes over the caller's hold; it never changes. */
struct policy_keeper *policy_keeper_of(struct policy *policy);

/* No thread may ask any more; threads that did may live on. NULL is allowed. */
void policy_keeper_close(struct policy_keeper *keeper);

/* Whether files have changed, appeared or gone, to be asked now and then; always as if they had
 * with `forced`. If so they are read, and the new policy is in force when this returns; or, if
 * they cannot be read or are wrong, the old one stays and the log says so, once for each problem
 * and each `forced`.
 * A file that was written within the last tenth of a second may be half written, and waits for the
 * next look. That policy_file or a directory is gone counts, unless `forced`, as wrong. */
void policy_keeper_look(struct policy_keeper *keeper, bool forced);

/* For metrics. */
struct policy_keeper_figures {
    uint64_t reloads;  /* policies that came into force after the first */
    uint64_t failures; /* changed files that could not be taken over */
    bool is_stale;     /* the files are wrong now: what is in force is older than they */
};

/* Any thread. */
struct policy_keeper_figures policy_keeper_figures(const struct policy_keeper *keeper);

/* Reads it once, for tools. The caller holds the policy; NULL: err has one line. */
struct policy *policy_load(const struct policy_places *places, const struct policy_options *options,
                           struct err *err) BERTH_MUST_CHECK;

/* The policy in force, good until this thread asks again. Any thread. */
const struct policy *policy_keeper_current(struct policy_keeper *keeper);

#endif
