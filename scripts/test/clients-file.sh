#!/bin/sh
# Prints a file of clients with so many lines: names and networks in turn, each hundredth exempt.
# Usage: clients-file.sh LINES
set -eu

awk -v lines="$1" 'BEGIN {
    for (line = 1; line <= lines; line++) {
        client = line % 2 ? sprintf("\"customer %d\"", line) : sprintf("10.%d.%d.%d/29", line / 16384 % 256, line / 64 % 256, line * 4 % 256)
        if (line % 100 == 0) client = sprintf("\"customer %d\"", line)
        print client " = " (line % 100 ? line : "none")
    }
}'
