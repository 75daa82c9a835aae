import type { AdmissionAttributes, AdmissionOperation } from './attributes.js';

/**
 * One admission rule. `admit` may change the object, `validate` may not; both refuse a request by throwing a
 * StatusError. Both may be called several times for one request, and must be safe for dry runs.
 */
export interface AdmissionPlugin {
  readonly name: string;
  handles(operation: AdmissionOperation): boolean;
  /**
   * In the second round (`attributes.reinvocation`), the object may contain changes that the plugin made in the first.
   */
  admit?(attributes: AdmissionAttributes): Promise<void> | void;
  validate?(attributes: AdmissionAttributes): Promise<void> | void;
  /**
   * Called once before the objects of a namespace are deleted, even if there are none. The plugin is then called for
   * each object too.
   */
  admitCollection?(namespace: string): Promise<void> | void;
  /** Closes the plugin's connections at the end of the process. No request follows. */
  stop?(): void;
}
