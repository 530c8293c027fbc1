# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PEP 517 backend of the package wsc; standard library only, Python 3.11 or later.

A wheel holds the Python files, the two native modules and, beside them, libwsc-runtime and libwsc-compiler; MLIR, LLVM
and the other libraries are the system's. They come from a build folder of the project: WSC_BUILD if that is set, else
build/ of the tree around this folder, which is configured and built first where needed.
"""
import base64
import hashlib
import os
import pathlib
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent
NAME = "wsc"


PROJECT = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
VERSION = PROJECT["version"]


def run(*command, **more):
    print("+", *command, file=sys.stderr, flush=True)
    subprocess.run([str(part) for part in command], check=True, stdout=sys.stderr, **more)


def build_folder():
    """A build folder in which the package is built."""
    given = os.environ.get("WSC_BUILD")
    if given:
        folder = pathlib.Path(given).resolve()
        if not (folder / "CMakeCache.txt").exists():
            raise RuntimeError(f"WSC_BUILD={given} is no build folder: it has no CMakeCache.txt")
    else:
        folder = SOURCE / "build"
        if not (SOURCE / "CMakeLists.txt").exists():
            raise RuntimeError(f"{SOURCE} is not wsc's source tree; name a build folder with WSC_BUILD")
        if not (folder / "CMakeCache.txt").exists():
            run("cmake", "--preset", "release", f"-DPython3_EXECUTABLE={sys.executable}", cwd=SOURCE)
    run("cmake", "--build", folder, "--target", "wsc-python")
    return folder


def collect(stage):
    """Installs into `stage`; yields (name in the wheel, file)."""
    folder = build_folder()
    prefix = stage / "prefix"
    run("cmake", "--install", folder, "--component", "python", "--prefix", prefix)
    package = next(prefix.rglob("wsc/__init__.py")).parent
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    if not (package / f"_runtime{suffix}").exists():
        built = ", ".join(sorted(file.name for file in package.glob("_runtime.*.so"))) or "nothing"
        raise RuntimeError(f"{folder} was built for another Python ({built}), this one needs _runtime{suffix}; "
                           f"configure it with -DPython3_EXECUTABLE={sys.executable}")
    for file in sorted(package.rglob("*")):
        if file.is_file():
            yield f"{NAME}/{file.relative_to(package).as_posix()}", file
    # The libraries as built, with the paths of an installation.
    libraries = stage / "libraries"
    run("cmake", "--install", folder, "--component", "library", "--prefix", libraries)
    for library in sorted(libraries.rglob("libwsc-*.so.*")):
        if library.is_symlink():
            yield f"{NAME}/{library.name}", library.resolve()


def metadata():
    lines = ["Metadata-Version: 2.1", f"Name: {NAME}", f"Version: {VERSION}", f"Summary: {PROJECT['description']}",
             "License: Apache-2.0 WITH LLVM-exception", f"Requires-Python: {PROJECT['requires-python']}"]
    lines += [f"Requires-Dist: {one}" for one in PROJECT["dependencies"]]
    for extra, needs in PROJECT["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}"] + [f"Requires-Dist: {one}; extra == '{extra}'" for one in needs]
    return "\n".join(lines) + "\n"


def tag():
    cpython = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{cpython}-{cpython}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"{NAME}-{VERSION}-{tag()}.whl"
    info = f"{NAME}-{VERSION}.dist-info"
    records = []
    with tempfile.TemporaryDirectory() as stage, \
            zipfile.ZipFile(pathlib.Path(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:

        def add(place, content):
            wheel.writestr(zipfile.ZipInfo(place, (2024, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            records.append(f"{place},sha256={digest},{len(content)}")

        for place, file in collect(pathlib.Path(stage)):
            add(place, file.read_bytes())
        add(f"{info}/METADATA", metadata().encode())
        add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: wsc\nRoot-Is-Purelib: false\nTag: {tag()}\n".encode())
        wheel.writestr(f"{info}/RECORD", "\n".join(records + [f"{info}/RECORD,,"]) + "\n")
    return name


def build_sdist(sdist_directory, config_settings=None):
    raise RuntimeError("wsc is built from its source tree; there is no source distribution of the Python package alone")
