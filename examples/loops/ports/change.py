#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR MIT
"""change.py OURS FILE NAME...: replace functions of FILE by functions of OURS

NAME replaces the function of that name in FILE. +NAME adds a function of OURS before the next
function that is replaced. -NAME removes a function from FILE. A function ends with its last brace.
"""
import re
import sys


def find(text, name):
    """Return the places in the text at which the definition of a function begins and ends."""
    for match in re.finditer(r'^(?:[\w][^\n;{}()]*\n?)?[^\n;{}()]*\b%s\s*\(' % re.escape(name), text, re.M):
        at, depth = match.end(), 1
        while depth:
            depth += {'(': 1, ')': -1}.get(text[at], 0)
            at += 1
        if not re.match(r'[\w\s]*\{', text[at:]):
            continue
        at = text.index('{', at) + 1
        depth = 1
        while depth:
            depth += {'{': 1, '}': -1}.get(text[at], 0)
            at += 1
        return match.start(), at
    sys.exit(f'change.py: no function {name}')


ours, path, *names = sys.argv[1:]
with open(ours) as file:
    ours = file.read()
with open(path) as file:
    text = file.read()
added = ''
for name in names:
    function = name.lstrip('+-')
    if name[0] != '-':
        begin, end = find(ours, function)
        new = ours[begin:end]
    if name[0] == '+':
        added += new + '\n\n'
        continue
    begin, end = find(text, function)
    if name[0] == '-':
        new = ''
    elif added:
        new, added = added + new, ''
    text = text[:begin] + new + text[end:]
with open(path, 'w') as file:
    file.write(text)
