"""Unix sockets, and sockets that the service manager opened: which are served, and with which settings."""

import http.client
import os
import signal
import socket
import stat
import tempfile
import time

from certificates import Authority
from hammer import UnixConnection, new_connection
from service_manager import Manager, tcp_socket, unix_socket

LOG_GATHERS_S = 0.3


def answers(connection, path="/"):
    """None, or the problem."""
    try:
        connection.request("GET", path)
        status = connection.getresponse().status
        return None if status == 200 else status
    except OSError as error:
        return str(error)
    finally:
        connection.close()


def on_port(sock, path="/"):
    return answers(http.client.HTTPConnection("127.0.0.1", sock.getsockname()[1], timeout=5), path)


def addresses(process):
    return [line.split(" on ", 1)[1] for line in process.log().splitlines() if " API on " in line]


def unix_sockets(score, program, directory):
    path = directory + "/api.sock"
    with Manager(program, directory, ["[berth]", f"listen = unix:{path}", "socket_mode = 0622"]) as manager:
        process = manager.start()
        mode = stat.S_IMODE(os.stat(path).st_mode)
        score.case("the socket's mode", None if mode == 0o622 else oct(mode))
        connection = UnixConnection(path)
        headers = {"x-auth-token": "admin", "content-type": "application/json", "openstack-api-version": "placement 1.39"}
        connection.request("POST", "/resource_providers", '{"name": "by-socket"}', headers)
        answer = connection.getresponse()
        answer.read()
        location = answer.getheader("location")
        score.case("a write by a unix socket", None if answer.status == 200 and location.startswith("http://localhost/")
                   else f"{answer.status} {location}")
        second = manager.start(wait=False)
        status = second.wait()
        refusal = second.log()
        score.case("a second one is refused, and does no harm",
                   None if status == 1 and "in use by another process" in refusal and not answers(UnixConnection(path))
                   else f"{status} {refusal}")
        connection.close()
        time.sleep(LOG_GATHERS_S)
        process.signal(signal.SIGKILL)
        process.wait()
        score.case("a kill leaves the file", None if os.path.exists(path) else "gone")
        process = manager.start()
        score.case("which the next one replaces", answers(UnixConnection(path)))
        process.signal(signal.SIGTERM)
        status = process.wait()
        score.case("a stop removes it", None if status == 0 and not os.path.exists(path) else f"{status}")
        log = manager.processes[0].log()
        line = [line for line in log.splitlines() if "POST /resource_providers" in line]
        score.case("no address in the log", None if line and '] - "POST /resource_providers" status: 200' in line[0]
                   else log)


def given(score, program, directory):
    tcp, path = tcp_socket(), directory + "/given.sock"
    with Manager(program, directory, [], [("berthd.socket", tcp), ("placement", unix_socket(path))]) as manager:
        process = manager.start()
        found = addresses(process)
        score.case("given sockets are served, the default address is not opened",
                   on_port(tcp) or answers(UnixConnection(path)) or (None if len(found) == 2 else f"{found}"))
        process.signal(signal.SIGTERM)
        status = process.wait()
        waiting = socket.create_connection(tcp.getsockname())
        waiting.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        score.case("they outlive a stop", None if status == 0 and os.path.exists(path) else f"{status}")
        manager.start()
        waiting.settimeout(10)
        got = waiting.recv(100)
        waiting.close()
        warned = "can claim any identity" in process.log()
        score.case("loopback is not warned of", "it is" if warned else None)
        score.case("waiting clients are served by the next one", None if got.startswith(b"HTTP/1.1 200") else f"{got}")


def open_to_others(score, program, directory):
    """No connection is needed; its address is enough."""
    with Manager(program, directory, [], [("placement", tcp_socket("0.0.0.0"))]) as manager:
        process = manager.start()
        said = [line for line in process.log().splitlines() if "can claim any identity" in line]
        score.case("a given socket that others reach, without authentication, is warned of",
                   None if len(said) == 1 and "http://0.0.0.0:" in said[0] else f"{said}")
    with Manager(program, directory, [], [("placement", tcp_socket()), ("admin", tcp_socket("0.0.0.0"))]) as manager:
        process = manager.start()
        said = [line for line in process.log().splitlines() if "sees metrics" in line]
        score.case("so is one for metrics", None if len(said) == 1 and "http://0.0.0.0:" in said[0] else f"{said}")


def beside_configured(score, program, directory, authority):
    cert, key = authority.issue("server")
    tls, plain, other = tcp_socket(), tcp_socket(), tcp_socket("::1")
    port = tls.getsockname()[1]
    options = ["[berth]", f"listen = https://127.0.0.1:{port}", "listen = 127.0.0.1:0", f"tls_cert_file = {cert}",
               f"tls_key_file = {key}"]
    sockets = [("placement", tls), ("x", plain), ("https", other)]
    with Manager(program, directory, options, sockets) as manager:
        process = manager.start()
        found = addresses(process)
        own = [url for url in found if "service manager" not in url]
        secure = answers(new_connection(f"https://127.0.0.1:{port}"))
        score.case("a socket at a configured address has that one's TLS", secure)
        by_name = answers(new_connection(f"https://::1:{other.getsockname()[1]}"))
        score.case("so has one that is named https", by_name)
        score.case("others have none", on_port(plain))
        score.case("configured addresses without a socket are opened",
                   None if len(own) == 1 and len(found) == 4 else f"{found}")


