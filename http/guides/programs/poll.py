import http.client, json, time, urllib.error, urllib.request

tag = None
while True:
    request = urllib.request.Request('http://127.0.0.1:8080/v1/status')
    if tag:
        request.add_header('If-None-Match', tag)
    wait = 2
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            tag = answer.headers['ETag']
            measurement = json.load(answer)['measurement']
            print(measurement['cumulativeWorkUnits'] + ' work units' if measurement else 'no reading yet', flush=True)
    except urllib.error.HTTPError as error:
        if error.code in (429, 503):
            wait = int(error.headers.get('Retry-After', wait))
        elif error.code != 304:
            raise
    except (OSError, http.client.HTTPException) as error:  # Refused, broken off or silent.
        print('again in 2 seconds:', error, flush=True)
    time.sleep(wait)
