/** Bytes that do not have the expected structure. */
export class Asn1Error extends Error {}
