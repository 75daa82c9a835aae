import type { ApiObject } from '../../base/machinery/api-object.js';
import { StatusError } from '../../base/machinery/status-error.js';
import type { Namespace } from '../../objects/apis/core/v1/namespace.types.js';
import { changeSource } from './frame/change-source.js';
import type { DeepPartial, ResourceClient } from './frame/loop-client.js';
import type { ReconcileContext } from './frame/reconcile-context.js';
import { type ReconcileDependencies, ReconcileLoop, type Source, source } from './frame/reconcile-loop.js';
import { isNamespaceTerminating } from './frame/refusals.js';
import type { WorkOutcome } from './work-queue.js';

type StoredNamespace = Namespace & ApiObject;

/** Errors that mean that another writer was faster. Its change triggers another check. */
const races: ReadonlySet<string> = new Set(['AlreadyExists', 'NotFound', 'Conflict']);

/**
 * Keeps an object of the core group under one name in every active namespace. Creates the object where it is missing,
 * also after somebody deletes it, and lets `repair` correct it. The keys are the names of namespaces.
 */
export abstract class EveryNamespaceLoop<T extends ApiObject> extends ReconcileLoop {
  private readonly namespaces = this.informer<StoredNamespace>('', 'namespaces');
  private readonly objects: ResourceClient<T>;

  /** @throws Error when the registry lacks the resource. */
  constructor(
    dependencies: ReconcileDependencies,
    resource: string,
    private readonly objectName: string,
  ) {
    super(dependencies);
    this.objects = this.client<T>('', resource);
  }

  /** The fields of a new object besides its metadata. */
  protected abstract content(): DeepPartial<T>;

  /** The annotations of a new object. */
  protected annotations(): Readonly<Record<string, string>> | undefined {
    return undefined;
  }

  /** Returns the corrected object, or the same object when it is correct. Must not change its argument. */
  protected repair(live: T): T {
    return live;
  }

  /** Queues all namespaces for a check. */
  protected lookAtAll(): void {
    for (const namespace of this.active()) this.enqueue(namespace);
  }

  protected sources(): readonly Source[] {
    return [
      changeSource(this.dependencies, this.objects.resource.storageResource, {
        keysOf: ({ key }) => (key.name === this.objectName ? [key.namespace] : []),
        all: () => this.active(),
      }),
      source(this.namespaces, (namespace, old) => {
        const isNew = namespace !== undefined && isActive(namespace) && (old === undefined || !isActive(old));
        return isNew ? [namespace.metadata.name ?? ''] : [];
      }),
    ];
  }

  private *active(): Generator<string> {
    for (const namespace of this.namespaces.all()) if (isActive(namespace)) yield namespace.metadata.name ?? '';
  }

  protected async reconcile(namespace: string, work: ReconcileContext): Promise<WorkOutcome> {
    const live = await this.objects.get(namespace, this.objectName);
    if (live !== undefined && (live.metadata.deletionTimestamp !== undefined || this.repair(live) === live)) {
      return 'done';
    }
    // Read the store instead of memory: a terminating namespace must get nothing new.
    const owner = await this.client<StoredNamespace>('', 'namespaces').get('', namespace);
    if (owner === undefined || !isActive(owner)) return 'done';
    try {
      if (live !== undefined) {
        await this.objects.update(work, live, (copy) => {
          const repaired = this.repair(copy);
          return repaired === copy ? undefined : repaired;
        });
      } else {
        const annotations = this.annotations();
        const metadata = { name: this.objectName, namespace, ...(annotations === undefined ? {} : { annotations }) };
        await this.objects.create(work, { ...this.content(), metadata } as DeepPartial<T>);
      }
    } catch (error) {
      // A create that admission refuses is retried.
      if (!(error instanceof StatusError && (races.has(error.reason) || isNamespaceTerminating(error)))) throw error;
    }
    return 'done';
  }
}

function isActive({ metadata, status }: Readonly<StoredNamespace>): boolean {
  return metadata.deletionTimestamp === undefined && status?.phase !== 'Terminating';
}
