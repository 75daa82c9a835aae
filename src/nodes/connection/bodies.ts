/** An encoded body. */
export interface EncodedBody {
  readonly bytes: string | Uint8Array;
  readonly contentType: string;
}

/** An event of a watch. */
export interface WatchEvent<T> {
  readonly type: string;
  readonly object: T;
}

/** The encoding of the bodies of a connection. */
export interface Bodies {
  /** Media types for the header `Accept`. */
  readonly accept: string;
  encode(body: object): EncodedBody;
  /** The object of a response. @throws Error for bytes that are not an object */
  decode(bytes: Buffer, contentType: string): unknown;
  /** The events of a watch as they arrive. @throws Error for bytes that are not events, and the errors of the stream */
  events(stream: AsyncIterable<Buffer>, contentType: string): AsyncGenerator<WatchEvent<unknown>>;
}

export const jsonType = 'application/json';

/** JSON; events are lines. */
export const jsonBodies: Bodies = {
  accept: jsonType,
  encode: (body) => ({ bytes: JSON.stringify(body), contentType: jsonType }),
  decode: (bytes) => JSON.parse(bytes.toString('utf8')) as unknown,
  events: jsonEvents,
};

async function* jsonEvents(stream: AsyncIterable<Buffer>): AsyncGenerator<WatchEvent<unknown>> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts) if (line !== '') yield JSON.parse(line) as WatchEvent<unknown>;
  }
}
