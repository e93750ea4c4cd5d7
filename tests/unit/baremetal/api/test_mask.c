/* Secrets in answers. */
#include "baremetal/api/mask.h"

#include "baremetal/api/checking.h"

static void masked(const char *json, enum mask_kind kind, const char *want)
{
    json_t *value = json_of(json);
    json_t *before = json_deep_copy(value);
    json_t *copy = mask_copy(value, kind);
    assert_json(copy, want);
    assert_true(json_equal(value, before));
    json_decref(copy);
    json_decref(before);
    json_decref(value);
}

static void names(void **state)
{
    (void)state;
    assert_true(mask_is_secret(SLICE_LIT("ipmi_password")));
    assert_true(mask_is_secret(SLICE_LIT("IPMI_PassWord2")));
    assert_true(mask_is_secret(SLICE_LIT("agent_secret_token")));
    assert_true(mask_is_secret(SLICE_LIT("passphrase")));
    assert_false(mask_is_secret(SLICE_LIT("pass")));
    assert_false(mask_is_secret(SLICE_LIT("deploy_key")));
    assert_false(mask_is_secret((struct slice){0}));
}

static void objects(void **state)
{
    (void)state;
    masked("{\"ipmi_password\": \"x\", \"ipmi_address\": \"y\"}", MASK_DRIVER_INFO,
           "{\"ipmi_password\":\"******\",\"ipmi_address\":\"y\"}");
    masked("{\"token\": null, \"secret\": [1], \"password\": {\"user\": 1, \"password\": \"\"}}",
           MASK_DRIVER_INFO,
           "{\"token\":\"******\",\"secret\":\"******\",\"password\":{\"user\":1,\"password\":"
           "\"******\"}}");
    masked("{\"list\": [{\"password\": \"x\", \"a\": 1}, \"password\"]}", MASK_DRIVER_INFO,
           "{\"list\":[{\"password\":\"******\",\"a\":1},\"password\"]}");
    masked("{}", MASK_INSTANCE_INFO, "{}");
    masked("{\"image_url\": \"x\", \"configdrive\": {\"a\": 1}}", MASK_DRIVER_INFO,
           "{\"image_url\":\"x\",\"configdrive\":{\"a\":1}}");
    masked("{\"image_url\": \"x\", \"configdrive\": {\"a\": 1}}", MASK_INSTANCE_INFO,
           "{\"image_url\":\"******\",\"configdrive\":\"******\"}");
    masked("{\"image_url\": \"\", \"configdrive\": {}}", MASK_INSTANCE_INFO,
           "{\"image_url\":\"\",\"configdrive\":{}}");
    masked("{\"image_url\": 0}", MASK_INSTANCE_INFO, "{\"image_url\":0}");
    masked("{\"image_url\": 1.5}", MASK_INSTANCE_INFO, "{\"image_url\":\"******\"}");
    masked("{\"image_url\": false, \"x\": true}", MASK_INSTANCE_INFO,
           "{\"image_url\":false,\"x\":true}");
    masked("{\"image_url\": [0]}", MASK_INSTANCE_INFO, "{\"image_url\":\"******\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names), cmocka_unit_test(objects)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
