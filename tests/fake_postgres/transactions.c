/* See transactions.h. A transaction keeps the rows that it has written, and is executed on top of
 * whatever is committed meanwhile: nobody else can have altered them, because each row and each
 * unique value is a key that one open transaction has at a time. The same keys certify commits in a
 * cluster. */
#include "transactions.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "process.h"
#include "store/record_tables.h"

enum { MESSAGE_BYTES = 200 };

enum outcome call_fail(struct call *call, const char *sqlstate, const char *format, ...)
{
    char text[MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    result_free(call->result);
    call->result = result_error("ERROR", sqlstate, text);
    return OUTCOME_ERROR;
}

/* ---- keys ---- */

uint64_t line_key(int64_t number)
{
    return rng_mix((uint64_t)number + UINT64_C(0xf00000000));
}

uint64_t epoch_key(int64_t epoch)
{
    return rng_mix((uint64_t)epoch + UINT64_C(0xe00000000));
}

static uint64_t id_key(enum table table, int64_t id, int64_t other)
{
    return rng_mix(rng_mix((uint64_t)id * 32 + (uint64_t)table) + (uint64_t)other);
}

/* Texts are kept once, so that their address identifies them. */
static uint64_t text_key(enum table table, struct slice text)
{
    return rng_mix((uint64_t)(uintptr_t)text.data + (uint64_t)table);
}

/* The texts of records are part of them. */
static uint64_t content_key(enum table table, unsigned field, struct slice text)
{
    uint64_t key = (uint64_t)table * RECORD_FIELDS_MAX + field;
    for (size_t i = 0; i < text.len; i++)
        key = rng_mix(key + (unsigned char)text.data[i]);
    return key;
}

static size_t record_keys(enum table table, const struct change *image,
                          uint64_t keys[static ROW_KEYS])
{
    const struct record_shape *shape = record_tables[table - TABLE_NODES].shape;
    size_t count = 0;
    keys[count++] = id_key(table, image->row.id, 0);
    for (unsigned f = 0; f < shape->stored && image->row.record != NULL; f++) {
        if ((shape->fields[f].flags & RECORD_UNIQUE) == 0 || record_is_null(image->row.record, f))
            continue;
        check(count < ROW_KEYS);
        keys[count++] = content_key(table, f, record_text(image->row.record, f));
    }
    return count;
}

size_t row_keys(enum table table, const struct change *image, uint64_t keys[static ROW_KEYS])
{
    switch (table) {
    case TABLE_INVENTORIES:
        keys[0] = id_key(table, image->inventory.provider_id, image->inventory.class_id + 1);
        return 1;
    case TABLE_PROVIDER_TRAITS:
    case TABLE_PROVIDER_AGGREGATES:
        keys[0] = id_key(table, image->link.provider_id, image->link.other_id + 1);
        return 1;
    case TABLE_PROVIDERS:
        keys[0] = id_key(table, image->provider.id, 0);
        keys[1] = text_key(table, image->provider.uuid);
        keys[2] = text_key(table, image->provider.name);
        return 3;
    case TABLE_CONSUMERS:
        keys[0] = id_key(table, image->consumer.id, 0);
        keys[1] = text_key(table, image->consumer.uuid);
        return 2;
    case TABLE_ALLOCATIONS:
        keys[0] = id_key(table, image->allocation.id, 0);
        return 1;
    default:
        if (table >= TABLE_NODES)
            return record_keys(table, image, keys);
        keys[0] = id_key(table, image->catalog.id, 0);
        keys[1] = text_key(table, image->catalog.name);
        return 2;
    }
}

size_t row_find_duplicate(const struct rows *rows, const struct row_write *write)
{
    uint64_t keys[ROW_KEYS];
    uint64_t others[ROW_KEYS];
    size_t count = row_keys(write->table, &write->row.image, keys);
    for (uint32_t i = 0; i < rows->count; i++) {
        size_t other_count = row_keys(write->table, &rows->row[i].image, others);
        for (size_t a = 0; a < count && rows->row[i].birth != write->row.birth; a++)
            for (size_t b = 0; b < other_count; b++)
                if (keys[a] == others[b])
                    return a;
    }
    return ROW_KEYS;
}

/* The existence of a row is a key of its own, because a reference to a row does not conflict with a
 * write that leaves it there (FOR KEY SHARE). */
static uint64_t existence_key(enum table table, int64_t id)
{
    return id_key(table, id, -1);
}

uint64_t row_existence_key(enum table table, const struct change *image)
{
    if (table == TABLE_PROVIDERS)
        return existence_key(table, image->provider.id);
    return table == TABLE_TRAITS ? existence_key(table, image->catalog.id) : 0;
}

size_t row_references(enum table table, const struct change *before, const struct change *image,
                      uint64_t keys[static ROW_REFERENCES])
{
    size_t count = 0;
    if (table == TABLE_PROVIDER_TRAITS && before == NULL) {
        keys[count++] = existence_key(TABLE_PROVIDERS, image->link.provider_id);
        keys[count++] = existence_key(TABLE_TRAITS, image->link.other_id);
    }
    if (table != TABLE_PROVIDERS)
        return count;
    const struct change_provider *row = &image->provider;
    if (row->parent_id != 0 && (before == NULL || before->provider.parent_id != row->parent_id))
        keys[count++] = existence_key(table, row->parent_id);
    if (row->root_id != 0 && row->root_id != row->id &&
        (before == NULL || before->provider.root_id != row->root_id))
        keys[count++] = existence_key(table, row->root_id);
    return count;
}

static bool is_among(const uint64_t *keys, size_t count, uint64_t key)
{
    for (size_t i = 0; i < count; i++)
        if (keys[i] == key)
            return true;
    return false;
}

static bool has_key(const struct transaction *transaction, uint64_t key)
{
    return is_among(transaction->keys, transaction->key_count, key);
}

static bool refers_to(const struct transaction *transaction, uint64_t key)
{
    return is_among(transaction->references, transaction->reference_count, key);
}

/* Whether both have written the same, or one refers to a row that the other one has deleted. */
static bool conflicts(const struct transaction *transaction, const struct written *other)
{
    for (size_t i = 0; i < other->key_count + other->reference_count; i++)
        if (has_key(transaction, other->keys[i]) ||
            (i < other->key_count && refers_to(transaction, other->keys[i])))
            return true;
    return false;
}

/* The other program's session, if its transaction conflicts. */
static const struct session *find_holder(int node, const struct written *written)
{
    const struct session *holder = &server.holder;
    bool holds = process_now_us() < server.holds_until_us && holder->node == node;
    return holds && conflicts(&holder->transaction, written) ? holder : NULL;
}

/* Another session on the node whose transaction conflicts. */
static const struct session *find_owner(const struct session *session,
                                        const struct written *written)
{
    for (int s = 0; s < server.session_count; s++) {
        const struct session *other = &server.sessions[s];
        if (other->is_used && other != session && other->node == session->node &&
            conflicts(&other->transaction, written))
            return other;
    }
    return find_holder(session->node, written);
}

/* The session waits for another one, unless that waits for it. */
static enum outcome wait_for(struct call *call, const struct session *owner)
{
    const struct session *at = owner;
    for (int i = 0; i < server.session_count && at != NULL && at->is_blocked; i++) {
        at = at->blocked_by;
        if (at == call->session)
            return call_fail(call, "40P01", "deadlock detected");
    }
    call->session->blocked_by = owner;
    return OUTCOME_BLOCKED;
}

/* Adds the keys to those that the transaction has. */
static enum outcome take(struct call *call, const struct written *wanted, uint64_t *has,
                         size_t *count, size_t most)
{
    const struct session *owner = find_owner(call->session, wanted);
    if (owner != NULL)
        return wait_for(call, owner);
    for (size_t i = 0; i < wanted->key_count + wanted->reference_count; i++)
        if (!is_among(has, *count, wanted->keys[i])) {
            check(*count < most);
            has[(*count)++] = wanted->keys[i];
        }
    return OUTCOME_DONE;
}

enum outcome transaction_take(struct call *call, const uint64_t *keys, size_t count)
{
    struct transaction *transaction = &call->session->transaction;
    const struct written wanted = {.keys = keys, .key_count = count};
    return take(call, &wanted, transaction->keys, &transaction->key_count, TRANSACTION_KEYS);
}

bool transaction_is_taken(const struct call *call, const uint64_t *keys, size_t count)
{
    return find_owner(call->session, &(struct written){.keys = keys, .key_count = count}) != NULL;
}

enum outcome transaction_refer(struct call *call, const uint64_t *keys, size_t count)
{
    struct transaction *transaction = &call->session->transaction;
    const struct written wanted = {.keys = keys, .reference_count = count};
    return take(call, &wanted, transaction->references, &transaction->reference_count,
                TRANSACTION_REFERENCES);
}

enum outcome transaction_lock(struct call *call)
{
    for (int s = 0; s < server.session_count; s++) {
        const struct session *other = &server.sessions[s];
        if (other->is_used && other != call->session && other->node == call->session->node &&
            other->transaction.has_lock)
            return wait_for(call, other);
    }
    call->session->transaction.has_lock = true;
    return OUTCOME_DONE;
}

/* ---- what a statement sees ---- */

static const struct state *committed(struct session *session)
{
    struct transaction *transaction = &session->transaction;
    uint64_t at = server.applied[session->node];
    if (transaction->is_snapshot) {
        if (!transaction->has_snapshot)
            transaction->snapshot = at;
        transaction->has_snapshot = true;
        at = transaction->snapshot;
    }
    const struct state *state = states_at(&server.states, at);
    check(state != NULL);
    return state;
}

struct view transaction_view(struct session *session)
{
    static struct tables altered;
    const struct transaction *transaction = &session->transaction;
    const struct state *state = committed(session);
    struct view view = {.tables = &state->tables, .state = state, .own = transaction};
    if (transaction->write_count == 0)
        return view;
    tables_copy(&altered, &state->tables);
    for (size_t i = 0; i < transaction->write_count; i++)
        states_write(&altered, &transaction->writes[i]);
    states_join(&altered);
    view.tables = &altered;
    return view;
}

const struct log_line *view_line(const struct view *view, int64_t number)
{
    for (size_t i = 0; i < view->own->line_count; i++)
        if (view->own->lines[i]->number == number)
            return view->own->lines[i];
    return state_line(view->state, number);
}

const struct log_line *view_head(const struct view *view)
{
    const struct log_line *head = state_head(view->state);
    for (size_t i = 0; i < view->own->line_count; i++)
        if (head == NULL || view->own->lines[i]->number > head->number)
            head = view->own->lines[i];
    return head;
}

/* ---- from begin to end ---- */

void transaction_begin(struct session *session, bool is_explicit, bool is_snapshot)
{
    struct transaction *transaction = &session->transaction;
    transaction->is_open = true;
    transaction->is_explicit = is_explicit;
    transaction->is_snapshot = is_snapshot;
}

void transaction_roll_back(struct session *session)
{
    struct transaction *transaction = &session->transaction;
    if (transaction->is_open)
        server.changes++;
    transaction->write_count = transaction->key_count = transaction->line_count = 0;
    transaction->reference_count = 0;
    transaction->epoch = (struct epoch_line){0};
    transaction->has_lock = transaction->is_doomed = false;
    transaction->is_open = transaction->is_explicit = transaction->has_failed = false;
    transaction->is_snapshot = transaction->has_snapshot = false;
}

void transaction_write(struct session *session, const struct row_write *write)
{
    struct transaction *transaction = &session->transaction;
    check(transaction->write_count < TRANSACTION_WRITES);
    transaction->writes[transaction->write_count++] = *write;
}

void transaction_log(struct session *session, struct log_line *line)
{
    struct transaction *transaction = &session->transaction;
    check(transaction->line_count < TRANSACTION_LINES);
    transaction->lines[transaction->line_count++] = line;
}

/* Whether it conflicts with a commit that the node does not have yet. */
static bool is_overtaken(const struct session *session)
{
    for (uint64_t at = server.applied[session->node] + 1; at <= server.states.newest; at++) {
        const struct state *state = states_at(&server.states, at);
        if (state == NULL || conflicts(&session->transaction, &state->written))
            return true;
    }
    return session->transaction.is_doomed;
}

/* MariaDB ends it at once, and lets the session know later. */
static void doom(struct session *session)
{
    if (session->maria.is_maria)
        transaction_roll_back(session);
    else
        session->transaction.is_doomed = true;
    session->maria.is_beaten = session->maria.is_maria;
}

void transaction_applied(int node, const struct state *state)
{
    if (server.hooks.on_applied != NULL)
        server.hooks.on_applied(node, state);
    for (int s = 0; s < server.session_count; s++) {
        struct session *session = &server.sessions[s];
        if (session->is_used && session->node == node &&
            conflicts(&session->transaction, &state->written))
            doom(session);
    }
}

static void add_line(struct state *state, const struct log_line *line)
{
    check(state->log_count < STATES_LOG_MOST);
    unsigned at = state->log_count++;
    for (; at > 0 && state->log[at - 1]->number > line->number; at--)
        state->log[at] = state->log[at - 1];
    state->log[at] = line;
}

static void execute(struct transaction *transaction, struct state *draft)
{
    for (size_t i = 0; i < transaction->write_count; i++) {
        transaction->writes[i].row.revision = ++server.states.clock;
        states_write(&draft->tables, &transaction->writes[i]);
    }
    states_join(&draft->tables);
    for (size_t i = 0; i < transaction->line_count; i++) {
        transaction->lines[i]->committed_us = process_now_us();
        add_line(draft, transaction->lines[i]);
        draft->line = transaction->lines[i];
    }
}

static void add_epoch(struct state *state, const struct epoch_line *epoch)
{
    if (epoch->epoch == 0)
        return;
    check(state->epoch_count < STATES_EPOCHS_MOST);
    unsigned at = state->epoch_count++;
    for (; at > 0 && state->epochs[at - 1].epoch > epoch->epoch; at--)
        state->epochs[at] = state->epochs[at - 1];
    state->epochs[at] = *epoch;
    state->epochs[at].at = state->at;
}

/* The node applies everything up to its own commit. */
static void catch_up(int node)
{
    while (server.applied[node] < server.states.newest) {
        const struct state *state = states_at(&server.states, ++server.applied[node]);
        if (state != NULL)
            transaction_applied(node, state);
    }
    server.changes++;
}

/* With keys from malloc. */
static struct written copy_written(const struct transaction *transaction)
{
    const size_t key_count = transaction->key_count;
    const size_t reference_count = transaction->reference_count;
    uint64_t *keys = calloc(key_count + reference_count + 1, sizeof(*keys));
    check(keys != NULL);
    memcpy(keys, transaction->keys, key_count * sizeof(*keys));
    memcpy(keys + key_count, transaction->references, reference_count * sizeof(*keys));
    return (struct written){keys, key_count, reference_count};
}

enum outcome transaction_commit(struct call *call)
{
    struct session *session = call->session;
    struct transaction *transaction = &session->transaction;
    if (transaction->key_count == 0) {
        transaction_roll_back(session);
        return OUTCOME_DONE;
    }
    if (is_overtaken(session)) {
        transaction_roll_back(session);
        return call_fail(call, "40P01", "deadlock detected by certification");
    }
    const struct state *before = states_newest(&server.states);
    struct state *draft = states_draft(&server.states);
    const struct written written = copy_written(transaction);
    execute(transaction, draft);
    add_epoch(draft, &transaction->epoch);
    server.hooks.on_commit(server.hooks.cls, session, before, draft);
    states_append(&server.states, draft, written);
    transaction_roll_back(session);
    catch_up(session->node);
    return OUTCOME_DONE;
}

/* ---- another program ---- */

/* Adds the keys of a write, on top of these tables. */
static void add_keys(struct transaction *transaction, const struct tables *tables,
                     const struct row_write *write)
{
    const struct change *image = &write->row.image;
    const struct row *known = write->table == TABLE_PROVIDERS
                                  ? tables_find(tables, write->table, image->provider.id)
                                  : NULL;
    const uint64_t existence = write->is_delete ? row_existence_key(write->table, image) : 0;
    check(transaction->key_count + ROW_KEYS < TRANSACTION_KEYS);
    check(transaction->reference_count + ROW_REFERENCES <= TRANSACTION_REFERENCES);
    transaction->key_count +=
        row_keys(write->table, image, &transaction->keys[transaction->key_count]);
    if (existence != 0)
        transaction->keys[transaction->key_count++] = existence;
    if (!write->is_delete)
        transaction->reference_count +=
            row_references(write->table, known == NULL ? NULL : &known->image, image,
                           &transaction->references[transaction->reference_count]);
}

/* A node that has the newest state, and no open transaction that conflicts; -1: there is none. */
static int find_node(const struct written *written)
{
    int node = 0;
    while (node < server.node_count &&
           (server.applied[node] != server.states.newest || server.is_apart[node]))
        node++;
    for (int s = 0; s < server.session_count && node < server.node_count; s++) {
        const struct session *session = &server.sessions[s];
        if (session->is_used && session->node == node && conflicts(&session->transaction, written))
            return -1;
    }
    return node < server.node_count && find_holder(node, written) == NULL ? node : -1;
}

bool fake_server_write(const struct row_write *writes, size_t count)
{
    static struct transaction other;
    other.key_count = other.reference_count = 0;
    for (size_t i = 0; i < count; i++)
        add_keys(&other, &states_newest(&server.states)->tables, &writes[i]);
    const struct written written = copy_written(&other);
    int node = find_node(&written);
    if (node < 0) {
        free((void *)written.keys);
        return false;
    }
    struct state *draft = states_draft(&server.states);
    for (size_t i = 0; i < count; i++) {
        struct row_write write = writes[i];
        write.row.revision = ++server.states.clock;
        states_write(&draft->tables, &write);
    }
    states_join(&draft->tables);
    states_append(&server.states, draft, written);
    catch_up(node);
    return true;
}
