/* In some seeds, each request waits for the answer to the one before, wherever that was sent. So a
 * batch is that of one request, most often a claim, and instances follow each other batch by batch.
 * In half of these seeds, nothing goes wrong but what is here. One thread. */
#include "fleet.h"

bool turns_is_answered(void)
{
    unsigned unanswered = 0;
    for (int i = 0; i < fleet.count; i++)
        unanswered += fleet.instances[i].unanswered;
    return unanswered == 0;
}

/* Whether the newest request has done what it was for. */
static bool is_accepted(void)
{
    const struct asked *asked = fleet.asked;
    return asked != NULL && asked->answer == ANSWER_OK && (asked->is_read || asked->changes);
}

/* At one instance, a read and then a claim; at some instance, a claim; and so on. So the read most
 * often finds one claim of another instance, and nothing else that is new. */
void turns_ask(void)
{
    enum { READ, CLAIM, CLAIM_ELSEWHERE, TURNS };
    if (is_accepted())
        fleet.turn = (fleet.turn + 1) % TURNS;
    if (fleet.turn == READ && rng_below(&fleet.rng, 4) == 0)
        fleet.favourite = rng_below(&fleet.rng, fleet.count);
    if (fleet.turn == CLAIM_ELSEWHERE && rng_below(&fleet.rng, 5) == 0)
        faults_go_back(); /* the next batch may name what is gone, and those after it are claims */
    int other = (fleet.favourite + 1 + rng_below(&fleet.rng, fleet.count)) % fleet.count;
    int asked = fleet.turn == CLAIM_ELSEWHERE ? other : fleet.favourite;
    if (fleet.instances[asked].is_up)
        instance_ask(&fleet.instances[asked], fleet.turn == READ);
}
