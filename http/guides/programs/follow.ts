import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const feed = 'http://127.0.0.1:8080/v1/events';
let position = existsSync('position.txt') ? readFileSync('position.txt', 'utf8') : '';
for (;;) {
  try {
    const start = position !== '' ? { events: [] } : await (await fetch(`${feed}?category=protocol&limit=20`)).json();
    for (const event of start.events?.reverse() ?? []) take(event.id, event);
    const headers: HeadersInit = position === '' ? {} : { 'Last-Event-ID': position };
    const stream = await fetch(`${feed}/stream?category=protocol`, { headers });
    if (!stream.ok || stream.body === null) throw new Error(`the stream answers with ${stream.status}`);
    let text = '';
    // Node ends a connection that is silent for five minutes.
    for await (const piece of stream.body.pipeThrough(new TextDecoderStream())) {
      const messages = (text + piece).split('\n\n');
      text = messages.pop() ?? '';
      for (const message of messages) {
        const { id, event, data } = Object.fromEntries(message.split('\n').map((line) => line.split(/: (.*)/)));
        if (id !== undefined) take(id, event === 'position' ? {} : JSON.parse(data));
      }
    }
  } catch (error) {
    console.log('again in some seconds:', String(error));
  }
  await sleep(3_000 + 3_000 * Math.random());
}

function take(id: string, event: { type?: string; payload?: Record<string, string> }) {
  const { settledThroughRound, completedBlockCount } = event.payload ?? {};
  if (event.type === 'system.settlement_completed')
    console.log(`settled through round ${settledThroughRound}: ${completedBlockCount} work blocks`);
  position = id;
  writeFileSync('position.txt.new', position);
  renameSync('position.txt.new', 'position.txt'); // A program that is killed here leaves a whole position.
}
