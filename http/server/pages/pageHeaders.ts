import { retryAfterSeconds } from '../answers/routeAnswers.ts';
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

/** Everything comes from this service. Pictures of tokens are SVG in data URIs; as images they run no script. */
export const pageHeaders = buildPageHeaders(
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
);

/** Header for a page or file that cannot be read at the moment. */
export const retryAfter: Header = ['Retry-After', String(retryAfterSeconds)];
