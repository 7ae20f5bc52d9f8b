# SPDX-License-Identifier: Apache-2.0
"""The servers of one host of the small internet.

    servers.py FOLDER HOST

HOST is a row of ROLES. What reached it is logged to FOLDER/HOST.log, one line
each: the protocol, the peer, and what it said. FOLDER/HOST.ready appears when
every port is open. Python's minimal package is enough to run this.
"""

import os
import socket
import ssl
import struct
import sys
import threading

FOLDER, HOST = sys.argv[1:3]

A, NS, CNAME, AAAA = 1, 2, 5, 28
TYPES = {"A": A, "NS": NS, "CNAME": CNAME, "AAAA": AAAA}
NOERROR, FORMERR, SERVFAIL, NXDOMAIN = 0, 1, 2, 3

LOG = os.open(f"{FOLDER}/{HOST}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)


def log(proto, peer, text):
    # One write a line: many threads share the file.
    address = peer[0].removeprefix("::ffff:")
    os.write(LOG, f"{proto} {address} {peer[1]} {text}\n".encode())


# ---------------------------------------------------------------- names


def read_zone():
    """Rows (name, type, value, ttl) of this internet's copy of the zone."""
    with open(f"{FOLDER}/zone", encoding="ascii") as file:
        for line in file:
            row = line.split("#")[0].split()
            if row:
                yield row[0], TYPES[row[1]], row[2], int((row + [60])[3])


def encode_name(name):
    labels = [label.encode() for label in name.split(".") if label]
    return b"".join(bytes([len(label)]) + label for label in labels) + b"\0"


def decode_question(query):
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode("latin-1"))
        at += 1 + query[at]
    (qtype,) = struct.unpack("!H", query[at + 1 : at + 3])
    return ".".join(labels), qtype, query[12 : at + 5]


def encode_value(rtype, value):
    if rtype == CNAME:
        return encode_name(value)
    family = socket.AF_INET if rtype == A else socket.AF_INET6
    return socket.inet_pton(family, value)


def response(query, question, rcode, records):
    head = struct.pack("!2sHHHHH", query[:2], 0x8580 | rcode, 1, len(records), 0, 0)
    body = b"".join(
        encode_name(name) + struct.pack("!HHIH", rtype, 1, ttl, len(data)) + data
        for name, rtype, ttl, data in records
    )
    return head + question + body


def delegated(zone, name):
    for owner, rtype, value, _ in zone:
        if rtype == NS and (name == owner or name.endswith("." + owner)):
            return value
    return None


def forward(query, server):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(2)
        sock.sendto(query, (server, 53))
        return sock.recv(4096)


def answer_zone(query):
    """What the internet's own name server says."""
    name, qtype, question = decode_question(query)
    name, zone = name.lower(), list(read_zone())
    server = delegated(zone, name)
    if server:
        return forward(query, server)
    records, known = [], False
    for _ in range(8):
        rows = [row for row in zone if row[0] == name]
        known = known or bool(rows)
        found = [row for row in rows if row[1] in (qtype, CNAME)]
        records += [(n, t, ttl, encode_value(t, v)) for n, t, v, ttl in found]
        if not found or found[0][1] != CNAME:
            break
        name = found[0][2]
    return response(query, question, NOERROR if known else NXDOMAIN, records)


def answer_mine(query):
    """What an attacker's server says: every name is its own address."""
    name, qtype, question = decode_question(query)
    mine = {A: ADDRESSES[HOST][0], AAAA: ADDRESSES[HOST][1]}.get(qtype)
    records = [(name, qtype, 60, encode_value(qtype, mine))] if mine else []
    return response(query, question, NOERROR, records)


def dns_reply(proto, peer, query, answer):
    try:
        name, qtype, _ = decode_question(query)
    except (IndexError, struct.error):
        return query[:2] + struct.pack("!HHHHH", 0x8000 | FORMERR, 0, 0, 0, 0)
    log(f"dns-{proto}", peer, f"{name} {qtype}")
    try:
        return answer(query)
    except OSError:
        return query[:2] + struct.pack("!HHHHH", 0x8000 | SERVFAIL, 0, 0, 0, 0)


def datagrams(sock):
    """Each datagram, its sender, and a function that answers it from the
    address that it was sent to: a host with two legs must not choose."""
    while True:
        data, controls, _, peer = sock.recvmsg(4096, 64)
        back = [(c[0], c[1], c[2][:16] + bytes(4)) for c in controls]
        yield data, peer, lambda text, p=peer, b=back: sock.sendmsg([text], b, 0, p)


