/* Parses Keystone's JSON (Identity API v3, Validate and show information for token); only the ids,
 * the scope and the names of roles are used. One thread. */
#include "cli/token_file.h"

#include <jansson.h>

#include "base/file.h"

enum { TOKEN_BYTES_MAX = 4 * 1024 * 1024 };

struct token_reader {
    const char *path;
    struct arena *arena;
    struct err *err;
};

static bool token_file_refuse(struct token_reader *r, const char *what)
{
    return err_set(r->err, 500, NULL, "%s: %s", r->path, what);
}

/* data NULL: there is no text with that name. */
static struct slice token_file_text_of(struct token_reader *r, const json_t *object,
                                       const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_string(value))
        return (struct slice){0};
    return arena_copy(r->arena,
                      (struct slice){json_string_value(value), json_string_length(value)});
}

/* A user or a project, each with a domain. */
static void read_party(struct token_reader *r, const json_t *party, struct slice *id,
                       struct slice *domain_id)
{
    *id = token_file_text_of(r, party, "id");
    *domain_id = token_file_text_of(r, json_object_get(party, "domain"), "id");
}

static bool read_roles(struct token_reader *r, const json_t *roles, struct identity_roles *out)
{
    size_t count = json_array_size(roles);
    struct slice *names = arena_array(r->arena, count, sizeof(*names));
    if (roles != NULL && !json_is_array(roles))
        return token_file_refuse(r, "the token's roles are not a list");
    for (size_t i = 0; i < count; i++) {
        names[i] = token_file_text_of(r, json_array_get(roles, i), "name");
        if (names[i].data == NULL)
            return token_file_refuse(r, "a role of the token has no name");
    }
    *out = (struct identity_roles){names, (unsigned)count};
    return true;
}

static bool read_token(struct token_reader *r, const json_t *root, struct identity *identity)
{
    const json_t *token = json_object_get(root, "token");
    if (!json_is_object(token))
        return token_file_refuse(
            r, "has no token: the body of Keystone's answer to GET /v3/auth/tokens is expected");
    read_party(r, json_object_get(token, "user"), &identity->user_id, &identity->user_domain_id);
    if (identity->user_id.data == NULL)
        return token_file_refuse(r, "the token has no user with an id");
    read_party(r, json_object_get(token, "project"), &identity->project_id,
               &identity->project_domain_id);
    identity->names.project = token_file_text_of(r, json_object_get(token, "project"), "name");
    identity->domain_id = token_file_text_of(r, json_object_get(token, "domain"), "id");
    if (json_is_true(json_object_get(json_object_get(token, "system"), "all")))
        identity->system_scope = SLICE_LIT("all");
    identity->outside_admin_project = json_is_false(json_object_get(token, "is_admin_project"));
    return read_roles(r, json_object_get(token, "roles"), &identity->roles);
}

bool token_text_read(const char *path, struct slice text, struct arena *arena,
                     struct identity *identity, struct err *err)
{
    struct token_reader reader = {path, arena, err};
    json_error_t wrong;
    *identity = (struct identity){0};
    json_t *root = json_loadb(text.data, text.len, 0, &wrong);
    if (root == NULL)
        return err_set(err, 500, NULL, "%s:%d: not valid JSON: %s", path, wrong.line, wrong.text);
    bool ok = read_token(&reader, root, identity);
    json_decref(root);
    return ok;
}

bool token_file_read(const char *path, struct arena *arena, struct identity *identity,
                     struct err *err)
{
    struct buf text = {0};
    const char *file = strcmp(path, "-") == 0 ? "/dev/stdin" : path;
    bool ok = file_read(file, "the token file", TOKEN_BYTES_MAX, &text, err) &&
              token_text_read(path, buf_slice(&text), arena, identity, err);
    buf_free(&text);
    return ok;
}
