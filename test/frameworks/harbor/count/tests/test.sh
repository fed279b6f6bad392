#!/bin/sh
[ "$(cat lines.txt)" = 3 ] && reward=1 || reward=0
echo $reward > /logs/verifier/reward.txt
