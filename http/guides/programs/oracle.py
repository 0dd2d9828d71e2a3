import json, os, time, uuid
from outbox import now, send, store, write

def read_work():
    """Closed rounds, one a line, such as `17 240`: round 17 has 240 work units. Replace it with your validation."""
    with open('rounds.txt') as file:
        return [line.split() for line in file if line.endswith('\n')]

def read(name, otherwise):
    if not os.path.exists(name):
        return otherwise
    with open(name) as file:
        return json.load(file)

def say(kind, **members):
    store('oracle', {'type': kind, 'at': now(), **members}, str(uuid.uuid4()))

while True:
    done = read('oracle.json', {'closed': 0, 'epoch': None})
    epoch = read('state.json', {'epoch': None})['epoch']  # Of the gateway. Only work of an approved epoch counts.
    rounds = [{'roundId': number, 'workUnits': work} for number, work in read_work()[done['closed']:]]
    if epoch != done['epoch']:
        say('epoch_approved', counterEpoch=epoch)
    if rounds:
        first, last = rounds[0]['roundId'], rounds[-1]['roundId']
        say('closure_accepted', firstRound=first, lastRound=last, rounds=rounds, acceptedAt=now())
    # A program that is killed before this line says the same again: a closure counts once.
    write('oracle.json', {'closed': done['closed'] + len(rounds), 'epoch': epoch})
    try:
        send()
    except OSError as error:
        print('kept for later:', error, flush=True)
    time.sleep(1)
