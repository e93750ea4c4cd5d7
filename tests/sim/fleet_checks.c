/* What must be true whatever happens: see fleet.h. One thread. */
#include "compare.h"
#include "engine/pipeline_internal.h"
#include "fake_postgres/consumers.h"
#include "fleet.h"
#include "sim.h"
#include "store/log.h"
#include "store/server/log_rows.h"

/* ---- commits ---- */

static struct named_batch *find_batch(struct slice mark)
{
    for (struct named_batch *batch = fleet.batches; batch != NULL; batch = batch->next)
        if (slice_equal((struct slice){(const char *)batch->mark, MARK_BYTES}, mark))
            return batch;
    return NULL;
}

static void check_batch(struct named_batch *batch, const struct session *session)
{
    if (++batch->commits > 1)
        sim_fail("a batch of instance %d is committed twice", batch->instance->process.number);
    fleet.tally.late_commits += session->conn == NULL;
    for (size_t i = 0; i < batch->count; i++) {
        struct asked *asked = batch->asked[i];
        if (++asked->applied > 1)
            sim_fail("request %d is applied twice", (int)asked->input.op);
        if (asked->answer == ANSWER_REFUSED)
            sim_fail("request %d was answered %d, and is committed later", (int)asked->input.op,
                     asked->status);
    }
}

/* Each row of the log follows from the one before. */
static void check_line(const struct state *before, const struct log_line *line)
{
    const struct log_line *head = state_head(before);
    struct log_state state = {0};
    if (head != NULL) {
        const struct log_row row = {head->number, head->mark, head->digest, head->entries};
        if (!log_row_state(&row, &state))
            sim_fail("row %lld of the log cannot be read", (long long)head->number);
    }
    if (line->number != state.number + 1)
        sim_fail("row %lld of the log follows row %lld", (long long)line->number,
                 (long long)state.number);
    if (line->digest.len != LOG_DIGEST_LEN ||
        memcmp(line->digest.data, state.digest, LOG_DIGEST_LEN) != 0)
        sim_fail("row %lld of the log is on top of another state", (long long)line->number);
    struct log_entries entries = {0};
    if (!log_parse(line->entries, &entries))
        sim_fail("the entries of row %lld of the log cannot be read", (long long)line->number);
    log_entries_free(&entries);
}

static bool has_id(const struct tables *tables, enum table table, int64_t id)
{
    return tables_find(tables, table, id) != NULL;
}

/* No row refers to one that is missing, but for allocations whose consumer was missing before. */
static void check_references(const struct tables *before, const struct tables *tables)
{
    const struct rows *rows = tables->rows;
    bool ok = true;
    for (uint32_t i = 0; i < rows[TABLE_PROVIDERS].count; i++) {
        const struct change_provider *row = &rows[TABLE_PROVIDERS].row[i].image.provider;
        ok &= has_id(tables, TABLE_PROVIDERS, row->root_id) &&
              (row->parent_id == 0 || has_id(tables, TABLE_PROVIDERS, row->parent_id));
    }
    for (uint32_t i = 0; i < rows[TABLE_PROVIDER_TRAITS].count; i++) {
        const struct change_link *row = &rows[TABLE_PROVIDER_TRAITS].row[i].image.link;
        ok &= has_id(tables, TABLE_PROVIDERS, row->provider_id) &&
              has_id(tables, TABLE_TRAITS, row->other_id);
    }
    for (uint32_t i = 0; i < rows[TABLE_INVENTORIES].count; i++) {
        const struct change_inventory *row = &rows[TABLE_INVENTORIES].row[i].image.inventory;
        ok &= has_id(tables, TABLE_PROVIDERS, row->provider_id) &&
              has_id(tables, TABLE_CLASSES, row->class_id);
    }
    for (uint32_t i = 0; i < rows[TABLE_ALLOCATIONS].count; i++) {
        const struct change_allocation *row = &rows[TABLE_ALLOCATIONS].row[i].image.allocation;
        ok &= has_id(tables, TABLE_PROVIDERS, row->provider_id) &&
              has_id(tables, TABLE_CLASSES, row->class_id) &&
              (row->consumer_id != 0 || consumers_is_missing(before, row->consumer_uuid));
    }
    for (uint32_t i = 0; i < rows[TABLE_CONSUMERS].count; i++) {
        const struct change_consumer *row = &rows[TABLE_CONSUMERS].row[i].image.consumer;
        ok &= has_id(tables, TABLE_PROJECTS, row->project_id) &&
              has_id(tables, TABLE_USERS, row->user_id);
    }
    if (!ok)
        sim_fail("a row refers to one that is missing");
}

