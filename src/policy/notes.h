/* Notes about a policy that was read: for the log, once per load. */
#ifndef BERTH_POLICY_NOTES_H
#define BERTH_POLICY_NOTES_H

#include "base/arena.h"
#include "log/log.h"

enum { POLICY_NOTES_MAX = 64 }; /* further ones are only counted */

struct policy_note {
    enum log_level level;
    struct slice text; /* ends with a NUL byte that is not counted */
};

struct policy_notes {
    struct arena *arena;
    struct policy_note items[POLICY_NOTES_MAX];
    unsigned count;
    unsigned more;          /* that were only counted */
    unsigned more_warnings; /* of these, those of level WARNING */
    /* The subject of rule notes, which is put before them. */
    const char *where; /* "FILE:LINE", or NULL */
    struct slice rule;
};

void policy_note(struct policy_notes *notes, enum log_level level, const char *format, ...)
    BERTH_PRINTF(3, 4);

/* The same with "FILE:LINE: rule NAME: " before it, level WARNING. */
void policy_note_rule(struct policy_notes *notes, const char *format, ...) BERTH_PRINTF(2, 3);

#endif
