/* Reads Keystone's answer about a token. Everything that is stored is first counted, then written
 * to one block: the token, its arrays, its texts. Names, the catalog and the rest are not stored,
 * so the memory of a cached token is known and small. Any thread. */
#include "keystone/token.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/clock.h"

/* Processes a token twice: first with data == NULL, which counts, then with memory for what was
 * counted. */
struct packer {
    char *data;
    size_t len;
};

static struct slice pack(struct packer *packer, json_t *text)
{
    size_t len = json_string_length(text);
    char *at = NULL;
    if (packer->data != NULL)
        at = memcpy(packer->data + packer->len, json_string_value(text), len);
    packer->len += len;
    return (struct slice){at, len};
}

/* A member that is a text, or nothing. */
static struct slice pack_member(struct packer *packer, json_t *object, const char *name)
{
    json_t *text = json_object_get(object, name);
    return json_is_string(text) ? pack(packer, text) : (struct slice){0};
}

static size_t align(size_t bytes)
{
    return (bytes + 15) & ~(size_t)15;
}

static bool token_refuse(const char **why, const char *what)
{
    *why = what;
    return false;
}

bool token_parse_time(struct slice text, int64_t *wall_us)
{
    int64_t offset_us = 0;
    const int64_t minute_us = 60 * 1000000LL;
    if (text.len > 6 && (text.data[text.len - 6] == '+' || text.data[text.len - 6] == '-') &&
        text.data[text.len - 3] == ':') {
        const char *at = text.data + text.len - 6;
        for (int i = 1; i < 6; i++)
            if (i != 3 && (at[i] < '0' || at[i] > '9'))
                return false;
        int hours = (at[1] - '0') * 10 + at[2] - '0';
        int minutes = (at[4] - '0') * 10 + at[5] - '0';
        offset_us = (hours * 60 + minutes) * minute_us * (at[0] == '-' ? -1 : 1);
        text.len -= 6;
    } else if (text.len > 0 && text.data[text.len - 1] == 'Z') {
        text.len--;
    }
    if (!clock_parse_iso(text, wall_us))
        return false;
    *wall_us -= offset_us;
    return true;
}

/* Checks that the required members exist and have the right type. */
static bool check_shape(json_t *token, const char **why)
{
    if (!json_is_object(token))
        return token_refuse(why, "it has no token");
    json_t *user = json_object_get(token, "user");
    if (!json_is_string(json_object_get(user, "id")))
        return token_refuse(why, "its token has no user");
    json_t *roles = json_object_get(token, "roles");
    if (roles != NULL && !json_is_array(roles))
        return token_refuse(why, "its token's roles are not a list");
    size_t i;
    json_t *role;
    json_array_foreach(roles, i, role) if (
        !json_is_string(json_object_get(
            role, "name"))) return token_refuse(why, "a role of its token has no name");
    json_t *project = json_object_get(token, "project");
    if (project != NULL && !json_is_string(json_object_get(project, "id")))
        return token_refuse(why, "its token's project has no id");
    json_t *domain = json_object_get(token, "domain");
    if (domain != NULL && !json_is_string(json_object_get(domain, "id")))
        return token_refuse(why, "its token's domain has no id");
    return true;
}

static bool is_true(json_t *value)
{
    return json_is_true(value) || (json_is_integer(value) && json_integer_value(value) != 0);
}

static bool is_bound(json_t *bind, enum token_bind mode)
{
    bool has_bind = json_object_size(bind) > 0;
    switch (mode) {
    case TOKEN_BIND_DISABLED:
        return false;
    case TOKEN_BIND_PERMISSIVE:
        return json_object_get(bind, "kerberos") != NULL;
    case TOKEN_BIND_STRICT:
        return has_bind;
    case TOKEN_BIND_REQUIRED:
        break;
    }
    return true;
}

/* berth's services that have that type: one bit for each. */
static unsigned services_of(const struct token_terms *terms, json_t *type)
{
    unsigned services = 0;
    if (!json_is_string(type))
        return 0;
    for (unsigned i = 0; i < TOKEN_SERVICE_COUNT; i++)
        if (terms->service_types[i].data != NULL &&
            slice_equal(terms->service_types[i],
                        (struct slice){json_string_value(type), json_string_length(type)}))
            services |= 1U << i;
    return services;
}

static unsigned services_in(json_t *catalog, const struct token_terms *terms)
{
    unsigned services = 0;
    size_t i;
    json_t *service;
    json_array_foreach(catalog, i, service) services |=
        services_of(terms, json_object_get(service, "type"));
    return services;
}

/* The rules that concern berth's services; a rule that lacks a part allows nothing. */
static unsigned pack_rules(struct packer *packer, json_t *rules, const struct token_terms *terms,
                           struct token_access_rule *out)
{
    unsigned count = 0;
    size_t i;
    json_t *rule;
    json_array_foreach(rules, i, rule)
    {
        unsigned services = services_of(terms, json_object_get(rule, "service"));
        json_t *method = json_object_get(rule, "method");
        json_t *path = json_object_get(rule, "path");
        if (services == 0 || !json_is_string(method) || !json_is_string(path))
            continue;
        struct token_access_rule packed = {services, pack(packer, method), pack(packer, path)};
        if (out != NULL)
            out[count] = packed;
        count++;
    }
    return count;
}

