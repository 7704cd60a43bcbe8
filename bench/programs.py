"""What is run: the tasks and the programs of each, one table."""

from dataclasses import dataclass

# How often 10 MB go into each input.
SIZES = {'10mb': 1, '100mb': 10, '1gb': 100}

RECORDINGS_OF_A_SIDE = 5


@dataclass(frozen=True)
class Base:
    """A base trace in testdata/, compressed, and how many copies of it make 10 MB."""
    file: str
    copies: int = 1


# By the suffix of the inputs that are made of it.
BASES = {
    'trace.json': Base('bench/base.trace.json.gz'),
    'xplane.pb': Base('bench/base.xplane.pb.gz'),
    'gpu.xplane.pb': Base('bench/base.gpu.xplane.pb.gz', 9),
    'tf-gpu.xplane.pb': Base('field/gpu_multi_worker.xplane.pb.gz', 5),
}


@dataclass(frozen=True)
class Program:
    """One program of a task. In `command`, {file} is the input, {bench} and {tool} what was built, {pandas}, {pypi} and
    {nightly} a Python that has the package."""
    name: str
    role: str  # 'ours', 'baseline' or 'floor'
    command: tuple
    note: str = ''
    largest: str = '1gb'  # the largest input that it is given
    memory_factor: float = 0.1  # peak memory over uncompressed size, generously: it is not run where that is not free
    package: str = ''  # the Python package that it needs
    in_quick: bool = True
    is_tool: bool = False  # the tool: exits with 1 when it finds something
    processors: int = 1  # it is not run where there are fewer
    smallest: str = '10mb'  # the smallest input that it is given

    def python(self):
        """The Python that the command needs: 'pandas', 'pypi', 'nightly', or '' for none."""
        return next((name for name in ('pandas', 'pypi', 'nightly') if '{%s}' % name in self.command), '')


@dataclass(frozen=True)
class Task:
    """Programs that do the same work over the same inputs."""
    name: str
    title: str
    suffix: str  # of the inputs
    programs: tuple
    largest: str = '1gb'  # of the inputs that are made
    says_the_same: bool = True  # of any number of copies: not of a recording of one step

    def sizes(self, wanted):
        """Those of the inputs `wanted` that it is given."""
        return [size for size in wanted if SIZES[size] <= SIZES[self.largest]]


def built(program):
    return '{bench}/' + program, '{file}'


def tool(threads):
    """`--threads` is left out where the tool has no such option, see commands.py."""
    return '{tool}', 'diagnose', '--format', 'json', '-o', '/dev/null', '--threads', str(threads), '{file}'


def script(python, program):
    return '{%s}' % python, '{source}/' + program, '{file}'


def command(name, *arguments, traces=('{file}',), largest='100mb'):
    """One of the tool on one processor, so that its CPU time is that of the work alone."""
    return Program(name, 'ours', ('/usr/bin/taskset', '-c', '0', '{tool}', *arguments, '-o', '/dev/null', *traces),
                   largest=largest, is_tool=True, in_quick=False)


def many_threads(count):
    """Only of what takes long enough."""
    return Program('tfdata-doctor, %d threads' % count, 'ours', tool(count), is_tool=True, in_quick=False,
                   processors=count, smallest='1gb')


ONE_THREAD = Program('tfdata-doctor', 'ours', tool(1), is_tool=True)
TWO_THREADS = Program('tfdata-doctor, 2 threads', 'ours', tool(2), is_tool=True)
FLOOR_JSON = Program('floor', 'floor', built('floor_json'), 'read, simdjson stage 1')
FLOOR_GZIP = Program('floor', 'floor', built('floor_gzip'), 'read, ISA-L, simdjson stage 1')
FLOOR_XSPACE = Program('floor', 'floor', built('floor_xspace'), 'read, walk over planes, lines, events')

XPROF = Program('XProf', 'baseline', script('pypi', 'xprof_input_pipeline.py'), 'input_pipeline_analyzer',
                largest='100mb', memory_factor=20, package='xprof', in_quick=False)
XPROF_NIGHTLY = Program('XProf nightly', 'baseline', script('nightly', 'xprof_input_pipeline.py'),
                        'input_pipeline_analyzer', largest='100mb', memory_factor=20, package='xprof-nightly',
                        in_quick=False)
