/* Keeps the policy in force up to date. */
#include "daemon/daemon.h"

#include "policy/keeper.h"

bool policies_open(struct daemon *daemon)
{
    struct policy_places places = policy_places_of(daemon->conf, daemon->inputs);
    struct policy_options options = policy_options_of(daemon->conf);
    daemon->api.policies = policy_keeper_open(&places, &options, &daemon->err);
    return daemon->api.policies != NULL;
}

void policies_close(struct daemon *daemon)
{
    policy_keeper_close(daemon->api.policies);
}
