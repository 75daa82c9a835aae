import type { ApiObject } from '../../../base/machinery/api-object.js';
import { StatusError } from '../../../base/machinery/status-error.js';
import type { CustomResourceDefinition } from '../../../objects/apis/apiextensions/v1/custom-resource-definition.types.js';
import { cleanupFinalizer } from '../../../objects/custom-resources/definition/cleanup-finalizer.js';
import {
  type ConditionUpdate,
  isConditionTrue,
  setCondition,
} from '../../../objects/custom-resources/definition/definition-conditions.js';
import { partOf } from '../../../objects/registry/resource-definition.js';
import type { AdmittedStore } from '../../../objects/registry/store/admitted-store.js';
import { parseStored } from '../../../objects/registry/store/object-codec.js';
import type { ChangeSubscription } from '../../../storage/storage.interface.js';
import { type ReconcileContext, serverUser } from '../frame/reconcile-context.js';
import { type Pauses, ReconcileLoop, type Source } from '../frame/reconcile-loop.js';
import { reflectorSource } from '../frame/reflector-source.js';
import type { WorkOutcome } from '../work-queue.js';
import { workStore } from '../work-store.js';
import { type DefinitionLoopDependencies, definitionsOf } from './definition-loop-dependencies.js';
import { builtInKinds } from './definition-status.controller.js';
import { EndedDefinitions } from './ended-definitions.js';
import { Instances } from './instances.js';

type Definition = CustomResourceDefinition & ApiObject;

/** A kind with remaining objects. */
interface Wait {
  readonly subscription: ChangeSubscription;
  /** How many objects remained at the last check, less those removed since. */
  left: number;
}

/** The longest time between two checks, in milliseconds. */
const checkAgainMs = 60_000;

/**
 * Cleans up deleted definitions: deletes the objects of their kinds, reports the progress in the condition Terminating,
 * and removes its finalizer when no object remains. It waits for objects with finalizers of their own.
 */
export class DefinitionCleanupController extends ReconcileLoop {
  readonly name = 'customresourcedefinition-cleanup-controller';
  protected override readonly workers = 4;
  protected override readonly pauses: Pauses = { firstMs: 500, longestMs: 60_000 };
  private readonly store: AdmittedStore;
  private readonly ended: EndedDefinitions;
  private readonly finalizer: string;
  /** Kinds with remaining objects, by the name of their definition. */
  private readonly waiting = new Map<string, Wait>();

  /** @throws Error when the registry has no definitions. */
  constructor(dependencies: DefinitionLoopDependencies) {
    super(dependencies);
    const served = definitionsOf(dependencies);
    this.store = workStore(served, dependencies);
    this.ended = new EndedDefinitions(dependencies.storage, served.storageResource);
    this.finalizer = cleanupFinalizer(dependencies.names);
  }

  protected override get user() {
    return serverUser;
  }

  protected override get queueName(): string {
    return 'crd_finalizer';
  }

  protected sources(): readonly Source[] {
    const sink = {
      reduce: ({ metadata }: ApiObject): ApiObject => ({ metadata }),
      replace: (objects: readonly ApiObject[]) => {
        for (const object of objects) this.notice(object);
        this.sweep();
      },
      set: (object: ApiObject) => this.notice(object),
      delete: () => this.sweep(),
    };
    return [reflectorSource(this.dependencies, this.store.resource.storageResource, sink)];
  }

  override async run(signal: AbortSignal): Promise<void> {
    try {
      await super.run(signal);
    } finally {
      for (const { subscription } of this.waiting.values()) subscription.close();
      this.waiting.clear();
      await this.ended.swept();
    }
  }

  private notice({ metadata }: ApiObject): void {
    if (metadata.deletionTimestamp !== undefined && this.isHeld(metadata)) this.enqueue(metadata.name ?? '');
  }

  private isHeld({ finalizers }: ApiObject['metadata']): boolean {
    return finalizers?.includes(this.finalizer) === true;
  }

  private sweep(): void {
    this.ended.sweep((error) =>
      this.dependencies.logger.warn('could not remove the records of ended definitions yet', {
        loop: this.name,
        error,
      }),
    );
  }

  protected async reconcile(name: string, work: ReconcileContext): Promise<WorkOutcome> {
    const definition = await this.read(name);
    if (definition === undefined) {
      this.stopWaiting(name);
      return 'done';
    }
    try {
      return await this.end(definition, work);
    } catch (error) {
      if (error instanceof Superseded || (error instanceof StatusError && error.reason === 'NotFound')) return 'done';
      throw error;
    }
  }

