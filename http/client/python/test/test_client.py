"""Against a running service, whose address is in SERVICE_URL, through a proxy that breaks what it should."""

import http.client
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from urllib.parse import urlsplit

import mining_activity as mining
import pytest
from mining_activity_read_service_client.api.events import get_events
from mining_activity_read_service_client.api.rewards import get_miner
from mining_activity_read_service_client.api.settlement import get_batches, get_status
from mining_activity_read_service_client.models import FeedCategory

SERVICE = urlsplit(os.environ['SERVICE_URL'])


@pytest.fixture
def proxy():
    """A client whose next requests fail as `faults` says: a status, or `cut` after so many bytes of the body."""
    faults, seen = [], []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            fault = faults.pop(0) if faults else None
            seen.append((self.path, fault, dict(self.headers)))
            if isinstance(fault, str):
                status, body = fault.split(' ', 1)
                self.send_response(int(status))
                self.send_header('Retry-After', '1')
                self.end_headers()
                self.wfile.write(body.encode())
                return
            service = http.client.HTTPConnection(SERVICE.netloc)
            service.request('GET', self.path, headers={**self.headers, 'Accept-Encoding': 'identity'})
            answer = service.getresponse()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ('transfer-encoding', 'connection'):
                    self.send_header(name, value)
            self.end_headers()
            sent = 0
            while sent != fault and (chunk := answer.read1(65_536 if fault is None else fault - sent)):
                self.wfile.write(chunk)
                sent += len(chunk)
            service.close()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield mining.connect(f'http://127.0.0.1:{server.server_port}', attempts=4), faults, seen
    server.shutdown()


def test_retries_what_passes(proxy):
    client, faults, seen = proxy
    faults += ['503 <html>', '429 {"error":"rate_limited"}', 100]
    assert get_batches.sync(client=client, limit=1).status == 'available'
    assert [fault for _, fault, _ in seen] == ['503 <html>', '429 {"error":"rate_limited"}', 100, None]


def test_raises_what_does_not(proxy):
    client, _, seen = proxy
    with pytest.raises(mining.ServiceError) as raised:
        get_miner.sync('9999', client=client)
    assert (raised.value.status, raised.value.code, len(seen)) == (404, 'not_found', 1)


def test_pages_have_every_entry_once_and_begin_again(proxy):
    client, faults, _ = proxy
    whole = [one.id for body, _ in mining.pages(get_batches.sync, client=client, limit=100) for one in body.batches]
    faults += [None, '409 {"error":"cursor_invalidated"}']
    found, restarts = [], 0
    for body, is_restart in mining.pages(get_batches.sync, client=client, limit=len(whole) // 2):
        if is_restart:
            found, restarts = [], restarts + 1
        found += [one.id for one in body.batches]
    assert (restarts, len(set(found)) > 3) == (1, True)
    assert found == whole


def test_poll_sends_the_tag_back(proxy):
    client, faults, seen = proxy
    states = mining.poll(get_status.sync_detailed, client=client, interval_seconds=0.1)
    first, second = islice(states, 2)
    assert first.revision != second.revision
    tags = [headers.get('If-None-Match') for *_, headers in seen]
    assert tags[0] is None and all(tags[1:])


def test_a_stream_continues_where_it_broke(proxy):
    client, faults, _ = proxy
    feed = get_events.sync(client=client, category=FeedCategory.PROTOCOL, limit=12).events[::-1]
    faults += [4_000, '503 {"error":"database_unavailable"}', 6_000]
    stream = mining.events(client, category=FeedCategory.PROTOCOL, after=feed[0].id)
    followed = [event for event, _ in islice(stream, len(feed) - 1)]
    assert faults == []
    assert followed == feed[1:]


def test_a_stream_begins_with_the_newest(proxy):
    client, _, _ = proxy
    feed = get_events.sync(client=client, limit=3).events[::-1]
    stream = mining.events(client, newest=3)
    assert [event for event, _ in islice(stream, 3)] == feed
