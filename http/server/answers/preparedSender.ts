import fresh from 'fresh';
import { type ContentEncoding, createEncodingChoice } from './contentEncoding.ts';
import type { PreparedResponse } from './preparedResponse.ts';
import type { Exchange, ResponseWriter } from './responseWriter.ts';

/** Sends prepared responses in the encoding that the client prefers. */
export interface PreparedSender {
  send(exchange: Exchange, prepared: PreparedResponse): void;
  /** Answers 304 if `If-None-Match` names the tag. */
  sendConditionally(exchange: Exchange, prepared: PreparedResponse): void;
}

export function createPreparedSender(writer: ResponseWriter): PreparedSender {
  const chooseEncoding = createEncodingChoice();

  function encodingFor({ isCompressible }: PreparedResponse, { headers }: Exchange): ContentEncoding {
    return isCompressible ? chooseEncoding(headers.acceptEncoding) : 'identity';
  }

  return {
    send: (exchange, prepared) =>
      writer.writePrepared(exchange, prepared.encoded(encodingFor(prepared, exchange))),
    sendConditionally: (exchange, prepared) => {
      const encoding = encodingFor(prepared, exchange);
      const etag = prepared.etag(encoding);
      const encoded = prepared.encoded(encoding);
      if (etag !== null && matchesEtag(exchange.headers.ifNoneMatch, etag))
        writer.writeNotModified(exchange, encoded);
      else writer.writePrepared(exchange, encoded);
    },
  };
}

/**
 * Whether `If-None-Match` names the current tag: exactly, in its weak form, in a comma-separated list, or as `*`
 * (CONTRACT.md, Common headers).
 *
 * @param ifNoneMatch the header's lines, joined by line breaks.
 */
function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === '') return false;
  if (ifNoneMatch === etag) return true;
  return ifNoneMatch.split('\n').some((line) => fresh({ 'if-none-match': line.trim() }, { etag }));
}
