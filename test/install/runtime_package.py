#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the Debian package of the runtime and runs what it holds from where it is unpacked.

    runtime_package.py BUILD WSE

It must be at most 20 MB, depend on no compiler, and hold commands, libraries, man pages and completion that work: WSE
is an executable of examples/counter. Prints the size.
"""
import pathlib
import shutil
import subprocess
import sys

MOST_BYTES = 20_000_000


def output(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True).stdout


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    build, wse = pathlib.Path(sys.argv[1]), sys.argv[2]
    folder = build / "packages-test"
    shutil.rmtree(folder, ignore_errors=True)
    output("cpack", "--config", build / "CPackConfig.cmake", "-B", folder, "-D", "CPACK_COMPONENTS_ALL=runtime")
    package, = folder.glob("wsc-runtime_*.deb")
    size = package.stat().st_size
    print(f"{package.name}: {size / 1e6:.1f} MB")
    if size > MOST_BYTES:
        sys.exit(f"error: {package.name} has {size} bytes, the limit is {MOST_BYTES}")
    depends = output("dpkg-deb", "--field", package, "Depends")
    for word in ("llvm", "mlir", "clang", "protobuf", "onnx"):
        if word in depends:
            sys.exit(f"error: {package.name} depends on {depends.strip()}; the runtime needs no compiler (I7)")
    root = folder / "root"
    output("dpkg-deb", "--extract", package, root)
    for name in ("lib/libwsc.so.0.1", "lib/libwsc-runtime.so.0.1", "share/man/man1/wsc-run.1.gz",
                 "share/bash-completion/completions/wsc-run", "share/doc/wsc/LICENSE"):
        if not (root / "usr" / name).exists():
            sys.exit(f"error: {package.name} lacks usr/{name}")
    if "total" not in output(root / "usr/bin/wsc-run", wse, "--entry", "read", "-o", folder / "out", "-v") + \
            output(root / "usr/bin/wsc-info", wse, "--json"):
        sys.exit("error: the unpacked commands do not show the counter's result")
    completed = output("bash", "-c", f"source {root}/usr/share/bash-completion/completions/wsc-run; "
                                     "COMP_WORDS=(wsc-run --engine c) COMP_CWORD=2; _wsc_run; echo ${COMPREPLY[@]}")
    if completed.split() != ["core", "cycle"]:
        sys.exit(f"error: wsc-run --engine c<TAB> offers {completed.strip()}, not core cycle")


if __name__ == "__main__":
    main()
