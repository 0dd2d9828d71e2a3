import json, os, time, uuid
from datetime import datetime, timedelta, timezone
from outbox import INSTALLATION, now, send, store, write

UNITS_PER_TURN, CIRCUMFERENCE_MM = 4, 1000

def read_counter():
    with open('counter.txt') as file:  # Replace it with your sensor: the pulses since it was installed.
        return int(file.read())

def read_state(counter, day):
    """The epoch, which changes if the counter begins again, and the counter at the start of the day."""
    state = {'epoch': str(uuid.uuid4()), 'last': counter, 'day': day, 'dayStart': counter}
    if os.path.exists('state.json'):
        with open('state.json') as file:
            before = json.load(file)
        if before['last'] <= counter:
            state.update(epoch=before['epoch'], dayStart=before['dayStart' if before['day'] == day else 'last'])
    return state

boot, sequence, last, last_read = str(uuid.uuid4()), 0, read_counter(), time.monotonic()
while True:
    counter, at, read = read_counter(), now(), time.monotonic()
    day = (datetime.now(timezone.utc) - timedelta(hours=12)).date().isoformat()  # It begins at noon.
    state = read_state(counter, day)
    write('state.json', {**state, 'last': counter})
    turns = max(0, counter - last) / UNITS_PER_TURN / max(0.5, read - last_read)  # Per second.
    reading = {
        'telemetryId': str(uuid.uuid4()), 'installationId': INSTALLATION, 'bootId': boot, 'sequence': sequence,
        'observedAt': at, 'receivedAt': now(), 'counterEpoch': state['epoch'], 'cumulativeWorkUnits': str(counter),
        'provenance': 'hardware', 'softwareVersion': 'gateway.py 1', 'coreStatus': 'ACTIVE' if turns else 'IDLE',
        'rpmMilli': round(turns * 60_000), 'speedMmPerSecond': round(turns * CIRCUMFERENCE_MM),
        'distanceMm': (counter - state['dayStart']) * CIRCUMFERENCE_MM // UNITS_PER_TURN}
    store('counter', reading, reading['telemetryId'])
    try:
        send()
    except OSError as error:  # No network, or no NATS: the outbox waits.
        print('kept for later:', error, flush=True)
    sequence, last, last_read = sequence + 1, counter, read
    time.sleep(1)
