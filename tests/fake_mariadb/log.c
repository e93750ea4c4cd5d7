/* The statements about the log and its epochs. One thread. */
#include <stdio.h>

#include "maria.h"

/* "… SELECT 2, x'mark', x'digest', 'written at', x'entries' FROM …" */
static bool read_line(const struct call *call, int64_t *number, struct value values[static 4])
{
    struct slice at = maria_after(call, " SELECT ");
    bool ok = maria_take_int(&at, number);
    for (int i = 0; i < 4; i++)
        ok = ok && maria_skip(&at, ", ") && maria_take_literal(&at, &values[i]);
    return ok && slice_starts_with(at, SLICE_LIT(" FROM "));
}

static bool may_follow(struct call *call, int64_t number)
{
    const struct view view = transaction_view(call->session);
    if (maria_has(call, "WHERE NOT EXISTS (SELECT 1 FROM berth_log)"))
        return view_head(&view) == NULL;
    const struct log_line *before = view_line(&view, maria_int_after(call, "WHERE number = "));
    return before != NULL && before->number == number - 1 &&
           slice_equal(before->mark, maria_bytes_after(call, " AND mark = "));
}

enum outcome maria_insert_line(struct call *call)
{
    int64_t number;
    struct value values[4];
    if (!read_line(call, &number, values))
        maria_give_up(call);
    if (!may_follow(call, number))
        return maria_affected(call, 0);
    uint64_t key = line_key(number);
    enum outcome outcome = transaction_take(call, &key, 1);
    if (outcome != OUTCOME_DONE)
        return outcome;
    const struct view view = transaction_view(call->session);
    if (view_line(&view, number) != NULL)
        return maria_fail(call, ERROR_DUPLICATE, "Duplicate entry '%lld' for key 'PRIMARY'",
                          (long long)number);
    transaction_log(call->session, states_line(&server.states, number, values[2].integer,
                                               values[0].text, values[1].text, values[3].text));
    return maria_affected(call, 1);
}

/* The client learns of that state's log. */
static void tell(struct call *call, const struct view *view)
{
    call->session->maria.told = view->state->at;
}

static void add_line(struct call *call, const struct log_line *line, bool omits_entries)
{
    maria_add_int(call, line->number);
    maria_add_text(call, line->mark);
    maria_add_text(call, line->digest);
    if (omits_entries)
        maria_add_null(call);
    else
        maria_add_text(call, line->entries);
}

static void add_newest_epoch(struct call *call, const struct state *state)
{
    if (state->epoch_count == 0)
        maria_add_null(call);
    else
        maria_add_int(call, state->epochs[state->epoch_count - 1].epoch);
}

/* "…, @berth_session": which connection answers. */
void maria_add_sign(struct call *call)
{
    if (call->session->maria.sign[0] == '\0')
        maria_add_null(call);
    else
        maria_add_text(call, slice_of(call->session->maria.sign));
}

/* One row, whose log columns are NULL if the log is empty. */
enum outcome maria_select_newest(struct call *call)
{
    const bool compares = maria_has(call, "IF(l.mark = ");
    const struct view view = transaction_view(call->session);
    const struct log_line *head = view_head(&view);
    const bool is_known = compares && head != NULL &&
                          slice_equal(head->mark, maria_bytes_after(call, "IF(l.mark = "));
    tell(call, &view);
    maria_columns(call, "ntttnnt");
    if (head != NULL)
        add_line(call, head, is_known);
    for (int i = 0; head == NULL && i < 4; i++)
        maria_add_null(call);
    maria_add_int(call, 0);
    if (compares && !is_known)
        add_newest_epoch(call, view.state);
    else
        maria_add_null(call);
    maria_add_sign(call);
    return OUTCOME_DONE;
}

enum outcome maria_select_newest_mark(struct call *call)
{
    const struct view view = transaction_view(call->session);
    const struct log_line *head = view_head(&view);
    tell(call, &view);
    maria_columns(call, "ntnt");
    if (head == NULL)
        return OUTCOME_DONE;
    maria_add_int(call, head->number);
    maria_add_text(call, head->mark);
    maria_add_int(call, 0);
    maria_add_sign(call);
    return OUTCOME_DONE;
}

/* Asked by those who know an empty log. */
enum outcome maria_select_newest_number(struct call *call)
{
    const struct view view = transaction_view(call->session);
    const struct log_line *head = view_head(&view);
    tell(call, &view);
    maria_columns(call, "ntnt");
    if (head == NULL)
        maria_add_null(call);
    else
        maria_add_int(call, head->number);
    maria_add_null(call);
    maria_add_int(call, 0);
    maria_add_sign(call);
    return OUTCOME_DONE;
}

