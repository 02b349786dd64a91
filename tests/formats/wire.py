"""The protobuf wire format by hand, for files that no library would write."""
import struct


def varint(number, size=0):
    """A varint of at least `size` bytes: more than it needs is not minimal, but allowed."""
    out = bytearray()
    while number > 0x7F or len(out) + 1 < size:
        out.append((number & 0x7F) | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def key(field, wire_type):
    return varint(field << 3 | wire_type)


def integer(field, number):
    return key(field, 0) + varint(number & (1 << 64) - 1)


def real(field, number):
    return key(field, 5) + struct.pack("<f", number)


def text(field, data):
    data = data.encode() if isinstance(data, str) else bytes(data)
    return key(field, 2) + varint(len(data)) + data


# Fields of onnx.proto.
def model(graph, ir_version=8, opset=13, extra=b""):
    out = integer(1, ir_version) if ir_version is not None else b""
    out += text(7, graph) if graph is not None else b""
    out += text(8, text(1, "") + integer(2, opset)) if opset is not None else b""
    return out + extra


def node(op, inputs, outputs, *attributes, name="", domain=""):
    out = b"".join(text(1, i) for i in inputs) + b"".join(text(2, o) for o in outputs)
    out += text(3, name) if name else b""
    out += text(4, op) + b"".join(text(5, a) for a in attributes)
    return out + (text(7, domain) if domain else b"")


def info(name, dims=(1, 4), elem=1):
    shape = b"".join(text(1, text(2, d) if isinstance(d, str) else integer(1, d)) for d in dims)
    return text(1, name) + text(2, text(1, integer(1, elem) + text(2, shape)))


def tensor(name, dims, data_type, *fields):
    return b"".join(integer(1, d) for d in dims) + integer(2, data_type) + text(8, name) + b"".join(fields)


def graph(nodes=(), inputs=(), outputs=(), initializers=(), infos=(), extra=b"", name="g"):
    out = b"".join(text(1, n) for n in nodes) + text(2, name)
    out += b"".join(text(5, t) for t in initializers)
    out += b"".join(text(11, i) for i in inputs) + b"".join(text(12, o) for o in outputs)
    return out + b"".join(text(13, i) for i in infos) + extra


def attribute(name, type_number, *fields):
    return text(1, name) + b"".join(fields) + integer(20, type_number)


def small(nodes=None, **parts):
    """x -> Relu -> y, with other parts as given."""
    parts.setdefault("inputs", [info("x")])
    parts.setdefault("outputs", [info("y")])
    return graph(nodes if nodes is not None else [node("Relu", ["x"], ["y"], name="relu")], **parts)
