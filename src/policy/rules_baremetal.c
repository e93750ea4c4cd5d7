/* Bare metal's rules: those that Ironic 21.4.4 registers, so that a file written for Ironic means
 * the same here. The older rules, which only use roles and names of projects, also pass until
 * [oslo_policy] enforce_new_defaults is set. Constant data: any thread. */
#include "policy/rules_baremetal.h"

#include "policy/rules.h"

/* The callers: with a token of the system, or the owner or the lessee of the node. */
#define OWNER(role)  "(role:" role " and project_id:%(node.owner)s)"
#define HOLDER(role) "(role:" role " and (project_id:%(node.owner)s or project_id:%(node.lessee)s))"
#define OWNER_ADMIN  OWNER("admin") " or " OWNER("manager")
#define LESSEE_ADMIN                                                                               \
    "(role:admin and project_id:%(node.lessee)s) or (role:manager and project_id:%(node.lessee)s)"
#define ALLOCATION_OWNER(role) "(role:" role " and project_id:%(allocation.owner)s)"
/* clang-format off */
#define SYSTEM_ADMIN "role:admin and system_scope:all"
#define SYSTEM_SERVICE "role:service and system_scope:all"
#define SYSTEM_MEMBER "(role:member and system_scope:all) or rule:service_role"
#define SYSTEM_READER "(role:reader and system_scope:all) or (" SYSTEM_SERVICE ") or rule:service_role"
#define ANY_READER "(role:reader) or (role:service)"
#define READER "(" SYSTEM_READER ") or " HOLDER("reader") " or " OWNER("service")
#define OWNING_READER "(" SYSTEM_READER ") or (" SYSTEM_SERVICE ") or " OWNER("reader") " or " OWNER("service")
#define MEMBER "(" SYSTEM_MEMBER ") or " HOLDER("member") " or (" SYSTEM_SERVICE ")"
#define OWNING_MEMBER "(" SYSTEM_MEMBER ") or (" SYSTEM_SERVICE ") or " OWNER("member") " or " OWNER("service")
#define OWNING_ADMIN "(" SYSTEM_MEMBER ") or (" SYSTEM_SERVICE ") or " OWNER_ADMIN " or " OWNER("service")
#define OPERATOR "(" SYSTEM_MEMBER ") or (" SYSTEM_SERVICE ") or " OWNER("member") " or " LESSEE_ADMIN " or " OWNER("service")
#define MAKER "(" SYSTEM_ADMIN ") or (" SYSTEM_SERVICE ") or " OWNER_ADMIN " or " OWNER("service")
#define HOLDING_ADMIN "(" SYSTEM_MEMBER ") or (" SYSTEM_SERVICE ") or " OWNER_ADMIN " or " LESSEE_ADMIN " or " OWNER("service")
/* clang-format on */

/* As before scopes existed. */
#define ADMIN_ONCE    "rule:is_admin"
#define OBSERVER_ONCE "rule:is_admin or rule:is_observer"
#define WAS(old_name, old_check)                                                                   \
    (&(const struct policy_deprecation){                                                           \
        "baremetal:" old_name, old_check,                                                          \
        "The newer defaults distinguish the system from projects, and owners from lessees; "       \
        "before, admins could do everything and observers could see everything.",                  \
        "Wallaby"})

enum {
    BOTH = POLICY_SCOPE_SYSTEM | POLICY_SCOPE_PROJECT,
    SYSTEM = POLICY_SCOPE_SYSTEM,
    PROJECT = POLICY_SCOPE_PROJECT,
    ANY = 0,
};

