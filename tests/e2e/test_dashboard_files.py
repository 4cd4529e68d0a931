"""The dashboard's page and files as browsers and caches get them."""

import gzip
import html.parser
import re
import subprocess

import pytest

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
FIRST_LOAD_BYTES_MAX = 300_000
NONCE = re.compile(r"'nonce-([0-9a-f]{32})'")


@pytest.fixture
def visitor(server):
    """A client without a key."""
    client = server.api(key=None)
    yield client
    client.close()


def get(visitor, path, **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return visitor.request("GET", path, headers=named)


class Page(html.parser.HTMLParser):
    """The elements of the page that load or contain something."""

    def __init__(self, text):
        super().__init__()
        self.files = []  # Loaded at once: scripts, their static imports, styles.
        self.inline_scripts = 0
        self.nonces = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag == "script":
            self.inline_scripts += "src" not in attributes
            self.files += [attributes["src"]] if "src" in attributes else []
        if tag == "link" and attributes["rel"] in ("stylesheet", "modulepreload"):
            self.files.append(attributes["href"])
        if attributes.get("nonce") is not None:
            self.nonces.append(attributes["nonce"])
        assert not [name for name in attributes if name.startswith("on") or name == "style"]


def page_of(visitor):
    return Page(get(visitor, "/", **BROWSER).body.decode())


def decode_brotli(coded):
    program = ("process.stdout.write(require('zlib').brotliDecompressSync("
               "require('fs').readFileSync(0)))")
    return subprocess.run(["node", "-e", program], input=coded, capture_output=True,
                          check=True).stdout


def test_the_page_is_not_stored_and_allows_only_what_it_needs(visitor):
    page = get(visitor, "/", **BROWSER)
    assert page.status == 200
    headers = page.headers
    assert headers["content-type"] == "text/html; charset=utf-8"
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["x-frame-options"] == "DENY"
    assert "camera=()" in headers["permissions-policy"]
    assert "set-cookie" not in headers
    policy = dict(part.strip().split(" ", 1)
                  for part in headers["content-security-policy"].split(";"))
    nonce = NONCE.search(policy["style-src"]).group(1)
    assert policy == {
        "default-src": "'self'", "script-src": "'self'", "style-src": f"'self' 'nonce-{nonce}'",
        "img-src": "'self' data: https:", "connect-src": "'self'", "font-src": "'self' data:",
        "object-src": "'none'", "base-uri": "'none'", "form-action": "'self'",
        "frame-ancestors": "'none'"}


def test_the_nonce_is_new_in_each_answer_and_is_that_of_the_page(visitor):
    seen = set()
    for _ in range(20):
        answer = get(visitor, "/", **BROWSER)
        nonce = NONCE.search(answer.headers["content-security-policy"]).group(1)
        text = answer.body.decode()
        page = Page(text)
        assert page.nonces and set(page.nonces) == {nonce}
        assert "__CSP_NONCE__" not in text
        assert page.inline_scripts == 0
        seen.add(nonce)
    assert len(seen) == 20


def test_the_page_loads_only_files_of_this_server(visitor):
    files = page_of(visitor).files
    assert files
    for path in files:
        assert path.startswith("/assets/")
        assert get(visitor, path).status == 200


def test_the_first_load_is_small(visitor):
    answer = get(visitor, "/", **BROWSER)
    sizes = {path: len(get(visitor, path, Accept_Encoding="br").body)
             for path in set(Page(answer.body.decode()).files)}
    assert len(answer.body) + sum(sizes.values()) < FIRST_LOAD_BYTES_MAX, sizes


def test_a_file_is_the_same_in_every_coding_and_never_changes(visitor):
    for path in page_of(visitor).files:
        plain = get(visitor, path)
        assert "content-encoding" not in plain.headers
        etags = {plain.headers["etag"]}
        for coding, decode in (("br", decode_brotli), ("gzip", gzip.decompress)):
            coded = get(visitor, path, Accept_Encoding=f"deflate, {coding}")
            assert coded.status == 200
            assert coded.headers["vary"] == "Accept-Encoding"
            assert coded.headers["content-type"] == plain.headers["content-type"]
            assert coded.headers["cache-control"] == "public, max-age=31536000, immutable"
            assert coded.headers["x-content-type-options"] == "nosniff"
            if coded.headers.get("content-encoding"):
                assert coded.headers["content-encoding"] == coding
                assert len(coded.body) < len(plain.body)
                assert decode(coded.body) == plain.body
                etags.add(coded.headers["etag"])
            else:  # It would not be smaller.
                assert coded.body == plain.body
        assert len(etags) > 1 or len(plain.body) < 1000
        assert all(re.fullmatch(r'"[0-9a-z-]+"', etag) for etag in etags)


@pytest.mark.parametrize("accept, coding", [
    ("gzip, deflate, br, zstd", "br"), ("gzip;q=1.0, br;q=0.5", "gzip"), ("br;q=0, gzip", "gzip"),
    ("*", "br"), ("identity", None), ("", None), ("deflate", None), ("identity;q=0", None)])
def test_the_client_chooses_the_coding(visitor, accept, coding):
    script = max(page_of(visitor).files, key=lambda path: len(get(visitor, path).body))
    answer = get(visitor, script, Accept_Encoding=accept)
    assert answer.status == 200
    assert answer.headers.get("content-encoding") == coding


def test_a_cached_file_is_confirmed_without_a_body(visitor):
    path = page_of(visitor).files[0]
    for accept in ("br", "gzip", "identity"):
        first = get(visitor, path, Accept_Encoding=accept)
        for known in (first.headers["etag"], f'"x", W/{first.headers["etag"]}', "*"):
            again = get(visitor, path, Accept_Encoding=accept, If_None_Match=known)
            assert (again.status, again.body) == (304, b"")
            for name in ("etag", "vary", "cache-control"):
                assert again.headers[name] == first.headers[name]
        assert get(visitor, path, Accept_Encoding=accept, If_None_Match='"x"').status == 200


def test_head_has_the_headers_of_get(visitor):
    path = page_of(visitor).files[0]
    for target in ("/", "/webhooks/whk_1", path):
        headers = {**BROWSER, "Accept-Encoding": "br"}
        got = visitor.request("GET", target, headers=headers)
        head = visitor.request("HEAD", target, headers=headers)
        assert (head.status, head.body) == (200, b"")
        for name in ("content-length", "content-type", "cache-control", "etag"):
            assert head.headers.get(name) == got.headers.get(name)


@pytest.mark.parametrize("path", [
    "/webhooks", "/webhooks/whk_1?tab=secret", "/event-types/order.created", "/index.html",
    "/portal/", "/a%20b/%C3%A9", "/%3Cscript%3E"])
def test_a_browser_can_open_every_address_of_the_application(visitor, path):
    answer = get(visitor, path, **BROWSER)
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    assert Page(answer.body.decode()).nonces
    assert b"<script>" not in answer.body


@pytest.mark.parametrize("path", [
    "/v1", "/v1/nothing", "/v1/webhooks/whk_1/nothing", "/v2/webhooks", "/healthz/x", "/metrics/",
    "/assets", "/assets/", "/assets/nothing.js", "/assets/%2e%2e/index.html",
    "/assets/..%2f..%2fetc/passwd"])
def test_other_paths_are_not_the_application(visitor, path):
    answer = get(visitor, path, **BROWSER)
    assert answer.status in (400, 404)
    assert answer.headers["content-type"].startswith("application/problem+json")


def test_programs_and_parts_of_pages_get_404_for_an_unknown_path(visitor):
    for headers in ({}, {"Accept": "application/json"},
                    {**BROWSER, "Sec-Fetch-Mode": "no-cors"}, {"Accept": "text/html;q=0"}):
        answer = visitor.request("GET", "/webhooks", headers=headers)
        assert answer.status == 404, headers
        assert answer.json["code"] == "not_found"


def test_the_page_cannot_be_posted_to(visitor):
    answer = visitor.request("POST", "/", {"a": 1}, headers=BROWSER)
    assert answer.status == 405
    assert answer.headers["allow"] == "GET, HEAD"
    path = page_of(visitor).files[0]
    for target in ("/webhooks", path):
        assert visitor.request("POST", target, {"a": 1}, headers=BROWSER).status == 404


def test_many_files_can_be_loaded_at_once(visitor):
    """The limit of requests without a key does not apply."""
    path = page_of(visitor).files[0]
    assert {get(visitor, path, Accept_Encoding="br").status for _ in range(300)} == {200}


def test_frames_are_allowed_as_configured(own_server):
    server = own_server("--set",
                        "portal.frame_ancestors=self,https://app.example.com").start()
    headers = get(server.api(key=None), "/", **BROWSER).headers
    assert headers["content-security-policy"].endswith(
        "; frame-ancestors 'self' https://app.example.com")
    assert "x-frame-options" not in headers
