import type {
  ExpressionWarning,
  ValidatingAdmissionPolicy,
} from '../../apis/admissionregistration/v1/validating-admission-policy.types.js';
import type { ApiObject } from '../../machinery/api-object.js';
import { cloneJson } from '../../machinery/json/exact-numbers.js';
import { StatusError } from '../../machinery/status-error.js';
import { inTurns } from '../../machinery/turns.js';
import { groupName, type VendorNames } from '../../machinery/vendor.js';
import type { Logger } from '../../observability/logger.js';
import { Lister } from '../../registry/informers/lister.js';
import { partOf } from '../../registry/resource-definition.js';
import type { ResourceRegistry } from '../../registry/resource-registry.js';
import type { AdmittedStore, WriteAdmission } from '../../registry/store/admitted-store.js';
import { parseStored } from '../../registry/store/object-codec.js';
import type { Storage } from '../../storage/storage.interface.js';
import type { ControlLoop } from '../control-loop.js';
import type { Timers } from '../timers.js';
import { workContext } from '../work-context.js';
import { type WorkOutcome, WorkQueue } from '../work-queue.js';
import { workStore } from '../work-store.js';
import { checkPolicyTypes } from './check-policy-types.js';

type Policy = ValidatingAdmissionPolicy & ApiObject;

export interface ValidatingAdmissionPolicyStatusOptions {
  readonly storage: Storage;
  readonly admission?: WriteAdmission | undefined;
  /** The kinds that policies are checked against. */
  readonly registry: ResourceRegistry;
  readonly names: VendorNames;
  readonly logger: Logger;
  readonly timers: Timers;
  /** First and longest pause before failed work is retried. Default 500 ms and 1 minute. */
  readonly firstPauseMs?: number | undefined;
  readonly longestPauseMs?: number | undefined;
}

/**
 * Writes into the status of each ValidatingAdmissionPolicy which of its expressions do not fit the declared kinds, once
 * for every generation (specification 5.10, as the newest release has it).
 */
export class ValidatingAdmissionPolicyStatusController implements ControlLoop {
  readonly name = 'validatingadmissionpolicy-status-controller';
  private readonly store: AdmittedStore;

  /** @throws Error when the registry has no validating admission policies. */
  constructor(private readonly options: ValidatingAdmissionPolicyStatusOptions) {
    const group = groupName('admissionregistration', options.names);
    const served = options.registry.findStoredResource(group, 'v1', 'validatingadmissionpolicies');
    if (served === undefined) throw new Error('the resource validatingadmissionpolicies is not registered');
    this.store = workStore(served, options);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { storage, registry, logger, timers } = this.options;
    const failed = new AbortController();
    const ended = AbortSignal.any([signal, failed.signal]);
    const queue = new WorkQueue({
      work: (name) => this.process(name, ended),
      onFault: (policy, error) =>
        logger.warn('the types of a policy could not be checked yet', { loop: this.name, policy, error }),
      workers: 1,
      firstPauseMs: this.options.firstPauseMs ?? 500,
      longestPauseMs: this.options.longestPauseMs ?? 60_000,
      timers,
    });
    const notice = (object: ApiObject): undefined => {
      if (isUnchecked(object as Policy)) queue.add(object.metadata.name ?? '');
    };
    const lister = new Lister(storage, registry, this.store.resource.storageResource, notice, (error) =>
      logger.warn('a control loop lost its place in the change log', { loop: this.name, error }),
    );
    const work = queue.run(ended);
    try {
      await lister.start(ended);
      await work;
    } finally {
      failed.abort();
      await Promise.all([work, lister.stopped()]);
    }
  }

  private async process(name: string, signal: AbortSignal): Promise<WorkOutcome> {
    const resource = this.store.resource;
    const stored = await this.options.storage.get({ resource: resource.storageResource, namespace: '', name });
    if (stored === undefined) return 'done';
    const policy = parseStored(resource, stored) as Policy;
    if (!isUnchecked(policy)) return 'done';
    const warnings = await inTurns(checkPolicyTypes(policy.spec, this.options.registry));
    try {
      await this.write(policy, warnings, signal);
    } catch (error) {
      // What is newer arrives as a change of its own.
      const isGone = error instanceof StatusError && error.reason === 'NotFound';
      if (!isGone && !(error instanceof Superseded)) throw error;
    }
    return 'done';
  }

  /** Writes what was found about one generation of a policy, unless there is a newer one. */
  private async write(
    { metadata }: Policy,
    expressionWarnings: readonly ExpressionWarning[],
    signal: AbortSignal,
  ): Promise<void> {
    const { name = '', uid, generation } = metadata;
    await this.store.update(workContext(this.name, this.options.timers.now(), signal), '', name, {
      subresource: partOf(this.store.resource.definition, 'status'),
      transform: (live) => {
        const isSeen = live !== undefined && live.metadata.uid === uid && live.metadata.generation === generation;
        if (!isSeen || !isUnchecked(live as Policy)) throw new Superseded();
        const copy = cloneJson(live) as Policy;
        const typeChecking = expressionWarnings.length === 0 ? {} : { expressionWarnings: [...expressionWarnings] };
        copy.status = { ...copy.status, observedGeneration: Number(generation), typeChecking };
        return copy;
      },
    });
  }
}

/** The policy changed meanwhile; that change queues work of its own. */
class Superseded extends Error {}

function isUnchecked({ metadata, status }: Policy): boolean {
  return Number(metadata.generation) !== Number(status.observedGeneration);
}