static unsigned pack_roles(struct packer *packer, json_t *roles, struct slice *out)
{
    size_t i;
    json_t *role;
    json_array_foreach(roles, i, role)
    {
        struct slice name = pack(packer, json_object_get(role, "name"));
        if (out != NULL)
            out[i] = name;
    }
    return (unsigned)json_array_size(roles);
}

/* Packs texts, roles and rules, in the same order each time. */
static void pack_token(struct packer *packer, json_t *source, const struct token_terms *terms,
                       struct token *token, struct slice *roles, struct token_access_rule *rules)
{
    json_t *user = json_object_get(source, "user");
    json_t *project = json_object_get(source, "project");
    json_t *credential = json_object_get(source, "application_credential");
    token->party.user_id = pack_member(packer, user, "id");
    token->party.user_domain_id = pack_member(packer, json_object_get(user, "domain"), "id");
    token->party.project_id = pack_member(packer, project, "id");
    token->party.project_domain_id = pack_member(packer, json_object_get(project, "domain"), "id");
    token->domain_id = pack_member(packer, json_object_get(source, "domain"), "id");
    token->names.user = pack_member(packer, user, "name");
    token->names.user_domain = pack_member(packer, json_object_get(user, "domain"), "name");
    token->names.project = pack_member(packer, project, "name");
    token->names.project_domain = pack_member(packer, json_object_get(project, "domain"), "name");
    token->names.domain = pack_member(packer, json_object_get(source, "domain"), "name");
    token->party.roles.count = pack_roles(packer, json_object_get(source, "roles"), roles);
    token->rule_count =
        pack_rules(packer, json_object_get(credential, "access_rules"), terms, rules);
}

static void fill_flags(struct token *token, json_t *source, const struct token_terms *terms)
{
    json_t *rules =
        json_object_get(json_object_get(source, "application_credential"), "access_rules");
    json_t *catalog = json_object_get(source, "catalog");
    json_t *is_admin = json_object_get(source, "is_admin_project");
    token->is_system = is_true(json_object_get(json_object_get(source, "system"), "all"));
    token->is_admin_project = is_admin == NULL || is_true(is_admin);
    token->is_bound = is_bound(json_object_get(source, "bind"), terms->bind);
    token->is_restricted = rules != NULL && !json_is_null(rules);
    token->has_catalog = json_is_array(catalog);
    token->services = services_in(catalog, terms);
}

static struct token *token_make(json_t *source, const struct token_terms *terms, const char **why)
{
    struct token shape = {.references = 1};
    json_t *expires = json_object_get(source, "expires_at");
    if (!check_shape(source, why))
        return NULL;
    if (!json_is_string(expires) ||
        !token_parse_time((struct slice){json_string_value(expires), json_string_length(expires)},
                          &shape.expires_us)) {
        *why = "its token has no expiry time";
        return NULL;
    }
    struct packer packer = {0};
    pack_token(&packer, source, terms, &shape, NULL, NULL);
    size_t roles_at = align(sizeof(shape));
    size_t rules_at = align(roles_at + shape.party.roles.count * sizeof(struct slice));
    size_t texts_at = align(rules_at + shape.rule_count * sizeof(struct token_access_rule));

    shape.bytes = texts_at + packer.len;
    char *block = calloc(1, shape.bytes);
    check(block != NULL);
    struct token *token = memcpy(block, &shape, sizeof(shape));
    struct slice *roles = (struct slice *)(void *)(block + roles_at);
    struct token_access_rule *rules = (struct token_access_rule *)(void *)(block + rules_at);
    packer = (struct packer){.data = block + texts_at};
    pack_token(&packer, source, terms, token, roles, rules);
    token->party.roles.names = roles;
    token->rules = rules;
    fill_flags(token, source, terms);
    return token;
}

struct token *token_read(struct slice body, const struct token_terms *terms, const char **why)
{
    if (body.len > TOKEN_ANSWER_BYTES_MAX) {
        *why = "it is too large";
        return NULL;
    }
    json_t *root = json_loadb(body.data == NULL ? "" : body.data, body.len, 0, NULL);
    if (root == NULL) {
        *why = "it is not valid JSON";
        return NULL;
    }
    struct token *token = token_make(json_object_get(root, "token"), terms, why);
    json_decref(root);
    return token;
}

struct token *token_ref(struct token *token)
{
    atomic_fetch_add_explicit(&token->references, 1, memory_order_relaxed);
    return token;
}

void token_unref(struct token *token)
{
    if (token != NULL &&
        atomic_fetch_sub_explicit(&token->references, 1, memory_order_acq_rel) == 1)
        free(token);
}

bool token_is_expired(const struct token *token, int64_t wall_us)
{
    return token->expires_us <= wall_us;
}
