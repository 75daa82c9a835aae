/** A server behind a proxy path that could not be reached. The message may be shown to clients. */
export class ProxyFault extends Error {}
