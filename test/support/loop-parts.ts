import type { Authorizer } from '../../src/base/machinery/authorizer.js';
import { systemTimers, type Timers } from '../../src/base/machinery/timers.js';
import { vendorNames } from '../../src/base/machinery/vendor.js';
import { Logger } from '../../src/base/observability/logger.js';
import { LoopClient } from '../../src/loops/controllers/frame/loop-client.js';
import type { LoopDependencies } from '../../src/loops/controllers/loop-table.js';
import { SharedInformers } from '../../src/objects/registry/informers/shared-informers.js';
import type { ResourceRegistry } from '../../src/objects/registry/resource-registry.js';
import type { WriteAdmission } from '../../src/objects/registry/store/admitted-store.js';
import type { Storage } from '../../src/storage/storage.interface.js';
import { bootstrapRights } from './loop-rights.js';

/** The settings for loops that tests create themselves. */
export interface LoopPartsOptions {
  readonly storage: Storage;
  readonly registry: ResourceRegistry;
  readonly timers?: Timers;
  readonly admission?: WriteAdmission | undefined;
  /** Default: an authorizer with the rights of the default policy. */
  readonly authorizer?: Authorizer;
  /** Receives the lines of the log. */
  readonly log?: (line: string) => void;
}

/** The dependencies of loops that run on one storage, as in one process. */
export function loopParts(options: LoopPartsOptions): LoopDependencies {
  const { storage, registry, timers = systemTimers, admission, log = () => undefined } = options;
  const names = vendorNames('k8s.io');
  const { authorizer = bootstrapRights(names) } = options;
  const logger = new Logger('info', 'text', log);
  const lost = (error: unknown) => logger.warn('lost its place in the change log', { error });
  return {
    storage,
    registry,
    admission,
    timers,
    logger,
    names,
    random: Math.random,
    informers: new SharedInformers(storage, registry, lost),
    client: new LoopClient({ storage, registry, timers, admission, authorizer }),
  };
}
