"""The benchmark's driver; scripts/bench starts it. README.md says what is measured."""

import argparse
import os
import re
import shlex
import signal
import subprocess
import sys
import unittest

import batch
import checks
import costs
import goals
import growth
import machine
import newcomer
import package
import profiles
import pypi
import report
from commands import Commands
from counting import GOOD_STATUSES
from inputs import Inputs
from measuring import Measurement, NotRun, least, measure_alternating
from programs import SIZES, TASKS

SOURCE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(SOURCE)
BUILD = os.path.join(ROOT, 'build', 'bench')
#: Of programs that miss a goal in time, beside those of all programs.
RUNS_OF_MISSED = 9
QUICK_SIZES = ['10mb', '100mb']


def parse(arguments):
    def sizes(text):
        chosen = text.split(',')
        unknown = [size for size in chosen if size not in SIZES]
        if unknown:
            raise argparse.ArgumentTypeError('no size %s; there are %s' % (', '.join(unknown), ', '.join(SIZES)))
        return [size for size in SIZES if size in chosen]

    def pattern(text):
        try:
            return re.compile(text)
        except re.error as error:
            raise argparse.ArgumentTypeError('%s: %s' % (text, error)) from error

    def count(text):
        if not text.isdigit() or int(text) == 0:
            raise argparse.ArgumentTypeError('%s is no number of runs' % text)
        return int(text)

    parser = argparse.ArgumentParser(prog='scripts/bench', description='Times tfdata-doctor beside its alternatives and '
                                     'judges it by its goals. Builds preset bench first.')
    parser.add_argument('--quick', action='store_true', help='judge the goals that need no large input and no Python, '
                        'in less than a minute; exit with 1 if one is not met')
    parser.add_argument('--shapes', action='store_true', help='only see whether the work of every command grows with '
                        'the input for traces of many pipelines, threads, chained iterators and so on; exit with 1 if it '
                        'grows faster')
    parser.add_argument('--no-shapes', action='store_true', help='everything but the shapes, which take half an hour')
    parser.add_argument('--tool', metavar='FILE', help='with --shapes: measure this tfdata-doctor instead of the one of '
                        'preset bench')
    parser.add_argument('--sizes', type=sizes, metavar='SIZE,...', help='of %s (default: all)' % ','.join(SIZES))
    parser.add_argument('--only', type=pattern, metavar='REGEX', default='',
                        help='run only what matches, among TASK/PROGRAM as --list prints them, or SHAPE/COMMAND '
                        'with --shapes')
    parser.add_argument('--runs', type=count, metavar='N', help='of each program (default: 3)')
    parser.add_argument('--pypi', action='store_true', help='run the baselines from PyPI as well: %s; the environment '
                        'variable TFDATA_DOCTOR_BENCH_PYTHON names the Python to install them for' %
                        ', '.join(name for packages in pypi.PACKAGES.values() for name in packages))
    parser.add_argument('--output', metavar='FILE', help='write the tables there, too')
    parser.add_argument('--traces', type=count, metavar='N', help='so many traces of 44 KB for batch (default: %d)' %
                        batch.USUAL_TRACES)
    parser.add_argument('--list', action='store_true', help='print what would be run')
    parser.add_argument('--self-test', action='store_true', help="test the benchmark's own arithmetic")
    options = parser.parse_args(arguments)
    if options.quick and (options.pypi or options.sizes):
        parser.error('--quick takes neither --pypi nor --sizes')
    if options.shapes and (options.quick or options.pypi or options.sizes):
        parser.error('--shapes takes none of --quick, --pypi and --sizes')
    if options.tool and not options.shapes:
        parser.error('--tool needs --shapes')
    if options.output and not os.path.isdir(os.path.dirname(os.path.abspath(options.output))):
        parser.error('--output: there is no folder %s' % os.path.dirname(options.output))
    options.sizes = QUICK_SIZES if options.quick else options.sizes or list(SIZES)
    options.runs = options.runs or 3
    options.traces = options.traces or batch.USUAL_TRACES
    options.wants_batch = not options.quick and options.only.search('batch/tfdata-doctor') is not None
    options.wants_quickstart = not options.quick and options.only.search('build/quickstart') is not None
    options.wants_replays = not options.quick and not options.only.pattern and '10mb' in options.sizes
    options.wants_package = not options.quick and options.only.search('python/tfdata_doctor') is not None
    return options


def say(text):
    print('bench: ' + text, file=sys.stderr, flush=True)


def chosen_programs(task, options):
    return [program for program in task.programs
            if (program.in_quick or not options.quick) and options.only.search('%s/%s' % (task.name, program.name))]


