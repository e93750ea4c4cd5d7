/* The policy in force: threads get it without waiting, and it changes with its files. */
#ifndef BERTH_POLICY_KEEPER_H
#define BERTH_POLICY_KEEPER_H

#include "policy/files.h"

struct policy_keeper;

/* Reads the files that the places name, logs notes about them, and keeps the result. The texts of
 * places and options must outlive the keeper. NULL: err has one line. The main thread, as the next
 * three. */
struct policy_keeper *policy_keeper_open(const struct policy_places *places,
                                         const struct policy_options *options,
                                         struct err *err) BERTH_MUST_CHECK;

/* A keeper with only this policy, whose reference it takes over; it never changes. */
struct policy_keeper *policy_keeper_of(struct policy *policy);

/* No thread may use the keeper after this; threads that used it may still exist. NULL is
 * allowed. */
void policy_keeper_close(struct policy_keeper *keeper);

/* Checks whether files have changed, appeared or disappeared; with `forced`, they count as changed.
 * To be called periodically. If so, they are read, and the new policy is in force when this
 * returns; if they cannot be read or are invalid, the old one stays in force and the log reports
 * it, once for each problem and each `forced`. A file that was written within the last tenth of a
 * second may be half written, and is left for the next check. Unless `forced`, a missing
 * policy_file or directory makes the files invalid. */
void policy_keeper_look(struct policy_keeper *keeper, bool forced);

/* For metrics. */
struct policy_keeper_figures {
    uint64_t reloads;  /* policies that came into force after the first one */
    uint64_t failures; /* changed files that could not be applied */
    bool is_stale;     /* the files are invalid now: the policy in force is older than they are */
};

/* Any thread. */
struct policy_keeper_figures policy_keeper_figures(const struct policy_keeper *keeper);

/* Reads the policy once, for tools. The caller holds a reference; NULL: err has one line. */
struct policy *policy_load(const struct policy_places *places, const struct policy_options *options,
                           struct err *err) BERTH_MUST_CHECK;

/* The policy in force, valid until this thread calls this again. Any thread. */
const struct policy *policy_keeper_current(struct policy_keeper *keeper);

#endif
