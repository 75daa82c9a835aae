import { createRequire } from 'node:module';

type ProtobufCodec = typeof import('../../machinery/schema/protobuf/index.js');

let loaded: ProtobufCodec | undefined;

/** The protobuf codec, loaded when first needed: most processes' clients speak JSON, and it costs memory. */
export function protobufCodec(): ProtobufCodec {
  loaded ??= createRequire(import.meta.url)('../../machinery/schema/protobuf/index.js') as ProtobufCodec;
  return loaded;
}
