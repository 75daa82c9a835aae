import { setTimeout as delay } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import { memoryLimits } from '../../../base/machinery/memory-limits.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { StoredResources } from '../../../objects/registry/store/object-codec.js';
import type { Storage } from '../../../storage/storage.interface.js';
import type { ConfiguredMode } from '../configured-mode.js';
import { ensureBootstrapPolicy } from './bootstrap/ensure-policy.js';
import { FreshPolicyAuthorizer } from './fresh-policy.authorizer.js';
import { PolicyIndex } from './policy-index.js';
import { PolicyInformer } from './policy-informer.js';
import { PolicyMemory } from './policy-memory.js';
import { policyMetrics } from './policy-metrics.js';
import { PolicyUpkeep } from './policy-upkeep.js';
import { RbacAuthorizer } from './rbac.authorizer.js';

/** The share of the heap for the roles and bindings of all namespaces. */
const partOfHeap = 0.15;

/** Pause between attempts to write the default policy. */
const retryMs = 1000;

export interface RbacModeOptions {
  readonly storage: Storage;
  readonly registry: StoredResources;
  readonly names: VendorNames;
  readonly logger: Logger;
  readonly metrics: Registry;
}

/** Mode `RBAC`: keeps the policy in memory, up to date with the store. */
export function rbacMode({ storage, registry, names, logger, metrics }: RbacModeOptions): ConfiguredMode {
  const group = groupName('rbac', names);
  const upkeep = new PolicyUpkeep(logger);
  const memory = new PolicyMemory(
    memoryLimits().heap * partOfHeap,
    (namespace) => upkeep.leftOut(namespace),
    (namespace) => upkeep.hasRoom(namespace),
  );
  const index = new PolicyIndex(memory);
  const informer = new PolicyInformer(
    {
      storage,
      registry,
      group,
      onFault: (resource, error) =>
        logger.warn('the access policy lost its place in the change log', { resource, error }),
    },
    index,
  );
  policyMetrics(metrics, memory);
  const authorizer = new RbacAuthorizer(index, group);
  let isPrepared = false;
  let hasGivenUp = false;
  return {
    authorizer: new FreshPolicyAuthorizer(authorizer, informer),
    rules: authorizer,
    start: (signal) => {
      upkeep.start(informer, signal);
      return informer.start(signal);
    },
    stopped: async () => {
      await Promise.all([informer.stopped(), upkeep.stopped()]);
    },
    prepare: async (stores, signal) => {
      while (!signal.aborted && !isPrepared) {
        try {
          // An informer learns only later about versions that do not change the policy, so it waits only for versions
          // that do.
          await informer.reached(await ensureBootstrapPolicy(names, stores, signal));
          isPrepared = true;
        } catch (error) {
          if (signal.aborted) break;
          logger.warn('the default access policy could not be written yet', { error });
          await delay(retryMs, undefined, { signal }).catch(() => undefined);
        }
      }
      hasGivenUp = !isPrepared;
    },
    healthChecks: [
      {
        name: 'poststarthook/rbac/bootstrap-roles',
        paths: ['healthz', 'readyz'],
        check: () => {
          if (!isPrepared) throw new Error('the default access policy is not in force yet');
        },
      },
      {
        // A restart would not bring the policy into force sooner, so the process counts as alive while it still tries.
        name: 'poststarthook/rbac/bootstrap-roles',
        paths: ['livez'],
        check: () => {
          if (hasGivenUp) throw new Error('the default access policy will not come into force');
        },
      },
    ],
  };
}
