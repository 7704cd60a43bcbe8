"""Writes XSpace (xplane.proto) without protobuf: one plane of a host, with its lines, events and names."""


def varint(value):
    encoded = bytearray()
    while value > 0x7f:
        encoded.append(value & 0x7f | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def number(field, value):
    return varint(field << 3) + varint(value)


def message(field, payload):
    return varint(field << 3 | 2) + varint(len(payload)) + payload


def text(field, value):
    return message(field, value.encode())


class XSpaceWriter:
    """Times are microseconds. Of an event its name, and where they are given an iterator's ids, are written."""

    ID, PARENT_ID = 1, 2

    def __init__(self, file):
        self.file = file
        self.lines = 0
        self.names = {}
        self.parts = [text(2, '/host:CPU')]
        for key, name in ((self.ID, 'id'), (self.PARENT_ID, 'parent_id')):
            self.parts.append(message(5, number(1, key) + message(2, number(1, key) + text(2, name))))

    def name(self, name):
        return self.names.setdefault(name, len(self.names) + 1)

    def event(self, name, start, duration, own=0, parent=0):
        event = number(1, self.name(name)) + number(2, start * 1_000_000) + number(3, duration * 1_000_000)
        if own:
            event += message(4, number(1, self.ID) + number(3, own))
        if parent:
            event += message(4, number(1, self.PARENT_ID) + number(3, parent))
        return message(4, event)

    def line(self, *events):
        self.lines += 1
        self.parts.append(message(3, number(1, self.lines) + text(2, 'python') + b''.join(events)))

    def element(self, first_id, start):
        """A GetNext call of a pipeline Root > Map, 90 us long, as events of one line."""
        return [self.event('IteratorGetNextOp::DoCompute', start, 90),
                self.event('Iterator::Root', start + 1, 88, first_id),
                self.event('Iterator::Root::Map', start + 2, 86, first_id + 1, first_id)]

    def finish(self):
        for name, key in self.names.items():
            self.parts.append(message(4, number(1, key) + message(2, number(1, key) + text(2, name))))
        self.file.write(message(1, b''.join(self.parts)))