/* Without a row of the log, only the rows are written that consumers of allocations lack. */
static void check_completed(const struct transaction *transaction, const struct tables *before)
{
    for (size_t i = 0; i < transaction->write_count; i++) {
        const struct row_write *write = &transaction->writes[i];
        bool is_owner = write->table == TABLE_PROJECTS || write->table == TABLE_USERS;
        bool is_missing = write->table == TABLE_CONSUMERS &&
                          consumers_is_missing(before, write->row.image.consumer.uuid);
        if (write->is_delete || !(is_owner || is_missing))
            sim_fail("rows are written without a row of the log");
        fleet.tally.completed += is_missing;
    }
}

void check_commit(void *cls, const struct session *session, const struct state *before,
                  const struct state *after)
{
    const struct transaction *transaction = &session->transaction;
    (void)cls;
    for (size_t i = 0; i < transaction->line_count; i++) {
        const struct log_line *line = transaction->lines[i];
        struct named_batch *batch = find_batch(line->mark);
        check_line(before, line);
        fleet_digest((uint64_t)line->number);
        process_trace("row %lld is committed: %02x%02x", (long long)line->number,
                      (unsigned char)line->mark.data[0], (unsigned char)line->mark.data[8]);
        if (batch == NULL)
            sim_fail("row %lld of the log has an unknown mark", (long long)line->number);
        epochs_check(batch, session, line, before);
        if (line->entries.len == 0) {
            fleet.tally.taken_numbers++;
            continue;
        }
        fleet.tally.commits++;
        check_batch(batch, session);
    }
    if (transaction->line_count == 0 && transaction->write_count > 0)
        check_completed(transaction, &before->tables);
    sim_check_capacity(&before->tables, &after->tables);
    check_references(&before->tables, &after->tables);
}

void check_gone(uint64_t before, uint64_t by)
{
    for (; by > 0; by--) {
        const struct state *state = states_at(&server.states, before);
        struct named_batch *batch = state->line == NULL ? NULL : find_batch(state->line->mark);
        before = state->follows;
        if (state->line != NULL)
            epochs_lose(state->line);
        if (batch == NULL || state->line->entries.len == 0)
            continue;
        batch->is_lost = true;
        for (size_t k = 0; k < batch->count; k++)
            batch->asked[k]->applied--;
        fleet.tally.lost_batches++;
    }
}

/* ---- versions ---- */

static struct log_state state_of(const struct version_stamp *stamp)
{
    struct log_state state;
    memcpy(&state, stamp, sizeof(state));
    return state;
}

static bool is_stamped(const struct version_stamp *stamp)
{
    static const struct version_stamp unknown;
    return memcmp(stamp, &unknown, sizeof(unknown)) != 0;
}

/* Whether the state's newest row of the log is that of the stamp. */
static bool has_stamp(const struct state *state, const struct log_state *stamp)
{
    const struct log_line *head = state_head(state);
    if (head == NULL)
        return stamp->number == 0;
    return head->number == stamp->number && memcmp(head->mark.data, stamp->mark, LOG_MARK_LEN) == 0;
}

/* The newest state from `since` on that has the stamp; NULL: none of those that are kept. */
static const struct state *find_state(const struct version_stamp *stamp, uint64_t since)
{
    const struct log_state wanted = state_of(stamp);
    for (uint64_t at = server.states.newest + 1; at-- > since;) {
        const struct state *state = states_at(&server.states, at);
        if (state == NULL)
            return NULL;
        if (has_stamp(state, &wanted))
            return state;
    }
    return NULL;
}

static bool was_committed(const struct version_stamp *stamp)
{
    const struct log_state state = state_of(stamp);
    const struct named_batch *batch =
        find_batch((struct slice){(const char *)state.mark, LOG_MARK_LEN});
    return batch != NULL && batch->commits > 0;
}

/* Rows that were pruned count as there. */
static bool has_row(const struct state *state, const struct log_state *row)
{
    if (state->log_count > 0 && row->number < state->log[0]->number)
        return true;
    const struct log_line *line = state_line(state, row->number);
    return line != NULL && memcmp(line->mark.data, row->mark, LOG_MARK_LEN) == 0;
}

