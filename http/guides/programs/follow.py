import http.client, json, os, time, urllib.request

BASE = 'http://127.0.0.1:8080'
FILE = 'position.txt'

def read_position():
    if os.path.exists(FILE):
        with open(FILE) as file:
            return file.read()
    with urllib.request.urlopen(BASE + '/v1/events?category=protocol&limit=20', timeout=30) as answer:
        body = json.load(answer)
    events = body['events'] if body['status'] == 'available' else []
    if events:
        show(events[-1])  # The stream continues behind it.
    return events[-1]['id'] if events else ''

def save_position(position):
    with open(FILE + '.new', 'w') as file:
        file.write(position)
    os.replace(FILE + '.new', FILE)  # A program that is killed here leaves a whole position.

def show(event):
    if event['type'] == 'system.settlement_completed':
        payload = event['payload']
        print('settled through round', payload['settledThroughRound'] + ':',
              payload['completedBlockCount'], 'work blocks', flush=True)

def follow(position):
    headers = {'Last-Event-ID': position} if position else {}
    request = urllib.request.Request(BASE + '/v1/events/stream?category=protocol', headers=headers)
    message = {}
    # A comment comes every 15 seconds: a connection that is silent for longer is dead.
    with urllib.request.urlopen(request, timeout=45) as stream:
        for line in stream:
            field, _, value = line.decode().rstrip('\n').partition(': ')
            if field:
                message[field] = value
            elif 'data' in message:  # The end of a message.
                if message['event'] != 'position':
                    show(json.loads(message['data']))
                save_position(message['id'])
                message = {}

while True:
    try:
        follow(read_position())
    except (OSError, http.client.HTTPException) as error:  # Refused, broken off, silent, or an answer like 429 or 503.
        print('again in 3 seconds:', error, flush=True)
    time.sleep(3)
