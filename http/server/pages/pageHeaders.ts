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
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; manifest-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors";
export const pageHeaders = buildPageHeaders(`${policy} 'none'`);
/** The only page that other sites may show in a frame. */
export const embedHeaders = buildPageHeaders(`${policy} *`);
/** The page that previews the one above. */
export const shareHeaders = buildPageHeaders(`frame-src 'self'; ${policy} 'none'`);

/** Header for a page or file that cannot be read at the moment. */
export const retryAfter: Header = ['Retry-After', String(retryAfterSeconds)];
