import type { FeedEvent, ResourceName } from '../page.ts';

/** What tabs of one browser tell each other, so that ten of them cost the service little more than one. */
export type Message =
  | {
      readonly kind: 'resource';
      readonly name: ResourceName;
      readonly path: string;
      /** Left out where it is the one of the tag that is known already. */
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
 * The other tabs of this browser at this address; none where the browser cannot reach them.
 *
 * @param version tabs of different versions of the page do not talk: one may say what the other does not understand.
 */
export function openChannel(version: string, onMessage: (message: Message) => void): Channel {
  if (typeof BroadcastChannel === 'undefined') return { post: () => {} };
  const channel = new BroadcastChannel(`explorer ${version}`);
  channel.onmessage = ({ data }: MessageEvent<Message>) => onMessage(data);
  return { post: (message) => channel.postMessage(message) };
}
