import type { Header } from '../engine/headerBlock.ts';

/** Headers of a page for people. The policy says what the page may load; all other browser features are off. */
export function buildPageHeaders(contentSecurityPolicy: string): readonly Header[] {
  return [
    ['Content-Security-Policy', contentSecurityPolicy],
    ['Cross-Origin-Opener-Policy', 'same-origin'],
    ['Permissions-Policy', 'camera=(), geolocation=(), microphone=(), payment=(), usb=()'],
    ['Referrer-Policy', 'no-referrer'],
  ];
}
