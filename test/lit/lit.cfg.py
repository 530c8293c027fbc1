# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The lit suite: each .mlir file's RUN lines call wsc's tools, FileCheck and not. Folders named Inputs hold no tests.
# .test files do the same with the models under %examples.
# A test that uses a tool this build does not have says `REQUIRES: <tool>`.
import os
import shutil
import sys

import lit.formats

config.name = "wsc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.environment["PATH"] = os.pathsep.join([config.wsc_tools_dir, config.llvm_tools_dir, os.environ["PATH"]])
for tool in os.listdir(config.wsc_tools_dir):
    if tool.startswith("wsc-"):
        config.available_features.add(tool)
if shutil.which("script"):  # gives tools a terminal
    config.available_features.add("script")
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%examples", os.path.join(config.test_source_root, "..", "..", "examples")))
