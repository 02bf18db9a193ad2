# SPDX-License-Identifier: Apache-2.0
"""Conan 2 recipe: `conan create tools/packaging/conanfile.py --build=missing` from a checkout, or copy it to a recipe index.

ISA-L and liburing come from Conan Center, as Abseil does; the library is built with meson, as everywhere.
"""
import pathlib
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy
from conan.tools.gnu import PkgConfigDeps
from conan.tools.layout import basic_layout
from conan.tools.meson import Meson, MesonToolchain

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Sluice(ConanFile):
    name = "sluice"
    license = "Apache-2.0"
    description = "Input pipelines as coroutines on io_uring"
    topics = ("coroutines", "io_uring", "data-loading", "tfrecord")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "asio": [True, False], "sqlite": [True, False],
               "images": [True, False], "codecs": [True, False]}
    default_options = {"shared": False, "fPIC": True, "asio": True, "sqlite": False, "images": False, "codecs": True}
    implements = ["auto_shared_fpic"]

    def set_version(self):
        header = (ROOT / "include/sluice/version.hpp").read_text()
        self.version = ".".join(re.search(rf"define SLUICE_VERSION_{p} (\d+)", header)[1] for p in ("MAJOR", "MINOR", "PATCH"))

    def export_sources(self):
        for pattern in ("meson.build", "meson_options.txt", "LICENSE", "include/*", "src/*", "io/*", "tools/*"):
            copy(self, pattern, ROOT, self.export_sources_folder)

    def layout(self):
        basic_layout(self, src_folder=".")

    def requirements(self):
        self.requires("abseil/[>=20220623]")
        self.requires("liburing/[>=2.3]")
        self.requires("isa-l/[>=2.30]")
        self.requires("farmhash/cci.20190513")
        self.requires("nlohmann_json/[>=3.11]", visible=False)
        self.requires("flatbuffers/[>=2.0.8]", visible=False)
        self.requires("fast_float/[>=3.9.0]", visible=False)
        self.requires("simdjson/[>=3.0]", visible=False)
        if self.options.asio:
            self.requires("asio/[>=1.22]", transitive_headers=True)  # sluice/asio.hpp includes it
        if self.options.sqlite:
            self.requires("sqlite3/[>=3.40]")
        if self.options.images:
            self.requires("libjpeg-turbo/[>=2.1]")
            self.requires("libpng/[>=1.6]")
            self.requires("libwebp/[>=1.2]")
            self.requires("giflib/[>=5.2]")

        if self.options.codecs:
            for codec in ("zstd/[>=1.5]", "lz4/[>=1.9]", "snappy/[>=1.1]", "bzip2/[>=1.0]", "xz_utils/[>=5.2]"):
                self.requires(codec)

    def build_requirements(self):
        self.tool_requires("meson/[>=1.0]")
        self.tool_requires("pkgconf/[>=1.8]")

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("sluice stands on Linux's io_uring")

    def generate(self):
        PkgConfigDeps(self).generate()
        toolchain = MesonToolchain(self)
        for part in ("tests", "examples", "program", "line_tables"):
            toolchain.project_options[part] = False
        toolchain.project_options["bench"] = "disabled"
        toolchain.project_options["asio"] = "enabled" if self.options.asio else "disabled"
        toolchain.project_options["sqlite"] = "enabled" if self.options.sqlite else "disabled"
        toolchain.project_options["grpc"] = "disabled"   # it is not part of this recipe
        toolchain.project_options["http"] = "disabled"   # it needs the C sources of llhttp, which its recipe does not give
        toolchain.project_options["images"] = "enabled" if self.options.images else "disabled"
        for codec in ("zstd", "lz4", "snappy", "bzip2", "xz"):
            toolchain.project_options[codec] = "enabled" if self.options.codecs else "disabled"
        toolchain.generate()

    def build(self):
        meson = Meson(self)
        meson.configure()
        meson.build()

    def package(self):
        Meson(self).install()

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "sluice")
        core = self.cpp_info.components["sluice"]
        core.set_property("cmake_target_name", "sluice::sluice")
        core.set_property("pkg_config_name", "sluice")
        core.libs = ["sluice"]
        core.defines = ["ASIO_STANDALONE", "ASIO_HAS_CO_AWAIT"]
        core.cxxflags = ["-foptimize-sibling-calls"] if self.settings.compiler == "gcc" else []
        core.system_libs = ["pthread"]
        core.requires = ["abseil::abseil", "liburing::liburing", "isa-l::isa-l", "farmhash::farmhash",
                         "nlohmann_json::nlohmann_json", "flatbuffers::flatbuffers",
                         "fast_float::fast_float", "simdjson::simdjson"]
        if self.options.codecs:
            core.requires += ["zstd::zstd", "lz4::lz4", "snappy::snappy", "bzip2::bzip2", "xz_utils::xz_utils"]
        for part, needs in (("asio", ["asio::asio"]), ("sqlite", ["sqlite3::sqlite3"]),
                            ("images", ["libjpeg-turbo::libjpeg-turbo", "libpng::libpng", "libwebp::libwebp", "giflib::giflib"])):
            if self.options.get_safe(part):
                component = self.cpp_info.components[part]
                component.set_property("cmake_target_name", f"sluice::{part}")
                component.set_property("pkg_config_name", f"sluice-{part}")
                component.libs = [f"sluice-{part}"]
                component.requires = ["sluice", *needs]
