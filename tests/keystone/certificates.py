"""CAs, and certificates for a Keystone on 127.0.0.1 and for its clients, created with openssl."""

import os
import shutil
import subprocess


class Certificates:
    """PEM files. good: for 127.0.0.1; other_name: from the same CA for another name; client: for clients."""

    def __init__(self, directory):
        self.directory = directory
        os.makedirs(directory)
        self.ca, ca_key = self.make_ca("ca")
        self.other_ca, _ = self.make_ca("other-ca")
        self.good, self.good_key = self.make("good", ca_key, "IP:127.0.0.1")
        self.other_name, self.other_name_key = self.make("other_name", ca_key, "DNS:keystone.example")
        self.client, self.client_key = self.make("client", ca_key, "DNS:placement.example")
        self.client_both = self.path("client-both.pem")
        with open(self.client_both, "w") as both:
            for name in (self.client_key, self.client):
                with open(name) as part:
                    both.write(part.read())
        self.ca_directory = self.path("cas")
        os.makedirs(self.ca_directory)
        shutil.copy(self.ca, self.ca_directory)
        self.run("rehash", self.ca_directory)

    def path(self, name):
        return os.path.join(self.directory, name)

    @staticmethod
    def run(*arguments):
        subprocess.run(["openssl", *arguments], check=True, stdin=subprocess.DEVNULL, capture_output=True)

    def make_ca(self, name):
        certificate, key = self.path(name + ".pem"), self.path(name + ".key")
        self.run("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                 "-subj", "/CN=" + name, "-keyout", key, "-out", certificate)
        return certificate, key

    def make(self, name, ca_key, subject):
        certificate, key, request = (self.path(name + end) for end in (".pem", ".key", ".csr"))
        self.run("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=" + name,
                 "-addext", "subjectAltName=" + subject, "-keyout", key, "-out", request)
        self.run("x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", ca_key, "-CAcreateserial", "-days", "2",
                 "-copy_extensions", "copy", "-out", certificate)
        return certificate, key
