#!/bin/sh
# Builds and serves a page inside the sandbox, orders on the page by refs, and keeps a picture: sh flow.sh
set -e
api=localhost:18091/v2
here=$(dirname "$0")
# A call that fails ends the script.
curl() { command curl --fail-with-body "$@" && echo; }

# Build the page inside the sandbox, and serve it there.
for file in build.py menu.csv page.html; do
  curl -s "$api/fs/upload?path=/tmp/order/$file" --data-binary "@$here/$file"
done
curl -s $api/commands -d '{"command": "python3 build.py", "cwd": "/tmp/order"}'
page=$(curl -s $api/commands -d '{"command": "python3 -u -m http.server 8000 --bind 127.0.0.1 --directory build",
  "cwd": "/tmp/order", "mode": "async"}' | grep -o '"command_id":"[^"]*"' | cut -d '"' -f 4)
trap 'curl -s -X POST $api/commands/$page/kill' EXIT
until curl -s $api/commands/$page | grep -q -e Serving -e '"status":"completed"'; do sleep 0.1; done

# Open the page and read it.
curl -s $api/browser/navigate -d '{"url": "http://127.0.0.1:8000/"}'
curl -s $api/browser/snapshot -d '{"format": "text"}'

# Fill and click by ref. The function finds the ref of an element by its role and name.
ref() {
  curl -s $api/browser/snapshot -d "{\"find\": {\"role\": \"$1\", \"name\": \"$2\"}}" |
    grep -o '"ref":"[^"]*"' | head -1 | cut -d '"' -f 4
}
curl -s $api/browser/fill -d "{\"ref\": \"$(ref textbox Name)\", \"value\": \"Ada\"}"
curl -s $api/browser/fill -d "{\"ref\": \"$(ref spinbutton Espresso)\", \"value\": \"2\"}"
curl -s $api/browser/fill -d "{\"ref\": \"$(ref combobox 'Pick up')\", \"value\": \"in an hour\"}"
curl -s $api/browser/click -d "{\"ref\": \"$(ref button Order)\"}"

# Wait for the result, read it, and keep a picture of the page.
curl -s $api/browser/snapshot -d '{"wait_for": {"text": "Thank you"}, "format": "text"}'
curl -s $api/browser/evaluate -d '{"expression": "document.querySelector(\"output\").textContent"}'
curl -s $api/browser/screenshot -o order.png