static enum outcome select_since(struct call *call, bool has_more)
{
    const struct view view = transaction_view(call->session);
    int64_t from = maria_int_after(call, "WHERE number >= ");
    int64_t most = maria_int_after(call, " LIMIT ");
    tell(call, &view);
    maria_columns(call, has_more ? "ntttn" : "nttt");
    for (unsigned i = 0; i < view.state->log_count; i++) {
        if (view.state->log[i]->number < from || call->result->rows >= most)
            continue;
        add_line(call, view.state->log[i], false);
        if (has_more)
            add_newest_epoch(call, view.state);
    }
    return OUTCOME_DONE;
}

enum outcome maria_select_since(struct call *call)
{
    return select_since(call, false);
}

/* With the newest epoch. */
enum outcome maria_select_locked(struct call *call)
{
    return select_since(call, true);
}

enum outcome maria_select_first(struct call *call)
{
    const struct view view = transaction_view(call->session);
    int64_t from = maria_int_after(call, "WHERE number >= ");
    tell(call, &view);
    maria_columns(call, "nt");
    for (unsigned i = 0; i < view.state->log_count && call->result->rows == 0; i++)
        if (view.state->log[i]->number >= from) {
            maria_add_int(call, view.state->log[i]->number);
            maria_add_text(call, view.state->log[i]->mark);
        }
    return OUTCOME_DONE;
}

/* ---- epochs ---- */

enum outcome maria_select_epochs(struct call *call)
{
    const struct view view = transaction_view(call->session);
    maria_columns(call, "nnn");
    for (unsigned i = 0; i < view.state->epoch_count; i++) {
        maria_add_int(call, view.state->epochs[i].epoch);
        maria_add_int(call, view.state->epochs[i].number);
        maria_add_int(call, view.state->epochs[i].began_us);
    }
    return OUTCOME_DONE;
}

/* "… VALUES (1, 500, 'began at', 'batch 500 is gone, as …')" */
enum outcome maria_insert_epoch(struct call *call)
{
    static const char begin_of_reason[] = "batch ";
    struct slice at = maria_after(call, "VALUES (");
    struct value values[4];
    for (int i = 0; i < 4; i++)
        if (!maria_take_literal(&at, &values[i]) || !maria_skip(&at, i < 3 ? ", " : ")"))
            maria_give_up(call);
    struct slice reason = values[3].text;
    if (!maria_skip(&reason, begin_of_reason))
        maria_give_up(call);
    struct epoch_line epoch = {
        .epoch = values[0].integer, .number = values[1].integer, .began_us = values[2].integer};
    (void)maria_take_int(&reason, &epoch.gone);
    uint64_t key = epoch_key(epoch.epoch);
    enum outcome outcome = transaction_take(call, &key, 1);
    if (outcome != OUTCOME_DONE)
        return outcome;
    const struct view view = transaction_view(call->session);
    for (unsigned i = 0; i < view.state->epoch_count; i++)
        if (view.state->epochs[i].epoch == epoch.epoch)
            return maria_fail(call, ERROR_DUPLICATE, "Duplicate entry '%lld' for key 'PRIMARY'",
                              (long long)epoch.epoch);
    call->session->transaction.epoch = epoch;
    return maria_affected(call, 1);
}

/* ---- checks ---- */

/* "SET @berth=IF((SELECT … number=2 AND mark=x'…') OR NOT (SELECT … number=1 AND mark=x'…'),1,…" */
static bool has_line(const struct call *call, const struct view *view, const char *begin)
{
    struct slice at = maria_after(call, begin);
    int64_t number;
    struct value mark;
    if (!maria_take_int(&at, &number) || !maria_skip(&at, " AND mark=") ||
        !maria_take_literal(&at, &mark))
        maria_give_up(call);
    const struct log_line *line = view_line(view, number);
    return line != NULL && slice_equal(line->mark, mark.text);
}

/* "…(@berth_session<=>'3/1/node0')…" */
static bool has_sign(struct call *call, const char *before)
{
    struct slice at = maria_after(call, before);
    struct value sign;
    if (!maria_take_literal(&at, &sign))
        maria_give_up(call);
    return slice_equal(sign.text, slice_of(call->session->maria.sign));
}

enum outcome maria_check_line(struct call *call)
{
    static const char before[] = " AND (SELECT COUNT(*) FROM berth_log WHERE number=";
    static const char sign[] = ",1,IF(~0+(1-(@berth_session<=>";
    const struct view view = transaction_view(call->session);
    if (has_line(call, &view, "IF((SELECT COUNT(*) FROM berth_log WHERE number="))
        return OUTCOME_DONE;
    if (maria_has(call, sign) && !has_sign(call, sign))
        return maria_fail(call, ERROR_RANGE, "BIGINT UNSIGNED value is out of range");
    if (maria_has(call, before) && !has_line(call, &view, before))
        return OUTCOME_DONE;
    return maria_fail(call, ERROR_ROWS, "Subquery returns more than 1 row");
}
