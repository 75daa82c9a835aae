/** A request that can't be read, or whose signature does not match its key. The message is for the client. */
export class CertificateRequestError extends Error {}
