import { formatDate } from '../../addresses/days.ts';
import type { Place } from '../../addresses/place.ts';
import { formatInteger, shortenHash } from './numbers.ts';

/** A part of a text that leads to a page. */
export interface Link {
  readonly text: string;
  readonly place: Place;
  /** All of a shortened text. */
  readonly title?: string;
  /** Whether the time at which the round begins is written behind it. */
  readonly isDated?: boolean;
}

/** A part that is closed until it is opened: what it is called, and all of it. */
interface Fold {
  readonly text: string;
  readonly all: Sentence;
}

export type Sentence = readonly (string | Link | Fold)[];

/** Tag of a template whose values may be links or sentences. */
export function say(
  texts: TemplateStringsArray,
  ...values: readonly (string | number | Link | Sentence)[]
): Sentence {
  return texts.flatMap((text, index) => {
    const value = values[index] ?? '';
    const said = Array.isArray(value) ? (value as Sentence) : [value as string | number | Link];
    return [text, ...said.map((part) => (typeof part === 'number' ? String(part) : part))];
  });
}

/** The text without its links. */
export function writeSentence(sentence: Sentence): string {
  return sentence.map((part) => (typeof part === 'string' ? part : part.text)).join('');
}

/** A list such as `1, 2 and 3`. */
export function listLinks(links: readonly Link[]): Sentence {
  return links.flatMap((link, index) =>
    index === 0 ? [link] : [index === links.length - 1 ? ' and ' : ', ', link],
  );
}

export function toRound(id: string): Link {
  return { text: formatInteger(id), place: { view: 'round', id } };
}

/** A round from which something counts, with its time. */
export function toStart(id: string): Link {
  return { ...toRound(id), isDated: true };
}

export function toMiner(id: string): Link {
  return { text: id, place: { view: 'miner', id } };
}

export function toOwner(address: string): Link {
  return { text: shortenHash(address), place: { view: 'owners', address }, title: address };
}

/** @param date of a universal day, or a time at its beginning. */
export function toDay(date: string): Link {
  return { text: formatDate(date), place: { view: 'day', id: date.slice(0, 10) } };
}
