import type { Header } from '../engine/headerBlock.ts';

/** Headers of a page for people: what it may load is its policy, and it needs nothing else of a browser. */
export function buildPageHeaders(contentSecurityPolicy: string): readonly Header[] {
  return [
    ['Content-Security-Policy', contentSecurityPolicy],
    ['Cross-Origin-Opener-Policy', 'same-origin'],
    ['Permissions-Policy', 'camera=(), geolocation=(), microphone=(), payment=(), usb=()'],
    ['Referrer-Policy', 'no-referrer'],
  ];
}
