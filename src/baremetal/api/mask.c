/* A value is secret if its name contains one of the words, in any case. An object under such a name
 * is not hidden; its members are examined instead. As in oslo.utils, except that oslo.utils does
 * not look into lists, and does look for secrets in texts such as "--password X"
 * (docs/differences.md). Pure; any thread. */
#include "baremetal/api/mask.h"

#include <stdint.h>
#include <strings.h>

#include "base/check.h"

static const char STARS[] = "******";

/* The list of oslo.utils. */
static const char *const WORDS[] = {
    "adminpass",
    "admin_pass",
    "password",
    "admin_password",
    "auth_token",
    "new_pass",
    "auth_password",
    "secret_uuid",
    "secret",
    "sys_pswd",
    "token",
    "configdrive",
    "chappassword",
    "encrypted_key",
    "private_key",
    "fernetkey",
    "sslkey",
    "passphrase",
    "cephclusterfsid",
    "octaviaheartbeatkey",
    "rabbitcookie",
    "cephmanilaclientkey",
    "pacemakerremoteauthkey",
    "designaterndckey",
    "cephadminkey",
    "heatauthencryptionkey",
    "cephclientkey",
    "keystonecredential",
    "barbicansimplecryptokek",
    "cephrgwkey",
    "swifthashsuffix",
    "migrationsshkey",
    "cephmdskey",
    "cephmonkey",
};

static bool holds(struct slice text, struct slice word)
{
    for (size_t i = 0; i + word.len <= text.len; i++)
        if (strncasecmp(text.data + i, word.data, word.len) == 0)
            return true;
    return false;
}

bool mask_is_secret(struct slice name)
{
    for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
        if (holds(name, slice_of(WORDS[i])))
            return true;
    return false;
}

/* Python's truth value: empty values count as not set. */
static bool is_set(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return json_object_size(value) > 0;
    case JSON_ARRAY:
        return json_array_size(value) > 0;
    case JSON_STRING:
        return json_string_length(value) > 0;
    case JSON_INTEGER:
    case JSON_REAL:
        return json_number_value(value) < 0 || json_number_value(value) > 0;
    case JSON_TRUE:
        return true;
    default:
        return false;
    }
}

static json_t *copy_of(const json_t *value);

static json_t *copy_object(const json_t *value)
{
    json_t *object = (json_t *)(uintptr_t)value; /* jansson's iterators are not const */
    json_t *copy = json_object();
    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at)) {
        struct slice name = {json_object_iter_key(at), json_object_iter_key_len(at)};
        const json_t *member = json_object_iter_value(at);
        bool is_hidden = !json_is_object(member) && mask_is_secret(name);
        json_t *shown = is_hidden ? json_string(STARS) : copy_of(member);
        check(json_object_setn_new_nocheck(copy, name.data, name.len, shown) == 0);
    }
    return copy;
}

static json_t *copy_of(const json_t *value)
{
    if (json_is_object(value))
        return copy_object(value);
    if (!json_is_array(value))
        return json_deep_copy(value);
    json_t *copy = json_array();
    for (size_t i = 0; i < json_array_size(value); i++)
        check(json_array_append_new(copy, copy_of(json_array_get(value, i))) == 0);
    return copy;
}

json_t *mask_copy(const json_t *value, enum mask_kind kind)
{
    static const char *const BESIDES[] = {"configdrive", "image_url"};
    json_t *copy = copy_of(value);
    for (size_t i = 0; i < sizeof(BESIDES) / sizeof(BESIDES[0]); i++) {
        const json_t *member = json_object_get(copy, BESIDES[i]);
        if (kind == MASK_INSTANCE_INFO && member != NULL && is_set(member))
            check(json_object_set_new(copy, BESIDES[i], json_string(STARS)) == 0);
    }
    return copy;
}
