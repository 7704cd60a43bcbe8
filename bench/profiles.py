"""Where the instructions go of what misses its goal: callgrind over the smallest input."""

import re
from dataclasses import dataclass

import counting
import goals

MOST_FUNCTIONS = 8
_LINE = re.compile(r'\s*[\d,]+ \(\s*([\d.]+)%\)\s+(?:.*?:)?([^:\s].*?)\s+\[[^\]]*\]$')


@dataclass(frozen=True)
class Profile:
    """The functions of a program in which most instructions are, own ones: (percent, name), largest first."""
    task: str
    program: str
    functions: tuple


def functions_of(annotated):
    """From what callgrind_annotate prints; arguments of functions and templates are left out, and so is SHA-256 (counting.py
    says why)."""
    found = []
    for line in annotated.splitlines():
        match = _LINE.match(line)
        if match and counting.SHA_256 not in match[2]:
            found.append((float(match[1]), short(match[2])))
    return tuple(found[:MOST_FUNCTIONS])


def short(name):
    """'doctor::(anonymous namespace)::Reader<int>::read(char const*)' -> 'Reader::read'."""
    name = name.replace('(anonymous namespace)::', '').replace('doctor::', '')
    while '<' in name and (shorter := re.sub(r'<[^<>]*>', '', name)) != name:
        name = shorter
    return name.split('(')[0].split(' ')[-1] or name


def missed(judgements):
    """(task, program) of every goal that is not met and is one of time."""
    timed = [goal for goal in goals.GOALS if isinstance(goal, (goals.Ratio, goals.Seconds))]
    texts = {(judged.text, judged.size) for judged in judgements if judged.status == goals.NOT_MET}
    found = []
    for goal in timed:
        ours = goal.of if 'XProf' not in goal.of else goal.to
        if any(text == goal.text and goal.size in ('', size) for text, size in texts) and ours not in found:
            found.append(ours)
    return found


def profile(key, command):
    """None where valgrind is not there or the program failed."""
    if not counting.is_possible():
        return None
    try:
        _, annotated = counting.profile(command)
    except counting.CommandFailed:
        return None
    functions = functions_of(annotated)
    return Profile(*key, functions) if functions else None
