"""The notifications to the service manager, and when they are sent."""

import signal
import tempfile
import time

from service_manager import Manager, tcp_socket

WATCHDOG_US = 1000 * 1000


def run(score, program, quick):
    with tempfile.TemporaryDirectory(prefix="berth-words-") as directory:
        sock = tcp_socket()
        with Manager(program, directory, [], [("placement", sock)], watchdog_us=WATCHDOG_US) as manager:
            process = manager.start()
            ready, at = process.wait_for("READY", "1")
            score.case("READY when it listens and has loaded",
                       None if "Placement API on" in process.log() else process.log())
            _, index = process.wait_for("STATUS")
            status = process.messages[index][1]["STATUS"]
            score.case("STATUS describes what is served", None if status == "serving 0 providers on 1 addresses" else status)
            time.sleep(3)
            beats = [when for when, message in process.messages if message.get("WATCHDOG") == "1"]
            gaps = [b - a for a, b in zip(beats, beats[1:])]
            score.case("WATCHDOG at half of its time", None if 4 <= len(beats) <= 8 and max(gaps) < 0.95 or quick
                       else f"{len(beats)} in 3 s, {gaps}")
            after = len(process.messages)
            before_us = time.clock_gettime(time.CLOCK_MONOTONIC) * 1e6
            process.signal(signal.SIGHUP)
            _, index = process.wait_for("RELOADING", "1", after)
            at_us = int(process.messages[index][1].get("MONOTONIC_USEC", 0))
            _, again = process.wait_for("READY", "1", index)
            score.case("RELOADING with its time, then READY",
                       None if before_us <= at_us <= time.clock_gettime(time.CLOCK_MONOTONIC) * 1e6 and again > index
                       else f"{at_us} {process.messages[after:]}")
            after = len(process.messages)
            process.signal(signal.SIGTERM)
            process.wait()
            names = [name for _, message in process.messages[after:] for name in message]
            score.case("STOPPING", None if "STOPPING" in names else f"{names}")
        with Manager(program, directory, [], [("placement", tcp_socket())]) as manager:
            process = manager.start()
            time.sleep(1)
            beats = [message for _, message in process.messages if "WATCHDOG" in message]
            score.case("no WATCHDOG where none is wanted", f"{beats}" if beats else None)
