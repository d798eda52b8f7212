"""A cluster whose members show certificates to each other."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from distributed import Client, LocalCluster, Security

from tests.cluster.clusters import bytes_of
from tests.estimators.filter_sources import noisy, small, write_parquet


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make a certificate")
def test_a_fit_over_tls(tmp_path: Path) -> None:
    X, y = noisy(2000)
    folder = write_parquet(tmp_path / "rows", X, y, files=1, group=500)
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj",
         "/CN=localhost", "-keyout", str(key), "-out", str(certificate)],
        check=True, capture_output=True,
    )  # fmt: skip
    ours = {"tls_ca_file": str(certificate), "require_encryption": True}
    for role in ("client", "scheduler", "worker"):
        ours |= {f"tls_{role}_cert": str(certificate), f"tls_{role}_key": str(key)}
    security = Security(**ours)
    with (
        LocalCluster(
            n_workers=1, processes=False, protocol="tls://", security=security,
            dashboard_address=":0",
        ) as cluster,
        Client(cluster, security=security, set_as_default=False) as client,
    ):  # fmt: skip
        assert client.scheduler.address.startswith("tls://")
        model = small(n_estimators=4).fit_source(folder, "y", client=client)
    assert bytes_of(model) == bytes_of(small(n_estimators=4).fit_source(folder, "y", client=False))
