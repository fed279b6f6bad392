#!/bin/sh
[ "$(sh greet.sh Ada)" = 'Hello, Ada' ] && reward=1 || reward=0
echo $reward > /logs/verifier/reward.txt
