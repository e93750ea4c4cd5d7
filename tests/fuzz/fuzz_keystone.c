/* Keystone's answers: any bytes are read as a token's data, as the list of versions, and as the
 * answer to a login. All parts of a valid token are examined, and its access rules are matched
 * against its own texts. Input that is not JSON is read as a pattern and a path, each on a line, as
 * a URL, and as a time. */
#include <stdlib.h>

#include "base/buf.h"
#include "fuzz.h"
#include "keystone/access_rules.h"
#include "keystone/documents.h"
#include "keystone/token.h"
#include "keystone/url.h"

static void check_inside(const struct token *token, struct slice text)
{
    const char *begin = (const char *)token;
    if (text.data == NULL)
        return;
    check(text.data >= begin && text.data + text.len <= begin + token->bytes);
}

static void check_token(const struct token *token, struct arena *arena)
{
    const struct identity_party *party = &token->party;
    check(party->user_id.data != NULL);
    check_inside(token, party->user_id);
    check_inside(token, party->user_domain_id);
    check_inside(token, party->project_id);
    check_inside(token, party->project_domain_id);
    check_inside(token, token->domain_id);
    for (unsigned i = 0; i < party->roles.count; i++)
        check_inside(token, party->roles.names[i]);
    check(token->rule_count == 0 || token->is_restricted);
    for (unsigned i = 0; i < token->rule_count && i < 8; i++) {
        const struct token_access_rule *rule = &token->rules[i];
        check_inside(token, rule->method);
        check_inside(token, rule->path);
        struct slice path =
            access_rules_encode_path(arena, SLICE_LIT("/placement"), party->user_id);
        check(rule->services != 0);
        (void)access_rules_allow(token, TOKEN_SERVICE_BAREMETAL, rule->method, path);
        (void)access_rules_allow(token, TOKEN_SERVICE_PLACEMENT, SLICE_LIT("GET"), rule->path);
    }
}

static void read_answers(struct slice body, struct arena *arena)
{
    static const struct keystone_endpoint_wish ONE = {"internal", "One"};
    static const struct keystone_endpoint_wish ANY = {"public", NULL};
    for (unsigned bind = TOKEN_BIND_DISABLED; bind <= TOKEN_BIND_REQUIRED; bind++) {
        const struct token_terms terms = {{SLICE_LIT("placement"), SLICE_LIT("baremetal")},
                                          (enum token_bind)bind};
        const char *why = NULL;
        struct token *token = token_read(body, &terms, &why);
        check((token == NULL) == (why != NULL));
        if (token != NULL)
            check_token(token, arena);
        token_unref(token);
    }
    struct slice url = keystone_document_find_v3(arena, "http://k:5000/identity", body);
    check(url.data == NULL || slice_starts_with(url, SLICE_LIT("http://k:5000/")));
    struct keystone_login login;
    const char *why = NULL;
    if (keystone_document_read_login(arena, body, &ONE, &login, &why) &&
        login.endpoint.data != NULL)
        check(keystone_url_is_usable(login.endpoint.data));
    check(keystone_document_read_login(arena, body, &ANY, &login, &why) == (why == NULL));
}

static void match(struct slice pattern, struct slice path)
{
    size_t steps = 1000 * 1000;
    bool matches = access_rules_path_matches(path, pattern, &steps);
    check(steps <= 1000 * 1000);
    check(!matches || steps > 0 || pattern.len == 0);
    steps = 1000 * 1000;
    check(path.len > 100000 || access_rules_path_matches(path, SLICE_LIT("**"), &steps));
    if (memchr(path.data, '*', path.len) == NULL && memchr(path.data, '{', path.len) == NULL &&
        memchr(path.data, '}', path.len) == NULL && path.len < 500) {
        steps = 1000 * 1000;
        check(access_rules_path_matches(path, path, &steps));
    }
}

static void read_url(struct slice text, struct arena *arena)
{
    const char *url = arena_copy(arena, text).data;
    if (strlen(url) != text.len || !keystone_url_is_usable(url))
        return;
    (void)keystone_url_begins_with_v3(url);
    check(keystone_url_without_version(text).len <= text.len);
    struct slice of_tokens = keystone_url_of_tokens(arena, text);
    check(slice_starts_with(of_tokens, keystone_url_beside_tokens(of_tokens)));
    (void)keystone_url_of_link(arena, url, "v3/");
    (void)keystone_url_of_link(arena, "http://k/identity", url);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct slice text = {size == 0 ? "" : (const char *)data, size};
    int64_t at_us;
    read_answers(text, arena);
    if (size > 0 && text.data[0] != '{') {
        struct slice path = text;
        struct slice pattern = slice_cut(&path, '\n');
        match(pattern, path);
        read_url(text, arena);
        if (token_parse_time(text, &at_us))
            check(size >= sizeof("2026-11-21 18:14:47") - 1);
    }
    arena_destroy(arena);
    return 0;
}
