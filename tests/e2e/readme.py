"""The README's examples as a newcomer would paste them, one block after the other, against a berthd with all three doors.
They are what `./dev run` prints, too."""

import json
import os
import re
import subprocess
import tempfile

import servers

README = os.path.join(os.path.dirname(__file__), "..", "..", "README.md")


def block(name, ports):
    """The lines of a block, for the ports that are asked here."""
    with open(README) as file:
        text = re.search(rf"^```sh {name}\n(.*?)^```$", file.read(), re.M | re.S).group(1)
    for shown, port in ports.items():
        text = text.replace(f"127.0.0.1:{shown}", f"127.0.0.1:{port}")
    return text


def shell(text):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
    return subprocess.run(["sh", "-e"], input=text, capture_output=True, text=True, timeout=300, env=clean)


def curl(ports):
    """A problem or None, as of all of these."""
    lines = [line for line in block("curl", ports).splitlines() if line]
    out = [shell(line).stdout for line in lines + lines[1:2]]
    if len(lines) != 3 or '"name": "host1"' not in out[0] or '"VCPU": {"total": 16' not in out[0]:
        return f"no provider: {out[0]}"
    uuid = json.loads(out[1])["allocation_requests"][0]["allocations"].popitem()[0]
    if not out[2].startswith("HTTP/1.1 204"):
        return f"no claim: {out[2]}"
    used = json.loads(out[3])["provider_summaries"][uuid]["resources"]["VCPU"]["used"]
    return None if used == 2 else f"{used} of VCPU are used"


def baremetal(ports):
    done = shell(block("baremetal", ports))
    used = re.search(r"\| CUSTOM_X +\| +(\d+) \|", done.stdout)
    good = done.returncode == 0 and re.search(r"\| state +\| active +\|", done.stdout) and used and used.group(1) == "1"
    return None if good else f"{done.returncode}: {done.stdout[-2000:]} {done.stderr[-2000:]}"


def valet(ports):
    done = shell(block("valet", ports))
    held = "Resource provider 'host2' is held by exclusivity group 'gold'. (HTTP 409)"
    good = done.returncode != 0 and held in done.stderr and done.stdout.count('"location": "host2"') == 2
    return None if good else f"{done.returncode}: {done.stdout[-2000:]} {done.stderr[-2000:]}"


def play(program):
    """[(block, problem or None)]"""
    metal, plans = servers.free_port(), servers.free_port()
    with tempfile.TemporaryDirectory(prefix="berth-readme-", dir="/var/tmp") as directory:
        with servers.Berthd(program, directory, baremetal_port=metal, valet_port=plans) as berth:
            ports = {8778: berth.port, 6385: metal, 8090: plans}
            return [(part.__name__, part(ports)) for part in (curl, baremetal, valet)]
