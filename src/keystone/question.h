/* One question to Keystone, and the table of those that are pending (questions.c). The thread of
 * asking.c moves them on. */
#ifndef BERTH_KEYSTONE_QUESTION_H
#define BERTH_KEYSTONE_QUESTION_H

#include "keystone/internal.h"

enum question_place { PLACE_ARRIVED, PLACE_WAITING, PLACE_ASKED, PLACE_DELAYED };

struct question {
    /* under the lock */
    LIST_ENTRY(question) in_chain;
    struct keystone_waiter *waiters;
    bool is_closed; /* nobody may join any more */

    /* set at the start */
    struct token_key key;
    bool may_be_expired;
    uint64_t deadline_us;
    bool is_project; /* it is about a project, not about a token */
    char *subject;   /* the token; or the project's id, encoded */
    char *request_id;

    /* the thread's own */
    TAILQ_ENTRY(question) in_queue;
    enum question_place place;
    struct keystone *keystone;
    struct keystone_call call;
    char *url;
    uint64_t asked_us; /* the last attempt began */
    uint64_t not_before_us;
    unsigned attempts;
    bool with_catalog;
    bool has_new_login; /* a token of ours was refused, another was tried */
    char *own_token;    /* the service's, that it was asked with */
};

/* As many as limits.questions may be pending. `on_answer`: the `done` of every question's call. */
void questions_open(struct keystone *keystone, void (*on_answer)(struct keystone_call *call));
/* After the last question has ended. */
void questions_close(struct keystone *keystone);

/* What follows is the thread's. */

/* All that have arrived now wait. */
void questions_take_arrived(struct keystone *keystone);
void question_move(struct question *question, enum question_place place);
/* Nobody may join any more. */
void question_shut(struct question *question);
/* All that wait get the verdict; the question is gone. The token, if there is one, stays the
 * caller's. */
void question_end(struct question *question, enum keystone_verdict verdict, struct token *token);

#endif
