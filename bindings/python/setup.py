"""Builds the wheel: CMake builds the module, from the checkout that this file is in, or that TALLY_CHECKOUT names.

TALLY_BUILD_DIR names a build directory of CMake that is there already; by default it is build/wheel of the checkout.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import setuptools
from setuptools.command.build_ext import build_ext

CHECKOUT = pathlib.Path(os.environ.get("TALLY_CHECKOUT", pathlib.Path(__file__).resolve().parent.parent.parent))


def version() -> str:
    return re.search(r"project\(tally VERSION ([0-9.]+)", (CHECKOUT / "CMakeLists.txt").read_text()).group(1)


class CMakeBuild(build_ext):
    def build_extension(self, extension: setuptools.Extension) -> None:
        build = pathlib.Path(os.environ.get("TALLY_BUILD_DIR", CHECKOUT / "build" / "wheel"))
        if not (build / "CMakeCache.txt").exists():
            subprocess.run(
                ["cmake", "-G", "Ninja", "-S", CHECKOUT, "-B", build, "-DCMAKE_BUILD_TYPE=Release",
                 "-DTALLY_BUILD_COMMAND=OFF", "-DTALLY_PYTHON=ON", "-DCMAKE_UNITY_BUILD=ON",
                 f"-DTALLY_PYTHON_EXECUTABLE={sys.executable}"],
                check=True,
            )
        subprocess.run(["cmake", "--build", build, "--target", "tally_python"], check=True)
        target = pathlib.Path(self.get_ext_fullpath(extension.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(build / "python" / "tally" / target.name, target)


setuptools.setup(
    version=version(),
    ext_modules=[setuptools.Extension("tally._tally", sources=[])],
    cmdclass={"build_ext": CMakeBuild},
)
