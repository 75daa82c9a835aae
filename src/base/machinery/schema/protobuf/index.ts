/**
 * Protobuf bodies of declared types. Separate from the schema's index, so processes that never use protobuf do not load
 * it.
 */
export * from './decode-protobuf.js';
export * from './encode-protobuf.js';
export * from './envelope.js';
