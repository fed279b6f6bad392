"""Says in one line of JSON what this interpreter and the image have for kernels of Jupyter, and imports none of it.

docs/protocols/interpreter.md says what the keys mean. It runs on Python 3.8 and newer, with the standard library alone
and little of that, because it runs before the first kernel can start.
"""

import json
import os
import sys

# Each of them stands in this directory as a package, and beside it as a directory that has the version in its name.
PACKAGES = ('ipykernel', 'jupyter_client', 'zmq')
DISTRIBUTIONS = {'zmq': 'pyzmq'}
# Without its database of history on disk, which is the account's, and a pause before each reply, a cell takes half the
# time; what has run in this kernel is in `%history` all the same.
IPYKERNEL_ARGUMENTS = ['--HistoryManager.enabled=False', '--IPythonKernel._execute_sleep=0']
INTERPRETER_NAMES = {'python', 'python%d' % sys.version_info[0], 'python%d.%d' % sys.version_info[:2]}


def user_site():
    """Where an account installs for itself; -I hides it from this process, and not from its kernels."""
    import site

    return None if sys.prefix != sys.base_prefix else site.getusersitepackages()


def package_directories():
    """The directories that packages are in, also those that are not there yet."""
    paths = [path for path in sys.path if path.endswith('-packages')]
    own = user_site()
    return paths if own is None or own in paths else paths + [own]


def find_packages(directories):
    found = {}
    for package in PACKAGES:
        for directory in directories:
            if os.path.isfile(os.path.join(directory, package, '__init__.py')):
                found[package] = version_of(DISTRIBUTIONS.get(package, package), directory)
                break
    return found


def version_of(distribution, directory):
    """From the name of `<distribution>-<version>.dist-info`: importlib.metadata takes longer than all else here."""
    for name in os.listdir(directory):
        stem, extension = os.path.splitext(name)
        words = stem.split('-')
        if extension in ('.dist-info', '.egg-info') and len(words) > 1 and words[0].lower() == distribution:
            return words[1]
    return ''


def kernel_directories():
    """Where kernelspecs are looked for, first found first: the order of Jupyter's own search path."""
    home = os.path.expanduser('~')
    user = os.environ.get('JUPYTER_DATA_DIR') or os.path.join(
        os.environ.get('XDG_DATA_HOME') or os.path.join(home, '.local', 'share'), 'jupyter'
    )
    data = [path for path in os.environ.get('JUPYTER_PATH', '').split(os.pathsep) if path]
    image = ['/usr/local/share/jupyter', '/usr/share/jupyter']
    own = [path for path in [os.path.join(sys.prefix, 'share', 'jupyter')] if path not in image]
    # The programs of a virtual environment want what is in it before what the account has.
    data += own + [user] if sys.prefix != sys.base_prefix else [user] + own
    data += image
    paths = [os.path.join(path, 'kernels') for path in data] + [os.path.join(home, '.ipython', 'kernels')]
    return list(dict.fromkeys(os.path.abspath(path) for path in paths))


def find_kernels(directories, has_ipykernel):
    kernels, files = {}, []
    for directory in directories:
        for name in names_in(directory):
            file = os.path.join(directory, name, 'kernel.json')
            kernel = read_kernel(file)
            if kernel:
                files.append(file)
                kernels.setdefault(name.lower(), dict(kernel, name=name.lower()))
    if has_ipykernel and not any(kernel['program'] == sys.executable for kernel in kernels.values()):
        kernels.setdefault('python3', own_kernel())
    return list(kernels.values()), files


def names_in(directory):
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []  # Most places of the search path are not there, and the rest is nobody's business but their owner's.


def read_kernel(file):
    try:
        with open(file, encoding='utf-8') as text:
            spec = json.load(text)
        argv = [str(argument) for argument in spec['argv']]
        return describe(os.path.dirname(file), argv, spec)
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError):
        return None  # No kernelspec, or one that Jupyter could not start a kernel with either.


def describe(directory, argv, spec):
    is_python_module = argv[0].rsplit('/', 1)[-1].startswith('python') and '-m' in argv
    if argv[0] in INTERPRETER_NAMES:
        # Jupyter means the interpreter that it runs on itself, whatever PATH has.
        argv[0] = sys.executable
    if is_python_module and argv[argv.index('-m') + 1] in ('ipykernel', 'ipykernel_launcher'):
        argv = argv + IPYKERNEL_ARGUMENTS
    return {
        'directory': directory,
        'argv': [argument.replace('{resource_dir}', directory or '') for argument in argv],
        'program': find_program(argv[0]),
        'display_name': spec.get('display_name', ''),
        'language': str(spec.get('language', '')).lower(),
        'interrupt_mode': spec.get('interrupt_mode') or 'signal',
        'env': spec.get('env') or {},
        # Kernels that are a Python module stand on ipykernel, which has sockets in the file system; others may not.
        'transport': 'ipc' if is_python_module else 'tcp',
    }


def own_kernel():
    """Jupyter starts an ipykernel of its own interpreter also where no kernelspec names it."""
    argv = [sys.executable, '-m', 'ipykernel_launcher', '-f', '{connection_file}']
    spec = {'display_name': 'Python 3 (ipykernel)', 'language': 'python'}
    return dict(describe(None, argv, spec), name='python3')


def find_program(name):
    places = [''] if os.path.dirname(name) else os.environ.get('PATH', os.defpath).split(os.pathsep)
    for place in places:
        path = os.path.join(place, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def fingerprint(paths):
    """When each was changed last, as text, because it is more than a number of JavaScript holds; null: not there."""
    changed = {}
    for path in paths:
        try:
            changed[path] = str(os.stat(path).st_mtime_ns)
        except OSError:
            changed[path] = None  # It matters when it comes to be there.
    return changed


def main():
    packages, places = package_directories(), kernel_directories()
    # Before anything is looked at: what is installed meanwhile then shows as a change.
    before = fingerprint(packages + places)
    found = find_packages(packages)
    kernels, files = find_kernels(places, 'ipykernel' in found)
    answer = {
        'version': '%d.%d.%d' % sys.version_info[:3],
        'executable': sys.executable,
        'prefix': sys.prefix,
        'packages': found,
        'kernels': kernels,
        'fingerprint': dict(before, **fingerprint(files)),
    }
    print(json.dumps(answer))


main()
