"""The packets of MariaDB's and MySQL's protocol (MariaDB's documentation, Client/Server Protocol), as far as a proxy must tell
them apart."""

from postgres_wire import Message

HEAD, LONGEST = 4, 0xFFFFFF
COMMANDS = {0x01: "Quit", 0x02: "InitDb", 0x03: "Query", 0x0e: "Ping", 0x1f: "ResetConnection"}
ANSWERS = {0x00: "Ok", 0xfe: "Eof", 0xff: "Error"}
ERROR_HEAD = 9  # the byte, the number, "#" and the SQLSTATE


class MariadbWire:
    """Splits what the two ends of one connection send. The kind of a client's packet is the command that it begins, or Login; its
    text is the SQL of a Query. A server's packets are Greeting, Ok, Eof, Error with its number and message, or Data: columns and
    rows, whose first byte may also be that of another kind. Nothing may be encrypted or compressed. Two threads may call feed(),
    one for each sender."""

    def __init__(self):
        self.application = None  # there is none
        self._rest = {"client": b"", "server": b""}
        self._continues = {"client": False, "server": False}

    def feed(self, sender, data):
        """The packets that are complete."""
        data = self._rest[sender] + data
        at, found = 0, []
        while len(data) >= at + HEAD and len(data) >= (end := at + HEAD + int.from_bytes(data[at:at + 3], "little")):
            found.append(self._message(sender, data[at:end]))
            at = end
        self._rest[sender] = data[at:]
        return found

    def _message(self, sender, data):
        number, body = data[3], data[HEAD:]
        continues, self._continues[sender] = self._continues[sender], len(body) == LONGEST
        if continues or not body:
            return Message("Data", None, data)
        if sender == "server":
            kind = "Greeting" if number == 0 else ANSWERS.get(body[0], "Data")
            text = f"{int.from_bytes(body[1:3], 'little')} {body[ERROR_HEAD:].decode(errors='replace')}" if kind == "Error" else None
            return Message(kind, text, data)
        kind = COMMANDS.get(body[0], "Command") if number == 0 else "Login"
        return Message(kind, body[1:].decode(errors="replace") if kind == "Query" else None, data)
