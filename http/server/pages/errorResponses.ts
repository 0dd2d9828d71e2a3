import { noStore } from '../../routes/cacheControl.ts';
import { type ErrorCode, errorStatus, helpLink } from '../../routes/errors.ts';
import { memoize } from '../answers/memoize.ts';
import { type PreparedResponse, prepareDocument, prepareResponse } from '../answers/preparedResponse.ts';
import type { FindErrorResponse } from '../answers/responseWriter.ts';
import type { Header } from '../engine/headerBlock.ts';
import { loadExplorerBuild } from './explorerBuild.ts';
import { pageHeaders } from './pageHeaders.ts';

const codesMax = Object.keys(errorStatus).length;

/** Responses to errors: JSON, or a page for people. Each is made and compressed once, so that a refused request stays cheap. */
export function createErrorResponses(publicUrl: string | null): FindErrorResponse {
  const findJson = memoize(prepareJson, codesMax);
  const findPage = memoize((code: ErrorCode) => preparePage(code, publicUrl) ?? findJson(code), codesMax);
  return ({ isForPeople, headers: { accept } }, code) =>
    isForPeople && accept.includes('text/html') ? findPage(code) : findJson(code);
}

function prepareJson(code: ErrorCode): PreparedResponse {
  const own: Header[] = [helpLink(code)];
  // Lets the page that was refused read why, and nothing else.
  if (code === 'cors_origin_not_allowed') own.push(['Access-Control-Allow-Origin', '*']);
  const { status } = errorStatus[code];
  return prepareResponse({ error: code }, { cacheControl: noStore, own, status });
}

function preparePage(code: ErrorCode, publicUrl: string | null): PreparedResponse | null {
  const { renderRefusal, files } = loadExplorerBuild();
  const html = renderRefusal({ code, settings: { files, publicUrl } });
  if (html === null) return null;
  return prepareDocument(Buffer.from(html), {
    contentType: 'text/html; charset=utf-8',
    cacheControl: noStore,
    own: [...pageHeaders, helpLink(code)],
    status: errorStatus[code].status,
  });
}