def dns_udp(sock, answer):
    for query, peer, reply in datagrams(sock):
        reply(dns_reply("udp", peer, query, answer))


def dns_tcp(conn, peer, answer):
    head = conn.recv(2, socket.MSG_WAITALL)
    query = conn.recv(struct.unpack("!H", head)[0], socket.MSG_WAITALL)
    reply = dns_reply("tcp", peer, query, answer)
    conn.sendall(struct.pack("!H", len(reply)) + reply)


# ---------------------------------------------------------------- the rest


def http(conn, peer, www):
    """One request, answered from the folder www: path + ".get" is a file."""
    data = b""
    while b"\r\n\r\n" not in data and len(data) < 65536:
        more = conn.recv(4096)
        if not more:
            break
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    line, _, fields = head.decode("latin-1").partition("\r\n")
    for field in fields.split("\r\n"):
        key, _, value = field.partition(":")
        while key.lower() == "content-length" and len(body) < min(int(value), 65536):
            body += conn.recv(4096) or b"\0" * 65536
    log("http", peer, f"{line} {body!r}")
    path = (line.split(" ") + ["/", "/"])[1].split("?")[0]
    status, text = "200 OK", f"{HOST} here\n".encode()
    if www:
        try:
            with open(f"{www}/{path.strip('/').replace('/', '_')}", "rb") as file:
                text = file.read()
        except OSError:
            status = "404 Not Found" if path != "/" else status
    conn.sendall(
        f"HTTP/1.1 {status}\r\nContent-Length: {len(text)}\r\n"
        f"Connection: close\r\n\r\n".encode() + text
    )


def stream(conn, peer, context, www):
    """A connection to any port: TLS or not, HTTP or whatever it says."""
    first = conn.recv(1, socket.MSG_PEEK)
    if first == b"\x16" and context:
        conn = context.wrap_socket(conn, server_side=True)
    elif not first.isalpha():
        log("tcp", peer, repr(conn.recv(512)))
        conn.sendall(f"{HOST} here\n".encode())
        return
    http(conn, peer, www)


def echo_udp(sock):
    for data, peer, reply in datagrams(sock):
        log("udp", peer, repr(data))
        reply(data)


def serve(handle, conn, peer, *args):
    with conn:
        conn.settimeout(10)
        try:
            handle(conn, peer, *args)
        except (OSError, struct.error) as error:
            log("tcp", peer, f"ended: {error}")


def accept_all(sock, handle, *args):
    while True:
        conn, peer = sock.accept()
        threading.Thread(
            target=serve, args=(handle, conn, peer, *args), daemon=True
        ).start()


def bound(kind, port):
    sock = socket.socket(socket.AF_INET6, kind)
    sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(("::", port))
    if kind == socket.SOCK_STREAM:
        # Data in the SYN is welcome here: Fast Open must be given its chance.
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 16)
        sock.listen(1024)
    else:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
    return sock


def tls_context():
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{FOLDER}/{HOST}.pem")
        return context
    except OSError:
        return None


ADDRESSES = {
    "collect": ("192.31.196.77", "2001:4:112::77"),
    "evil": ("192.31.196.66", "2001:4:112::66"),
}

# which answers a host gives to names, and where else it listens (9 is where
# `internet` sends every other port of an attacker's host)
ROLES = {
    "dns": (answer_zone, ()),
    "api": (None, (80, 443, 8080)),
    "collect": (answer_mine, (9,)),
    "evil": (answer_mine, (9,)),
}


def main():
    answer, ports = ROLES[HOST]
    jobs = []
    if answer:
        jobs.append((dns_udp, bound(socket.SOCK_DGRAM, 53), answer))
        jobs.append((accept_all, bound(socket.SOCK_STREAM, 53), dns_tcp, answer))
    www = f"{FOLDER}/www" if HOST == "api" else None
    for port in ports:
        jobs.append((echo_udp, bound(socket.SOCK_DGRAM, port)))
        jobs.append(
            (accept_all, bound(socket.SOCK_STREAM, port), stream, tls_context(), www)
        )
    for job in jobs:
        threading.Thread(target=job[0], args=job[1:]).start()
    os.close(os.open(f"{FOLDER}/{HOST}.ready", os.O_WRONLY | os.O_CREAT))


main()
