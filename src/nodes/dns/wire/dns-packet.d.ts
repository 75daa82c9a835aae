/** Declares the few parts of the library that are used, since it has no types of its own. */
declare module 'dns-packet' {
  interface DecodedRecord {
    readonly name: string;
    readonly type: string;
    readonly class?: string;
    readonly ttl?: number;
    readonly data?: unknown;
  }

  interface Codec {
    /** The data of a record, with its length in two bytes before it. */
    encode(data: unknown): Buffer;
  }

  const packet: {
    record(type: string): Codec;
    /** @throws Error for what is not a message */
    decode(message: Buffer): {
      readonly answers: readonly DecodedRecord[];
      readonly authorities: readonly DecodedRecord[];
    };
    encode(message: object): Buffer;
  };
  export default packet;
}

declare module 'dns-packet/types.js' {
  /** The number of a type by its name, or by a text such as `UNKNOWN_65`. */
  export function toType(name: string): number;
}
