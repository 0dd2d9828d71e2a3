"""What the gateway of the guide does in each trouble. `guides.test.ts` runs it in the gateway's folder."""

import io, json, os, queue, random, resource, socket, subprocess, sys, tempfile, threading, time, unittest
from contextlib import redirect_stdout, suppress

sys.path.insert(0, os.getcwd())
import gateway, oracle


class CollectingLink:
    """Instead of NATS: stores everything."""

    stored, done = [], 0

    def publish(self, messages):
        CollectingLink.stored.extend(message[2] for message in messages if message is not None)
        self.done = len(messages)

    def close(self):
        pass


class NatsServer:
    """As much of NATS as the gateway talks to. `find_trouble` tells what happens to the next message."""

    def __init__(self, delay_seconds=0, is_piecemeal=False):
        self.stored, self.find_trouble = [], lambda count: None
        self.delay_seconds, self.is_piecemeal, self.notices = delay_seconds, is_piecemeal, {}
        self.listener = socket.create_server(('127.0.0.1', 0))
        port = self.listener.getsockname()[1]
        gateway.NATS = gateway.urllib.parse.urlparse(f'nats://us%40er:secret@127.0.0.1:{port}')
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            link, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(link,), daemon=True).start()

    def serve(self, link):
        answers = queue.Queue()
        threading.Thread(target=self.send, args=(link, answers), daemon=True).start()
        with link, link.makefile('rb') as lines:
            answers.put((0, 'INFO {"headers":true}\r\n'))
            while line := lines.readline():
                verb, *words = line.split()
                due = time.monotonic() + self.delay_seconds
                if verb == b'CONNECT':
                    options = json.loads(line[8:])
                    is_right = (options['user'], options['pass']) == ('us@er', 'secret')
                    answers.put((due, '' if is_right else "-ERR 'Authorization Violation'\r\n"))
                if verb == b'PING':
                    answers.put((due, 'PONG\r\n'))
                    for text in self.notices.get(heard, []):
                        answers.put((due, f'MSG {heard} 1 {len(text)}\r\n{text}\r\n'))
                if verb == b'SUB':
                    heard = words[0].decode()
                if verb == b'HPUB':
                    answer = self.receive(words, lines.read(int(words[3]) + 2))
                    if answer is None:
                        answers.join()  # On a busy machine, no connection would get on otherwise.
                        return link.shutdown(socket.SHUT_RDWR)
                    answers.put((due, answer))

    def receive(self, words, content):
        """The answer; None ends the connection."""
        trouble = self.find_trouble(len(self.stored))
        reply = words[1].decode()
        if trouble is not None:
            return None if trouble == 'cut' else trouble.replace('REPLY', reply)
        self.stored.append(json.loads(content[int(words[2]):]))
        text = json.dumps({'stream': 'S', 'seq': len(self.stored)})
        between = 'PING\r\nINFO {}\r\n+OK\r\n' if self.is_piecemeal else ''
        return f'{between}MSG {reply} 1 {len(text)}\r\n{text}\r\n'

    def send(self, link, answers):
        while True:
            due, answer = answers.get()
            time.sleep(max(0, due - time.monotonic()))
            with suppress(OSError):
                for part in answer if self.is_piecemeal else [answer]:
                    link.sendall(part.encode())
            answers.task_done()


class FakeTime:
    """A wall clock that a test sets. Sleeping moves both clocks."""

    def __init__(self, wall):
        self.wall, self.ran = wall, 0

    def time(self):
        return self.wall

    def monotonic(self):
        return self.ran

    def sleep(self, seconds):
        self.wall, self.ran = self.wall + seconds, self.ran + seconds


class GatewayTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        for name in ('Link', 'NATS', 'time', 'RETRY_SECONDS', 'TIMEOUT_SECONDS', 'UNWRITTEN_MAX', 'OUTBOX_BYTES_MAX'):
            self.addCleanup(setattr, gateway, name, getattr(gateway, name))
        gateway.RETRY_SECONDS = 0.05
        gateway.said.clear()
        CollectingLink.stored = []
        output = redirect_stdout(io.StringIO())
        self.printed = output.__enter__()
        self.addCleanup(output.__exit__, None, None, None)

    def add(self, outbox, numbers):
        for number in numbers:
            outbox.add('counter', f'id-{number}', number)

    def flush(self, outbox):
        self.assertTrue(outbox.wait_for(lambda: not outbox.is_filled(), 60), self.printed.getvalue())

    def wait(self, text):
        for _ in range(600):
            if text in self.printed.getvalue():
                return
            time.sleep(0.02)
        self.fail(f'{text} is not in {self.printed.getvalue()}')

    # A power cut.

    def test_sends_the_whole_lines_of_a_damaged_outbox(self):
        gateway.Link = CollectingLink
        seed = random.randrange(1 << 32)
        draw = random.Random(seed)
        for case in range(200):
            lines = [gateway.pack(['miner.counter.a', f'id-{number}', number]) for number in range(20)]
            data = bytearray(b''.join(lines))
            damaged = draw.choice(['cut', 'end of zeros', 'zeros', 'noise', 'returns'])
            start = draw.randrange(len(data) + 1)
            end = len(data) if damaged.startswith('end') else min(len(data), start + draw.randrange(100))
            if damaged == 'cut':
                end = len(data)
                del data[start:]
            else:
                noise = {'noise': draw.randbytes(end - start), 'returns': b'\r' * (end - start)}
                data[start:end] = noise.get(damaged, bytes(end - start))
            whole, place, before = [], 1, b'\n' + data
            for number, line in enumerate(lines):
                if before[place - 1:place + len(line)] == b'\n' + line:
                    whole.append(number)
                place += len(line)
            with open(f'{case}.outbox', 'wb') as file:
                file.write(data)
            CollectingLink.stored = stored = []
            outbox = gateway.Outbox(f'{case}.outbox')
            self.flush(outbox)
            self.add(outbox, [99])
            self.flush(outbox)
            self.assertEqual([*whole, 99], stored, (seed, case, damaged, start, end))

    def test_uses_a_file_of_one_value_as_a_whole_or_not_at_all(self):
        gateway.save('state', {'last': 7})
        whole = gateway.pack({'last': 7})
        for length in range(len(whole)):
            for tail in (b'', bytes(len(whole) - length)):
                with open('state', 'wb') as file:
                    file.write(whole[:length] + tail)
                self.assertIn(gateway.load('state'), [None, {'last': 7}])
        self.assertEqual('state: is damaged, and counts as missing\n', self.printed.getvalue())

    def test_goes_on_behind_the_last_note_after_a_restart(self):
        gateway.Link = CollectingLink
        with open('a.outbox', 'wb') as file:
            lines = [gateway.pack(['miner.counter.a', f'id-{number}', number]) for number in range(5)]
            file.write(b''.join(lines))
        gateway.save('a.outbox.sent', len(lines[0]) * 2)
        outbox = gateway.Outbox('a.outbox')
        self.flush(outbox)
        self.assertEqual([2, 3, 4], CollectingLink.stored)
        self.assertEqual((0, False), (os.path.getsize('a.outbox'), os.path.exists('a.outbox.sent')))

    # A full disk.

    def test_sends_through_memory_while_the_disk_is_full(self):
        nats, gateway.UNWRITTEN_MAX = NatsServer(), 10
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_FSIZE, limits)
        outbox = gateway.Outbox('a.outbox')
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
        for number in range(5):
            self.add(outbox, [number])
            self.flush(outbox)
        nats.find_trouble = lambda count: 'cut'
        self.add(outbox, range(5, 30))
        self.wait('drops new messages')
        self.wait('messages wait in a.outbox')
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        self.add(outbox, [30])
        nats.find_trouble = lambda count: None
        self.flush(outbox)
        kept = nats.stored[5:-1]
        self.assertEqual(list(range(5, 5 + len(kept))), kept)
        self.assertTrue(10 <= len(kept) <= 12, kept)
        self.assertEqual([0, 1, 2, 3, 4], nats.stored[:5])
        self.assertEqual(30, nats.stored[-1])
        self.assertEqual(1, self.printed.getvalue().count('keeps 10 messages in memory'))
        self.assertIn('a.outbox: works again', self.printed.getvalue())

    def test_keeps_the_oldest_when_the_outbox_has_its_size(self):
        nats, gateway.UNWRITTEN_MAX, gateway.OUTBOX_BYTES_MAX = NatsServer(), 2, 250
        nats.find_trouble = lambda count: 'cut'
        outbox = gateway.Outbox('a.outbox')
        self.add(outbox, range(100))
        self.assertLessEqual(os.path.getsize('a.outbox'), 250)
        nats.find_trouble = lambda count: None
        self.flush(outbox)
        self.assertEqual(list(range(len(nats.stored))), nats.stored)
        self.assertTrue(4 < len(nats.stored) < 9, nats.stored)

    # The network.

    def test_sends_all_in_order_over_connections_that_end_in_a_batch(self):
        nats = NatsServer()
        outbox = gateway.Outbox('a.outbox')
        left = [100]  # Messages that a connection takes.

        def cut(count):
            left[0] = left[0] - 1 if left[0] > 0 else 700
            return 'cut' if left[0] == 0 else None

        nats.find_trouble = cut
        self.add(outbox, range(2_000))
        self.flush(outbox)
        self.assertEqual(list(range(2_000)), sorted(set(nats.stored)))
        firsts = list(dict.fromkeys(nats.stored))
        self.assertEqual(sorted(firsts), firsts)
        self.assertEqual(1, self.printed.getvalue().count('messages wait'))

    def test_takes_answers_in_pieces_between_other_lines(self):
        nats = NatsServer(is_piecemeal=True)
        outbox = gateway.Outbox('a.outbox')
        self.add(outbox, range(20))
        self.flush(outbox)
        self.assertEqual((list(range(20)), ''), (nats.stored, self.printed.getvalue()))

    def test_sends_many_messages_a_round_trip(self):
        nats = NatsServer(delay_seconds=0.05)
        outbox = gateway.Outbox('a.outbox')
        publish, batches = gateway.Link.publish, []
        self.addCleanup(setattr, gateway.Link, 'publish', publish)
        gateway.Link.publish = lambda link, messages: (batches.append(len(messages)), publish(link, messages))
        self.add(outbox, range(4_000))
        self.flush(outbox)
        self.assertEqual(list(range(4_000)), nats.stored)
        self.assertLess(len(batches), 400)

    def test_waits_for_nats_and_says_why_once(self):
        gateway.TIMEOUT_SECONDS = 0.3
        nats = NatsServer()
        outbox = gateway.Outbox('a.outbox')
        for answer, trouble in [
            ("-ERR 'Permissions Violation for Publish to \"miner.counter.my~wheel\"'\r\n", 'Permissions Violation'),
            ('HMSG REPLY 1 16 16\r\nNATS/1.0 503\r\n\r\n\r\n', 'miner.counter.my~wheel: no stream takes it'),
            ('MSG REPLY 1 36\r\n{"error":{"description":"no space"}}\r\n', 'no space'),
            ('', 'timed out'),
        ]:
            nats.find_trouble = lambda count: answer
            self.add(outbox, [trouble])
            self.wait(trouble)
            time.sleep(0.3)
            self.assertEqual(1, self.printed.getvalue().count(trouble))
            nats.find_trouble = lambda count: None
            self.flush(outbox)
        gateway.NATS = gateway.NATS._replace(netloc=gateway.NATS.netloc.replace('secret', 'wrong'))
        time.sleep(0.4)
        self.add(outbox, ['last'])
        self.wait('Authorization Violation')

    def test_prints_each_reason_of_refusal_at_most_once_a_minute(self):
        notices = [('out_of_order', 'one'), ('out_of_order', 'two'), ('malformed', 'three')]
        NatsServer().notices = {'miner.refused.counter.my~wheel': [
            json.dumps({'reason': reason, 'detail': detail}) for reason, detail in notices]}
        self.assertTrue(gateway.hear_refusals('counter').wait(60))
        self.wait('malformed')
        self.assertEqual('refused as out_of_order: one\nrefused as malformed: three\n', self.printed.getvalue())

    def test_two_programs_cannot_use_one_outbox(self):
        outbox = gateway.Outbox('a.outbox')
        with self.assertRaisesRegex(SystemExit, 'a.outbox: another program uses it'):
            gateway.Outbox(outbox.name)

    # The clock.

    def test_waits_for_a_clock_that_is_not_set(self):
        gateway.time = FakeTime(1_704_067_200 - 5)
        self.assertEqual(1_704_067_200, gateway.Clock().wait())
        self.assertEqual('clock: is not set: waits until it is\nclock: works again\n', self.printed.getvalue())

    def test_waits_until_a_clock_that_went_back_has_passed_the_last_time(self):
        gateway.time, clock = FakeTime(1_800_000_000), gateway.Clock()
        last = clock.wait()
        for back, waited in [(1, 1), (200, 200), (300, 300), (86_400, 300)]:
            last, gateway.time.ran = clock.wait(), 0
            gateway.time.wall -= back
            at = clock.wait()
            self.assertEqual((waited, at >= last), (gateway.time.ran, back <= 300))
        self.assertEqual(4, self.printed.getvalue().count('went back'))

    # The counter.

    def test_begins_an_epoch_when_the_counter_begins_again_and_the_distance_goes_on(self):
        state, distances, epochs = None, [], []
        for day, counter in [('a', 100), ('a', 104), ('a', 0), ('a', 3), ('b', 5), ('b', 1), ('c', 0)]:
            state = gateway.advance(state, counter, day)
            distances.append(state['before'] + counter - state['start'])
            epochs.append(state['epoch'])
        self.assertEqual([0, 4, 4, 7, 2, 2, 0], distances)
        self.assertEqual([True, False, True, True, False, False], [a == b for a, b in zip(epochs, epochs[1:])])

    # Rounds.

    def test_closes_at_most_1008_rounds_and_none_behind_a_gap(self):
        work = {number: '7' for number in range(3, 1_300) if number != 1_200}

        def list_next(closed, count=1_008):
            rounds = [int(one['roundId']) for one in oracle.list_next_rounds(work, closed, count)]
            self.assertEqual(list(range(rounds[0], rounds[-1] + 1)) if rounds else [], rounds)
            return (rounds[0], rounds[-1]) if rounds else None

        self.assertEqual((3, 1_010), list_next(None))
        self.assertEqual((1_011, 1_199), list_next(1_010))
        self.assertEqual((3, 3), list_next(None, 1))
        self.assertEqual('', self.printed.getvalue())
        self.assertEqual((None, None), (list_next(1_199), list_next(1_299)))
        self.assertEqual('rounds: round 1200 is missing: the later ones wait for it\n', self.printed.getvalue())

    def test_closes_every_round_after_a_kill_while_a_closure_waits(self):
        nats = NatsServer()
        nats.find_trouble = lambda count: 'cut'
        gateway.save('oracle.state', {'closed': 2, 'epoch': None})
        environment = {**os.environ, 'NATS_URL': gateway.NATS.geturl()}

        def run(rounds, condition):
            with open('rounds.txt', 'a') as file:
                file.writelines(f'{number} 7\n' for number in rounds)
            with subprocess.Popen([sys.executable, oracle.__file__], env=environment, stdout=subprocess.DEVNULL) as run:
                for _ in range(600):
                    if condition():
                        break
                    time.sleep(0.02)
                run.kill()

        def find_closed():
            closed = 2
            for one in list(nats.stored):
                if int(one['firstRound']) == closed + 1:  # As the service.
                    closed = int(one['lastRound'])
            return closed

        run([3, 4, 5], lambda: os.path.exists('oracle.outbox') and os.path.getsize('oracle.outbox') > 0)
        nats.find_trouble = lambda count: None
        run([6, 7, 8], lambda: find_closed() == 8)
        self.assertEqual(8, find_closed(), nats.stored)


if __name__ == '__main__':
    unittest.main()
