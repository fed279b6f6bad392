"""Answers the calls of the bench: a call on each line in, its numbers on lines out, sixteen calls at once."""
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor


def serve(**calls):
    """Each call is a generator of numbers."""

    def make(line):
        number, name, *words = json.loads(line)
        try:
            for value in calls[name](*words):
                answer(number, value)
            answer(number, None)
        except Exception as error:
            answer(number, str(error))

    with ThreadPoolExecutor(16) as threads:
        for line in sys.stdin:
            threads.submit(make, line)


def answer(number, value):
    os.write(1, f"{json.dumps([number, value])}\n".encode())
