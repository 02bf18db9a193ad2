# SPDX-License-Identifier: Apache-2.0
"""Certificates of a private root, made by openssl: one that holds, and some that do not.

  certificates.py FOLDER            root, good, expired, other, unknown: NAME.pem and NAME.key
"""
import pathlib
import subprocess
import sys


def openssl(*arguments, cwd):
    subprocess.run(["openssl", *arguments], cwd=cwd, check=True, stdin=subprocess.DEVNULL, capture_output=True)


def make_root(folder, name):
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.pem",
            "-days", "30", "-subj", f"/CN={name}", cwd=folder)


def make_certificate(folder, name, root, alternative_names, days=30):
    folder = pathlib.Path(folder)
    (folder / f"{name}.ext").write_text(f"subjectAltName={alternative_names}\n")
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr",
            "-subj", f"/CN={name}", cwd=folder)
    openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{root}.pem", "-CAkey", f"{root}.key", "-CAcreateserial", "-out", f"{name}.pem",
            "-days", str(days), "-extfile", f"{name}.ext", cwd=folder)


def make_all(folder):
    """`good` holds for the loopback and root.pem; `expired` did, `other` is for another host, `unknown` is of a stranger's root."""
    names = "IP:127.0.0.1,DNS:localhost"
    make_root(folder, "root")
    make_root(folder, "stranger")
    make_certificate(folder, "good", "root", names)
    make_certificate(folder, "expired", "root", names, days=-1)
    make_certificate(folder, "other", "root", "DNS:elsewhere.example,IP:127.0.0.2")
    make_certificate(folder, "unknown", "stranger", names)


if __name__ == "__main__":
    make_all(sys.argv[1])
