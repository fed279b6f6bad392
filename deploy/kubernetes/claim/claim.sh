#!/bin/sh
# Claims a sandbox of the pool, runs the given command in it through its service, and releases the sandbox.
set -eu

account=${ACCOUNT_DIRECTORY:-/var/run/secrets/kubernetes.io/serviceaccount}
namespace=$(cat "$account/namespace")
apis=https://$KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT/apis
claims=$apis/extensions.agents.x-k8s.io/v1beta1/namespaces/$namespace/sandboxclaims
sandboxes=$apis/agents.x-k8s.io/v1beta1/namespaces/$namespace/sandboxes
claim=

# The token is read for each call, because it changes during the life of a pod.
call() {
  curl --silent --show-error --fail-with-body --max-time 30 --cacert "$account/ca.crt" \
    --header "Authorization: Bearer $(cat "$account/token")" --header 'Content-Type: application/json' "$@"
}

release() {
  if [ -n "$claim" ]; then call --request DELETE --output /dev/null "$claims/$claim"; fi
}
trap release EXIT
trap 'exit 143' TERM INT

# The time limit returns the sandbox also when this script is killed.
body=$(jq --null-input --arg pool "$POOL" '{
  apiVersion: "extensions.agents.x-k8s.io/v1beta1", kind: "SandboxClaim", metadata: {generateName: "job-"},
  spec: {warmPoolRef: {name: $pool},
    lifecycle: {shutdownTime: (now + 900 | floor | todate), shutdownPolicy: "Delete"}}}')
claim=$(call --data "$body" "$claims" | jq --raw-output .metadata.name)

ready='.status | select(any(.conditions[]?; .type == "Ready" and .status == "True")) | .sandbox.name'
tries=0
until sandbox=$(call "$claims/$claim" | jq --exit-status --raw-output "$ready"); do
  tries=$((tries + 1))
  if [ "$tries" -ge 600 ]; then
    echo "claim $claim got no sandbox within 5 minutes" >&2
    exit 1
  fi
  sleep 0.5
done

host=$(call "$sandboxes/$sandbox" | jq --raw-output .status.serviceFQDN)
echo "claim $claim has sandbox $sandbox at $host" >&2
# The name of a new service needs a moment to reach every resolver.
curl --silent --fail --output /dev/null --retry 30 --retry-delay 1 --retry-all-errors --max-time 5 "http://$host:8080/health"
boxkeep exec "$host:8080" -- "$@"
