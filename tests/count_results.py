#!/usr/bin/env python3
"""Counts single tests in the file of ctest --output-junit and prints "PASSED FAILED SKIPPED".

One ctest entry is a whole bats file or cmocka program; their own lines are counted, so that a
case skipped inside a passing file shows. An entry that prints neither counts as one test, and
an entry that failed counts at least one failure, however it died.
"""
import re
import sys
import xml.etree.ElementTree

BATS = re.compile(r'(not )?ok \d+ ')
BATS_SKIP = re.compile(r' # skip\b', re.IGNORECASE)
# Not the lines of the summary, "[  PASSED  ] 3 test(s)."
CMOCKA = re.compile(r'\[ +(OK|FAILED|SKIPPED) +\] +(?!\d+ test)(.+)')


def count_lines(text):
    passed = failed = skipped = 0
    named = {'OK': set(), 'FAILED': set(), 'SKIPPED': set()}
    for line in text.split('\n'):
        bats, cmocka = BATS.match(line), CMOCKA.match(line)
        if bats and bats[1]:
            failed += 1
        elif bats and BATS_SKIP.search(line):
            skipped += 1
        elif bats:
            passed += 1
        elif cmocka:
            # By name: cmocka's summary, at any place among the lines, tells names again.
            named[cmocka[1]].add(cmocka[2])
    return passed + len(named['OK']), failed + len(named['FAILED']), skipped + len(named['SKIPPED'])


def count_entry(entry):
    passed, failed, skipped = count_lines(entry.findtext('system-out', ''))
    status = entry.get('status')
    reason = entry.find('skipped')
    if status == 'run':
        return passed + (not passed + failed + skipped), failed, skipped
    if status == 'disabled' or (reason is not None and 'SKIP' in reason.get('message', '')):
        return passed, failed, skipped + (not skipped)
    return passed, failed + (not failed), skipped


def main():
    if len(sys.argv) != 2:
        sys.exit('usage: count_results.py JUNIT.xml')
    totals = [0, 0, 0]
    for entry in xml.etree.ElementTree.parse(sys.argv[1]).iter('testcase'):
        totals = [a + b for a, b in zip(totals, count_entry(entry))]
    print(*totals)


main()
