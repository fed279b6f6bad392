#!/bin/sh
grep -c '' words.txt > lines.txt
