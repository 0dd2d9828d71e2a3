import { setTimeout as sleep } from 'node:timers/promises';

for (let tag = ''; ; ) {
  let seconds = 2;
  try {
    const headers: HeadersInit = tag === '' ? {} : { 'If-None-Match': tag };
    const answer = await fetch('http://127.0.0.1:8080/v1/status', { headers, signal: AbortSignal.timeout(30_000) });
    seconds = Number(answer.headers.get('Retry-After')) || 2; // 429 and 503 have one.
    if (answer.status === 200) {
      const { measurement } = await answer.json();
      tag = answer.headers.get('ETag') ?? '';
      console.log(measurement === null ? 'no reading yet' : `${measurement.cumulativeWorkUnits} work units`);
    } else if (answer.status !== 304) throw new Error(`the answer is ${answer.status}`);
  } catch (error) {
    console.log(`again in ${seconds} seconds:`, String(error)); // Refused, broken off or silent, too.
  }
  await sleep(seconds * 1_000);
}
