export { CborError, decodeCbor } from './decode-cbor.js';
export { encodeCbor, encodeCborHead, selfDescribed } from './encode-cbor.js';
export { type CborShape, cborShapeOf, shapeAt } from './shape.js';
