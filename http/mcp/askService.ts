import { z } from 'zod';
import { errorStatus } from '../routes/errors.ts';
import { capAnswer } from './capAnswer.ts';

const timeoutMs = 15_000;
const errorBody = z.object({ error: z.string().optional() });

/** What a tool answers: texts, and whether they say why there is none. */
interface ToolAnswer {
  readonly texts: readonly string[];
  readonly isError: boolean;
}

/** Asks the service once: whether to try again is the model's decision, which is told what the error means. */
export async function askService(baseUrl: string, path: string): Promise<ToolAnswer> {
  let response: Response;
  try {
    response = await fetch(`${baseUrl}${path}`, { signal: AbortSignal.timeout(timeoutMs) });
  } catch (error) {
    return { texts: [`the service at ${baseUrl} was not reached: ${error}`], isError: true };
  }
  const body: unknown = await response.json().catch(() => null);
  if (response.ok && body !== null) {
    const { text, cuts } = capAnswer(body);
    const note = cuts.length === 0 ? [] : [`What was cut: ${cuts.slice(0, 20).join('; ')}`];
    return { texts: [text, ...note], isError: false };
  }
  const { error: code = '' } = errorBody.safeParse(body).data ?? {};
  const { meaning = '' } = Object.entries(errorStatus).find(([name]) => name === code)?.[1] ?? {};
  const wait = response.headers.get('retry-after');
  const asked = wait === null ? '' : ` Retry after ${wait} seconds.`;
  return { texts: [`${response.status} ${code}: ${meaning}${asked}`], isError: true };
}
