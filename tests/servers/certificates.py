"""A certificate authority for the TLS variants of the servers, made with openssl."""

import pathlib
import subprocess

KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]


class Authority:
    """Writes NAME.pem, the certificate of the authority, into `directory`."""

    def __init__(self, directory, name="authority"):
        self.directory = pathlib.Path(directory)
        self.certificate = self.directory / f"{name}.pem"
        self._key = self.directory / f"{name}.key"
        self._openssl("req", "-x509", *KEY, "-days", "2", "-subj", f"/CN=Test {name}",
                      "-addext", "basicConstraints=critical,CA:TRUE",
                      "-keyout", self._key, "-out", self.certificate)

    def issue(self, name="server", alternative_names="IP:127.0.0.1,DNS:localhost"):
        """Writes NAME.pem and NAME.key. Returns their paths."""
        certificate, key, request, extensions = (
            self.directory / f"{name}.{suffix}" for suffix in ("pem", "key", "csr", "ext"))
        self._openssl("req", *KEY, "-subj", f"/CN={name}", "-keyout", key, "-out", request)
        extensions.write_text(f"subjectAltName={alternative_names}\n")
        self._openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self._key,
                      "-CAcreateserial", "-days", "2", "-extfile", extensions, "-out", certificate)
        return certificate, key

    @staticmethod
    def _openssl(*arguments):
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)
