"""The program on a terminal."""
import os
import pty
import struct
import subprocess
import termios
from fcntl import ioctl

from program import find_program


def on_terminal(*arguments, columns=80, cwd=None, status=0, **environment):
    """What a terminal of that width gets, stdout and stderr together."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    base = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM", "COLUMNS")}
    with subprocess.Popen([find_program(), *map(str, arguments)], stdin=theirs, stdout=theirs, stderr=theirs, cwd=cwd,
                          env={**base, "TERM": "xterm", **environment}) as running:
        os.close(theirs)
        parts = []
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # how Linux says that the other end is closed
                break
            if not part:
                break
            parts.append(part)
        assert running.wait(60) == status
    os.close(ours)
    return b"".join(parts).decode()