void check_restart(struct instance *instance)
{
    const struct version *version = replica_newest(instance->replica);
    const struct state *state = is_stamped(&version->stamp) ? find_state(&version->stamp, 0) : NULL;
    if (state == NULL || instance->before.number == 0)
        return;
    const struct log_state *had = &instance->before;
    bool is_gone = !has_row(state, had);
    fleet.tally.gone_before_restart += is_gone;
    if (is_gone != (counter_read(&instance->pipeline->losses.counters.events) > 0))
        sim_fail("instance %d %s that row %lld, which it had before its restart, is gone",
                 instance->process.number, is_gone ? "does not report" : "reports wrongly",
                 (long long)had->number);
    if (is_gone)
        epochs_note_loss(instance, had->number,
                         (struct slice){(const char *)had->mark, LOG_MARK_LEN});
}

void check_version(struct instance *instance)
{
    if (!instance->is_up)
        return;
    const struct version *version = replica_newest(instance->replica);
    if (version == instance->seen &&
        memcmp(&version->stamp, &instance->seen_stamp, sizeof(version->stamp)) == 0)
        return;
    instance->seen = version;
    instance->seen_stamp = version->stamp;
    instance->seen_us = process_now_us();
    process_trace("instance %d publishes row %lld", instance->process.number,
                  (long long)state_of(&version->stamp).number);
    if (!is_stamped(&version->stamp))
        return;
    const struct state *state = find_state(&version->stamp, 0);
    if (state == NULL) {
        if (states_at(&server.states, 0) != NULL && !was_committed(&version->stamp))
            sim_fail("instance %d publishes a state that the database has never had",
                     instance->process.number);
        return;
    }
    const char *what = compare_version(version, &state->tables);
    if (what != NULL &&
        fleet.has_foreign) { /* it does not know all that the other one has written */
        instance->seen_at = 0;
        losses_forget(instance);
        return;
    }
    if (what != NULL)
        sim_fail("instance %d publishes a version that differs from its state in %s",
                 instance->process.number, what);
    losses_check(instance, state);
}

/* ---- answers ---- */

/* When an instance was first told of that row of the log; UINT64_MAX: it was not. */
static uint64_t told_us(const struct instance *instance, const struct log_line *line)
{
    size_t kept = instance->told_count < TOLD_MOST ? instance->told_count : TOLD_MOST;
    for (size_t i = 0; i < kept; i++)
        if (instance->told[i].line == line)
            return instance->told[i].us;
    return UINT64_MAX;
}

void check_told(struct process *process, uint64_t at)
{
    struct instance *instance = (struct instance *)process;
    const struct state *state = states_at(&server.states, at);
    if (state == NULL)
        return;
    for (unsigned i = state->log_count; i > 0; i--) {
        if (told_us(instance, state->log[i - 1]) != UINT64_MAX)
            return;
        instance->told[instance->told_count++ % TOLD_MOST] =
            (struct told_line){state->log[i - 1], process_now_us()};
        if (state->log_count - i >= TOLD_MOST / 2)
            return;
    }
}

static bool has_mark(const struct log_line *line, const struct log_state *state)
{
    return line->number == state->number &&
           slice_equal(line->mark, (struct slice){(const char *)state->mark, LOG_MARK_LEN});
}

/* Whether the instance was told of that row before that time. */
static bool was_told(const struct instance *instance, const struct log_state *state,
                     uint64_t before_us)
{
    size_t kept = instance->told_count < TOLD_MOST ? instance->told_count : TOLD_MOST;
    for (size_t i = 0; i < kept; i++)
        if (has_mark(instance->told[i].line, state) && instance->told[i].us < before_us)
            return true;
    return false;
}

/* The instance has published a batch while the read waited, of which an answer that was on its way
 * told it, as that to its own COMMIT, and which was lost before that. Where nothing but the log
 * tells of a loss, the instance cannot know that yet. It can if it was told before the read came:
 * the query for the read is answered with an older state then. */
static bool is_lost_unnoticed(const struct asked *asked, const struct version *version)
{
    const struct instance *instance = asked->instance;
    const struct log_state state = state_of(&version->stamp);
    const struct named_batch *batch =
        find_batch((struct slice){(const char *)state.mark, LOG_MARK_LEN});
    bool is_new = version != instance->seen || instance->seen_us >= asked->sent_us;
    return fleet_database.loses_silently && is_new && batch != NULL && batch->is_lost &&
           !was_told(instance, &state, asked->sent_us);
}

/* Where memory does not know all that another program has written, the log tells at least that no
 * batch is missing, or lost. */
static void check_row_of_read(const struct asked *asked, const struct version *version)
{
    if (is_stamped(&version->stamp) && states_at(&server.states, asked->since) != NULL)
        sim_fail("a read at instance %d gets row %lld of the log, which has not been the newest "
                 "since it was sent",
                 asked->instance->process.number, (long long)state_of(&version->stamp).number);
}

