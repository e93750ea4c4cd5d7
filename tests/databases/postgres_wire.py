"""The messages of PostgreSQL's protocol (version 3; manual, chapter 55), as far as a proxy must tell them apart."""

import struct

CLIENT_KINDS = {b"Q": "Query", b"P": "Parse", b"B": "Bind", b"E": "Execute", b"D": "Describe", b"C": "Close", b"S": "Sync",
                b"H": "Flush", b"X": "Terminate", b"p": "Password", b"d": "CopyData", b"c": "CopyDone", b"f": "CopyFail",
                b"F": "FunctionCall"}
SERVER_KINDS = {b"R": "Authentication", b"S": "ParameterStatus", b"K": "BackendKeyData", b"Z": "ReadyForQuery",
                b"T": "RowDescription", b"D": "DataRow", b"C": "CommandComplete", b"E": "ErrorResponse",
                b"N": "NoticeResponse", b"1": "ParseComplete", b"2": "BindComplete", b"3": "CloseComplete", b"n": "NoData",
                b"t": "ParameterDescription", b"I": "EmptyQueryResponse", b"s": "PortalSuspended", b"A": "Notification",
                b"G": "CopyInResponse", b"H": "CopyOutResponse", b"d": "CopyData", b"c": "CopyDone"}
CANCEL, TLS, GSS = 80877102, 80877103, 80877104  # codes in the place of the protocol's version
NO = b"N"


class Message:
    """kind: its name in the manual. text: see PostgresWire. reply: what the sender gets from the proxy instead of the
    message being forwarded."""

    __slots__ = ("kind", "text", "data", "reply")

    def __init__(self, kind, text, data, reply=None):
        self.kind, self.text, self.data, self.reply = kind, text, data, reply


class PostgresWire:
    """Splits what the two ends of one connection send. The text of Query and Parse is their SQL; of Bind and Execute that
    of the statement they run; of CommandComplete the tag, such as COMMIT; of ErrorResponse the SQLSTATE and the message.
    Other messages have none.

    Encryption is refused, since a proxy cannot read it. Two threads may call feed(), one for each sender."""

    def __init__(self):
        self.application = None  # application_name of the startup message
        self._rest = {"client": b"", "server": b""}
        self._started = False
        self._statements, self._portals = {}, {}

    def feed(self, sender, data):
        """The messages that are complete."""
        data = self._rest[sender] + data
        at, found = 0, []
        while (end := self._end_of_message(sender, data, at)) is not None:
            found.append(self._message(sender, data[at:end]))
            at = end
        self._rest[sender] = data[at:]
        return found

    def _end_of_message(self, sender, data, at):
        """Only messages at startup have no byte for their type."""
        head = 0 if sender == "client" and not self._started else 1
        if len(data) < at + head + 4:
            return None
        end = at + head + struct.unpack_from("!I", data, at + head)[0]
        return end if len(data) >= end else None

    def _message(self, sender, data):
        if sender == "server":
            kind = SERVER_KINDS.get(data[:1], "Unknown")
            return Message(kind, self._server_text(kind, data[5:]), data)
        if not self._started:
            return self._startup(data)
        kind = CLIENT_KINDS.get(data[:1], "Unknown")
        return Message(kind, self._client_text(kind, data[5:]), data)

    def _startup(self, data):
        code = struct.unpack_from("!I", data, 4)[0]
        if code in (TLS, GSS):
            return Message("EncryptionRequest", None, data, NO)
        self._started = True
        if code == CANCEL:
            return Message("CancelRequest", None, data)
        words = data[8:].split(b"\0")
        self.application = dict(zip(words[::2], words[1::2])).get(b"application_name", b"").decode()
        return Message("Startup", None, data)

    def _client_text(self, kind, body):
        if kind == "Query":
            return text_of(body)
        if kind == "Parse":
            name, sql = body.split(b"\0", 2)[:2]
            self._statements[name] = sql
            return text_of(sql)
        if kind == "Bind":
            portal, name = body.split(b"\0", 2)[:2]
            self._portals[portal] = self._statements.get(name, b"")
            return text_of(self._portals[portal])
        if kind == "Execute":
            return text_of(self._portals.get(body.split(b"\0", 1)[0], b""))
        return None

    @staticmethod
    def _server_text(kind, body):
        if kind == "CommandComplete":
            return text_of(body)
        if kind == "ErrorResponse":
            fields = {field[:1]: text_of(field[1:]) for field in body.split(b"\0") if field}
            return f"{fields.get(b'C')} {fields.get(b'M')}"
        return None


def text_of(body):
    return body.split(b"\0", 1)[0].decode(errors="replace")
