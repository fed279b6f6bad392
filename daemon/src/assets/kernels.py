"""Prints one line of JSON about the Jupyter kernels of this interpreter and the image, and imports none of them.

docs/protocols/interpreter.md describes the keys. Runs on Python 3.8 and newer, and imports little of the standard
library, because it runs before the first kernel can start.
"""

import json
import os
import sys

# Each is in this directory as a package, and beside it as a directory with the version in its name.
PACKAGES = ('ipykernel', 'jupyter_client', 'zmq')
DISTRIBUTIONS = {'zmq': 'pyzmq'}
# Without the history database of the account, and without a pause before each reply, a cell takes half the time.
# `%history` still shows the cells of this kernel.
IPYKERNEL_ARGUMENTS = ['--HistoryManager.enabled=False', '--IPythonKernel._execute_sleep=0']
INTERPRETER_NAMES = {'python', 'python%d' % sys.version_info[0], 'python%d.%d' % sys.version_info[:2]}


def user_site():
    """The account's own packages; -I hides them from this process, but not from its kernels."""
    import site

    return None if sys.prefix != sys.base_prefix else site.getusersitepackages()


def package_directories():
    """The directories of packages, including those that do not exist yet."""
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
    """Reads `<distribution>-<version>.dist-info`, because importlib.metadata is slower than everything else here."""
    for name in os.listdir(directory):
        stem, extension = os.path.splitext(name)
        words = stem.split('-')
        if extension in ('.dist-info', '.egg-info') and len(words) > 1 and words[0].lower() == distribution:
            return words[1]
    return ''


def kernel_directories():
    """The directories of kernelspecs, in the order of Jupyter's own search path."""
    home = os.path.expanduser('~')
    user = os.environ.get('JUPYTER_DATA_DIR') or os.path.join(
        os.environ.get('XDG_DATA_HOME') or os.path.join(home, '.local', 'share'), 'jupyter'
    )
    data = [path for path in os.environ.get('JUPYTER_PATH', '').split(os.pathsep) if path]
    image = ['/usr/local/share/jupyter', '/usr/share/jupyter']
    own = [path for path in [os.path.join(sys.prefix, 'share', 'jupyter')] if path not in image]
    # Programs of a virtual environment prefer its kernels to those of the account.
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
        return []  # Most directories of the search path do not exist, and an unreadable one offers no kernels.


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
        # Jupyter replaces this word by its own interpreter, whatever PATH has.
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
        # A kernel that is a Python module is based on ipykernel, which supports sockets in the file system.
        'transport': 'ipc' if is_python_module else 'tcp',
    }


def own_kernel():
    """Jupyter offers an ipykernel of its own interpreter even without a kernelspec."""
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
    """Modification times as text, because JavaScript numbers cannot hold them; null for a missing path."""
    changed = {}
    for path in paths:
        try:
            changed[path] = str(os.stat(path).st_mtime_ns)
        except OSError:
            changed[path] = None  # It matters when it comes to be there.
    return changed


def main():
    packages, places = package_directories(), kernel_directories()
    # Taken first, so that a later installation shows as a change.
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
