"""Errors of storage behind addresses such as s3://…: each says what to do.

The libraries that fsspec loads raise errors of their own, of many kinds. They become a
``FileError``, so that another worker of a cluster may try, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import Any

from pacboost.errors import FileError
from pacboost.sources.optional import need

LEFT_AS_THEY_ARE = ("builtins", "pacboost", "pyarrow")
"""Errors from these modules are about the content of a file, and are raised as they are, ..."""
OF_STORAGE = (FileNotFoundError, PermissionError, ConnectionError, TimeoutError)
"""... except for these, which say that the file cannot be reached."""
CREDENTIALS = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or for a public bucket "
    "FSSPEC_S3_ANON=true",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS",
    "abfs": "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
}


def file_system(url: str) -> tuple[Any, str]:
    """Give the file system of an address, and the path on it."""
    fsspec = need("fsspec", "dask")
    try:
        with storage_errors(url):
            system, path = fsspec.core.url_to_fs(url)
    except ImportError as problem:
        lacking = [own for own in _libraries(url) if find_spec(own) is None]
        remedy = f"; here and on every worker: pip install {' '.join(lacking)}" if lacking else ""
        raise FileError(f"{url}: cannot be opened ({problem}){remedy}") from problem
    except (ValueError, OSError) as problem:
        raise FileError(f"{url}: cannot be opened ({problem})") from problem
    return system, str(path)


@contextmanager
def storage_errors(url: str) -> Iterator[None]:
    """Raise a ``FileError`` in place of what a library says of an address.

    >>> with storage_errors("s3://bucket/data"):
    ...     raise PermissionError("Forbidden")
    Traceback (most recent call last):
    pacboost.errors.FileError: s3://bucket/data: access is refused (Forbidden). Set ...
    """
    try:
        yield
    except Exception as problem:  # libraries have kinds of their own
        ours = type(problem).__module__.partition(".")[0] in LEFT_AS_THEY_ARE
        if ours and not isinstance(problem, OF_STORAGE):
            raise
        _forget_connections(url)
        raise FileError(f"{url}: {_explained(problem, url)}") from problem


def _forget_connections(url: str) -> None:
    """Have fsspec connect anew the next time: what was wrong may be mended by then."""
    fsspec = need("fsspec", "dask")
    for scheme in _schemes(url):
        with suppress(ImportError, ValueError):  # there is none to forget
            fsspec.get_filesystem_class(scheme).clear_instance_cache()


def _explained(problem: Exception, url: str) -> str:
    """Say what is wrong, and what to do."""
    kind, said = type(problem).__name__, str(problem) or type(problem).__name__
    if isinstance(problem, FileNotFoundError):
        return "there is no such file or folder" + ("" if said in url else f" ({said})")
    if kind == "FileExpired":  # s3fs asks for the version that it has seen
        return "was changed while it was being read; fit again when nothing writes to it"
    if isinstance(problem, PermissionError) or "Credential" in kind:
        known = CREDENTIALS.get(_schemes(url)[-1], "what its library in fsspec asks for")
        return (
            f"access is refused ({said}). Set {known} in the environment of this process, and of "
            "every worker of a cluster"
        )
    server = " and is AWS_ENDPOINT_URL right" if _schemes(url)[-1] == "s3" else ""
    return f"the storage cannot be reached ({kind}: {said}). Is it running{server}?"


def _schemes(url: str) -> list[str]:
    """Give the schemes of an address: of a file in an archive, the archive's is the last.

    >>> _schemes("zip://*.parquet::s3://bucket/archive.zip")
    ['zip', 's3']
    """
    return [link.partition("://")[0].lower() for link in url.split("::")]


def _libraries(url: str) -> list[str]:
    """Give the libraries that fsspec loads for an address.

    >>> _libraries("zip://::s3://bucket/archive.zip"), _libraries("gs://bucket")
    (['s3fs'], ['gcsfs'])
    """
    known = need("fsspec.registry", "dask").known_implementations
    classes = [known[scheme]["class"] for scheme in _schemes(url) if scheme in known]
    return [own.partition(".")[0] for own in classes if not own.startswith("fsspec.")]
