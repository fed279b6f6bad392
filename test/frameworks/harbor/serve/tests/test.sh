#!/bin/sh
kill -0 "$(cat pid)" && [ "$(cat said)" = ready ] && reward=1 || reward=0
echo $reward > /logs/verifier/reward.txt
