import json, urllib.request

def get(path):
    with urllib.request.urlopen('http://127.0.0.1:8080' + path, timeout=30) as answer:
        return json.load(answer)

yesterday = get('/v1/search?q=yesterday')['results'][0]
day = get(yesterday['route'])['day']
distance = day and day['distanceMm']
print(yesterday['id'] + ':', 'not known' if distance is None else f'{int(distance) // 1000} m')
