"""What the guides promise (/docs), on top of the client that openapi-python-client generates.

>>> client = connect('http://127.0.0.1:8080')
>>> get_day.sync('2026-11-26', client=client).day.distance_mm  # Any generated route; failures that pass are retried.
"""

import json
import random
import re
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import httpx
from mining_activity_read_service_client import Client, models
from mining_activity_read_service_client.api.events import get_events
from mining_activity_read_service_client.models import FeedCategory
from mining_activity_read_service_client.types import UNSET

__all__ = ['Event', 'ServiceError', 'connect', 'events', 'pages', 'poll']

PASSING = (429, 502, 503, 504)
# A comment comes every 15 seconds: a stream that is silent for longer is dead.
SILENCE_SECONDS = 45


class ServiceError(Exception):
    """An error's answer: its status, its code if the service sent it, and the request's ID for the operator."""

    def __init__(self, response: httpx.Response):
        try:
            self.code = json.loads(response.content)['error']
        except (ValueError, KeyError, TypeError):  # From a proxy.
            self.code = None
        self.status = response.status_code
        self.request_id = response.headers.get('X-Request-Id')
        self.is_passing = self.status in PASSING
        super().__init__(f'{self.status} {self.code} ({self.request_id})')


class _Retrying(httpx.BaseTransport):
    """Repeats what may be answered later, after Retry-After and longer each time. Raises other errors."""

    def __init__(self, inner: httpx.BaseTransport, attempts: int):
        self.inner, self.attempts = inner, attempts

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        for failures in range(self.attempts):
            seconds = 0
            try:
                response = self.inner.handle_request(request)
                is_stream = response.headers.get('Content-Type', '').startswith('text/event-stream')
                if not is_stream or response.status_code != 200:
                    response.read()
                if response.status_code < 400:
                    return response
                failure: Exception = ServiceError(response)
                if response.status_code not in PASSING:
                    raise failure
                seconds = int(response.headers.get('Retry-After', 0))
            except httpx.TransportError as error:  # Refused, broken off or silent.
                failure = error
            if failures < self.attempts - 1:
                time.sleep((seconds + 0.5 * 2**failures) * random.uniform(1, 1.2))
        raise failure

    def close(self) -> None:
        self.inner.close()


def connect(base_url: str, *, attempts: int = 5, timeout_seconds: float = 30) -> Client:
    """A client for the generated routes and the functions below. Errors of the service are raised as `ServiceError`."""
    transport = _Retrying(httpx.HTTPTransport(), attempts)
    return Client(
        base_url=base_url, timeout=httpx.Timeout(timeout_seconds), httpx_args={'transport': transport}
    )


def pages(route: Callable[..., Any], *path: str, client: Client, **parameters: Any) -> Iterator[tuple[Any, bool]]:
    """All pages of a list: `pages(get_batches.sync, client=client, from_='2026-11-01')`.

    With each body, whether the list begins again because its state is gone: forget the earlier pages then.
    A body whose `status` is `unavailable` is the last one.
    """
    cursor: Any = UNSET
    is_restart, restarts = False, 0
    while cursor is not None:
        try:
            body = route(*path, client=client, cursor=cursor, **parameters)
        except ServiceError as error:
            restarts += 1
            if error.code != 'cursor_invalidated' or restarts == 5:
                raise
            cursor, is_restart = UNSET, True
            continue
        yield body, is_restart
        cursor, is_restart = getattr(body, 'next_cursor', None), False


def poll(
    route: Callable[..., Any], *path: str, client: Client, interval_seconds: float = 2, **parameters: Any
) -> Iterator[Any]:
    """Each change of a route with a tag: `poll(get_status.sync_detailed, client=client)`. Never ends."""
    tag = UNSET
    while True:
        try:
            answer = route(*path, client=client, if_none_match=tag, **parameters)
            if answer.status_code == 200:
                tag = answer.headers['ETag']
                yield answer.parsed
        except (ServiceError, httpx.TransportError) as error:
            if not getattr(error, 'is_passing', True):
                raise
        time.sleep(interval_seconds)


class Event(NamedTuple):
    event: Any
    position: str
    """Keep it once the event is processed, and give it as `after` at the next start."""


def events(
    client: Client, *, category: FeedCategory = FeedCategory.ALL, after: str | None = None, newest: int = 0
) -> Iterator[Event]:
    """Events as they become visible, over restarts of the service, each once. Never ends.

    `after` is a position, or the `id` of an event. Without it the stream begins now, or with the `newest` events (up to 100).
    """
    if after is None and newest:
        body = get_events.sync(client=client, category=category, limit=newest)
        for event in reversed(getattr(body, 'events', [])):
            after = event.id
            yield Event(event, after)
    timeout = httpx.Timeout(30, read=SILENCE_SECONDS)
    while True:
        headers = {} if after is None else {'Last-Event-ID': after}
        query = {'category': category.value}
        pause = random.uniform(3, 6)
        try:
            stream = client.get_httpx_client().stream(
                'GET', '/v1/events/stream', params=query, headers=headers, timeout=timeout
            )
            with stream as response:
                for message in _messages(response):
                    if message['event'] != 'position':
                        yield Event(_read_event(json.loads(message['data'])), message['id'])
                    after = message['id']
        except (ServiceError, httpx.TransportError) as error:
            if not getattr(error, 'is_passing', True):
                raise
        time.sleep(pause)


def _messages(response: httpx.Response) -> Iterator[dict[str, str]]:
    """Messages of a stream. Not httpx's lines, which also end at characters that JSON may hold."""
    rest, message = b'', {}
    for chunk in response.iter_bytes():
        *lines, rest = (rest + chunk).split(b'\n')
        for line in lines:
            field, _, value = line.decode().partition(': ')
            if field:
                message[field] = value
            elif 'data' in message:
                yield message
                message = {}


def _read_event(data: dict[str, Any]) -> Any:
    """`SettlementCompletedEvent` for `system.settlement_completed`; the data of a type that this version does not have."""
    name = re.sub(r'(?:^|_)([a-z])', lambda found: found[1].upper(), data['type'].partition('.')[2])
    model = getattr(models, f'{name}Event', None)
    return data if model is None else model.from_dict(data)
