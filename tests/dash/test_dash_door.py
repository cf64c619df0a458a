"""Who may come in: names, origins, tokens, sizes."""

import asyncio
import socket

import pytest

from pushrod.dash.door import Door
from pushrod.dash.request_limit import LARGEST_BODY

TOKEN = "a-token-that-nobody-guesses"


def asked(door, kind="http", method="GET", path="/", query="", **headers):
    """The status that is answered, and the headers; of a websocket 101 where it was let in."""
    return answered(door, kind, method, path, query, **headers)[:2]


def answered(door, kind="http", method="GET", path="/", query="", **headers):
    """With the body."""
    sent = []

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "websocket.connect"} if kind == "websocket" else {"type": "http.request", "body": b""}

    given = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": kind, "method": method, "path": path, "query_string": query.encode(), "headers": given}
    asyncio.run(door(scope, receive, send))
    if kind == "websocket":
        return (101 if sent[0]["type"] == "websocket.accept" else 403), {}, b""
    return sent[0]["status"], dict(sent[0]["headers"]), b"".join(message.get("body", b"") for message in sent[1:])


async def inside(scope, receive, send):
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"inside"})


@pytest.fixture
def local():
    return Door(inside, "127.0.0.1", 8321, None)


@pytest.fixture
def open_door():
    return Door(inside, "0.0.0.0", 8321, TOKEN)


@pytest.mark.parametrize("host", ["127.0.0.1:8321", "localhost:8321", "[::1]:8321", "LOCALHOST:8321", "127.1.2.3:8321"])
def test_on_loopback_a_loopback_name_is_served(local, host):
    status, headers = asked(local, host=host)
    assert status == 200
    assert headers[b"x-frame-options"] == b"DENY"


@pytest.mark.parametrize(
    "host", ["evil.example:8321", "127.0.0.1", "127.0.0.1:80", "localhost.evil.example:8321", "192.168.0.7:8321", "", "[::1", "x:y:z"]
)
def test_a_name_that_was_made_to_point_here_is_not(local, host):
    assert asked(local, host=host)[0] == 421
    assert asked(local, "websocket", host=host, origin=f"http://{host}")[0] == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "http://localhost:9999", "null", "http://127.0.0.1:8321.evil.example", "file://", ""])
def test_another_site_commands_nothing(local, origin):
    at = {"host": "127.0.0.1:8321", "origin": origin}
    assert asked(local, "websocket", path="/_nicegui_ws/socket.io/", **at)[0] == 403
    assert asked(local, method="POST", path="/estop", **at)[0] == 403
    assert asked(local, path="/_nicegui_ws/socket.io/", query="transport=polling", **at)[0] == 403


def test_what_can_change_something_must_say_where_it_comes_from(local):
    assert asked(local, "websocket", host="127.0.0.1:8321")[0] == 403
    assert asked(local, method="POST", host="127.0.0.1:8321")[0] == 403
    own = {"host": "127.0.0.1:8321", "origin": "http://127.0.0.1:8321"}
    assert asked(local, "websocket", **own)[0] == 101
    assert asked(local, method="POST", **own)[0] == 200


def test_beyond_loopback_a_token_is_needed_and_becomes_a_cookie(open_door):
    at = {"host": "10.0.0.5:8321"}
    assert asked(open_door, **at)[0] == 401
    assert asked(open_door, query="token=wrong", **at)[0] == 401
    status, headers = asked(open_door, query=f"token={TOKEN}", **at)
    cookie = headers[b"set-cookie"].decode()
    assert status == 303
    assert headers[b"location"] == b"/"
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert asked(open_door, cookie=cookie.partition(";")[0], **at)[0] == 200
    assert asked(open_door, cookie="pushrod-8321=wrong", **at)[0] == 401
    assert asked(open_door, cookie=";;=", **at)[0] == 401


def test_a_websocket_and_the_e_stop_need_the_same_token(open_door):
    own = {"host": "10.0.0.5:8321", "origin": "http://10.0.0.5:8321"}
    assert asked(open_door, "websocket", **own)[0] == 403
    assert asked(open_door, "websocket", query=f"token={TOKEN}", **own)[0] == 403  # an address is no place for it but once
    assert asked(open_door, "websocket", cookie=f"pushrod-8321={TOKEN}", **own)[0] == 101
    assert asked(open_door, method="POST", path="/estop", **own)[0] == 401
    assert asked(open_door, method="POST", path="/estop", host="10.0.0.5:8321", authorization=f"Bearer {TOKEN}")[0] == 200
    assert asked(open_door, method="POST", path="/estop", host="10.0.0.5:8321", authorization="Bearer wrong")[0] == 401
    assert asked(open_door, method="POST", path="/estop", cookie=f"pushrod-8321={TOKEN}", host="10.0.0.5:8321")[0] == 403


def test_a_wrong_token_of_a_program_is_reported(open_door):
    _, _, body = answered(open_door, method="POST", path="/estop", host="10.0.0.5:8321", authorization="Bearer wrong")
    assert body.startswith(b"Invalid token")


def test_a_missing_page_is_answered_in_plain_text():
    async def nothing(scope, receive, send):
        await send({"type": "http.response.start", "status": 404, "headers": [(b"content-type", b"text/html"), (b"content-length", b"12")]})
        await send({"type": "http.response.body", "body": b"<html>smile", "more_body": True})
        await send({"type": "http.response.body", "body": b"</html>"})

    status, headers, body = answered(Door(nothing, "127.0.0.1", 8321, None), path="/nowhere", host="127.0.0.1:8321")
    assert (status, body) == (404, b"No such page. The dashboard is at /.\n")
    assert headers[b"content-type"].startswith(b"text/plain")
    assert b"content-length" not in headers


def test_a_stranger_s_name_is_refused_also_with_a_token(open_door):
    assert asked(open_door, host="evil.example:8321", cookie=f"pushrod-8321={TOKEN}")[0] == 421
    assert asked(open_door, host=f"{socket.gethostname()}:8321", cookie=f"pushrod-8321={TOKEN}")[0] == 200


def test_nothing_large_is_taken(local):
    own = {"host": "127.0.0.1:8321", "origin": "http://127.0.0.1:8321"}
    assert asked(local, method="POST", content_length=str(LARGEST_BODY + 1), **own)[0] == 413
    assert asked(local, method="POST", content_length="many", **own)[0] == 413
