#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Speak the kubelet's side of the Container Runtime Interface.

    cri.py --sock SOCKET METHOD [JSON]     print the answer as JSON
    cri.py --sock SOCKET                   list the methods

Debian has no crictl, and no copy of the interface's .proto file. But every
containerd carries the schema, as a gzipped FileDescriptorProto that the Go
protobuf library registers at its start: it is read from there, so that the
client always speaks the version of the daemon under test, and kept beside the
socket. Needs Debian's python3-grpcio and python3-protobuf, nothing generated.
"""
import json
import os
import sys
import zlib

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf import json_format, message_factory
from google.protobuf.message import DecodeError

GZIP = b"\x1f\x8b\x08\x00"
LARGEST = 1 << 20


def find_schema(binary, package):
    """The package's descriptor out of a Go program."""
    with open(binary, "rb") as file:
        data = file.read()
    at = data.find(GZIP)
    while at >= 0:
        try:
            stream = zlib.decompressobj(31)
            raw = stream.decompress(data[at:at + LARGEST])
            if stream.eof:
                found = descriptor_pb2.FileDescriptorProto.FromString(raw)
                if found.package == package and found.service:
                    return found
        except (zlib.error, DecodeError):
            pass
        at = data.find(GZIP, at + len(GZIP))
    raise SystemExit(f"cri.py: no schema of {package} in {binary}")


def load_schema(binary, package, kept):
    """The same, from the file @kept where an earlier call left it."""
    schema = descriptor_pb2.FileDescriptorProto()
    try:
        with open(kept, "rb") as file:
            schema.ParseFromString(file.read())
    except OSError:
        schema = find_schema(binary, package)
        with open(f"{kept}.{os.getpid()}", "wb") as file:
            file.write(schema.SerializeToString())
        os.rename(file.name, kept)
    return schema


def strip_options(message):
    """Drop the options, whose gogoproto extensions are not registered."""
    is_map = message.options.map_entry
    message.ClearField("options")
    if is_map:
        message.options.map_entry = True
    for field in message.field:
        field.ClearField("options")
    for nested in message.nested_type:
        strip_options(nested)


class Cri:
    """One connection: call("RunPodSandbox", {...}) -> dict."""

    def __init__(self, sock, binary="/usr/bin/containerd"):
        schema = load_schema(binary, "runtime.v1", f"{sock}.schema")
        del schema.dependency[:]
        schema.ClearField("options")
        for message in schema.message_type:
            strip_options(message)
        for enum in schema.enum_type:
            enum.ClearField("options")
        for service in schema.service:
            for method in service.method:
                method.ClearField("options")
        pool = descriptor_pool.DescriptorPool()
        pool.Add(schema)
        self.factory = message_factory.MessageFactory(pool)
        self.methods = {}
        for service in schema.service:
            described = pool.FindServiceByName(
                f"{schema.package}.{service.name}")
            for method in described.methods:
                self.methods[method.name] = (described.full_name, method)
        self.channel = grpc.insecure_channel(
            f"unix://{sock}",
            options=[("grpc.default_authority", "localhost")])

    def call(self, name, request, timeout_s=60):
        service, method = self.methods[name]
        request_class = self.factory.GetPrototype(method.input_type)
        answer_class = self.factory.GetPrototype(method.output_type)
        stub = self.channel.unary_unary(
            f"/{service}/{name}",
            request_serializer=request_class.SerializeToString,
            response_deserializer=answer_class.FromString)
        answer = stub(json_format.ParseDict(request, request_class()),
                      timeout=timeout_s)
        return json_format.MessageToDict(
            answer, preserving_proto_field_name=True)


def main():
    args = sys.argv[1:]
    if len(args) < 2 or args[0] != "--sock":
        raise SystemExit(__doc__)
    cri = Cri(args[1])
    if len(args) == 2:
        print("\n".join(sorted(cri.methods)))
        return
    if args[2] not in cri.methods:
        raise SystemExit(f"cri.py: no method {args[2]}")
    try:
        request = json.loads(args[3]) if len(args) > 3 else {}
        print(json.dumps(cri.call(args[2], request), indent=1))
    except grpc.RpcError as error:
        raise SystemExit(f"cri.py: {args[2]}: {error.details()}") from error


if __name__ == "__main__":
    main()
