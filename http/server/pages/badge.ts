import { formatInteger } from '../../explorer/format/numbers.ts';
import type { Bodies } from '../../explorer/page.ts';
import { describeWheel } from '../../explorer/wheelState.ts';

const characterWidth = 6.6;
const padding = 10;
/** Colours of the explorer's light theme, dark enough for white text. */
const colours = {
  turning: '#0b6a56',
  resting: '#2d4ca3',
  stale: '#56625d',
  fault: '#9c2f22',
  unknown: '#56625d',
};

/** Draws what the wheel does and its work of today. What is unknown is called unknown. */
export function drawBadge(status: Bodies['status'] | null, statistics: Bodies['statistics'] | null): string {
  const { state } = describeWheel(status);
  const name = state === 'stale' ? 'unknown' : state;
  const today = statistics?.activity.days.at(-1);
  const work =
    today === undefined || today.coverage.observedRoundCount === 0
      ? 'work today unknown'
      : `${formatInteger(today.observedWorkUnits)} units today`;
  const isSimulated = status?.measurement?.provenance === 'simulated';
  const texts = [`${isSimulated ? 'simulated ' : ''}wheel ${name}`, work];
  const [left = 0, right = 0] = texts.map((text) => Math.ceil(text.length * characterWidth) + 2 * padding);
  const label = texts.join(', ');
  const write = (text: string | undefined, x: number, width: number) =>
    `<text x="${x + width / 2}" y="14" textLength="${width - 2 * padding}">${text}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${label}"><title>${label}</title><rect width="${left}" height="20" fill="${colours[state]}"/><rect x="${left}" width="${right}" height="20" fill="#1b2320"/><g fill="#fff" text-anchor="middle" font-family="Verdana,sans-serif" font-size="11">${write(texts[0], 0, left)}${write(texts[1], left, right)}</g></svg>\n`;
}