  private async end(definition: Definition, work: ReconcileContext): Promise<WorkOutcome> {
    const { storage, timers, logger } = this.dependencies;
    const { name = '', uid = '' } = definition.metadata;
    const instances = new Instances(definition, storage, timers, this.name);
    if (this.isBuiltIn(instances.resource)) {
      return this.finish(definition, overlapping, work);
    }
    if (!isConditionTrue(definition, 'Established')) return this.finish(definition, neverEstablished, work);
    if (!this.waiting.has(name)) await this.write(definition, inProgress, false, work);
    // From here on no process creates another object of the kind, so one pass sees all.
    await this.ended.add(name, uid);
    await this.follow(name, instances.resource, work.signal);
    const { left, errors } = await instances.delete(work.signal);
    if (work.signal.aborted) return 'done';
    const [error] = errors;
    if (error !== undefined) {
      await this.write(definition, failed(errors), false, work);
      throw error;
    }
    if (left > 0) {
      const wait = this.waiting.get(name);
      if (wait !== undefined) wait.left = left;
      await this.write(definition, heldBack(left), false, work);
      return checkAgainMs;
    }
    logger.info('the objects of a definition are gone', { definition: name });
    return this.finish(definition, completed, work);
  }

  /** Checks again when all remaining objects of the kind are gone. */
  private async follow(name: string, resource: string, signal: AbortSignal): Promise<void> {
    if (this.waiting.has(name)) return;
    const { storage } = this.dependencies;
    const subscription = await storage.watch({ resource }, await storage.head());
    if (signal.aborted) {
      subscription.close();
      return;
    }
    const wait: Wait = { subscription, left: 0 };
    this.waiting.set(name, wait);
    const read = async () => {
      for (let batch = await subscription.next(); batch !== undefined; batch = await subscription.next()) {
        const gone = batch.changes.filter(({ type }) => type === 'delete').length;
        wait.left -= gone;
        if (gone > 0 && wait.left <= 0) this.enqueue(name);
      }
    };
    read().catch(() => {
      if (this.waiting.get(name) !== wait) return;
      this.waiting.delete(name);
      this.enqueue(name);
    });
  }

  private stopWaiting(name: string): void {
    this.waiting.get(name)?.subscription.close();
    this.waiting.delete(name);
  }

  private async finish(
    definition: Definition,
    condition: ConditionUpdate,
    work: ReconcileContext,
  ): Promise<WorkOutcome> {
    this.stopWaiting(definition.metadata.name ?? '');
    await this.write(definition, condition, true, work);
    return 'done';
  }

  /** The definition, if it waits for its clean-up. */
  private async read(name: string): Promise<Definition | undefined> {
    const { resource } = this.store;
    const stored = await this.dependencies.storage.get({ resource: resource.storageResource, namespace: '', name });
    if (stored === undefined) return undefined;
    const definition = parseStored(resource, stored) as Definition;
    const { metadata } = definition;
    return metadata.deletionTimestamp !== undefined && this.isHeld(metadata) ? definition : undefined;
  }

  private async write(
    { metadata }: Definition,
    condition: ConditionUpdate,
    isEnd: boolean,
    work: ReconcileContext,
  ): Promise<void> {
    const { timers } = this.dependencies;
    await this.store.update(work.context, '', metadata.name ?? '', {
      subresource: partOf(this.store.resource.definition, 'status'),
      transform: (live) => {
        if (live?.metadata.uid !== metadata.uid || !this.isHeld(live?.metadata ?? {})) throw new Superseded();
        const before = live as Definition;
        const status = { ...before.status };
        const isSaid = !setCondition(status, condition, timers.now());
        if (isSaid && !isEnd) return before;
        const changed: Definition = { ...before, metadata: { ...before.metadata }, status };
        if (isEnd) {
          const kept = (before.metadata.finalizers ?? []).filter((finalizer) => finalizer !== this.finalizer);
          if (kept.length > 0) changed.metadata.finalizers = kept;
          else delete changed.metadata.finalizers;
        }
        return changed;
      },
    });
  }

  private isBuiltIn(storageResource: string): boolean {
    return builtInKinds(this.dependencies.registry).some(
      ({ group, resource }) => `${resource}.${group}` === storageResource,
    );
  }
}

/** Another definition has the name now, or another process has cleaned this one up. */
class Superseded extends Error {}

function terminating(status: 'True' | 'False', reason: string, message: string): ConditionUpdate {
  return { type: 'Terminating', status, reason, message };
}

const inProgress = terminating('True', 'InstanceDeletionInProgress', 'CustomResource deletion is in progress');
const completed = terminating('False', 'InstanceDeletionCompleted', 'removed all instances');
const neverEstablished = terminating('False', 'NeverEstablished', 'resource was never established');
const overlapping = terminating(
  'False',
  'OverlappingBuiltInResource',
  'instances overlap with built-in resources in storage',
);

function heldBack(left: number): ConditionUpdate {
  const message = `could not confirm zero CustomResources remaining: ${left} wait for their finalizers`;
  return terminating('True', 'InstanceDeletionCheck', message);
}

function failed(errors: readonly Error[]): ConditionUpdate {
  const texts = [...new Set(errors.map(({ message }) => message))].slice(0, 5);
  const text = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  return terminating('True', 'InstanceDeletionFailed', `could not issue all deletes: ${text}`);
}
