import http.client, json, random, time, urllib.error, urllib.request

def get(url):
    for failures in range(5):
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                return json.load(answer)
        except (OSError, http.client.HTTPException) as error:  # HTTPError is an OSError, too.
            headers = getattr(error, 'headers', {})
            if failures == 4 or getattr(error, 'code', 503) not in (429, 502, 503, 504):
                raise
            time.sleep((int(headers.get('Retry-After', 0)) + 0.5 * 2 ** failures) * random.uniform(1, 1.2))

for _ in range(25):
    body = get('http://127.0.0.1:8080/v1/events?limit=1')
print('25 requests,', body['status'])
