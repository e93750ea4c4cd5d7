/* Bodies of PUT …/states/provision, …/states/power and …/maintenance. */
#include "baremetal/api/nodes/action_bodies.h"

#include "baremetal/api/checking.h"

static void provision(const char *json, unsigned minor, int status, const char *refusal)
{
    struct err err = {.arena = arena_create()};
    json_t *body = json_of(json);
    struct provision_body read;
    bool taken = action_bodies_provision(body, &read, &err);
    const struct node_verb_name *verb = taken ? node_verb_find(read.target) : NULL;
    if (verb != NULL)
        taken = action_bodies_check_provision(&read, verb->verb, minor, &err);
    assert_message(taken, &err, status, refusal);
    json_decref(body);
    arena_destroy(err.arena);
}

static void members(void **state)
{
    (void)state;
    provision("{\"target\": \"manage\"}", 82, 0, NULL);
    provision("[]", 82, 400, "The body is not an object");
    provision("{}", 82, 400, "Missing mandatory parameter: target");
    provision("{\"targets\": 1, \"x\": 2}", 82, 400, "Unexpected arguments: targets, x");
    provision("{\"target\": 5}", 82, 400, "Expected string for target: 5");
    provision("{\"target\": \"clean\", \"clean_steps\": {}}", 82, 400,
              "Expected types <class 'NoneType'>, <class 'list'> for clean_steps: {}");
    provision("{\"target\": \"active\", \"configdrive\": true}", 82, 400,
              "Expected types <class 'NoneType'>, <class 'dict'>, <class 'str'> for configdrive: "
              "True");
    provision("{\"target\": \"rescue\", \"rescue_password\": [1]}", 82, 400,
              "Expected string for rescue_password: [1]");
    provision("{\"target\": \"clean\", \"disable_ramdisk\": \"x\"}", 82, 400,
              "Invalid disable_ramdisk: Unrecognized value 'x', acceptable values are: '0', '1', "
              "'f', 'false', 'n', 'no', 'off', 'on', 't', 'true', 'y', 'yes'");
    struct err err = {.arena = arena_create()};
    json_t *body = json_of("{\"target\": null}");
    struct provision_body read;
    assert_true(action_bodies_provision(body, &read, &err));
    assert_true(slice_equal(read.target, SLICE_LIT("None")));
    json_decref(body);
    arena_destroy(err.arena);
}

static void config_drives(void **state)
{
    (void)state;
    provision("{\"target\": \"active\", \"configdrive\": \"http://x\"}", 1, 0, NULL);
    provision("{\"target\": \"deploy\", \"configdrive\": \"QUJD\"}", 82, 400,
              "Adding a config drive is only supported when setting provision state to active, "
              "rebuild");
    provision("{\"target\": \"rebuild\", \"configdrive\": \"QUJD\"}", 35, 0, NULL);
    provision("{\"target\": \"deleted\", \"configdrive\": null}", 35, 0, NULL);
    provision("{\"target\": \"deleted\", \"configdrive\": {}}", 35, 0, NULL);
    provision("{\"target\": \"rebuild\", \"configdrive\": \"QUJD\"}", 34, 400,
              "Adding a config drive is only supported when setting provision state to active");
    provision("{\"target\": \"manage\", \"configdrive\": \"QUJD\"}", 82, 400,
              "Adding a config drive is only supported when setting provision state to active, "
              "rebuild");
    provision("{\"target\": \"active\", \"configdrive\": {\"meta_data\": {}}}", 55, 400,
              "Providing a JSON object for configdrive is only supported starting with API version "
              "1.56");
    provision("{\"target\": \"active\", \"configdrive\": {\"vendor_data\": {}}}", 58, 400,
              "Providing vendor_data in configdrive is only supported starting with API version "
              "1.59");
    provision("{\"target\": \"active\", \"configdrive\": \"it's\"}", 82, 400,
              "Invalid configdrive format: it is neither a JSON, nor a URL, nor a base64 string");
    provision("{\"target\": \"active\", \"configdrive\": {\"x\": 1}}", 82, 400,
              "Invalid configdrive format: Additional properties are not allowed ('x' was "
              "unexpected)  Failed validating 'additionalProperties' in schema[0]  On instance");
}

