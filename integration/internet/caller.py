# SPDX-License-Identifier: Apache-2.0
"""Connect and send to a sandbox, over and over, as an attacker outside would.

    caller.py OWN-ADDRESS ADDRESS PORT [FROM-PORT]

Ends after a minute, or when it is killed.
"""

import socket
import sys
import time

own, address, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
from_port = int((sys.argv + [""])[4] or 0)


def call(kind):
    with socket.socket(socket.AF_INET, kind) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setblocking(False)
        try:
            sock.bind((own, from_port))
            sock.connect((address, port))
            sock.send(b"calling")
        except OSError:
            pass
        time.sleep(0.002)


end = time.monotonic() + 60
while time.monotonic() < end:
    call(socket.SOCK_STREAM)
    call(socket.SOCK_DGRAM)
