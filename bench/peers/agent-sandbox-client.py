"""Makes the calls of the bench with the published client of agent-sandbox: `ROOT REST_PORT GRPC_PORT`."""
import os
import sys

import grpc
from k8s_agent_sandbox.commands._process_stubs import process_pb2, process_pb2_grpc
from k8s_agent_sandbox.models import SandboxdInClusterConnectionConfig
from k8s_agent_sandbox.sandbox import Sandbox
from sdk_calls import serve

root, *ports = sys.argv[1:]
rest, processes = map(int, ports)
# The client asks the API of Kubernetes for a service once, and for the address of a pod before each command.
config = SandboxdInClusterConnectionConfig(mode="in-cluster-service", rest_port=rest, grpc_port=processes)
sandbox = Sandbox("claim", "box", "default", config)
# The client never calls Start.
stub = process_pb2_grpc.ProcessServiceStub(grpc.insecure_channel(f"127.0.0.1:{processes}"))


def run(script):
    yield sandbox.commands.run(script).exit_code


def follow(script):
    config = process_pb2.ProcessConfig(command=["/bin/sh", "-c", script])
    for event in stub.Start(process_pb2.StartRequest(config=config)):
        if event.WhichOneof("event") == "stdout":
            yield len(event.stdout)


def upload(target, source):
    with open(source, "rb") as file:
        sandbox.files.write(os.path.relpath(target, root), file)
    yield 0


class Sink:
    def write(self, content):
        return len(content)


def download(path):
    yield sandbox.files.read_to(os.path.relpath(path, root), Sink())


serve(run=run, follow=follow, upload=upload, download=download)
