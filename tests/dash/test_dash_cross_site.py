"""Requests that another site causes, redirects, and limits on requests: nothing reaches the application."""

import asyncio

import pytest
from test_dash_door import TOKEN, answered, asked, inside

from pushrod.dash import request_limit
from pushrod.dash.door import Door
from pushrod.dash.request_limit import LARGEST_BODY, LONGEST_TARGET

AT = {"host": "127.0.0.1:8321"}
OWN = AT | {"origin": "http://127.0.0.1:8321"}
LINK = {"sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}


@pytest.fixture
def local():
    return Door(inside, "127.0.0.1", 8321, None)


@pytest.fixture
def remote():
    return Door(inside, "0.0.0.0", 8321, TOKEN)


@pytest.mark.parametrize("site", ["cross-site", "same-site", "CROSS-SITE", "unknown"])
@pytest.mark.parametrize("kind", ["image", "iframe", "script", "empty"])
def test_another_site_cannot_embed_or_fetch_the_page(local, site, kind):
    mode = "navigate" if kind == "iframe" else "no-cors"
    for path in ("/", "/_nicegui/1/static/x.js"):
        status, _, body = answered(local, path=path, sec_fetch_site=site, sec_fetch_dest=kind, sec_fetch_mode=mode, **AT)
        assert (status, b"inside" in body) == (403, False)


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_link_from_another_site_leads_to_a_static_page_with_a_link(local, site):
    status, headers, body = answered(local, sec_fetch_site=site, **LINK, **AT)
    assert status == 403
    assert headers[b"content-type"].startswith(b"text/html")
    assert b'<a href="/">' in body
    assert b"refresh" not in body
    assert answered(local, sec_fetch_site="same-origin", **LINK, **AT)[2] == b"inside"


@pytest.mark.parametrize("site", ["none", "same-origin"])
def test_a_typed_address_and_the_page_itself_are_served(local, site):
    assert asked(local, sec_fetch_site=site, **LINK, **AT)[0] == 200
    assert asked(local, **AT)[0] == 200  # programs send no such header


def test_a_prefetch_is_not_served(local):
    assert asked(local, sec_purpose="prefetch", **AT)[0] == 503


def test_the_polling_transport_is_not_served(local):
    assert asked(local, path="/_nicegui_ws/socket.io/", query="EIO=4&transport=polling", **AT)[0] == 403
    assert asked(local, method="POST", path="/_nicegui_ws/socket.io/", query="EIO=4&transport=polling&sid=x", **OWN)[0] == 403
    assert asked(local, "websocket", path="/_nicegui_ws/socket.io/", **OWN)[0] == 101


@pytest.mark.parametrize(
    "path", ["//evil.example", "/\\evil.example", "///evil.example", "/\r\nset-cookie: a=b", "/a//b", "evil.example", "http://evil.example"]
)
def test_a_redirect_never_leaves_the_site(local, remote, path):
    status, headers = asked(remote, path=path, query=f"token={TOKEN}&next=//evil.example", host="10.0.0.5:8321")
    assert (status, headers.get(b"location")) == (404, None)
    assert asked(local, path=path, **AT)[0] == 404


def test_the_token_leads_to_the_page_whatever_path_it_came_with(remote):
    for path in ("/", "/estop", "/evil.example", "/@evil.example"):
        status, headers = asked(remote, path=path, query=f"token={TOKEN}&next=http://evil.example/", host="10.0.0.5:8321")
        assert (status, headers[b"location"]) == (303, b"/")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_of_the_framework_is_not_passed_on(status):
    async def redirect(scope, receive, send):
        await send({"type": "http.response.start", "status": status, "headers": [(b"location", b"//evil.example")]})
        await send({"type": "http.response.body", "body": b""})

    got, headers = asked(Door(redirect, "127.0.0.1", 8321, None), **AT)
    assert (got, headers.get(b"location")) == (404, None)


@pytest.mark.parametrize("host", ["evil@127.0.0.1:8321", "127.0.0.1:8321/evil", "127.0.0.1:8321?", "127.0.0.1:8321#x", "127.0.0.1:8321@evil:8321"])
def test_a_host_header_holds_a_host_and_nothing_else(local, host):
    assert asked(local, host=host)[0] == 421


def test_headers_of_a_proxy_do_not_reach_the_application():
    seen = []

    async def keep(scope, receive, send):
        seen.extend(name for name, _ in scope["headers"])
        await inside(scope, receive, send)

    asked(Door(keep, "127.0.0.1", 8321, None), x_forwarded_prefix="//evil.example", x_forwarded_for="1.2.3.4", **AT)
    assert seen == [b"host"]


def test_a_header_that_decides_cannot_be_repeated(local):
    for name, other in ((b"host", b"evil.example:8321"), (b"origin", b"http://evil.example"), (b"content-length", b"5")):
        scope = {"type": "http", "method": "POST", "path": "/estop", "query_string": b""}
        headers = [(b"host", b"127.0.0.1:8321"), (b"origin", b"http://127.0.0.1:8321"), (b"content-length", b"0"), (name, other)]
        assert exchange(local, scope | {"headers": headers}, [b""])[0] == 400


def test_a_long_address_is_refused(local):
    assert asked(local, query="x" * LONGEST_TARGET, **AT)[0] == 414
    assert asked(local, path="/" + "x" * LONGEST_TARGET, **AT)[0] == 414


def test_many_fields_in_the_address_are_no_token(remote):
    assert asked(remote, query="&".join(["token=x"] * 100), host="10.0.0.5:8321")[0] == 401


def exchange(door, scope, chunks, pause=0.0):
    """Return the status, the headers, the body, and how many chunks were read."""
    sent, read = [], 0

    async def receive():
        nonlocal read
        await asyncio.sleep(pause)
        read += 1
        return {"type": "http.request", "body": chunks[min(read, len(chunks)) - 1], "more_body": read < len(chunks)}

    async def send(message):
        sent.append(message)

    asyncio.run(door(scope, receive, send))
    return sent[0]["status"], dict(sent[0]["headers"]), b"".join(message.get("body", b"") for message in sent[1:]), read


def chunked(method="POST"):
    headers = [(b"host", b"127.0.0.1:8321"), (b"origin", b"http://127.0.0.1:8321"), (b"transfer-encoding", b"chunked")]
    return {"type": "http", "method": method, "path": "/estop", "query_string": b"", "headers": headers}


@pytest.mark.parametrize("method", ["POST", "GET", "PUT"])
def test_a_chunked_body_obeys_the_size_limit(local, method):
    status, headers, _, read = exchange(local, chunked(method), [b"x" * 1000] * 10_000)
    assert status == 413
    assert headers[b"connection"] == b"close"
    assert read <= LARGEST_BODY // 1000 + 1


def test_a_body_that_trickles_is_cut_off(local, monkeypatch):
    monkeypatch.setattr(request_limit, "BODY_TIMEOUT", 0.2)
    status, headers, _, read = exchange(local, chunked(), [b"x"] * 10_000, pause=0.02)
    assert (status, headers[b"connection"]) == (408, b"close")
    assert read < 15


def test_a_small_chunked_body_reaches_the_application():
    async def echo(scope, receive, send):
        message = await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": message["body"] + b"!" * message["more_body"]})

    assert exchange(Door(echo, "127.0.0.1", 8321, None), chunked(), [b"ab", b"", b"c"])[2] == b"abc"


def test_a_refusal_closes_the_connection_so_that_its_body_is_not_read_on(local):
    scope = chunked() | {"headers": [(b"host", b"evil.example:8321"), (b"transfer-encoding", b"chunked")]}
    status, headers, _, read = exchange(local, scope, [b"x"] * 100)
    assert (status, headers[b"connection"], read) == (421, b"close", 0)
