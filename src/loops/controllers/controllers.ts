import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { systemTimers, type Timers } from '../../base/machinery/timers.js';
import { groupName } from '../../base/machinery/vendor.js';
import { SharedInformers } from '../../objects/registry/informers/shared-informers.js';
import { OwningStore } from '../../objects/registry/store/owning-store.js';
import { keepRunning } from './control-loop.js';
import type { ControllersOptions } from './controllers-options.js';
import { EventRecorder } from './event-recorder.js';
import { FencedStorage } from './fenced-storage.js';
import { CreationBudget } from './frame/creation-budget.js';
import { LoopClient } from './frame/loop-client.js';
import { WriteLimiter } from './frame/write-limiter.js';
import { LeaseElector } from './lease-elector.js';
import { LeaseLock } from './lease-lock.js';
import { makeLoops } from './loop-table.js';
import { loopPace } from './party-pace.js';
import { untilAuthorized } from './until-authorized.js';

/** The control loops of a process; they run whenever it leads. */
export interface RunningControllers {
  readonly identity: string;
  readonly isLeading: boolean;
  /** Stops the controllers, then releases the lease. The storage must be stopped only after this. */
  stop(): Promise<void>;
}

/** Name of the Lease in the system namespace. */
export const controllersLease = 'plinth-controllers';

/**
 * Takes part in the election of the process that runs the control loops. Returns at once; later errors are logged and
 * the work is retried.
 *
 * @throws Error when the registry lacks leases or namespaces.
 */
export function startControllers(options: ControllersOptions): RunningControllers {
  const { storage, admission, registry, names, logger, timers = systemTimers, random = Math.random } = options;
  const identity = options.identity ?? `${hostname()}_${randomUUID()}`;
  const leases = registry.findStoredResource(groupName('coordination', names), 'v1', 'leases');
  if (leases === undefined) throw new Error('the resource leases is not registered');
  const leaseStore = new OwningStore(leases, storage, timers, registry, names.fieldManagers.loops);
  const lock = new LeaseLock(leaseStore, names.systemNamespace, controllersLease);
  const elector = new LeaseElector({ ...options.leaseTimes, lock, identity, timers, logger, random });
  // The lease itself is written without the fence.
  const fenced = new FencedStorage(storage, () => elector.mayAct);
  const onLost = (error: unknown) => logger.warn('the control loops lost their place in the change log', { error });
  const stop = new AbortController();
  const limiter = writeLimiter({ ...options, storage: fenced }, timers, stop.signal);
  const loops = makeLoops(options, {
    storage: fenced,
    admission,
    registry,
    names,
    logger,
    timers,
    random,
    informers: new SharedInformers(storage, registry, onLost),
    client: new LoopClient({
      ...{ storage: fenced, registry, timers, admission, limiter },
      authorizer: options.authorizer,
      managers: names.fieldManagers,
    }),
    queues: options.queues,
    loopMetrics: options.loopMetrics,
  });

  const { authorizer } = options;
  const lead = async (signal: AbortSignal): Promise<void> => {
    if (authorizer !== undefined) await untilAuthorized({ authorizer, names, timers }, signal);
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

function writeLimiter(options: ControllersOptions, timers: Timers, signal: AbortSignal): WriteLimiter {
  const { creationLimits, creationObserver } = options;
  if (creationLimits === undefined) return new WriteLimiter();
  const recorder = new EventRecorder({ ...options, timers }, 'control-loops');
  return new WriteLimiter({
    timers,
    budget: new CreationBudget(creationLimits, timers, creationObserver, (namespace) =>
      loopPace.isContended(namespace),
    ),
    warn: (about, reason, message) => void recorder.warn(about, reason, message, signal),
  });
}