#define AT(rule) [POLICY_##rule - 1]
#define ROW(rule, check_text, scope_types, old, text, is_unserved, ...)                            \
    {                                                                                              \
        .name = "baremetal:" rule, .check = (check_text), .description = (text),                   \
        .scopes = (scope_types), .deprecated = (old), .unserved = (is_unserved), .operations = {   \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define RULE(rule, check_text, scope_types, old, text, ...)                                        \
    ROW(rule, check_text, scope_types, old, text, false, __VA_ARGS__)
#define UNSERVED(rule, check_text, scope_types, old, text, ...)                                    \
    ROW(rule, check_text, scope_types, old, text, true, __VA_ARGS__)

/* clang-format off */
static const struct policy_default rows[] = {
    AT(NODE_CREATE) = RULE("node:create", "(" SYSTEM_ADMIN ") or (" SYSTEM_SERVICE ")", BOTH, WAS("node:create", ADMIN_ONCE), "Create a node with any owner or none.", {"POST", "/nodes"}),
    AT(NODE_CREATE_SELF_OWNED) = RULE("node:create:self_owned_node", "(role:admin) or (role:service)", BOTH, NULL, "Create a node that the caller's own project owns.", {"POST", "/nodes"}),
    AT(NODE_LIST) = RULE("node:list", ANY_READER, BOTH, WAS("node:list", "rule:baremetal:node:get"), "List the nodes that the caller's project owns or leases.", {"GET", "/nodes"}, {"GET", "/nodes/detail"}),
    AT(NODE_LIST_ALL) = RULE("node:list_all", SYSTEM_READER, BOTH, WAS("node:list_all", "rule:baremetal:node:get"), "List all nodes.", {"GET", "/nodes"}, {"GET", "/nodes/detail"}),
    AT(NODE_GET) = RULE("node:get", READER, BOTH, WAS("node:get", OBSERVER_ONCE), "Show a node; without it, the node appears not to exist.", {"GET", "/nodes/{node_ident}"}),
    AT(NODE_FILTER_THRESHOLD) = RULE("node:get:filter_threshold", SYSTEM_READER, BOTH, WAS("node:get", OBSERVER_ONCE), "See nodes as they are; to others the next four rules apply.", {"GET", "/nodes/{node_ident}"}),
    AT(NODE_SEE_LAST_ERROR) = RULE("node:get:last_error", OWNING_READER, BOTH, WAS("node:get", OBSERVER_ONCE), "See last_error of a node.", {"GET", "/nodes/{node_ident}"}),
    AT(NODE_SEE_RESERVATION) = RULE("node:get:reservation", OWNING_READER, BOTH, WAS("node:get", OBSERVER_ONCE), "See reservation of a node.", {"GET", "/nodes/{node_ident}"}),
    AT(NODE_SEE_DRIVER_INTERNAL_INFO) = RULE("node:get:driver_internal_info", OWNING_READER, BOTH, WAS("node:get", OBSERVER_ONCE), "See driver_internal_info of a node.", {"GET", "/nodes/{node_ident}"}),
    AT(NODE_SEE_DRIVER_INFO) = RULE("node:get:driver_info", OWNING_READER, BOTH, WAS("node:get", OBSERVER_ONCE), "See driver_info of a node.", {"GET", "/nodes/{node_ident}"}),
    AT(SHOW_PASSWORD) = {.name = "show_password", .check = "!", .description = "See the secrets in driver_info of nodes."},
    AT(SHOW_INSTANCE_SECRETS) = {.name = "show_instance_secrets", .check = "!", .description = "See the secrets in instance_info of nodes."},
    AT(NODE_UPDATE) = RULE("node:update", MEMBER, BOTH, WAS("node:update", ADMIN_ONCE), "Change fields of a node that have no rule of their own.", {"PATCH", "/nodes/{node_ident}"}),
    AT(NODE_UPDATE_EXTRA) = RULE("node:update_extra", MEMBER, BOTH, WAS("node:update_extra", "rule:baremetal:node:update"), "Change extra of a node.", {"PATCH", "/nodes/{node_ident}"}),
    AT(NODE_UPDATE_INSTANCE_INFO) = RULE("node:update_instance_info", OPERATOR, BOTH, WAS("node:update_instance_info", "rule:baremetal:node:update"), "Change instance_info of a node.", {"PATCH", "/nodes/{node_ident}"}),
    AT(NODE_UPDATE_OWNER_PROVISIONED) = RULE("node:update_owner_provisioned", SYSTEM_ADMIN, SYSTEM, WAS("node:update_owner_provisioned", ADMIN_ONCE), "Change owner of a node that is active.", {"PATCH", "/nodes/{node_ident}"}),
    AT(NODE_UPDATE_DRIVER_INFO) = RULE("node:update:driver_info", OWNING_MEMBER, BOTH, WAS("node:update", ADMIN_ONCE), "Change driver_info of a node.", {"PATCH", "/nodes/{node_ident}"}),
    AT(NODE_UPDATE_PROPERTIES) = RULE("node:update:properties", OWNING_MEMBER, BOTH, WAS("node:update", ADMIN_ONCE), "Change properties of a node.", {"PATCH", "/nodes/{node_ident}"}),
    AT(NODE_UPDATE_CHASSIS_UUID) = RULE("node:update:chassis_uuid", SYSTEM_ADMIN, BOTH, WAS("node:update", ADMIN_ONCE), "Change chassis_uuid of a node.", {"PATCH", "/nodes/{node_ident}"}),
    AT(NODE_UPDATE_INSTANCE_UUID) = RULE("node:update:instance_uuid", OWNING_MEMBER, BOTH, WAS("node:update", ADMIN_ONCE), "Change instance_uuid of a node.", {"PATCH", "/nodes/{node_ident}"}),
    AT(NODE_UPDATE_LESSEE) = RULE("node:update:lessee", OWNING_MEMBER, BOTH, WAS("node:update", ADMIN_ONCE), "Change lessee of a node.", {"PATCH", "/nodes/{node_ident}"}),
    AT(NODE_UPDATE_OWNER) = RULE("node:update:owner", SYSTEM_MEMBER, BOTH, WAS("node:update", ADMIN_ONCE), "Change owner of a node.", {"PATCH", "/nodes/{node_ident}"}),
    AT(NODE_UPDATE_DRIVER_INTERFACES) = RULE("node:update:driver_interfaces", OWNING_ADMIN, BOTH, WAS("node:update", ADMIN_ONCE), "Change driver and the interfaces of a node.", {"PATCH", "/nodes/{node_ident}"}),
    AT(NODE_UPDATE_NETWORK_DATA) = RULE("node:update:network_data", OWNING_MEMBER, BOTH, WAS("node:update", ADMIN_ONCE), "Change network_data of a node.", {"PATCH", "/nodes/{node_ident}"}),
    AT(NODE_UPDATE_CONDUCTOR_GROUP) = RULE("node:update:conductor_group", SYSTEM_MEMBER, BOTH, WAS("node:update", ADMIN_ONCE), "Change conductor_group of a node.", {"PATCH", "/nodes/{node_ident}"}),
    AT(NODE_UPDATE_NAME) = RULE("node:update:name", OWNING_MEMBER, BOTH, WAS("node:update", ADMIN_ONCE), "Change name of a node.", {"PATCH", "/nodes/{node_ident}"}),
    AT(NODE_UPDATE_RETIRED) = RULE("node:update:retired", OWNING_MEMBER, BOTH, WAS("node:update", ADMIN_ONCE), "Change retired and retired_reason of a node.", {"PATCH", "/nodes/{node_ident}"}),
    AT(NODE_UPDATE_SHARD) = RULE("node:update:shard", SYSTEM_ADMIN, BOTH, NULL, "Change shard of a node.", {"PATCH", "/nodes/{node_ident}"}),
    AT(NODE_DISABLE_CLEANING) = RULE("node:disable_cleaning", SYSTEM_ADMIN, SYSTEM, WAS("node:disable_cleaning", "rule:baremetal:node:update"), "Set automated_clean of a node to false.", {"PATCH", "/nodes/{node_ident}"}),
    AT(NODE_DELETE) = RULE("node:delete", SYSTEM_ADMIN, BOTH, WAS("node:delete", ADMIN_ONCE), "Delete a node.", {"DELETE", "/nodes/{node_ident}"}),
    AT(NODE_DELETE_SELF_OWNED) = RULE("node:delete:self_owned_node", "role:admin and project_id:%(node.owner)s", BOTH, NULL, "Delete a node that the caller's own project owns.", {"DELETE", "/nodes/{node_ident}"}),
    AT(NODE_VALIDATE) = RULE("node:validate", OPERATOR, BOTH, WAS("node:validate", ADMIN_ONCE), "Validate the interfaces of a node.", {"GET", "/nodes/{node_ident}/validate"}),
    AT(NODE_SET_MAINTENANCE) = RULE("node:set_maintenance", OPERATOR, BOTH, WAS("node:set_maintenance", ADMIN_ONCE), "Put a node into maintenance.", {"PUT", "/nodes/{node_ident}/maintenance"}),
    AT(NODE_CLEAR_MAINTENANCE) = RULE("node:clear_maintenance", OPERATOR, BOTH, WAS("node:clear_maintenance", ADMIN_ONCE), "Take a node out of maintenance.", {"DELETE", "/nodes/{node_ident}/maintenance"}),
    AT(NODE_GET_STATES) = RULE("node:get_states", READER, BOTH, WAS("node:get_states", OBSERVER_ONCE), "Show the states of a node.", {"GET", "/nodes/{node_ident}/states"}),
    AT(NODE_SET_POWER_STATE) = RULE("node:set_power_state", MEMBER, BOTH, WAS("node:set_power_state", ADMIN_ONCE), "Switch the power of a node.", {"PUT", "/nodes/{node_ident}/states/power"}),
    AT(NODE_SET_PROVISION_STATE) = RULE("node:set_provision_state", OPERATOR, BOTH, WAS("node:set_provision_state", ADMIN_ONCE), "Deploy, release, clean and otherwise provision a node.", {"PUT", "/nodes/{node_ident}/states/provision"}),
    AT(NODE_TRAITS_LIST) = RULE("node:traits:list", READER, BOTH, WAS("node:traits:list", OBSERVER_ONCE), "List the traits of a node.", {"GET", "/nodes/{node_ident}/traits"}),
    AT(NODE_TRAITS_SET) = RULE("node:traits:set", OWNING_ADMIN, BOTH, WAS("node:traits:set", ADMIN_ONCE), "Set or add traits of a node.", {"PUT", "/nodes/{node_ident}/traits"}, {"PUT", "/nodes/{node_ident}/traits/{trait}"}),
    AT(NODE_TRAITS_DELETE) = RULE("node:traits:delete", OWNING_ADMIN, BOTH, WAS("node:traits:delete", ADMIN_ONCE), "Remove traits from a node.", {"DELETE", "/nodes/{node_ident}/traits"}, {"DELETE", "/nodes/{node_ident}/traits/{trait}"}),
    AT(NODE_VIF_LIST) = RULE("node:vif:list", READER, BOTH, WAS("node:vif:list", ADMIN_ONCE), "List the virtual interfaces of a node.", {"GET", "/nodes/{node_ident}/vifs"}),
    AT(NODE_BIOS_GET) = RULE("node:bios:get", READER, BOTH, WAS("node:bios:get", OBSERVER_ONCE), "Show BIOS settings of a node.", {"GET", "/nodes/{node_ident}/bios"}, {"GET", "/nodes/{node_ident}/bios/{setting}"}),
    AT(NODE_HISTORY_GET) = RULE("node:history:get", OWNING_READER, BOTH, WAS("node:get", OBSERVER_ONCE), "Show the history of a node.", {"GET", "/nodes/{node_ident}/history"}, {"GET", "/nodes/{node_ident}/history/{event_ident}"}),
    AT(NODE_ALLOCATION_GET) = RULE("allocation:get", "(" SYSTEM_READER ") or " ALLOCATION_OWNER("reader"), BOTH, WAS("allocation:get", OBSERVER_ONCE), "Show an allocation; without it, the allocation appears not to exist.", {"GET", "/allocations/{allocation_id}"}, {"GET", "/nodes/{node_ident}/allocation"}),
    AT(NODE_ALLOCATION_LIST) = RULE("allocation:list", ANY_READER, BOTH, WAS("allocation:list", "rule:baremetal:allocation:get"), "List the allocations that the caller's project owns.", {"GET", "/allocations"}),
    AT(NODE_ALLOCATION_LIST_ALL) = RULE("allocation:list_all", SYSTEM_READER, BOTH, WAS("allocation:list_all", "rule:baremetal:allocation:get and is_admin_project:True"), "List all allocations.", {"GET", "/allocations"}),
    AT(NODE_ALLOCATION_CREATE) = RULE("allocation:create", "(" SYSTEM_MEMBER ") or (role:member)", BOTH, WAS("allocation:create", "rule:is_admin and is_admin_project:True"), "Create an allocation for the caller's own project.", {"POST", "/allocations"}),
    AT(NODE_ALLOCATION_CREATE_RESTRICTED) = RULE("allocation:create_restricted", SYSTEM_MEMBER, BOTH, WAS("allocation:create_restricted", "rule:baremetal:allocation:create"), "Create an allocation of any node, with any owner or none.", {"POST", "/allocations"}),
    AT(NODE_ALLOCATION_CREATE_PRE_RBAC) = RULE("allocation:create_pre_rbac", "(rule:is_member and role:baremetal_admin) or (is_admin_project:True and role:admin)", PROJECT, NULL, "Create an allocation without an owner while enforce_new_defaults is false; for other callers, the owner is their project.", {"PATCH", "/allocations/{allocation_id}"}),
    AT(NODE_ALLOCATION_UPDATE) = RULE("allocation:update", "(" SYSTEM_MEMBER ") or " ALLOCATION_OWNER("member"), BOTH, WAS("allocation:update", ADMIN_ONCE), "Change name and extra of an allocation.", {"PATCH", "/allocations/{allocation_id}"}),
    AT(NODE_ALLOCATION_DELETE) = RULE("allocation:delete", "(" SYSTEM_MEMBER ") or " ALLOCATION_OWNER("member"), BOTH, WAS("allocation:delete", ADMIN_ONCE), "Delete an allocation.", {"DELETE", "/allocations/{allocation_id}"}, {"DELETE", "/nodes/{node_ident}/allocation"}),
    AT(DRIVER_GET) = RULE("driver:get", SYSTEM_READER, SYSTEM, WAS("driver:get", OBSERVER_ONCE), "List or show drivers.", {"GET", "/drivers"}, {"GET", "/drivers/{driver_name}"}),
    AT(CONDUCTOR_GET) = RULE("conductor:get", SYSTEM_READER, SYSTEM, WAS("conductor:get", OBSERVER_ONCE), "List or show conductors.", {"GET", "/conductors"}, {"GET", "/conductors/{hostname}"}),
    AT(SHARDS_GET) = RULE("shards:get", SYSTEM_READER, BOTH, NULL, "List shards.", {"GET", "/shards"}),
    AT(CHASSIS_GET) = RULE("chassis:get", SYSTEM_READER, SYSTEM, WAS("chassis:get", OBSERVER_ONCE), "List or show chassis.", {"GET", "/chassis"}, {"GET", "/chassis/detail"}, {"GET", "/chassis/{chassis_id}"}),
    AT(PORT_LIST) = RULE("port:list", ANY_READER, BOTH, WAS("port:list", "rule:baremetal:port:get"), "List the ports of nodes that the caller's project owns.", {"GET", "/ports"}, {"GET", "/ports/detail"}),
    AT(PORT_LIST_ALL) = RULE("port:list_all", SYSTEM_READER, BOTH, WAS("port:list_all", "rule:baremetal:port:get"), "List all ports.", {"GET", "/ports"}, {"GET", "/ports/detail"}),
    AT(PORTGROUP_LIST) = RULE("portgroup:list", ANY_READER, BOTH, WAS("portgroup:get", OBSERVER_ONCE), "List the port groups of nodes that the caller's project owns.", {"GET", "/portgroups"}, {"GET", "/portgroups/detail"}),
    AT(PORTGROUP_LIST_ALL) = RULE("portgroup:list_all", SYSTEM_READER, BOTH, WAS("portgroup:get", OBSERVER_ONCE), "List all port groups.", {"GET", "/portgroups"}, {"GET", "/portgroups/detail"}),
    AT(VOLUME_LIST) = RULE("volume:list", ANY_READER, BOTH, WAS("volume:get", OBSERVER_ONCE), "List the volume connectors and targets of the caller's project.", {"GET", "/volume/connectors"}, {"GET", "/volume/targets"}, {"GET", "/nodes/{node_ident}/volume/connectors"}, {"GET", "/nodes/{node_ident}/volume/targets"}),
    AT(VOLUME_LIST_ALL) = RULE("volume:list_all", SYSTEM_READER, BOTH, WAS("volume:get", OBSERVER_ONCE), "List all volume connectors and targets.", {"GET", "/volume/connectors"}, {"GET", "/volume/targets"}, {"GET", "/nodes/{node_ident}/volume/connectors"}, {"GET", "/nodes/{node_ident}/volume/targets"}),

    /* Rules that others refer to. */
    {.name = "admin_api", .check = "role:admin or role:administrator", .description = "Admins, as before scopes existed.", .leaving = "Wallaby"},
    {.name = "public_api", .check = "is_public_api:True", .description = "Requests that need no token; there are none behind a rule."},
    {.name = "service_role", .check = "role:service and project_name:%(config.service_project_name)s", .description = "Other services with the rights of system scope; nobody, unless a file defines them."},
    {.name = "is_member", .check = "(project_domain_id:default or project_domain_id:None) and (project_name:demo or project_name:baremetal)", .description = "Tokens of the projects that used bare metal before scopes existed.", .leaving = "Wallaby"},
    {.name = "is_observer", .check = "rule:is_member and (role:observer or role:baremetal_observer)", .description = "Callers that may read, as before scopes existed.", .leaving = "Wallaby"},
    {.name = "is_admin", .check = "rule:admin_api or (rule:is_member and role:baremetal_admin)", .description = "Callers that may do everything, as before scopes existed.", .leaving = "Wallaby"},
    {.name = "is_node_owner", .check = "project_id:%(node.owner)s", .description = "Tokens of the project that owns the node.", .leaving = "Wallaby"},
    {.name = "is_node_lessee", .check = "project_id:%(node.lessee)s", .description = "Tokens of the project that leases the node.", .leaving = "Wallaby"},
    {.name = "is_allocation_owner", .check = "project_id:%(allocation.owner)s", .description = "Tokens of the project that owns the allocation.", .leaving = "Wallaby"},

    /* Operations that are not served. */
    UNSERVED("node:get_boot_device", OWNING_ADMIN, BOTH, WAS("node:get_boot_device", OBSERVER_ONCE), "Show the boot device of a node.", {"GET", "/nodes/{node_ident}/management/boot_device"}, {"GET", "/nodes/{node_ident}/management/boot_device/supported"}),
    UNSERVED("node:set_boot_device", OWNING_ADMIN, BOTH, WAS("node:set_maintenance", ADMIN_ONCE), "Set the boot device of a node.", {"PUT", "/nodes/{node_ident}/management/boot_device"}),
    UNSERVED("node:get_indicator_state", READER, BOTH, WAS("node:get_indicator_state", OBSERVER_ONCE), "Show the indicators of a node.", {"GET", "/nodes/{node_ident}/management/indicators/{component}/{indicator}"}, {"GET", "/nodes/{node_ident}/management/indicators"}),
    UNSERVED("node:set_indicator_state", OWNING_MEMBER, BOTH, WAS("node:set_indicator_state", ADMIN_ONCE), "Set an indicator of a node.", {"PUT", "/nodes/{node_ident}/management/indicators/{component}/{indicator}"}),
    UNSERVED("node:inject_nmi", OWNING_ADMIN, BOTH, WAS("node:inject_nmi", ADMIN_ONCE), "Send a node a non-maskable interrupt.", {"PUT", "/nodes/{node_ident}/management/inject_nmi"}),
    UNSERVED("node:set_boot_mode", MEMBER, BOTH, WAS("node:set_power_state", ADMIN_ONCE), "Set the boot mode of a node.", {"PUT", "/nodes/{node_ident}/states/boot_mode"}),
    UNSERVED("node:set_secure_boot", MEMBER, BOTH, WAS("node:set_power_state", ADMIN_ONCE), "Set whether a node boots securely.", {"PUT", "/nodes/{node_ident}/states/secure_boot"}),
    UNSERVED("node:set_raid_state", OWNING_MEMBER, BOTH, WAS("node:set_raid_state", ADMIN_ONCE), "Set the RAID configuration of a node.", {"PUT", "/nodes/{node_ident}/states/raid"}),
    UNSERVED("node:get_console", OWNING_MEMBER, BOTH, WAS("node:get_console", ADMIN_ONCE), "Show the console of a node.", {"GET", "/nodes/{node_ident}/states/console"}),
    UNSERVED("node:set_console_state", OWNING_MEMBER, BOTH, WAS("node:set_console_state", ADMIN_ONCE), "Start or stop the console of a node.", {"PUT", "/nodes/{node_ident}/states/console"}),
    UNSERVED("node:vif:attach", OPERATOR, BOTH, WAS("node:vif:attach", ADMIN_ONCE), "Attach a virtual interface to a node.", {"POST", "/nodes/{node_ident}/vifs"}),
    UNSERVED("node:vif:detach", OPERATOR, BOTH, WAS("node:vif:detach", ADMIN_ONCE), "Detach a virtual interface from a node.", {"DELETE", "/nodes/{node_ident}/vifs/{node_vif_ident}"}),
    UNSERVED("node:inventory:get", OWNING_READER, BOTH, WAS("node:get", OBSERVER_ONCE), "Show what inspection found in a node.", {"GET", "/nodes/{node_ident}/inventory"}),
    UNSERVED("port:get", READER, BOTH, WAS("port:get", OBSERVER_ONCE), "Show a port.", {"GET", "/ports/{port_id}"}, {"GET", "/nodes/{node_ident}/ports"}, {"GET", "/nodes/{node_ident}/ports/detail"}, {"GET", "/portgroups/{portgroup_ident}/ports"}, {"GET", "/portgroups/{portgroup_ident}/ports/detail"}),
    UNSERVED("port:create", MAKER, BOTH, WAS("port:create", ADMIN_ONCE), "Create a port.", {"POST", "/ports"}),
    UNSERVED("port:delete", MAKER, BOTH, WAS("port:delete", ADMIN_ONCE), "Delete a port.", {"DELETE", "/ports/{port_id}"}),
    UNSERVED("port:update", OWNING_ADMIN, BOTH, WAS("port:update", ADMIN_ONCE), "Change a port.", {"PATCH", "/ports/{port_id}"}),
    UNSERVED("portgroup:get", READER, BOTH, WAS("portgroup:get", OBSERVER_ONCE), "Show a port group.", {"GET", "/portgroups"}, {"GET", "/portgroups/detail"}, {"GET", "/portgroups/{portgroup_ident}"}, {"GET", "/nodes/{node_ident}/portgroups"}, {"GET", "/nodes/{node_ident}/portgroups/detail"}),
    UNSERVED("portgroup:create", MAKER, BOTH, WAS("portgroup:create", ADMIN_ONCE), "Create a port group.", {"POST", "/portgroups"}),
    UNSERVED("portgroup:delete", MAKER, BOTH, WAS("portgroup:delete", ADMIN_ONCE), "Delete a port group.", {"DELETE", "/portgroups/{portgroup_ident}"}),
    UNSERVED("portgroup:update", OWNING_ADMIN, BOTH, WAS("portgroup:update", ADMIN_ONCE), "Change a port group.", {"PATCH", "/portgroups/{portgroup_ident}"}),
    UNSERVED("chassis:create", SYSTEM_ADMIN, SYSTEM, WAS("chassis:create", ADMIN_ONCE), "Create a chassis.", {"POST", "/chassis"}),
    UNSERVED("chassis:delete", SYSTEM_ADMIN, SYSTEM, WAS("chassis:delete", ADMIN_ONCE), "Delete a chassis.", {"DELETE", "/chassis/{chassis_id}"}),
    UNSERVED("chassis:update", SYSTEM_MEMBER, SYSTEM, WAS("chassis:update", ADMIN_ONCE), "Change a chassis.", {"PATCH", "/chassis/{chassis_id}"}),
    UNSERVED("driver:get_properties", SYSTEM_READER, SYSTEM, WAS("driver:get_properties", OBSERVER_ONCE), "Show what properties a driver takes.", {"GET", "/drivers/{driver_name}/properties"}),
    UNSERVED("driver:get_raid_logical_disk_properties", SYSTEM_READER, SYSTEM, WAS("driver:get_raid_logical_disk_properties", OBSERVER_ONCE), "Show what a driver takes for logical disks.", {"GET", "/drivers/{driver_name}/raid/logical_disk_properties"}),
    UNSERVED("node:vendor_passthru", SYSTEM_ADMIN, BOTH, WAS("node:vendor_passthru", ADMIN_ONCE), "Call a driver's own functions for a node.", {"GET", "/nodes/{node_ident}/vendor_passthru/methods"}, {"GET", "/nodes/{node_ident}/vendor_passthru?method={method_name}"}, {"PUT", "/nodes/{node_ident}/vendor_passthru?method={method_name}"}, {"POST", "/nodes/{node_ident}/vendor_passthru?method={method_name}"}, {"PATCH", "/nodes/{node_ident}/vendor_passthru?method={method_name}"}, {"DELETE", "/nodes/{node_ident}/vendor_passthru?method={method_name}"}),
    UNSERVED("driver:vendor_passthru", SYSTEM_ADMIN, SYSTEM, WAS("driver:vendor_passthru", ADMIN_ONCE), "Call functions of a driver's own.", {"GET", "/drivers/{driver_name}/vendor_passthru/methods"}, {"GET", "/drivers/{driver_name}/vendor_passthru?method={method_name}"}, {"PUT", "/drivers/{driver_name}/vendor_passthru?method={method_name}"}, {"POST", "/drivers/{driver_name}/vendor_passthru?method={method_name}"}, {"PATCH", "/drivers/{driver_name}/vendor_passthru?method={method_name}"}, {"DELETE", "/drivers/{driver_name}/vendor_passthru?method={method_name}"}),
    UNSERVED("node:ipa_heartbeat", "", ANY, WAS("node:ipa_heartbeat", "rule:public_api"), "Report from the agent on a node.", {"POST", "/heartbeat/{node_ident}"}),
    UNSERVED("driver:ipa_lookup", "", ANY, WAS("driver:ipa_lookup", "rule:public_api"), "Find the node that an agent runs on.", {"GET", "/lookup"}),
    UNSERVED("volume:get", READER, BOTH, WAS("volume:get", OBSERVER_ONCE), "Show volume connectors and targets.", {"GET", "/volume"}, {"GET", "/volume/connectors"}, {"GET", "/volume/connectors/{volume_connector_id}"}, {"GET", "/volume/targets"}, {"GET", "/volume/targets/{volume_target_id}"}, {"GET", "/nodes/{node_ident}/volume"}, {"GET", "/nodes/{node_ident}/volume/connectors"}, {"GET", "/nodes/{node_ident}/volume/targets"}),
    UNSERVED("volume:create", HOLDING_ADMIN, BOTH, WAS("volume:create", ADMIN_ONCE), "Create a volume connector or target.", {"POST", "/volume/connectors"}, {"POST", "/volume/targets"}),
    UNSERVED("volume:delete", HOLDING_ADMIN, BOTH, WAS("volume:delete", ADMIN_ONCE), "Delete a volume connector or target.", {"DELETE", "/volume/connectors/{volume_connector_id}"}, {"DELETE", "/volume/targets/{volume_target_id}"}),
    UNSERVED("volume:update", OPERATOR, BOTH, WAS("volume:update", ADMIN_ONCE), "Change a volume connector or target.", {"PATCH", "/volume/connectors/{volume_connector_id}"}, {"PATCH", "/volume/targets/{volume_target_id}"}),
    UNSERVED("volume:view_target_properties", "(" SYSTEM_READER ") or (role:admin)", BOTH, WAS("volume:update", ADMIN_ONCE), "See the properties of volume targets.", {"GET", "/volume/connectors/{volume_connector_id}"}, {"GET", "/volume/targets/{volume_target_id}"}),
    UNSERVED("events:post", SYSTEM_ADMIN, SYSTEM, WAS("events:post", ADMIN_ONCE), "Report events from outside.", {"POST", "/events"}),
    UNSERVED("deploy_template:get", SYSTEM_READER, SYSTEM, WAS("deploy_template:get", OBSERVER_ONCE), "List or show deploy templates.", {"GET", "/deploy_templates"}, {"GET", "/deploy_templates/{deploy_template_ident}"}),
    UNSERVED("deploy_template:create", SYSTEM_ADMIN, SYSTEM, WAS("deploy_template:create", ADMIN_ONCE), "Create a deploy template.", {"POST", "/deploy_templates"}),
    UNSERVED("deploy_template:delete", SYSTEM_ADMIN, SYSTEM, WAS("deploy_template:delete", ADMIN_ONCE), "Delete a deploy template.", {"DELETE", "/deploy_templates/{deploy_template_ident}"}),
    UNSERVED("deploy_template:update", SYSTEM_ADMIN, SYSTEM, WAS("deploy_template:update", ADMIN_ONCE), "Change a deploy template.", {"PATCH", "/deploy_templates/{deploy_template_ident}"}),
};
/* clang-format on */

const struct policy_table policy_of_baremetal = {
    .service = "baremetal",
    .title = "Bare metal",
    .checked = POLICY_BAREMETAL_COUNT - 1,
    .count = sizeof(rows) / sizeof(rows[0]),
    .rows = rows,
};
