# SPDX-License-Identifier: Apache-2.0
"""The library of MDS (mosaicml-streaming, ./dev deps formats): its LocalDataset, which reads a folder with numpy. The packages that it
imports for other purposes, above all torch, take 6 GB, and stand-ins take their places. `local_dataset` is None without the library."""
import importlib.util
import pathlib
import sys
import types
from unittest import mock

PACKAGES = pathlib.Path(__file__).resolve().parents[3] / ".cache/formats"
OTHERS = ("torch", "torch.distributed", "torch.utils", "torch.utils.data", "brotli", "snappy", "zstd", "xxhash", "tqdm", "filelock", "boto3",
          "PIL", "PIL.JpegImagePlugin", "botocore", "botocore.config", "botocore.exceptions")


def is_missing(name):
    try:
        return importlib.util.find_spec(name) is None
    except (ImportError, ValueError, AttributeError):
        return True


def imported():
    folder = PACKAGES / "streaming"
    if not folder.is_dir() or is_missing("numpy"):
        return None
    for name in OTHERS:
        if name not in sys.modules and is_missing(name):
            sys.modules[name] = mock.MagicMock(__path__=[])
    sys.modules["torch.utils.data"].Dataset = object
    for name in ("streaming", "streaming.base"):   # not their __init__, which imports everything
        package = types.ModuleType(name)
        package.__path__ = [str(folder / pathlib.Path(*name.split(".")[1:]))]
        sys.modules[name] = package
    from streaming.base.local import LocalDataset
    return LocalDataset


sys.path.append(str(PACKAGES))
local_dataset = imported()
