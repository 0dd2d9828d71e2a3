import type { StreamInfo } from '../../../streams/nats/streamPort.ts';

/** A stream on a single server, as the port describes it. */
export const streamInfo = (info: Partial<Omit<StreamInfo, 'config'>> & { readonly config?: object } = {}) =>
  ({
    created: 'then',
    firstSequence: 1,
    lastSequence: 0,
    messages: 0,
    bytes: 0,
    deleted: [],
    cluster: null,
    replicas: 1,
    messageBytesMax: 1_048_576,
    serverTime: null,
    config: {},
    ...info,
  }) as unknown as StreamInfo;
