import type { Clock } from '../machinery/clock.js';
import type { Security } from '../machinery/security.js';
import type { VendorNames } from '../machinery/vendor.js';
import type { Storage } from '../storage/storage.interface.js';
import type { ResourceRegistry } from './resource-registry.js';

/** What a group module may use to make its resource definitions. */
export interface GroupContext {
  readonly registry: ResourceRegistry;
  readonly storage: Storage;
  readonly clock: Clock;
  readonly names: VendorNames;
  /** Closed in processes that answer no requests. */
  readonly security: Security;
  /** CIDR that addresses of Services are taken from. */
  readonly serviceClusterIpRange: string;
  /** `from-to`, both included. */
  readonly serviceNodePortRange: string;
}

/** Injection token of the {@link GroupContext}. */
export const GROUP_CONTEXT = Symbol('GroupContext');
