import http.client, json, sys, time, urllib.error, urllib.parse, urllib.request

BASE = 'http://127.0.0.1:8080'

def get(path, **query):
    for failures in range(5):
        try:
            with urllib.request.urlopen(BASE + path + '?' + urllib.parse.urlencode(query), timeout=30) as answer:
                return json.load(answer)
        except (OSError, http.client.HTTPException) as error:  # Refused, broken off, silent, or an error's answer.
            if failures == 4 or getattr(error, 'code', 503) not in (429, 502, 503, 504):
                raise
            time.sleep(2 ** failures)

def read_positions(owner):
    positions, cursor = [], {}
    while True:
        body = get(f'/v1/owners/{owner}/miners', limit=2, **cursor)
        if body['status'] == 'unavailable':
            raise RuntimeError(body['reason'])
        positions += body['positions']
        if body['nextCursor'] is None:
            return positions
        cursor = {'cursor': body['nextCursor']}

def read_positions_of_one_state(owner):
    for _ in range(5):
        try:
            return read_positions(owner)
        except urllib.error.HTTPError as error:
            if error.code != 409:  # 409: the state is gone, so begin again.
                raise
    raise RuntimeError('the state of the list went five times')

for position in read_positions_of_one_state(sys.argv[1]):
    print('token', position['tokenId'], 'level', position['level'])
