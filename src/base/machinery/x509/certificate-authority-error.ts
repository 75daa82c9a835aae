/** An unreadable certificate or key, or one that can't sign. */
export class CertificateAuthorityError extends Error {}