def build():
    for command in (['cmake', '--preset', 'bench'], ['cmake', '--build', '--preset', 'bench']):
        process = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if process.returncode != 0:
            sys.exit('%s%s\nscripts/bench: %s failed, see above' % (process.stdout, process.stderr, ' '.join(command)))


def run_task(task, size, programs, runs, commands, inputs):
    """These programs of a task over one input: {(task, program, size): Measurement or NotRun}."""
    inputs.warm(size, task.suffix)
    file = inputs.path(size, task.suffix)
    input_bytes = inputs.uncompressed_bytes(size, task.suffix)
    planned = {program.name: commands.command(program, file, size, input_bytes) for program in programs}
    runnable = {program.name: (planned[program.name], GOOD_STATUSES if program.is_tool else (0,))
                for program in programs if not isinstance(planned[program.name], NotRun)}
    say('%s, %s: %s' % (task.name, size, ', '.join(runnable) or 'nothing to run'))
    measured = measure_alternating(commands.launcher, runnable, runs)
    return {(task.name, name, size): measured.get(name, command) for name, command in planned.items()}


def run_all(tasks, commands, inputs, options):
    results = {}
    inputs_mb = {}
    for size in options.sizes:
        for task in tasks:
            if size not in task.sizes(options.sizes):
                continue
            inputs.make(size, task.suffix, say)
            inputs_mb[(task.name, size)] = inputs.uncompressed_bytes(size, task.suffix) / 1e6
            results.update(run_task(task, size, chosen_programs(task, options), options.runs, commands, inputs))
    return results, inputs_mb


def rerun_missed(tasks, commands, inputs, results, missed):
    """`missed`: the (task, program, size) of goals in time that were missed. More turns tell whether it was a busy spell of
    the machine."""
    for task in tasks:
        for size in SIZES:
            programs = [program for program in task.programs if (task.name, program.name, size) in missed]
            again = run_task(task, size, programs, RUNS_OF_MISSED, commands, inputs) if programs else {}
            results.update({key: least(results[key], taken) for key, taken in again.items()
                            if isinstance(taken, Measurement)})


def measure_at_once(commands, file):
    """One diagnosis, and two at once; nothing on one processor."""
    if os.cpu_count() < 2:
        return {}
    diagnosis = shlex.join([commands.places['tool'], '--threads', '1', file])
    shells = {goals.ONE_PROGRAM: '%s > /dev/null' % diagnosis,
              goals.TWO_PROGRAMS: '%s > /dev/null & %s > /dev/null; wait' % (diagnosis, diagnosis)}
    runnable = {(*key, ''): (['/bin/sh', '-c', shell], (0, 1)) for key, shell in shells.items()}
    return measure_alternating(commands.launcher, runnable, RUNS_OF_MISSED)


def check_all(tasks, commands, inputs, options, results):
    say('comparing answers')
    with_tool = [task for task in tasks if any(program.is_tool for program in chosen_programs(task, options))]
    made = list(dict.fromkeys((size, task.suffix) for task in with_tool for size in task.sizes(options.sizes)))
    same = list(dict.fromkeys((size, task.suffix) for task in with_tool if task.says_the_same
                              for size in task.sizes(options.sizes)))
    return [checks.same_work(tasks, options.sizes, results),
            checks.same_answers(commands, inputs, same),
            checks.same_reports(commands, inputs, made)]


def profile_missed(tasks, commands, inputs, options, judgements):
    """Of each program that misses a goal, over the smallest input."""
    size = options.sizes[0]
    missed = profiles.missed(judgements)
    found = []
    for task in tasks:
        for program in chosen_programs(task, options):
            if (task.name, program.name) in missed:
                say('profiling %s of %s' % (program.name, task.name))
                command = commands.command(program, inputs.path(size, task.suffix), size, 0)
                found.append(profiles.profile((task.name, program.name), command))
    return [one for one in found if one]


def exit_status(options, results, judgements, checked):
    """1 for what must not be overlooked: a failed program or check, and with --quick a goal that is not met."""
    failed = [key for key, result in results.items() if isinstance(result, NotRun) and result.is_failure]
    for task, program, size in failed:
        say('%s of %s at %s: %s' % (program, task, size, results[(task, program, size)].reason))
    is_bad = bool(failed) or any(check.is_good is False for check in checked)
    if options.quick:
        is_bad = is_bad or any(judged.status == goals.NOT_MET for judged in judgements)
    return 1 if is_bad else 0


def run_shapes(options, launcher, tool):
    """The growths of the shapes and commands that --only chooses."""
    chosen = growth.wanted(options.only)
    if not chosen:
        sys.exit('scripts/bench: no shape and command match --only %s' % options.only.pattern)
    growths = growth.measure_growth(growth.Grower(os.path.join(BUILD, 'shapes'), launcher, tool), chosen, say)
    if isinstance(growths, NotRun):
        sys.exit('scripts/bench: %s' % growths.reason)
    return growths