/* The version that the read gets is a state of the database since it was sent. */
static void check_read(const struct asked *asked)
{
    const struct version *version = replica_newest(asked->instance->replica);
    if (is_stamped(&version->stamp) &&
        (find_state(&version->stamp, asked->since) != NULL || is_lost_unnoticed(asked, version)))
        return;
    const char *what = "nothing";
    if (fleet.has_foreign) {
        check_row_of_read(asked, version);
        return;
    }
    for (uint64_t at = server.states.newest + 1; at-- > asked->since;) {
        const struct state *state = states_at(&server.states, at);
        if (state == NULL)
            return; /* the read has taken so long that its first states are not kept */
        what = compare_version(version, &state->tables);
        if (what == NULL)
            return;
    }
    sim_fail("a read at instance %d gets a version that differs in %s from all states since it "
             "was sent",
             asked->instance->process.number, what);
}

/* Perhaps by a batch that is lost since then. */
static bool was_applied(const struct asked *asked)
{
    for (const struct named_batch *batch = fleet.batches; batch != NULL; batch = batch->next)
        for (size_t i = 0; i < batch->count && batch->commits > 0; i++)
            if (batch->asked[i] == asked)
                return true;
    return false;
}

static void check_write(const struct asked *asked)
{
    if (asked->answer == ANSWER_OK && asked->changes && !was_applied(asked))
        sim_fail("request %d is acknowledged, and not committed", (int)asked->input.op);
    if (asked->answer == ANSWER_REFUSED && asked->applied > 0)
        sim_fail("request %d is answered %d, and was committed", (int)asked->input.op,
                 asked->status);
    if (asked->answer == ANSWER_REFUSED && asked->status != 503 &&
        (asked->status < 400 || asked->status > 409))
        sim_fail("request %d is answered %d", (int)asked->input.op, asked->status);
}

static void count_answer(const struct asked *asked)
{
    struct fleet_tally *tally = &fleet.tally;
    if (asked->is_read) {
        tally->answered_reads += asked->answer == ANSWER_OK;
        tally->failed_reads += asked->answer == ANSWER_REFUSED;
        return;
    }
    tally->accepted += asked->answer == ANSWER_OK;
    tally->refused += asked->answer == ANSWER_REFUSED;
    tally->metal +=
        asked->answer == ANSWER_OK && asked->changes && client_is_at_metal(&asked->input);
    tally->unknown += asked->answer == ANSWER_UNKNOWN;
    tally->unanswered += asked->answer == ANSWER_LOST;
}

void check_answer(struct asked *asked)
{
    count_answer(asked);
    if (asked->is_read && asked->answer == ANSWER_OK)
        check_read(asked);
    if (!asked->is_read)
        check_write(asked);
}

/* ---- the end ---- */

static void check_replica(const struct instance *instance)
{
    const struct state *newest = states_newest(&server.states);
    const char *what = compare_version(replica_newest(instance->replica), &newest->tables);
    if (what != NULL)
        sim_fail("in the end, instance %d differs in %s", instance->process.number, what);
}

static bool is_in_log(const struct named_batch *batch)
{
    const struct state *newest = states_newest(&server.states);
    for (unsigned i = 0; i < newest->log_count; i++)
        if (slice_equal(newest->log[i]->mark,
                        (struct slice){(const char *)batch->mark, MARK_BYTES}))
            return true;
    return false;
}

/* An acknowledged write is there, unless the database went back behind it. */
static void check_batches(void)
{
    bool is_pruned = states_newest(&server.states)->log_count > 0 &&
                     states_newest(&server.states)->log[0]->number > 1;
    for (const struct named_batch *batch = fleet.batches; batch != NULL; batch = batch->next) {
        if (batch->commits == 0)
            continue;
        bool is_acknowledged = false;
        for (size_t i = 0; i < batch->count; i++)
            is_acknowledged |= batch->asked[i]->answer == ANSWER_OK;
        fleet.tally.lost_acknowledged += batch->is_lost && is_acknowledged;
        if (is_acknowledged && !batch->is_lost && !is_pruned && !is_in_log(batch))
            sim_fail("an acknowledged batch has disappeared");
    }
}

void check_end(void)
{
    for (int i = 0; i < fleet.count; i++)
        check_replica(&fleet.instances[i]);
    check_batches();
}

void check_observer(const struct instance *instance, const struct observer_figures *figures)
{
    for (int entity = 0; entity < ENTITY_COUNT; entity++)
        if (figures->looked[entity] + figures->differed[entity] > 0)
            sim_fail("instance %d takes the %s of an instance for another program's",
                     instance->process.number, observer_kind_name((enum entity)entity));
}
