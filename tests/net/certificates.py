"""Certificates of an authority that lives for one test run."""

from pathlib import Path

import pytest

trustme = pytest.importorskip("trustme", reason="certificates for tests are made by trustme")


class Authority:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self._ca = trustme.CA()
        self._ca.cert_pem.write_to_path(folder / "ca.pem")

    def issue(self, name: str, *places: str) -> dict[str, str]:
        """Authority, certificate and key, as Tls takes them; `places` are where its owner may listen."""
        made = self._ca.issue_cert(*(places or ("localhost", "127.0.0.1")), common_name=name)
        made.private_key_pem.write_to_path(self.folder / f"{name}.key")
        (self.folder / f"{name}.pem").write_bytes(b"".join(part.bytes() for part in made.cert_chain_pems))
        return {"authority": str(self.folder / "ca.pem"), "certificate": str(self.folder / f"{name}.pem"), "key": str(self.folder / f"{name}.key")}
