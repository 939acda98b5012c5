#!/usr/bin/env python3
"""unreached.py COVERAGE.json: of gcovr's report, how many lines are reached, and the text of those that are not."""
import json
import sys


def main():
    files = json.load(open(sys.argv[1]))['files']
    lines = {file['file']: [line for line in file['lines'] if not line.get('gcovr/noncode')] for file in files}
    unreached = {name: [line['line_number'] for line in of if line['count'] == 0] for name, of in lines.items()}
    count, missed = sum(map(len, lines.values())), sum(map(len, unreached.values()))
    print(f'{count - missed:,} of {count:,} lines are reached ({100 * (count - missed) / count:.1f} %)')
    for name, numbers in sorted(unreached.items()):
        text = open(name).read().split('\n') if numbers else []
        for number in numbers:
            print(f'{name}:{number}: {text[number - 1].strip()}')


if __name__ == '__main__':
    main()
