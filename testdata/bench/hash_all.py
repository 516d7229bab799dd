# Reads every file below a folder whole and prints its SHA-256: the least that
# anybody does who wants to know whether files are still what they were.
import hashlib
import os
import sys

for folder, _, files in os.walk(sys.argv[1]):
    for name in sorted(files):
        path = os.path.join(folder, name)
        with open(path, "rb") as f:
            print(hashlib.sha256(f.read()).hexdigest(), path)
