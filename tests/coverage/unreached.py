#!/usr/bin/env python3
"""unreached.py COVERAGE.json BUILD: of gcovr's report, how many lines are reached, and the text of those that are not.

A line that counts as unreached though no block of it was left out but what runs while an exception passes (a handler, a
destructor on the way; gcov's `unexecuted_block` is false) is listed apart: gcov's count of such a line can be 0 where
its ordinary code ran.
"""
import collections
import json
import pathlib
import subprocess
import sys


def lines_with_ordinary_code_left_out(unreached, build):
    """Of the lines {file: numbers}, those of which gcov says that a block outside of exceptions' ways was not run."""
    names = {pathlib.Path(file).name.encode() for file in unreached}
    found = collections.defaultdict(set)
    for counters in build.rglob('*.gcda'):
        notes = counters.with_suffix('.gcno').read_bytes()
        if not any(name in notes for name in names):
            continue
        output = subprocess.run(['gcov', '--json-format', '--stdout', counters], cwd=build, capture_output=True, check=True)
        report = json.loads(output.stdout)
        for file in report['files']:
            path = (pathlib.Path(report['current_working_directory']) / file['file']).resolve()
            name = str(path.relative_to(pathlib.Path.cwd())) if path.is_relative_to(pathlib.Path.cwd()) else ''
            found[name] |= {line['line_number'] for line in file['lines'] if line['unexecuted_block']}
    return {(name, number) for name in unreached for number in unreached[name] if number in found[name]}


def main():
    files = json.load(open(sys.argv[1]))['files']
    lines = {file['file']: [line for line in file['lines'] if not line.get('gcovr/noncode')] for file in files}
    unreached = {name: [line['line_number'] for line in of if line['count'] == 0] for name, of in lines.items()}
    unreached = {name: numbers for name, numbers in sorted(unreached.items()) if numbers}
    count, missed = sum(map(len, lines.values())), sum(map(len, unreached.values()))
    ordinary = lines_with_ordinary_code_left_out(unreached, pathlib.Path(sys.argv[2]).resolve())
    print(f'{count - missed:,} of {count:,} lines are reached ({100 * (count - missed) / count:.1f} %)')
    for title, wanted in ((f'{len(ordinary)} lines with code that was not run:', True),
                          (f'{missed - len(ordinary)} of which only what runs while an exception passes was not:', False)):
        print(title)
        for name, numbers in unreached.items():
            text = open(name).read().split('\n')
            for number in numbers:
                if ((name, number) in ordinary) == wanted:
                    print(f'  {name}:{number}: {text[number - 1].strip()}')


if __name__ == '__main__':
    main()
