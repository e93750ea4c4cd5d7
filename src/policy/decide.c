/* The policy check of every request. Any thread. */
#include "policy/evaluate.h"
#include "policy/keeper.h"
#include "policy/set.h"

bool policy_scope_fits(unsigned scopes, const struct identity *identity)
{
    if (scopes == 0)
        return true;
    if (identity->system_scope.len > 0)
        return (scopes & POLICY_SCOPE_SYSTEM) != 0;
    if (identity->domain_id.len > 0)
        return (scopes & POLICY_SCOPE_DOMAIN) != 0;
    return (scopes & POLICY_SCOPE_PROJECT) != 0;
}

enum policy_verdict policy_decide(const struct policy *policy, enum policy_service service,
                                  unsigned rule, const struct identity *identity,
                                  const struct policy_target *target)
{
    struct policy_input input = {identity, target};
    const struct policy_root *root = &policy->sets[service].roots[rule - 1];
    if (policy->enforce_scope && !policy_scope_fits(root->scopes, identity))
        return POLICY_DENIED_SCOPE;
    return policy_evaluate(root->node, &input) == POLICY_TRUE ? POLICY_ALLOWED : POLICY_DENIED;
}

enum policy_verdict policy_check(struct policy_keeper *keeper, enum policy_service service,
                                 unsigned rule, const struct identity *identity,
                                 const struct policy_target *target)
{
    if (rule == 0)
        return POLICY_ALLOWED;
    return policy_decide(policy_keeper_current(keeper), service, rule, identity, target);
}
