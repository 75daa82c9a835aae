import type { Authorizer, RuleResolver } from '../../base/machinery/authorizer.js';
import type { ResourceStores } from '../../objects/registry/store/resource-stores.js';

/** A check of the health endpoints; throws while it fails. */
export interface ModeHealthCheck {
  readonly name: string;
  readonly paths: readonly ('healthz' | 'livez' | 'readyz')[];
  /** Further endpoints under which the check can be requested individually (`/livez/<name>`). */
  readonly alonePaths?: readonly ('healthz' | 'livez' | 'readyz')[];
  check(): void;
}

/** One mode of `--authorization-mode`, set up. A mode omits the members that it does not need. */
export interface ConfiguredMode {
  readonly authorizer: Authorizer;
  readonly rules: RuleResolver;
  /**
   * Fills the authorizer's in-memory state, then follows the store in the background until the signal is aborted. All
   * resources are registered by then.
   */
  start?(signal: AbortSignal): Promise<void>;
  /** Resolves when all background work has ended after the signal is aborted. */
  stopped?(): Promise<void>;
  /**
   * Writes the objects that this authorizer needs in a new cluster. Called once the server takes requests and the system's
   * namespaces exist. Retries until it succeeds or `signal` is aborted.
   */
  prepare?(stores: ResourceStores, signal: AbortSignal): Promise<void>;
  readonly healthChecks?: readonly ModeHealthCheck[];
}
