#!/bin/sh
# Outlives this script, as a server that the agent starts does.
sh -c 'echo $$ > pid; echo ready > said; exec sleep 1000' > /dev/null 2>&1 &
until [ -s said ]; do sleep 0.1; done
