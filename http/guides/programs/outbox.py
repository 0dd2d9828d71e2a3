import fcntl, glob, json, os, socket, ssl, time, urllib.parse, uuid
from datetime import datetime, timezone

INSTALLATION = 'my.wheel'
NATS = urllib.parse.urlparse(os.environ['NATS_URL'])  # Such as nats://token@127.0.0.1:4222
TLS = ssl.create_default_context(cafile=os.environ.get('NATS_CA')) if NATS.scheme == 'tls' else None

def now():
    return datetime.now(timezone.utc).isoformat(timespec='milliseconds').replace('+00:00', 'Z')

def write(name, value):
    with open(name + '.new', 'w') as file:
        json.dump(value, file)
    os.replace(name + '.new', name)  # A program that is killed here leaves a whole file.

def store(kind, message, message_id):  # On disk, until NATS has the message.
    os.makedirs('outbox', exist_ok=True)
    subject = f"miner.{kind}.{INSTALLATION.replace('.', '~')}"
    write(f'outbox/{time.time_ns():020}.json', [subject, message_id, json.dumps(message)])

def send():  # The oldest first. A message that is sent again within two minutes has a known ID, and is stored once.
    login = {'user': NATS.username, 'pass': NATS.password} if NATS.password else {'auth_token': NATS.username}
    inbox = '_INBOX.' + uuid.uuid4().hex
    with open('lock', 'w') as lock, socket.create_connection((NATS.hostname, NATS.port or 4222), 10) as plain:
        plain.makefile('rb', 0).readline()  # The server's greeting, before TLS begins.
        with TLS.wrap_socket(plain, server_hostname=NATS.hostname) if TLS else plain as link, link.makefile('rb') as answers:
            fcntl.flock(lock, fcntl.LOCK_EX)  # Other programs of the folder send the same outbox.
            options = json.dumps({'headers': True, 'no_responders': True, 'verbose': False, **login})
            link.sendall(f'CONNECT {options}\r\nSUB {inbox} 1\r\n'.encode())
            for name in sorted(glob.glob('outbox/*.json')):
                with open(name) as file:
                    subject, message_id, body = json.load(file)
                head = f'NATS/1.0\r\nNats-Msg-Id: {message_id}\r\n\r\n'
                link.sendall(f'HPUB {subject} {inbox} {len(head)} {len(head + body)}\r\n{head}{body}\r\n'.encode())
                while not (line := answers.readline()).startswith(b'MSG'):
                    if not line or line.startswith((b'-ERR', b'HMSG')):
                        raise OSError(f'{subject} is not stored: {line.decode().strip()}')
                if 'error' in (answer := json.loads(answers.readline())):
                    raise OSError(f"{subject}: {answer['error']['description']}")
                os.remove(name)
