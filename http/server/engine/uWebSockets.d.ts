/**
 * The part of uWebSockets.js that this program uses, in each of its builds. The types are declared here, since only one of the packages
 * is installed on a machine.
 */
declare module 'uWebSockets.js' {
  type Bytes = string | ArrayBuffer | Uint8Array;

  interface HttpRequest {
    /** Empty if the header is missing. */
    getHeader(lowerCaseName: string): string;
    getParameter(index: number): string;
    getUrl(): string;
    /** In lower case from the native engine, in upper case from the substitute. */
    getMethod(): string;
    /** Undefined in some builds if the target has no question mark. */
    getQuery(): string | undefined;
    forEach(callback: (lowerCaseName: string, value: string) => void): void;
  }

  interface HttpResponse {
    writeStatus(status: Bytes): this;
    writeHeader(name: Bytes, value: Bytes): this;
    /** @returns whether the connection took the whole chunk. */
    write(chunk: Bytes): boolean;
    end(body?: Bytes, closesConnection?: boolean): this;
    endWithoutBody(contentLength?: number, closesConnection?: boolean): this;
    tryEnd(body: Bytes, contentLength: number): [isWritten: boolean, isFinished: boolean];
    close(): this;
    onWritable(handler: (offset: number) => boolean): this;
    onAborted(handler: () => void): this;
    cork(callback: () => void): this;
    getRemoteAddress(): ArrayBuffer;
    getRemoteAddressAsText(): ArrayBuffer;
  }

  type Handler = (response: HttpResponse, request: HttpRequest) => void;

  type ListenSocket = { readonly brand: unique symbol };

  interface TemplatedApp {
    get(pattern: string, handler: Handler): this;
    any(pattern: string, handler: Handler): this;
    listen(host: string, port: number, callback: (socket: ListenSocket | false) => void): this;
    /** @param options 0 if other processes may listen on the port, 1 if not. */
    listen(
      host: string,
      port: number,
      options: number,
      callback: (socket: ListenSocket | false) => void,
    ): this;
  }

  function App(): TemplatedApp;
  function us_listen_socket_close(socket: ListenSocket): void;
  function us_socket_local_port(socket: ListenSocket): number;
  /** Missing in the substitute. `silent` leaves out the header that names the engine. */
  const _cfg: ((option: 'silent') => void) | undefined;
}
