"""Claims a sandbox with the published client: `DEFINITIONS MANIFESTS REST_PORT GRPC_PORT`, with KUBECONFIG.

A kubelet is played: each pod is reported as running, at the address of loopback.
"""
import json
import pathlib
import sys
import threading
import warnings
from datetime import datetime, timezone

import yaml
from k8s_agent_sandbox import SandboxClient
from k8s_agent_sandbox.models import SandboxdInClusterConnectionConfig
from kubernetes import client, config, dynamic, watch

warnings.simplefilter("ignore")  # The certificate of the server is its own.
definitions, manifests, *ports = sys.argv[1:]
rest, grpc = map(int, ports)
namespace = "boxkeep"
config.load_kube_config()
core = client.CoreV1Api()
api = dynamic.DynamicClient(client.ApiClient())


def tell(name, value):
    print(json.dumps([name, value]), flush=True)


def apply(text):
    for body in yaml.safe_load_all(text):
        kind = api.resources.get(api_version=body["apiVersion"], kind=body["kind"])
        kind.create(body=body, namespace=body["metadata"].get("namespace"))


def is_established(name):
    made = client.ApiextensionsV1Api().read_custom_resource_definition(name)
    return any(one.type == "Established" and one.status == "True" for one in made.status.conditions or [])


def define():
    names = []
    for path in sorted(pathlib.Path(definitions).glob("*.yaml")):
        text = path.read_text()
        apply(text)
        names.append(yaml.safe_load(text)["metadata"]["name"])
    for event in watch.Watch().stream(client.ApiextensionsV1Api().list_custom_resource_definition):
        if all(map(is_established, names)):
            return


def play_kubelet():
    for event in watch.Watch().stream(core.list_namespaced_pod, namespace):
        pod = event["object"]
        if event["type"] == "DELETED" or pod.status.phase == "Running":
            continue
        now = datetime.now(timezone.utc).isoformat()
        types = ("Initialized", "PodScheduled", "ContainersReady", "Ready")
        conditions = [{"type": one, "status": "True", "lastTransitionTime": now} for one in types]
        address = {"podIP": "127.0.0.1", "podIPs": [{"ip": "127.0.0.1"}]}
        status = {"phase": "Running", "startTime": now, "conditions": conditions, **address}
        core.patch_namespaced_pod_status(pod.metadata.name, namespace, {"status": status})


define()
tell("defined", None)
api = dynamic.DynamicClient(client.ApiClient())  # The old one does not know the definitions.
apply(pathlib.Path(manifests).read_text())
threading.Thread(target=play_kubelet, daemon=True).start()
claims = api.resources.get(api_version="extensions.agents.x-k8s.io/v1beta1", kind="SandboxClaim")
boxes = api.resources.get(api_version="agents.x-k8s.io/v1beta1", kind="Sandbox")
place = SandboxdInClusterConnectionConfig(mode="in-cluster-pod-ip", rest_port=rest, grpc_port=grpc)
box = SandboxClient(connection_config=place).create_sandbox(warmpool="boxkeep", namespace=namespace)
tell("status", box.status()[0])
tell("service", boxes.get(name=box.sandbox_id, namespace=namespace).status.serviceFQDN)
run = box.commands.run("echo out; exit 3")
tell("run", [run.exit_code, run.stdout])
box.files.write("folder/file", b"text")
tell("file", box.files.read("folder/file").decode())
count = len(claims.get(namespace=namespace).items)
box.terminate()
tell("claims", [count, len(claims.get(namespace=namespace).items)])
