#!/usr/bin/env python3
"""Redacts a session of Claude Code as somebody would in an afternoon: ten kinds of
tokens, in every string and name of the parsed lines, in two passes.

    redact_small.py SOURCE TARGET

A line that holds nothing is copied as it is; another one is written anew. What is
in base64 or hexadecimal digits, or in pieces, stays. Nothing is read again.
"""
import json
import re
import sys

RULES = [(name, re.compile(pattern)) for name, pattern in (
    ("github-pat", r"\bghp_[0-9a-zA-Z]{36}\b"),
    ("github-fine-grained-pat", r"\bgithub_pat_\w{82}\b"),
    ("gitlab-pat", r"\bglpat-[\w-]{20}\b"),
    ("aws-access-token", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b"),
    ("slack-bot-token", r"\bxoxb-[0-9]{10,13}-[0-9]{10,13}[a-zA-Z0-9-]*"),
    ("stripe-access-token", r"\b(?:sk|rk)_(?:test|live|prod)_[a-zA-Z0-9]{10,99}\b"),
    ("npm-access-token", r"\bnpm_[a-zA-Z0-9]{36}\b"),
    ("anthropic-api-key", r"\bsk-ant-api03-[a-zA-Z0-9_-]{93}AA\b"),
    ("jwt", r"\bey[a-zA-Z0-9]{17,}\.ey[a-zA-Z0-9/\\_-]{17,}\.[a-zA-Z0-9/\\_-]{10,}={0,2}"),
    ("generic-api-key", r"(?i)[\w.-]{0,50}?(?:access|api|auth|key|credential|creds|passwd|password|secret|token)[ \t\w.-]{0,20}[\s'\"]{0,3}(?:=|:|=>)[\s'\"=]{0,5}([\w.=-]{10,150})"),
)]


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from strings(one)
    elif isinstance(value, dict):
        for name, one in value.items():
            yield name
            yield from strings(one)


def random_enough(text):
    return len(set(text)) > 12 and any(c.isdigit() for c in text) and any(c.isalpha() for c in text)


def learn(source):
    values, counts = {}, {}
    with open(source, encoding="utf-8") as f:
        for line in f:
            for text in strings(json.loads(line)):
                for name, rule in RULES:
                    for m in rule.finditer(text):
                        value = m[m.lastindex or 0]
                        if value not in values and (name != "generic-api-key" or random_enough(value)):
                            counts[name] = counts.get(name, 0) + 1
                            values[value] = "redacted-%s-%d" % (name, counts[name])
    return values


def replaced(value, known, values):
    if isinstance(value, str):
        return known.sub(lambda m: values[m[0]], value)
    if isinstance(value, list):
        return [replaced(one, known, values) for one in value]
    if isinstance(value, dict):
        return {replaced(name, known, values): replaced(one, known, values) for name, one in value.items()}
    return value


def redact(source, target):
    values = learn(source)
    known = re.compile("|".join(sorted(map(re.escape, values), key=len, reverse=True)) or r"(?!)")
    with open(source, encoding="utf-8") as f, open(target, "w", encoding="utf-8", newline="\n") as out:
        for line in f:
            was = json.loads(line)
            now = replaced(was, known, values)
            out.write(line if now == was else json.dumps(now, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    redact(sys.argv[1], sys.argv[2])
