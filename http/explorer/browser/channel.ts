import type { FeedEvent, ResourceName } from '../page.ts';

/** Messages between the tabs of one browser, so ten tabs cost the service little more than one. */
export type Message =
  | {
      readonly kind: 'resource';
      readonly name: ResourceName;
      readonly path: string;
      /** Left out if the receiver knows the body by its tag. */
      readonly body?: unknown;
      readonly etag: string | null;
      readonly readAtMs: number;
    }
  | { readonly kind: 'wanted'; readonly paths: readonly string[] }
  | { readonly kind: 'event'; readonly event: FeedEvent }
  | { readonly kind: 'stream'; readonly isOpen: boolean }
  | { readonly kind: 'stream?' };

export interface Channel {
  post(message: Message): void;
}

/**
 * Channel to the browser's other tabs at this address. It reaches none where the browser has no such channel.
 *
 * @param version tabs of different versions do not talk, because one may not understand the other.
 */
export function openChannel(version: string, onMessage: (message: Message) => void): Channel {
  if (typeof BroadcastChannel === 'undefined') return { post: () => {} };
  const channel = new BroadcastChannel(`explorer ${version}`);
  channel.onmessage = ({ data }: MessageEvent<Message>) => onMessage(data);
  return { post: (message) => channel.postMessage(message) };
}
