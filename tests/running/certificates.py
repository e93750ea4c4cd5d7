"""Certificates for tests, created with openssl."""

import os
import subprocess


def openssl(*arguments):
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"openssl {' '.join(arguments)}: {done.stderr}")


LONG_DAYS = 90  # berthd warns of certificates with fewer than 14


class Authority:
    def __init__(self, directory, name="authority"):
        self.directory = directory
        self.cert, self.key = self.path(name + ".pem"), self.path(name + ".key")
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                str(LONG_DAYS), "-keyout", self.key, "-out", self.cert, "-subj", f"/CN={name}")

    def path(self, name):
        return os.path.join(self.directory, name)

    def issue(self, name, purpose="serverAuth", kind="ec", days=LONG_DAYS):
        """(certificate, key): for localhost and 127.0.0.1; the key readable by its owner only."""
        cert, key, request, extensions = (self.path(name + end) for end in (".pem", ".key", ".csr", ".ext"))
        new_key = {"ec": ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"], "rsa": ["rsa:2048"]}[kind]
        with open(extensions, "w") as file:
            file.write(f"subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage={purpose}\n")
        openssl("req", "-new", "-newkey", *new_key, "-nodes", "-keyout", key, "-out", request, "-subj", f"/CN={name}")
        openssl("x509", "-req", "-in", request, "-CA", self.cert, "-CAkey", self.key, "-CAcreateserial", "-days",
                str(days), "-extfile", extensions, "-out", cert)
        os.chmod(key, 0o600)
        return cert, key