def at_the_admin_address(score, program, directory):
    """Whatever its name is."""
    api, admin = tcp_socket(), tcp_socket()
    options = ["[berth]", f"admin_listen = 127.0.0.1:{admin.getsockname()[1]}"]
    with Manager(program, directory, options, [("placement", api), ("berthd-admin.socket", admin)]) as manager:
        process = manager.start()
        line = "metrics and health on http://127.0.0.1:%d, a socket from the service manager" % admin.getsockname()[1]
        score.case("a socket at the admin address is for metrics and health",
                   on_port(api) or on_port(admin, "/healthz") or (None if line in process.log() else process.log()))


def for_other_apis(score, program, directory):
    """By its name, whether enabled or not; then the default address is not opened in addition."""
    for section, path in (("baremetal", "/v1/nodes"), ("valet", "/v1")):
        for lines in ([], [f"[{section}]", "enabled = true"]):
            with tempfile.TemporaryDirectory(dir=directory) as own:
                api, other = tcp_socket(), tcp_socket()
                with Manager(program, own, lines, [("placement", api), (section, other)]) as manager:
                    process = manager.start()
                    found = addresses(process)
                    score.case(f"a socket for {section} {lines}", on_port(other, path) or on_port(api) or (
                        None if len(found) == 2 else f"{found}"))


def clashes(score, program, directory):
    """One address for two listeners of ours: the error names the first."""
    path, sock = directory + "/both.sock", tcp_socket()
    port = sock.getsockname()[1]
    sock.close()
    for listen in (f"127.0.0.1:{port}", f"unix:{path}"):
        for options in (["[berth]", f"listen = {listen}", "[baremetal]", "enabled = true", f"listen = {listen}"],
                        ["[berth]", "listen = 127.0.0.1:0", f"admin_listen = {listen}", "[baremetal]", "enabled = true",
                         f"listen = {listen}"]):
            with Manager(program, directory, options) as manager:
                process = manager.start(wait=False)
                status = process.wait()
                said = [line for line in process.log().splitlines() if line.startswith("berthd: ")]
                os.unlink(process.log_path)
                whose = "the bare metal API already listens there" if "admin" in options[2] else "the Placement API already listens there"
                score.case(f"one address for two: {options}", None if status == 1 and len(said) == 1 and whose in said[0]
                           else f"{status} {said}")


def refusal(manager):
    """The exit status and the only line of a start that fails."""
    process = manager.start(wait=False)
    status = process.wait()
    said = [line for line in process.log().splitlines() if line.startswith("berthd: ")]
    os.unlink(process.log_path)
    return status, said


def in_use(score, program, directory):
    """By another process: shared addresses must come from the service manager."""
    other = tcp_socket()
    options = ["[berth]", f"admin_listen = 127.0.0.1:{other.getsockname()[1]}"]
    advice = "If another berthd serves there, the two can share it only as a socket that the service manager holds."
    for sockets in ([("placement", tcp_socket())], []):
        with Manager(program, directory, ["[berth]", "listen = 127.0.0.1:0", *options[1:]], sockets) as manager:
            status, said = refusal(manager)
            score.case(f"an address in use, {len(sockets)} sockets given", None if status == 1 and len(said) == 1 and
                       "Address already in use" in said[0] and (advice in said[0]) == bool(sockets) else f"{status} {said}")
    other.close()


def too_many(score, program, directory):
    with Manager(program, directory, ["[berth]", *["listen = 127.0.0.1:0"] * 16]) as manager:
        found = addresses(manager.start())
        score.case("sixteen addresses are served", None if len(found) == 16 else f"{found}")
    with Manager(program, directory, ["[berth]", *["listen = 127.0.0.1:0"] * 17]) as manager:
        status, said = refusal(manager)
        score.case("seventeen are refused", None if status == 1 and said == ["berthd: more than 16 addresses to listen on"]
                   else f"{status} {said}")


def refused(score, program, directory):
    datagram = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    deaf = socket.socket(socket.AF_INET)
    for name, sock, wanted in (("a datagram socket", datagram, "is not a listening stream socket"),
                               ("one that does not listen", deaf, "is not a listening stream socket"),
                               ("https without a certificate", tcp_socket(), "tls_cert_file and tls_key_file")):
        with Manager(program, directory, [], [("https" if "https" in name else "x", sock)]) as manager:
            process = manager.start(wait=False)
            status = process.wait()
            said = [line for line in process.log().splitlines() if line.startswith("berthd: ")]
            os.unlink(process.log_path)
            score.case(f"{name} ends the start with one line",
                       None if status == 1 and len(said) == 1 and wanted in said[0] else f"{status} {said}")


def run(score, program, quick):
    with tempfile.TemporaryDirectory(prefix="berth-sockets-") as directory:
        for part in (unix_sockets, given, open_to_others, at_the_admin_address, for_other_apis,
                     clashes, in_use, too_many, refused):
            with tempfile.TemporaryDirectory(dir=directory) as own:
                part(score, program, own)
        with tempfile.TemporaryDirectory(dir=directory) as own:
            beside_configured(score, program, own, Authority(directory))