def only_shapes(options):
    launcher = os.path.join(BUILD, 'bench', 'measure_command')
    if options.tool is None or not os.path.exists(launcher):
        say('building')
        build()
    growths = run_shapes(options, launcher, options.tool or os.path.join(BUILD, 'tfdata-doctor'))
    text = report.shape_section(growths)
    print(text, end='')
    if options.output:
        with open(options.output, 'w', encoding='utf-8') as file:
            file.write(text)
    return 0 if all(one.is_linear for one in growths) else 1


def self_test():
    suite = unittest.defaultTestLoader.discover(SOURCE, pattern='*_test.py')
    if suite.countTestCases() == 0:
        sys.exit('scripts/bench: no tests found')
    return 0 if unittest.TextTestRunner().run(suite).wasSuccessful() else 1


def main(arguments):
    # An end by signal is an exception like an interrupt, so that no half-written input stays.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    options = parse(arguments)
    if options.self_test:
        return self_test()
    if options.shapes:
        return only_shapes(options)
    tasks = [task for task in TASKS if chosen_programs(task, options)]
    others = (['batch/tfdata-doctor'] * options.wants_batch + ['python/tfdata_doctor'] * options.wants_package +
              ['build/quickstart'] * options.wants_quickstart)
    if not tasks and not others:
        sys.exit('scripts/bench: nothing matches --only %s' % options.only.pattern)
    if options.list:
        programs = ['%s/%s' % (task.name, program.name) for task in tasks for program in chosen_programs(task, options)]
        print('\n'.join(programs + others))
        return 0

    say('building')
    build()
    pythons = {name: pypi.prepare(os.path.join(BUILD, 'python', name), packages, say) if options.pypi else
               NotRun('needs --pypi') for name, packages in pypi.PACKAGES.items()}
    commands = Commands(BUILD, SOURCE, pythons, ['/usr/bin/python3', sys.executable])
    inputs = Inputs(os.path.join(BUILD, 'inputs'), os.path.join(ROOT, 'testdata'), commands.places['bench'])
    load = os.getloadavg()[0]
    results, inputs_mb = run_all(tasks, commands, inputs, options)
    with_wall = not options.quick
    has_threads = any(program == goals.TWO_THREADS for _, program, _ in results)
    if with_wall and has_threads and '100mb' in options.sizes:
        inputs.make('100mb', 'xplane.pb', say)
        results.update(measure_at_once(commands, inputs.path('100mb', 'xplane.pb')))
    rerun_missed(tasks, commands, inputs, results, goals.missed_in_time(results, inputs_mb, with_wall))
    checked = check_all(tasks, commands, inputs, options, results)
    judgements = goals.judge_all(results, inputs_mb, with_wall)
    if options.wants_replays:
        judgements.append(costs.judge_replays(commands.places['tool'], inputs.path('10mb', 'xplane.pb'), '10mb'))
    batches = []
    if options.wants_batch:
        tool, trace = commands.places['tool'], os.path.join(ROOT, 'testdata', 'traces', batch.TRACE)
        batches = batch.measure_batches(commands.launcher, tool, trace, options.traces, options.runs, BUILD, say)
        judgements += batch.judge(batches, batch.instructions_of_a_trace(tool, trace),
                                  goals.slower_machine(results))
        judgements.append(batch.judge_feeding(batch.measure_feeding(commands.launcher, tool, trace, options.runs, say)))
    taken = {}
    if options.wants_package:
        taken = package.measure_package(commands.launcher, commands.places['tool'], ROOT, BUILD, say)
        judgements += package.judge(taken)
    quickstart = None
    if options.wants_quickstart:
        quickstart = newcomer.measure_quickstart(commands.launcher, ROOT, BUILD, say)
        judgements.append(newcomer.judge(quickstart))
    described = machine.describe(BUILD, isinstance(pythons['pypi'], str), load)
    grown = None
    if not options.quick and not options.only.pattern and not options.no_shapes:
        grown = run_shapes(options, commands.launcher, commands.places['tool'])
    profiled = [] if options.quick else profile_missed(tasks, commands, inputs, options, judgements)
    text = report.document(tasks, options.sizes, results, inputs_mb, judgements, checked, described, grown, profiled,
                           batches)
    print(text, end='')
    if options.output:
        with open(options.output, 'w', encoding='utf-8') as file:
            file.write(text)
    results.update({('batch', '%d jobs' % one.jobs, '%d traces' % one.traces): one.taken for one in batches})
    results[('build', 'quickstart', '')] = quickstart
    results.update({('python', name, '44 KB'): result for name, result in taken.items()})
    return exit_status(options, results, judgements, checked)


if __name__ == '__main__':
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit('scripts/bench: interrupted')
