"""Follows an event stream with a library, and prints the ID of each event in the feed, or `position`: eventClients.py LIBRARY URL TYPE."""

import json
import sys
import time

library, url, event_type = sys.argv[1:]


def show(name, data):
    event = json.loads(data)
    if name in ('position', event_type):
        print(event.get('id', 'position'), flush=True)


def follow_again(connect):
    """Connects again whenever the connection breaks, behind the last ID."""
    last_id = None
    while True:
        try:
            for event in connect({'Last-Event-ID': last_id} if last_id else {}):
                last_id = event.id or last_id
                show(event.event, event.data)
        except OSError:
            pass
        time.sleep(0.1)


if library == 'sseclient-py':
    import requests
    import sseclient

    follow_again(lambda headers: sseclient.SSEClient(requests.get(url, headers=headers, stream=True)).events())
elif library == 'httpx-sse':
    import httpx
    import httpx_sse

    def connect(headers):
        try:
            with httpx.Client(timeout=None) as client, httpx_sse.connect_sse(client, 'GET', url, headers=headers) as source:
                yield from source.iter_sse()
        except httpx.HTTPError as error:
            raise OSError from error

    follow_again(connect)
elif library == 'requests-sse':
    import requests_sse

    with requests_sse.EventSource(url) as source:
        for event in source:
            show(event.type, event.data)
else:
    raise SystemExit(f'unknown library {library}')
