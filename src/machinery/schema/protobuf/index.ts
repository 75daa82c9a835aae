/**
 * Protobuf bodies of declared types. Apart from the schema's own index, so that processes that never speak protobuf do
 * not load it.
 */
export * from './decode-protobuf.js';
export * from './encode-protobuf.js';
export * from './envelope.js';