XPROF_RS = Program('xprof-rs', 'baseline', script('pypi', 'xprof_rs_overview.py'), 'get_overview', largest='100mb',
                   memory_factor=20, package='xprof-rs', in_quick=False)


def diagnosis_of_gpu(name, title, suffix, says_the_same):
    return Task(name, title, suffix, (ONE_THREAD, XPROF, XPROF_NIGHTLY, XPROF_RS, FLOOR_XSPACE), largest='100mb',
                says_the_same=says_the_same)


TASKS = (
    Task('aggregate-json', 'JSON: load + aggregate', 'trace.json', (
        Program('ours', 'ours', built('aggregate_ours_json')),
        Program('RapidJSON SAX', 'baseline', built('aggregate_rapidjson')),
        Program('simdjson On-Demand', 'baseline', built('aggregate_simdjson'), 'whole document', memory_factor=2.2,
                in_quick=False),
        Program('nlohmann SAX', 'baseline', built('aggregate_nlohmann'), in_quick=False),
        Program('json + pandas', 'baseline', script('pandas', 'aggregate_pandas.py'), largest='100mb', memory_factor=7,
                package='pandas', in_quick=False),
        Program('DuckDB', 'baseline', script('pypi', 'aggregate_duckdb.py'), 'no self time', largest='100mb',
                memory_factor=8, package='duckdb', in_quick=False),
        FLOOR_JSON,
    )),
    Task('aggregate-json-gz', 'JSON.gz: load + aggregate', 'trace.json.gz', (
        Program('ours', 'ours', built('aggregate_ours_json')),
        FLOOR_GZIP,
    )),
    Task('aggregate-xspace', 'XSpace: load + aggregate, ids and stats read', 'xplane.pb', (
        Program('ours', 'ours', built('aggregate_ours_xspace')),
        Program('protobuf Arena', 'baseline', built('aggregate_protobuf'), 'whole message tree', memory_factor=9),
        FLOOR_XSPACE,
    )),
    Task('diagnose-json', 'JSON: full diagnosis', 'trace.json', (ONE_THREAD, TWO_THREADS, FLOOR_JSON)),
    Task('diagnose-json-gz', 'JSON.gz: full diagnosis', 'trace.json.gz', (ONE_THREAD, TWO_THREADS, FLOOR_GZIP)),
    Task('diagnose-xspace', 'XSpace: full diagnosis', 'xplane.pb', (
        ONE_THREAD,
        TWO_THREADS,
        many_threads(8),
        many_threads(16),
        XPROF,
        XPROF_NIGHTLY,
        XPROF_RS,
        FLOOR_XSPACE,
    )),
    diagnosis_of_gpu('diagnose-gpu', 'XSpace of JAX on a GPU: full diagnosis', 'gpu.xplane.pb', True),
    diagnosis_of_gpu('diagnose-tf-gpu', 'XSpace of TensorFlow on GPUs: full diagnosis', 'tf-gpu.xplane.pb', False),
    Task('commands', 'XSpace: the other commands, on one thread', 'xplane.pb', (
        command('tfdata-doctor', largest='1gb'),
        command('query count(*)', 'query', 'SELECT count(*) FROM events', largest='1gb'),
        command('query group by', 'query', 'SELECT name, count(*), sum(duration_us) FROM events GROUP BY name ORDER BY 3 DESC'),
        command('convert csv', 'convert', '--format', 'csv'),
        command('convert ndjson', 'convert', '--format', 'ndjson'),
        command('convert chrome', 'convert', '--format', 'chrome'),
        command('html', 'diagnose', '--format', 'html'),
        command('whatif', 'whatif'),
        # One of a side holds the same as those before it, which is known once all are read.
        command('compare', 'compare', traces=('{file}',) * RECORDINGS_OF_A_SIDE + ('--',) + ('{file}',) * RECORDINGS_OF_A_SIDE,
                largest='10mb'),
        command('show ops', 'show', 'ops'),
        command('show steps', 'show', 'steps'),
        command('show calls', 'show', 'calls'),
    )),
)
