"""TLS from the view of clients: curl, openssl, and clients that send something else."""

import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time

from certificates import Authority
from service_manager import Manager

HALF_HANDSHAKES = 400
DEADLINE_S = 2
EXPIRY_METRIC = "berth_tls_certificate_expiry_timestamp_seconds"


def curl(url, *arguments):
    """(exit status, body, headers)"""
    done = subprocess.run(["curl", "-sS", "-i", "-m", "10", "-H", "x-auth-token: admin", "-H",
                           "openstack-api-version: placement 1.39", *arguments, url],
                          capture_output=True, text=True)
    head, _, body = done.stdout.partition("\n\n")
    return done.returncode, body, head


def s_client(port, *arguments, text=b""):
    done = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{port}", *arguments], input=text,
                          capture_output=True, timeout=20)
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


def renegotiate(port):
    """What a client sees that sends a request after a renegotiation."""
    client = subprocess.Popen(["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-tls1_2"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    for text in (b"R\n", b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"):
        time.sleep(0.5)
        try:
            client.stdin.write(text)
            client.stdin.flush()
        except OSError:
            pass
    return client.communicate(timeout=20)[0].decode(errors="replace")


def cpu_s(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def hello():
    """A client's first flight, created by the ssl module but not sent by it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        context.wrap_bio(incoming, outgoing).do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


class SlowClient:
    """A client that pauses its handshake after half of its first flight."""

    def __init__(self, port):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing)
        self.sock = socket.create_connection(("127.0.0.1", port))
        self.sock.settimeout(10)
        try:
            self.tls.do_handshake()
        except ssl.SSLWantReadError:
            flight = self.outgoing.read()
        self.sock.sendall(flight[:100])
        self.rest = flight[100:]

    def _until(self, step):
        while True:
            try:
                return step()
            except ssl.SSLWantReadError:
                self.sock.sendall(self.outgoing.read())
                data = self.sock.recv(65536)
                self.incoming.write(data) if data else self.incoming.write_eof()

    def finish(self):
        """The answer to a request after the rest of the handshake."""
        try:
            self.sock.sendall(self.rest)
            self._until(self.tls.do_handshake)
            self.tls.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            self.sock.sendall(self.outgoing.read())
            return self._until(lambda: self.tls.read(65536)).decode()
        except OSError as problem:
            return repr(problem)


def closed_within(sock, seconds):
    sock.settimeout(seconds)
    try:
        while sock.recv(65536):
            pass
        return True
    except ConnectionError:
        return True
    except TimeoutError:
        return False


class Case:
    """A berthd with https on a free port, and its log."""

    def __init__(self, program, directory, *options, cert, key, plain=False):
        lines = ["[berth]", "listen = https://127.0.0.1:0", f"tls_cert_file = {cert}", f"tls_key_file = {key}",
                 *(["listen = 127.0.0.1:0"] if plain else []), *options]
        self.manager = Manager(program, directory, lines)
        self.process = self.manager.start()
        self.ports = []
        for line in self.process.log().splitlines():
            if " on https://" in line or " on http://" in line:
                self.ports.append(int(line.rsplit(":", 1)[1]))
        self.port = self.ports[0]
        self.url = f"https://localhost:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.manager.__exit__()


def serves(score, program, directory, authority):
    cert, key = authority.issue("server")
    with Case(program, directory, cert=cert, key=key, plain=True) as case:
        trusting = ["--cacert", authority.cert]
        for version in ("1.2", "1.3"):
            status, body, head = curl(case.url + "/", *trusting, "--tlsv" + version, "--tls-max", version)
            score.case(f"curl with TLS {version}", None if status == 0 and '"versions"' in body else f"{status} {body}")
        for version in ("1.0", "1.1"):
            status, _, _ = curl(case.url + "/", *trusting, "--tlsv" + version, "--tls-max", version,
                                "--ciphers", "DEFAULT@SECLEVEL=0")
            score.case(f"TLS {version} is refused", None if status == 35 else f"curl says {status}")
        status, _, _ = curl(case.url + "/")
        score.case("the client refuses an unknown authority", None if status == 60 else f"curl says {status}")
        body = json.dumps({"name": "a"})
        status, _, head = curl(case.url + "/placement/resource_providers", *trusting, "-X", "POST", "-d", body,
                               "-H", "content-type: application/json")
        located = f"ocation: {case.url}/placement/resource_providers/" in head
        score.case("Location says https", None if status == 0 and located else f"{status} {head}")
        status, body, _ = curl(case.url + "/", *trusting)
        href = json.loads(body)["versions"][0]["links"][0]["href"]
        score.case("the version document's link is relative to the requested URL", None if href == "" else href)
        status, body, _ = curl(f"http://127.0.0.1:{case.ports[1]}/")
        score.case("plain HTTP beside it", None if '"versions"' in body else f"{status} {body}")
        status, text = s_client(case.port, "-alpn", "h2,http/1.1", "-CAfile", authority.cert)
        score.case("ALPN chooses HTTP/1.1", None if "ALPN protocol: http/1.1" in text else text[-500:])
        status, text = s_client(case.port, "-tls1_2", "-cipher", "AES128-SHA")
        score.case("a cipher without forward secrecy is refused", None if status else text[-500:])
        text = renegotiate(case.port)
        score.case("renegotiation is refused",
                   None if "RENEGOTIATING" in text and "HTTP/1.1 200" not in text else text[-300:])
        status, body, _ = curl(case.url + "/", *trusting)
        score.case("and it still serves", None if status == 0 else status)
        large(score, case, authority)
        status, body, head = curl(case.url + "/resource_providers", *trusting, "-d", '{"name": "expected"}', "-H",
                                  "content-type: application/json", "-H", "Expect: 100-continue")
        score.case("Expect: 100-continue", None if status == 0 and "100 Continue" in head and '"expected"' in body
                   else f"{status} {head} {body}")


def large(score, case, authority):
    """More than one record, in both directions."""
    names = [f"CUSTOM_{'X' * 200}_{i}" for i in range(300)]
    context = ssl.create_default_context(cafile=authority.cert)
    connection = http.client.HTTPSConnection("localhost", case.port, timeout=30, context=context)
    headers = {"x-auth-token": "admin", "openstack-api-version": "placement 1.39", "content-type": "application/json"}
    for name in names:
        connection.request("PUT", "/traits/" + name, headers=headers)
        connection.getresponse().read()
    connection.request("POST", "/resource_providers", json.dumps({"name": "large"}), headers)
    uuid = json.loads(connection.getresponse().read())["uuid"]
    connection.request("PUT", f"/resource_providers/{uuid}/traits",
                       json.dumps({"resource_provider_generation": 0, "traits": names}), headers)
    answer = connection.getresponse()
    kept = json.loads(answer.read())
    good = answer.status == 200 and sorted(kept["traits"]) == sorted(names)
    connection.close()
    score.case("a body of 60 KB, there and back, on one connection", None if good else f"{answer.status}")


def chain(score, program, directory, authority):
    """A certificate by an intermediate authority, its chain in the same file; RSA."""
    between_cert, between_key = authority.path("between.pem"), authority.path("between.key")
    from certificates import openssl
    openssl("req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout", between_key, "-out", authority.path("b.csr"),
            "-subj", "/CN=between")
    with open(authority.path("b.ext"), "w") as file:
        file.write("basicConstraints=critical,CA:TRUE\nkeyUsage=keyCertSign\n")
    openssl("x509", "-req", "-in", authority.path("b.csr"), "-CA", authority.cert, "-CAkey", authority.key, "-days", "90",
            "-CAcreateserial", "-extfile", authority.path("b.ext"), "-out", between_cert)
    between = Authority.__new__(Authority)
    between.directory, between.cert, between.key = directory, between_cert, between_key
    cert, key = between.issue("leaf", kind="rsa")
    both = authority.path("chain.pem")
    with open(both, "w") as out:
        for path in (cert, between_cert):
            with open(path) as file:
                out.write(file.read())
    with Case(program, directory, cert=both, key=key) as case:
        status, _, _ = curl(case.url + "/", "--cacert", authority.cert)
        score.case("a chain of RSA certificates", None if status == 0 else f"curl says {status}")


def client_certificates(score, program, directory, authority):
    cert, key = authority.issue("server2")
    good = authority.issue("client", "clientAuth")
    wrong = authority.issue("noclient", "serverAuth")
    unknown = Authority(directory, "unknown").issue("unknown-client", "clientAuth")
    with Case(program, directory, f"tls_ca_file = {authority.cert}", cert=cert, key=key) as case:
        for version in ("1.2", "1.3"):
            common = ["--cacert", authority.cert, "--tlsv" + version, "--tls-max", version]
            status, _, _ = curl(case.url + "/", *common, "--cert", good[0], "--key", good[1])
            score.case(f"a client's certificate, TLS {version}", None if status == 0 else f"curl says {status}")
            for what, pair in (("none", None), ("one for servers", wrong), ("one by an unknown", unknown)):
                shown = ["--cert", pair[0], "--key", pair[1]] if pair else []
                status, body, _ = curl(case.url + "/", *common, *shown)
                score.case(f"{what} is refused, TLS {version}", None if status and not body else f"{status} {body}")
        time.sleep(0.3)  # lines of requests are collected
        lines = [line for line in case.process.log().splitlines() if "requestlog" in line]
        score.case("and sends no request", None if len(lines) == 2 else f"{len(lines)} requests")


def expiry(path):
    """The end of the validity of the certificate in that file, in seconds since 1970."""
    done = subprocess.run(["openssl", "x509", "-noout", "-enddate", "-in", path], capture_output=True, text=True, check=True)
    return ssl.cert_time_to_seconds(done.stdout.strip().removeprefix("notAfter="))


def expiry_metric(port):
    """The value on the admin listener; None: missing."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    values = [line.split()[1] for line in text.splitlines() if line.startswith(EXPIRY_METRIC + " ")]
    return float(values[0]) if values else None


def serial(port):
    with socket.create_connection(("127.0.0.1", port)) as sock:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with context.wrap_socket(sock) as wrapped:
            return wrapped.getpeercert(binary_form=True)


def reloads(score, program, directory, authority):
    first, second, third = (authority.issue(name) for name in ("one", "two", "three"))
    cert, key = authority.path("in-use.pem"), authority.path("in-use.key")

    def install(pair):
        for source, target in zip(pair, (cert, key)):
            if source:
                shutil.copy(source, target + ".new")
                os.rename(target + ".new", target)

    def shown_soon(pair, seconds=10):
        with open(pair[0]) as file:
            wanted = ssl.PEM_cert_to_DER_cert(file.read())
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if serial(case.port) == wanted:
                return True
            time.sleep(0.1)
        return False

    install(first)
    with Case(program, directory, cert=cert, key=key) as case:
        connection = http.client.HTTPSConnection("localhost", case.port, timeout=10,
                                                 context=ssl.create_default_context(cafile=authority.cert))
        connection.request("GET", "/")
        connection.getresponse().read()
        install(second)
        score.case("changed files are read again", None if shown_soon(second) else case.process.log())
        connection.request("GET", "/")
        answer = connection.getresponse()
        answer.read()
        connection.close()
        score.case("an open connection continues", None if answer.status == 200 else answer.status)
        install((third[0], None))
        case.process.signal(signal.SIGHUP)
        case.process.wait_for("READY", "1", after=len(case.process.messages))
        log = case.process.log()
        count = log.count("the old TLS certificate stays in use")
        score.case("a certificate without its key: the old pair stays, and that is logged",
                   None if shown_soon(second, 1) and count == 1 else log[-500:])
        install((None, third[1]))
        case.process.signal(signal.SIGHUP)
        score.case("SIGHUP reads them again", None if shown_soon(third, 1.5) else case.process.log())
        with open(key, "w") as file:
            file.write("nonsense")
        time.sleep(5)
        log = case.process.log()
        score.case("an invalid pair is logged once, not at every check",
                   None if log.count("the old TLS certificate stays in use") == count + 1 else log[-800:])
        score.case("and serves the last good pair", None if shown_soon(third, 1) else case.process.log())


def expiring(score, program, directory, authority):
    """A certificate with few days left, then another one, then one that has expired, each in the same files."""
    cert, key = authority.path("in-use.pem"), authority.path("in-use.key")
    first, last = authority.issue("few", days=5), authority.issue("over", days=-1)

    def install(pair):
        for source, target in zip(pair, (cert, key)):
            shutil.copy(source, target + ".new")
            os.rename(target + ".new", target)

    def logged(text):
        return [line for line in case.process.log().splitlines() if f"certificate in {cert} {text}" in line]

    def read_soon(name, seconds=10):
        """Waits until berthd has read the certificate with that name."""
        end = time.monotonic() + seconds
        while f"TLS certificate: CN={name}," not in case.process.log() and time.monotonic() < end:
            time.sleep(0.1)

    def metric(name, pair):
        found, wanted = expiry_metric(case.ports[-1]), expiry(pair[0])
        score.case(name, None if found == wanted else f"{found}, not {wanted}")

    install(first)
    with Case(program, directory, "admin_listen = 127.0.0.1:0", cert=cert, key=key) as case:
        lines = logged("expires in 4 days, on 20") + logged("expires in 5 days, on 20")  # 5 within its first second
        score.case("a certificate of five days: one warning", None if len(lines) == 1 and " WARNING " in lines[0]
                   else case.process.log())
        metric("and its end as a metric", first)
        time.sleep(5)  # looked at twice
        score.case("and no other without a reason", None if len(logged("")) == 1 else logged(""))
        many = authority.issue("many")
        install(many)
        read_soon("many")
        case.process.signal(signal.SIGHUP)
        case.process.wait_for("READY", "1", after=len(case.process.messages))
        score.case("a certificate of ninety days: none", None if len(logged("")) == 1 else logged(""))
        metric("and its end as a metric, once it was read", many)
        install(last)
        read_soon("over")
        time.sleep(0.3)
        lines = logged("expired on 20")
        score.case("one that has expired is an error, and is served", None if len(lines) == 1 and " ERROR " in lines[0]
                   and serial(case.port) else case.process.log())
        metric("and its end is in the past", last)


def start_fails(score, program, directory, authority):
    cert, key = authority.issue("good")
    _, other = authority.issue("other")
    open(authority.path("writable.key"), "w").close()
    shutil.copy(key, authority.path("writable.key"))
    os.chmod(authority.path("writable.key"), 0o602)
    cases = {
        "no such certificate": (f"tls_cert_file = /no/such\ntls_key_file = {key}", "/no/such: No such file"),
        "another certificate's key": (f"tls_cert_file = {cert}\ntls_key_file = {other}", f"{cert} with {other}"),
        "no key": (f"tls_cert_file = {cert}", "must be set together"),
        "neither": ("", "https://... needs tls_cert_file"),
        "unknown priorities": (f"tls_cert_file = {cert}\ntls_key_file = {key}\ntls_priorities = NONSENSE",
                                         "NONSENSE"),
        "a key that everybody may write": (
            f"tls_cert_file = {cert}\ntls_key_file = {authority.path('writable.key')}", "it is writable by everybody"),
    }
    for name, (lines, wanted) in cases.items():
        manager = Manager(program, directory, ["[berth]", "listen = https://127.0.0.1:0", *lines.split("\n")],
                          database="refused.db")
        process = manager.start(wait=False)
        status = process.wait()
        said = [line for line in process.log().splitlines() if line.startswith("berthd: ")]
        os.unlink(process.log_path)
        good = status == 1 and len(said) == 1 and wanted in said[0]
        score.case(f"start with {name}: one line and 1", None if good else f"{status} {said}")


def hangs(score, program, directory, authority, quick):
    count = 50 if quick else HALF_HANDSHAKES
    cert, key = authority.issue("server3")
    with Case(program, directory, f"header_deadline = {DEADLINE_S}", "idle_timeout = 20", cert=cert, key=key) as case:
        flight = hello()
        half = []
        for i in range(count):
            sock = socket.create_connection(("127.0.0.1", case.port))
            sock.sendall(flight if i % 2 else flight[:len(flight) // 2])
            half.append(sock)
        began, used = time.monotonic(), cpu_s(case.process.pid)
        status, _, _ = curl(case.url + "/", "--cacert", authority.cert)
        score.case(f"served beside {count} half handshakes", None if status == 0 else f"curl says {status}")
        connection = http.client.HTTPSConnection("localhost", case.port, timeout=10,
                                                 context=ssl.create_default_context(cafile=authority.cert))
        connection.connect()
        time.sleep(max(0, 1.2 - (time.monotonic() - began)))
        share = (cpu_s(case.process.pid) - used) / (time.monotonic() - began)
        score.case("they cost next to nothing", None if share < 0.3 or quick else f"{share:.2f} of a processor")
        closed = sum(closed_within(sock, DEADLINE_S + 2) for sock in half)
        score.case("all of them are closed in time", None if closed == count else f"{closed} of {count}")
        time.sleep(max(0, DEADLINE_S + 1 - (time.monotonic() - began)))
        connection.request("GET", "/")  # idle since its handshake, for longer than a handshake may take
        answer = connection.getresponse()
        score.case("a connection may be idle after its handshake", None if answer.status == 200 else answer.status)
        connection.close()
        drip = socket.create_connection(("127.0.0.1", case.port))
        began = time.monotonic()
        ended = False
        for byte in flight:
            try:
                drip.sendall(bytes([byte]))
            except OSError:
                ended = True
                break
            if closed_within(drip, 0.05):
                ended = True
                break
        took = time.monotonic() - began
        score.case("a dripped handshake ends", None if ended and took < DEADLINE_S + 2 else f"{took:.1f} s")
        for name, data in (("plain HTTP", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"), ("zeros", bytes(4096)),
                           ("a record of impossible length", b"\x16\x03\x01\xff\xff" + bytes(100)),
                           ("an alert", b"\x15\x03\x01\x00\x02\x02\x28"), ("SSL 2", b"\x80\x2e\x01\x00\x02" + bytes(42))):
            with socket.create_connection(("127.0.0.1", case.port)) as sock:
                sock.sendall(data)
                score.case(f"{name} instead of a handshake", None if closed_within(sock, DEADLINE_S + 2) else "open")
        for cut in range(1, len(flight), 37):  # disconnects in the middle
            with socket.create_connection(("127.0.0.1", case.port)) as sock:
                sock.sendall(flight[:cut])
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        open_ones = [socket.create_connection(("127.0.0.1", case.port)) for _ in range(20)]
        for sock in open_ones[::2]:
            sock.sendall(flight)
        late = SlowClient(case.port)
        time.sleep(0.2)
        began = time.monotonic()
        case.process.signal(signal.SIGTERM)
        time.sleep(0.7)  # longer than an idle connection is kept
        answer = late.finish()
        score.case("a client in its handshake when berthd stops is answered", None if " 200 OK" in answer else answer)
        status = case.process.wait()
        took = time.monotonic() - began
        score.case("a stop with handshakes under way", None if status == 0 and took < 5 else f"{status}, {took:.1f} s")
        for sock in open_ones:
            sock.close()


def run(score, program, quick):
    with tempfile.TemporaryDirectory(prefix="berth-tls-") as directory:
        authority = Authority(directory)
        for part in (serves, chain, client_certificates, reloads, expiring, start_fails):
            with tempfile.TemporaryDirectory(dir=directory) as own:
                part(score, program, own, authority)
        with tempfile.TemporaryDirectory(dir=directory) as own:
            hangs(score, program, own, authority, quick)
