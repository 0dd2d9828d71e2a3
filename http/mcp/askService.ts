import { z } from 'zod';
import { errorStatus } from '../routes/errors.ts';
import { capAnswer } from './capAnswer.ts';

const timeoutMs = 15_000;
const errorBody = z.object({ error: z.string().optional() });

/** Texts of a tool's answer, and whether they describe an error. */
interface ToolAnswer {
  readonly texts: readonly string[];
  readonly isError: boolean;
  /** The answer as JSON; missing on an error. */
  readonly body?: Readonly<Record<string, unknown>>;
}

/** Asks the service once. On an error the model is told its meaning, and decides whether to try again. */
export async function askService(baseUrl: string, path: string): Promise<ToolAnswer> {
  let response: Response;
  try {
    response = await fetch(`${baseUrl}${path}`, { signal: AbortSignal.timeout(timeoutMs) });
  } catch (error) {
    return { texts: [`the service at ${baseUrl} cannot be reached: ${error}`], isError: true };
  }
  const body: unknown = await response.json().catch(() => null);
  if (response.ok && body !== null) {
    const { text, cuts } = capAnswer(body);
    const note = cuts.length === 0 ? [] : [`Cut: ${cuts.slice(0, 20).join('; ')}`];
    return { texts: [text, ...note], isError: false, body: JSON.parse(text) };
  }
  const { error: code = '' } = errorBody.safeParse(body).data ?? {};
  const { meaning = '' } = Object.entries(errorStatus).find(([name]) => name === code)?.[1] ?? {};
  const wait = response.headers.get('retry-after');
  const asked = wait === null ? '' : ` Retry after ${wait} seconds.`;
  return { texts: [`${response.status} ${code}: ${meaning}${asked}`], isError: true };
}
