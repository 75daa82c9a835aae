import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { groupName, type VendorNames } from '../machinery/vendor.js';
import type { Logger } from '../observability/logger.js';
import type { ResourceRegistry } from '../registry/resource-registry.js';
import { Store } from '../registry/store.js';
import type { Storage } from '../storage/storage.interface.js';
import { type ControlLoop, keepRunning } from './control-loop.js';
import { EventTtlController } from './event-ttl/event-ttl.controller.js';
import { LeaseElector, type LeaseTimes } from './lease-elector.js';
import { LeaseLock } from './lease-lock.js';
import { NamespaceController } from './namespace/namespace.controller.js';
import { systemTimers, type Timers } from './timers.js';

export interface ControllersOptions {
  readonly storage: Storage;
  /** With all resources registered: content of namespaces is found through it. */
  readonly registry: ResourceRegistry;
  readonly names: VendorNames;
  readonly logger: Logger;
  /** Name of this process in the Lease; must be of it alone. Default: host name and a random part. */
  readonly identity?: string | undefined;
  readonly leaseTimes?: Partial<LeaseTimes> | undefined;
  /** How long events are kept, in milliseconds. Default 1 hour. */
  readonly eventTtlMs?: number | undefined;
  /** See the namespace controller. */
  readonly settleMs?: number | undefined;
  readonly timers?: Timers | undefined;
  readonly random?: (() => number) | undefined;
}

/** Control loops of a process, running whenever it leads. */
export interface RunningControllers {
  readonly identity: string;
  readonly isLeading: boolean;
  /** Ends the loops, then gives the lease back. The storage must be stopped after this only. */
  stop(): Promise<void>;
}

const defaultEventTtlMs = 3_600_000;

/** Name of the Lease in the system namespace. */
export const controllersLease = 'plinth-controllers';

/**
 * Starts taking part in the election of the process that runs the control loops. Returns at once; what goes wrong later
 * is logged and tried again.
 *
 * @throws Error when the registry lacks leases or namespaces.
 */
export function startControllers(options: ControllersOptions): RunningControllers {
  const { storage, registry, names, logger, timers = systemTimers, random = Math.random } = options;
  const identity = options.identity ?? `${hostname()}_${randomUUID()}`;
  const leases = registry.find(groupName('coordination', names), 'v1', 'leases');
  if (leases === undefined) throw new Error('the resource leases is not registered');
  const lock = new LeaseLock(new Store(leases, storage, timers), names.systemNamespace, controllersLease);
  const elector = new LeaseElector({ ...options.leaseTimes, lock, identity, timers, logger, random });
  const loops: readonly ControlLoop[] = [
    new EventTtlController({ storage, logger, timers, random, ttlMs: options.eventTtlMs ?? defaultEventTtlMs }),
    new NamespaceController({ storage, registry, names, logger, timers, settleMs: options.settleMs }),
  ];

  const stop = new AbortController();
  const lead = async (signal: AbortSignal): Promise<void> => {
    await Promise.all(loops.map((loop) => keepRunning(loop, timers, logger, signal)));
  };
  const ended = elector.run(lead, stop.signal);
  return {
    identity,
    get isLeading() {
      return elector.isLeading;
    },
    stop: async () => {
      stop.abort();
      await ended;
    },
  };
}
