#!/usr/bin/python3
"""One walk with the real `openstack` client (python3-osc-placement) through every command of placement.

    tests/e2e/walk.py URL VERSION        prints [[arguments, exit status, stdout, stderr], …] as JSON

All commands run in this process, through the client's own shell: starting it takes a second and more.
"""

import contextlib
import io
import json
import os
import sys

HOST = "aaaaaaaa-0000-4000-8000-000000000001"
NUMA = "aaaaaaaa-0000-4000-8000-000000000002"
DISK = "aaaaaaaa-0000-4000-8000-000000000003"
SPARE = "aaaaaaaa-0000-4000-8000-000000000004"
NOBODY = "aaaaaaaa-0000-4000-8000-00000000000f"
AGG1 = "bbbbbbbb-0000-4000-8000-000000000001"
AGG2 = "bbbbbbbb-0000-4000-8000-000000000002"
SERVER1 = "cccccccc-0000-4000-8000-000000000001"
SERVER2 = "cccccccc-0000-4000-8000-000000000002"
SERVER3 = "cccccccc-0000-4000-8000-000000000003"  # the Python service remembers a refused first claim
PROJECT = "dddddddd-0000-4000-8000-000000000001"
USER = "eeeeeeee-0000-4000-8000-000000000001"


def commands(version):
    """The commands of the walk; the client refuses those that the version does not know, in the same way each time."""
    at = tuple(map(int, version.split(".")))
    owner = f"--project-id {PROJECT} --user-id {USER}" if at >= (1, 8) else ""
    kind = "--consumer-type INSTANCE" if at >= (1, 38) else ""
    fresh, stale = ("--generation 5", "--generation 3") if at >= (1, 19) else ("", "")
    text = f"""
        resource provider list -f json
        resource provider create host --uuid {HOST}
        resource provider create host --uuid {SPARE}
        resource provider create other --uuid {HOST}
        resource provider create numa --uuid {NUMA} --parent-provider {HOST}
        resource provider create disk --uuid {DISK} -f json
        resource provider create spare --uuid {SPARE} -f json
        resource provider list -f json
        resource provider list
        resource provider list --name host -f json
        resource provider list --uuid {DISK} -f json
        resource provider list --in-tree {HOST} -f json
        resource provider show {HOST}
        resource provider show {HOST} -f json
        resource provider show {NOBODY}
        resource provider set {SPARE} --name renamed -f json
        resource provider set {SPARE} --name host
        resource provider set {SPARE} --name renamed --parent-provider {HOST} -f json
        resource class list -f json
        resource class create CUSTOM_GADGET
        resource class create CUSTOM_GADGET
        resource class create gadget
        resource class set CUSTOM_THING
        resource class set CUSTOM_THING
        resource class show CUSTOM_THING -f json
        resource class show CUSTOM_NOTHING
        resource class delete VCPU
        resource class list -f json
        resource provider inventory list {HOST} -f json
        resource provider inventory set {HOST} --resource VCPU=16 --resource VCPU:allocation_ratio=4.0 --resource MEMORY_MB=65536 --resource MEMORY_MB:reserved=512 --resource DISK_GB=0 -f json
        resource provider inventory set {HOST} --resource VCPU=16 --resource VCPU:allocation_ratio=4.0 --resource MEMORY_MB=65536 --resource MEMORY_MB:reserved=512 --resource DISK_GB=20 -f json
        resource provider inventory set {HOST} --resource VCPU:max_unit=8 --amend -f json
        resource provider inventory set {HOST} --resource VCPU:max_unit=4 --amend --dry-run -f json
        resource provider inventory set {HOST} --resource UNKNOWN=1
        resource provider inventory class set {NUMA} VCPU --total 8 -f json
        resource provider inventory set {NUMA} --resource VCPU=4 -f json
        resource provider inventory class set {NUMA} VCPU --total 8 -f json
        resource provider inventory set {DISK} --resource DISK_GB=1000 --resource CUSTOM_GADGET=1 -f json
        resource provider inventory class set {DISK} DISK_GB --total 2000 --min_unit 5 --step_size 5 -f json
        resource provider inventory class set {DISK} CUSTOM_GADGET --total 3 --reserved 1 -f json
        resource provider inventory class set {DISK} DISK_GB --total 3000 --min_unit 5 --step_size 5 -f json
        resource provider inventory class set {DISK} DISK_GB --total -1
        resource provider inventory show {HOST} VCPU -f json
        resource provider inventory show {HOST} PGPU
        resource provider inventory list {DISK} -f json
        resource provider inventory list {NOBODY}
        resource provider inventory delete {HOST} --resource-class DISK_GB
        resource provider inventory delete {HOST} --resource-class DISK_GB
        resource provider inventory list {HOST}
        trait list -f json
        trait list --name startswith:HW_CPU_X86_AVX -f json
        trait create CUSTOM_FAST
        trait create CUSTOM_FAST
        trait create FAST
        trait show CUSTOM_FAST
        trait show CUSTOM_SLOW
        resource provider trait set {HOST} --trait CUSTOM_FAST --trait HW_CPU_X86_AVX2 -f json
        resource provider trait set {NUMA} --trait HW_NUMA_ROOT -f json
        resource provider trait set {DISK} --trait MISC_SHARES_VIA_AGGREGATE -f json
        resource provider trait set {HOST} --trait CUSTOM_SLOW
        resource provider trait list {HOST} -f json
        resource provider trait list {NOBODY}
        trait list --associated -f json
        resource provider aggregate list {HOST} -f json
        resource provider aggregate set {HOST} --aggregate {AGG1} --aggregate {AGG2} {'--generation 4' if at >= (1, 19) else ''} -f json
        resource provider aggregate set {DISK} --aggregate {AGG1} {stale} -f json
        resource provider aggregate set {DISK} --aggregate {AGG1} {fresh} -f json
        resource provider aggregate list {DISK} -f json
        resource provider aggregate list {NOBODY}
        resource provider inventory set {AGG2} --aggregate --resource MEMORY_MB:allocation_ratio=1.5 --amend -f json
        resource provider list --member-of {AGG1} -f json
        resource provider list --aggregate-uuid {AGG1} --aggregate-uuid {AGG2} -f json
        resource provider list --resource VCPU=4 --resource MEMORY_MB=1024 -f json
        resource provider list --required CUSTOM_FAST --forbidden HW_NUMA_ROOT -f json
        resource provider list --required CUSTOM_FAST,HW_NUMA_ROOT -f json
        resource provider list --required CUSTOM_NOTHING
        allocation candidate list --resource VCPU=2 --resource MEMORY_MB=1024 -f json
        allocation candidate list --resource VCPU=2 --resource MEMORY_MB=1024
        allocation candidate list --resource VCPU=2 --resource DISK_GB=10 -f json
        allocation candidate list --resource VCPU=2 --resource DISK_GB=10 --limit 1 -f value -c allocation
        allocation candidate list --resource VCPU=2 --required HW_NUMA_ROOT -f json
        allocation candidate list --resource VCPU=2 --required HW_NUMA_ROOT,CUSTOM_FAST -f json
        allocation candidate list --resource VCPU=2 --forbidden CUSTOM_FAST -f json
        allocation candidate list --resource VCPU=2 --member-of {AGG1} -f json
        allocation candidate list --resource VCPU=2 --aggregate-uuid {NOBODY} -f json
        allocation candidate list --group 1 --resource VCPU=1 --group 2 --resource VCPU=1 --group-policy isolate -f json
        allocation candidate list --group 1 --resource VCPU=1 --group 2 --resource MEMORY_MB=64 --group-policy none -f json
        allocation candidate list --resource VCPU=100000 -f json
        allocation candidate list --resource CUSTOM_NOTHING=1
        resource provider allocation set {SERVER1} --allocation rp={HOST},VCPU=2,MEMORY_MB=1024 --allocation rp={DISK},DISK_GB=10 {owner} {kind} -f json
        resource provider allocation set {SERVER2} --allocation rp={NUMA},VCPU=4 {owner} {kind} -f json
        resource provider allocation set {SERVER2} --allocation rp={NUMA},VCPU=40 {owner} {kind}
        resource provider allocation set {SERVER3} --allocation rp={NOBODY},VCPU=1 {owner} {kind}
        resource provider allocation set {SERVER2} --allocation rp={HOST},PGPU=1 {owner} {kind}
        resource provider allocation show {SERVER1} -f json
        resource provider allocation show {SERVER1}
        resource provider allocation show {NOBODY} -f json
        resource provider show {HOST} --allocations -f json
        resource provider usage show {HOST} -f json
        resource provider usage show {DISK}
        resource provider usage show {NOBODY}
        resource usage show {PROJECT} -f json
        resource usage show {PROJECT} --user-id {USER} -f json
        resource usage show {PROJECT} --user-id {NOBODY} -f json
        resource provider inventory list {HOST} -f json
        resource provider inventory delete {HOST} --resource-class VCPU
        resource provider inventory delete {DISK}
        resource provider delete {HOST}
        resource provider delete {DISK}
        trait delete CUSTOM_FAST
        resource class delete CUSTOM_GADGET
        resource provider allocation unset {SERVER1} --provider {DISK} -f json
        resource provider allocation unset {SERVER1} --provider {HOST} --resource-class MEMORY_MB -f json
        resource provider allocation unset {SERVER1} --resource-class PGPU -f json
        resource provider allocation unset {SERVER1} -f json
        resource provider allocation show {SERVER1} -f json
        resource provider allocation delete {SERVER2}
        resource provider allocation delete {SERVER2}
        resource provider allocation delete {SERVER1}
        resource provider usage show {NUMA} -f json
        resource provider trait delete {HOST}
        resource provider trait delete {NOBODY}
        resource provider trait list {HOST} -f json
        trait delete CUSTOM_FAST
        trait delete CUSTOM_FAST
        trait delete HW_CPU_X86_AVX2
        resource provider inventory delete {DISK}
        resource provider inventory delete {DISK} --resource-class DISK_GB
        resource provider inventory delete {DISK} --resource-class CUSTOM_GADGET
        resource class delete CUSTOM_GADGET
        resource class delete CUSTOM_GADGET
        resource provider delete {DISK}
        resource provider delete {HOST}
        resource provider delete {NUMA}
        resource provider delete {SPARE}
        resource provider delete {HOST}
        resource provider delete {HOST}
        resource provider list -f json
    """
    return [line.split() for line in text.splitlines() if line.strip()]


def run(shell, arguments):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = shell(arguments)
        except SystemExit as end:
            status = end.code
    return status, out.getvalue(), err.getvalue()


def main():
    url, version = sys.argv[1:]
    for name in [name for name in os.environ if name.startswith("OS_")]:
        del os.environ[name]
    from openstackclient import shell

    common = ["--os-auth-type", "admin_token", "--os-token", "admin", "--os-endpoint", url,
              "--os-placement-api-version", version]
    print(json.dumps([[arguments, *run(shell.main, common + arguments)] for arguments in commands(version)]))


if __name__ == "__main__":
    main()