static void steps_and_passwords(void **state)
{
    (void)state;
    provision("{\"target\": \"clean\", \"clean_steps\": []}", 82, 0, NULL);
    provision(
        "{\"target\": \"clean\", \"clean_steps\": [{\"interface\": \"raid\", \"step\": \"x\"}]}",
        82, 0, NULL);
    provision("{\"target\": \"clean\"}", 82, 400,
              "\"clean_steps\" is required when setting target provision state to clean");
    provision("{\"target\": \"manage\", \"clean_steps\": [1]}", 82, 400,
              "\"clean_steps\" is only valid when setting target provision state to clean");
    provision(
        "{\"target\": \"clean\", \"clean_steps\": [{\"step\": \"x\"}]}", 82, 400,
        "Invalid clean_steps: 'interface' is a required property  Failed validating 'required' "
        "in schema['items']  On instance[0]");
    provision(
        "{\"target\": \"active\", \"deploy_steps\": [{\"interface\": \"raid\", \"step\": \"x\", "
        "\"args\": {}, \"priority\": \"7\"}]}",
        82, 0, NULL);
    provision(
        "{\"target\": \"active\", \"deploy_steps\": [{\"interface\": \"raid\", \"step\": \"x\", "
        "\"args\": {}, \"priority\": \"7a\"}]}",
        82, 400,
        "Invalid deploy_steps: '7a' does not match '^[0-9]+$'  Failed validating 'pattern' in "
        "schema[1]  On instance");
    provision("{\"target\": \"active\", \"deploy_steps\": [1]}", 68, 406,
              "Request not acceptable. The minimal required API version should be 1.69");
    provision("{\"target\": \"manage\", \"deploy_steps\": [1]}", 82, 400,
              "\"deploy_steps\" is only valid when setting target provision state to active or "
              "rebuild");
    provision("{\"target\": \"rescue\", \"rescue_password\": \"x\"}", 82, 0, NULL);
    provision("{\"target\": \"rescue\", \"rescue_password\": \" \"}", 82, 400,
              "A non-empty \"rescue_password\" is required when setting target provision state to "
              "rescue");
    provision("{\"target\": \"manage\", \"rescue_password\": \"\"}", 82, 400,
              "\"rescue_password\" is only valid when setting target provision state to rescue");
    provision("{\"target\": \"manage\", \"disable_ramdisk\": true}", 69, 406,
              "disable_ramdisk is not acceptable in this API version");
    provision("{\"target\": \"manage\", \"disable_ramdisk\": true}", 82, 400,
              "disable_ramdisk is supported only with manual cleaning");
    struct arena *arena = arena_create();
    json_t *steps = json_of("[{\"interface\": \"raid\", \"step\": \"x\"}, {\"step\": \"y\"}]");
    struct slice text = action_bodies_clean_error(arena, SLICE_LIT("N"), steps);
    assert_true(
        slice_equal(text, SLICE_LIT("Cannot clean node N: node does not support this clean "
                                    "step: {'interface': 'raid', 'step': 'x'}; node does not "
                                    "support this clean step: {'step': 'y'}")));
    json_decref(steps);
    arena_destroy(arena);
}

static void power(const char *json, unsigned minor, int64_t timeout_s, int status,
                  const char *refusal)
{
    struct err err = {.arena = arena_create()};
    json_t *body = json_of(json);
    struct power_body read;
    bool taken =
        action_bodies_power(body, &read, &err) && action_bodies_check_power(&read, minor, &err);
    assert_message(taken, &err, status, refusal);
    if (taken)
        assert_int_equal(read.timeout_s, timeout_s);
    json_decref(body);
    arena_destroy(err.arena);
}

static void powers(void **state)
{
    (void)state;
    power("{\"target\": \"power on\"}", 1, 0, 0, NULL);
    power("{\"target\": \"anything\"}", 1, 0, 0, NULL);
    power("{\"target\": \"soft rebooting\", \"timeout\": \" 5 \"}", 27, 5, 0, NULL);
    power("{\"target\": \"power on\", \"timeout\": 5.9}", 27, 5, 0, NULL);
    power("{\"target\": \"power on\", \"timeout\": true}", 27, 1, 0, NULL);
    power("{\"target\": \"power on\", \"timeout\": null}", 1, 0, 0, NULL);
    power("{\"target\": \"soft power off\"}", 26, 0, 406, "Request not acceptable.");
    power("{\"target\": \"power on\", \"timeout\": 5}", 26, 0, 406, "Request not acceptable.");
    power("{\"target\": \"power on\", \"timeout\": 0}", 26, 0, 400,
          "timeout has to be positive integer");
    power("{\"target\": \"power on\", \"timeout\": -1}", 82, 0, 400,
          "timeout has to be positive integer");
    power("{\"target\": \"power on\", \"timeout\": \"x\"}", 82, 0, 400,
          "Expected an integer for timeout: x");
    power("{\"target\": \"power on\", \"timeout\": 1e300}", 82, 0, 400,
          "Expected an integer for timeout: 1e+300");
    power("{\"timeout\": 1}", 82, 0, 400, "Missing mandatory parameter: target");
}

static void maintenance(void **state)
{
    (void)state;
    struct err err = {.arena = arena_create()};
    struct slice reason = SLICE_LIT("before");
    json_t *body = json_of("{}");
    assert_message(action_bodies_maintenance(body, &reason, &err), &err, 400, NULL);
    assert_null(reason.data);
    json_object_set_new(body, "reason", json_string("why"));
    assert_message(action_bodies_maintenance(body, &reason, &err), &err, 400, NULL);
    assert_true(slice_equal(reason, SLICE_LIT("why")));
    json_object_set_new(body, "reason", json_integer(1));
    assert_message(action_bodies_maintenance(body, &reason, &err), &err, 400,
                   "Expected string for reason: 1");
    json_object_set_new(body, "why", json_null());
    assert_message(action_bodies_maintenance(body, &reason, &err), &err, 400,
                   "Unexpected arguments: why");
    json_decref(body);
    arena_destroy(err.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members),
        cmocka_unit_test(config_drives),
        cmocka_unit_test(steps_and_passwords),
        cmocka_unit_test(powers),
        cmocka_unit_test(maintenance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
