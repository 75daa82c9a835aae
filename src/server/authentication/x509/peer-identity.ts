import { X509Certificate } from 'node:crypto';
import type { SubjectNames } from '../../../base/machinery/x509/distinguished-name.js';

/** The identity of a peer that TLS has verified. */
export interface PeerIdentity {
  /** Whether the client sent a certificate. */
  readonly isPresent: boolean;
  /** Names of the leaf certificate; empty when there is a problem. */
  readonly subject: SubjectNames;
  /**
   * Why the certificate is not accepted; undefined when TLS accepted the chain and the leaf certificate is readable.
   */
  readonly problem: string | undefined;
  /** The leaf certificate and those above it, up to the first that is not verifiably signed by the next. */
  readonly chain: readonly X509Certificate[];
  /** Milliseconds since the epoch. The chain is valid between the two times. */
  readonly validFrom: number;
  readonly validUntil: number;
}
