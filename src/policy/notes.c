/* Collects notes. One thread per load. */
#include "policy/notes.h"

/* NULL: there is no room; the note was counted. */
static struct policy_note *note_new(struct policy_notes *notes, enum log_level level)
{
    if (notes->count == POLICY_NOTES_MAX) {
        notes->more++;
        notes->more_warnings += level == LOG_LEVEL_WARNING;
        return NULL;
    }
    struct policy_note *note = &notes->items[notes->count++];
    note->level = level;
    return note;
}

void policy_note(struct policy_notes *notes, enum log_level level, const char *format, ...)
{
    struct policy_note *note = note_new(notes, level);
    if (note == NULL)
        return;
    va_list args;
    va_start(args, format);
    note->text = arena_vprintf(notes->arena, format, args);
    va_end(args);
}

void policy_note_rule(struct policy_notes *notes, const char *format, ...)
{
    struct policy_note *note = note_new(notes, LOG_LEVEL_WARNING);
    if (note == NULL)
        return;
    va_list args;
    va_start(args, format);
    struct slice text = arena_vprintf(notes->arena, format, args);
    va_end(args);
    note->text =
        arena_printf(notes->arena, "%s%srule %.*s: %.*s", notes->where == NULL ? "" : notes->where,
                     notes->where == NULL ? "" : ": ", SLICE_ARG(notes->rule), SLICE_ARG(text));
}
