"""Bare metal with a full disk, with a file from a berth without nodes, and through a stop."""

import contextlib
import os
import subprocess
import sys
import time

import case
from case import expect, servers

sys.path.append(os.path.join(os.path.dirname(case.HERE), "baremetal"))

import metal_client  # noqa: E402

DELAYED = ["[baremetal]", "host = here", "fake_delay_ms = 1500"]


class Metal(case.Case):
    def _metal(self, directory=None, **more):
        options = {"options": ["[baremetal]", "host = here", "fake_delay_ms = 20"], **more}
        return servers.Berthd(self.program, directory or self.directory, baremetal_port=servers.free_port(), **options)

    @contextlib.contextmanager
    def _metal_api(self, server):
        metal_api = metal_client.MetalClient(server.baremetal_port)
        try:
            yield metal_api
        finally:
            metal_api.close()

    def metal_disk_full(self):
        """503 in this API's form, reads go on; actions in progress end once there is room, without a restart."""
        mount = os.path.join(self.directory, "small")
        os.mkdir(mount)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "berth-test", mount], stderr=subprocess.DEVNULL).returncode:
            return "no tmpfs to be had here: left out"
        try:
            ballast = os.path.join(mount, "ballast")
            with self._metal(mount, options=DELAYED) as server, self._metal_api(server) as metal_api:
                for name in ("one", "two", "three"):
                    metal_api.make_node("available", name=name, resource_class="x")
                metal_api.must(202, "PUT", "/v1/nodes/one/states/provision", {"target": "active"})
                metal_api.must(202, "PUT", "/v1/nodes/two/states/power", {"target": "power off"})
                with open(ballast, "wb", 0) as file, contextlib.suppress(OSError):
                    while file.write(bytes(4096)):
                        pass
                refused, number = None, 0
                while refused is None and number < 200:  # free room in the WAL is used up first
                    number += 1
                    answer = metal_api.ask("POST", "/v1/nodes", {"driver": "fake-hardware", "extra": {"a": "x" * 100000}})
                    refused = answer if answer.status != 201 else None
                expect(refused is not None and refused.status == 503 and refused.fault, f"{number}: {refused}")
                answer = metal_api.ask("POST", "/v1/allocations", {"resource_class": "x", "name": "early"})
                expect(answer.status == 503 and answer.fault, answer)
                time.sleep(2.5)
                expect(metal_api.must(200, "GET", "/v1/nodes/one")["provision_state"] == "deploying", "it was not written")
                expect(metal_api.ask("GET", "/v1/allocations/early").status == 404, "refused, and there")
                os.unlink(ballast)
                metal_api.until("/v1/nodes/one", lambda node: node["provision_state"] == "active")
                metal_api.until("/v1/nodes/two", lambda node: node["power_state"] == "power off" and not node["reservation"])
                metal_api.must(201, "POST", "/v1/allocations", {"resource_class": "x", "name": "late"})
                metal_api.until("/v1/allocations/late", lambda one: one["state"] == "active")
                expect(server.stop() == 0, server.log()[-2000:])
            with self._metal(mount) as server, self._metal_api(server) as metal_api:
                expect(metal_api.must(200, "GET", "/v1/nodes/one")["provision_state"] == "active", "after a restart")
                server.stop()
        finally:
            subprocess.run(["umount", "-l", mount])

    def metal_former_file(self):
        """A file from a berth without nodes: the tables are created at the start, whatever sync_on_startup says."""
        with self.berthd() as server:
            server.client().make_provider(case.HOST, "host", VCPU=1)
            server.stop()
        for table in ("berth_nodes", "berth_node_allocations"):
            servers.rows(server.database, f"DROP TABLE {table}")
        with self._metal(sync=False) as server, self._metal_api(server) as metal_api:
            metal_api.make_node("available", name="n", resource_class="x")
            metal_api.must(201, "POST", "/v1/allocations", {"resource_class": "x", "name": "a"})
            metal_api.until("/v1/allocations/a", lambda one: one["state"] == "active")
            expect(server.client().must(200, "GET", f"/resource_providers/{case.HOST}")["name"] == "host", "the host")
            server.stop()
        with self._metal(sync=False) as server, self._metal_api(server) as metal_api:
            metal_api.must(200, "GET", "/v1/nodes/n/allocation")
            server.stop()

    def metal_stop_meanwhile(self):
        """A stop during allocations, a deployment and a power request: these end first, if there is enough time, and
        the search for nodes continues after the start."""
        with self._metal(options=DELAYED + ["node_locked_retry_attempts = 1000"]) as server, self._metal_api(server) as metal_api:
            for name in ("one", "two"):
                metal_api.make_node("available", name=name, resource_class=name)
            metal_api.must(202, "PUT", "/v1/nodes/one/states/power", {"target": "rebooting"})  # locked
            metal_api.must(201, "POST", "/v1/allocations", {"resource_class": "one", "name": "waits"})
            metal_api.must(202, "PUT", "/v1/nodes/two/states/provision", {"target": "active"})
            expect(metal_api.must(200, "GET", "/v1/allocations/waits")["state"] == "allocating", "it does not wait")
            began = time.monotonic()
            status = server.stop()
            expect(status == 0 and time.monotonic() - began < 5, f"{status} after {time.monotonic() - began:.1f} s")
        with self._metal() as server, self._metal_api(server) as metal_api:
            metal_api.until("/v1/allocations/waits", lambda one: one["state"] == "active")
            node = metal_api.until("/v1/nodes/two", metal_client.is_steady)
            expect((node["provision_state"], node["last_error"]) == ("active", None), node)
            node = metal_api.until("/v1/nodes/one", metal_client.is_steady)
            expect((node["power_state"], node["last_error"]) == ("power on", None), node)
            server.stop()

    def metal_stop_in_haste(self):
        """Actions that would last longer than stop_grace are not waited for, and have failed after the next start."""
        options = ["[berth]", "stop_grace = 2", "[baremetal]", "host = here", "fake_delay_ms = "]
        with self._metal(options=options[:-1] + [options[-1] + "0"]) as server, self._metal_api(server) as metal_api:
            metal_api.make_node("available", name="n", resource_class="x")
            server.stop()
        with self._metal(options=options[:-1] + [options[-1] + "30000"]) as server, self._metal_api(server) as metal_api:
            metal_api.must(202, "PUT", "/v1/nodes/n/states/provision", {"target": "active"})
            began = time.monotonic()
            status = server.stop()
            expect(status == 0 and time.monotonic() - began < 1.5, f"{status} after {time.monotonic() - began:.1f} s")
        with self._metal() as server, self._metal_api(server) as metal_api:
            node = metal_api.until("/v1/nodes/n", metal_client.is_steady)
            expect(node["provision_state"] == "deploy failed" and "can't be resumed" in node["last_error"], node)
            server.stop()
