import { noStore } from '../../routes/cacheControl.ts';
import { type ErrorCode, errorStatus } from '../../routes/errors.ts';
import { createEncodingChoice } from '../answers/contentEncoding.ts';
import { type PreparedResponse, prepareDocument } from '../answers/preparedResponse.ts';
import type { FindRefusalPage } from '../answers/responseWriter.ts';
import { loadExplorerBuild } from './explorerBuild.ts';
import { pageHeaders } from './pageHeaders.ts';

/** Pages for errors. Each is rendered and compressed once, so that a refused request stays cheap. */
export function createRefusalPages(publicUrl: string | null): FindRefusalPage {
  const chooseEncoding = createEncodingChoice();
  const pages = new Map<ErrorCode, PreparedResponse | null>();

  function find(code: ErrorCode): PreparedResponse | null {
    const existing = pages.get(code);
    if (existing !== undefined) return existing;
    const page = prepare(code, publicUrl);
    pages.set(code, page);
    return page;
  }

  return ({ isForPeople, headers: { accept, acceptEncoding } }, code) => {
    if (!isForPeople || !accept.includes('text/html')) return null;
    return find(code)?.encoded(chooseEncoding(acceptEncoding)) ?? null;
  };
}

function prepare(code: ErrorCode, publicUrl: string | null): PreparedResponse | null {
  const { renderRefusal, files } = loadExplorerBuild();
  const html = renderRefusal({ code, settings: { files, publicUrl } });
  if (html === null) return null;
  const { status } = errorStatus[code];
  return prepareDocument(Buffer.from(html), {
    contentType: 'text/html; charset=utf-8',
    cacheControl: noStore,
    own: pageHeaders,
    status,
  });
}
