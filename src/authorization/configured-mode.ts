import type { Authorizer, RuleResolver } from '../machinery/authorizer.js';
import type { ResourceStores } from '../registry/store/resource-stores.js';

/** A check of the health endpoints; throws while it fails. */
export interface ModeHealthCheck {
  readonly name: string;
  readonly paths: readonly ('healthz' | 'livez' | 'readyz')[];
  /** Paths that it can be asked for alone under, besides its own. */
  readonly alonePaths?: readonly ('healthz' | 'livez' | 'readyz')[];
  check(): void;
}

/** One mode of `--authorization-mode`, set up. What is left out there is nothing to do for. */
export interface ConfiguredMode {
  readonly authorizer: Authorizer;
  readonly rules: RuleResolver;
  /** Fills what the module keeps in memory, then goes on by itself until the abort. All resources are registered. */
  start?(signal: AbortSignal): Promise<void>;
  /** Resolves when nothing runs any more after the abort. */
  stopped?(): Promise<void>;
  /**
   * Writes the objects that a new cluster needs for this module; called once requests are taken and the system's
   * namespaces are there. Tries again until it is done or `signal` is aborted.
   */
  prepare?(stores: ResourceStores, signal: AbortSignal): Promise<void>;
  readonly healthChecks?: readonly ModeHealthCheck[];
}
