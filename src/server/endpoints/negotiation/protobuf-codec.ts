import { createRequire } from 'node:module';

type ProtobufCodec = typeof import('../../../base/machinery/schema/protobuf/index.js');

let loaded: ProtobufCodec | undefined;

/** The protobuf codec, loaded on first use: it costs memory, and most clients use JSON. */
export function protobufCodec(): ProtobufCodec {
  loaded ??= createRequire(import.meta.url)('../../../base/machinery/schema/protobuf/index.js') as ProtobufCodec;
  return loaded;
}
