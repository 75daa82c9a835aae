import type { AdmissionAttributes, AdmissionOperation } from './attributes.js';

/**
 * One admission rule. `admit` may change the object, `validate` may not; both refuse a request by throwing a
 * StatusError. Both may be called several times for one request, and must be safe for dry runs.
 */
export interface AdmissionPlugin {
  readonly name: string;
  handles(operation: AdmissionOperation): boolean;
  /** In the second round (`attributes.reinvocation`) it sees an object that it may have changed itself before. */
  admit?(attributes: AdmissionAttributes): Promise<void> | void;
  validate?(attributes: AdmissionAttributes): Promise<void> | void;
  /**
   * Called once before the objects of a namespace are deleted, of which there may be none; it is then called for each
   * object, too.
   */
  admitCollection?(namespace: string): Promise<void> | void;
  /** Closes its connections, at the end of the process. No request follows. */
  stop?(): void;
}
