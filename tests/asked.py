"""A program that answers each line of JSON with a line of JSON."""

import json
import subprocess


class Asked:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, job):
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"it ended with {self.process.wait()} at {job}")
        return json.loads(line)

    def end(self):
        self.process.stdin.close()
        return self.process.wait()
