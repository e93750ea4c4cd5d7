/* Names what is gone after the database went back: in the log, in a file, in counters. Writer
 * thread, unless a function says otherwise. */
#ifndef BERTH_ENGINE_LOSS_REPORT_H
#define BERTH_ENGINE_LOSS_REPORT_H

#include "base/counter.h"
#include "replica/losses.h"
#include "store/store.h"

/* Where losses are reported, apart from the log and the counters. The caller owns all of it. */
struct loss_report_options {
    const char *directory; /* a file is written there for each event; NULL: none */
    struct slice host;     /* named in the file */
    loss_sink *lost;       /* also called for each loss; NULL: it is not */
    void *cls;
};

struct loss_counters {
    struct counter events;
    struct counter lost[ENTITY_COUNT]; /* gone, older or changed */
    struct counter allocations;        /* gone, of all these consumers */
    struct counter unwritten;          /* events whose file could not be written */
};

struct loss_report {
    struct loss_report_options options;
    struct loss_counters counters; /* any thread reads */
};

/* Compares the versions before and after the database went back, and reports what is gone. The file
 * is durable when this returns. `beat` is called at least a thousand times a second. */
void loss_report_write(struct loss_report *report, const struct store_going_back *event,
                       const struct version *before, const struct version *after,
                       void (*beat)(void *cls), void *cls);

#endif
