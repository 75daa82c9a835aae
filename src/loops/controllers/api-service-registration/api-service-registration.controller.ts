import type { ApiObject } from '../../../base/machinery/api-object.js';
import { StatusError } from '../../../base/machinery/status-error.js';
import { groupName } from '../../../base/machinery/vendor.js';
import type { APIService } from '../../../objects/apis/apiregistration/v1/api-service.types.js';
import { Informer } from '../../../objects/registry/informers/informer.js';
import { LocalPriorities } from '../../../server/aggregation/local-priorities.js';
import type { ResourceClient } from '../frame/loop-client.js';
import { type ReconcileContext, serverUser } from '../frame/reconcile-context.js';
import {
  ownKey,
  type Pauses,
  type ReconcileDependencies,
  ReconcileLoop,
  type Source,
  source,
} from '../frame/reconcile-loop.js';
import type { WorkOutcome } from '../work-queue.js';
import {
  automanagedLabel,
  builtInApiServices,
  customApiServices,
  registrationStep,
  type WantedApiService,
  WantedByDefinitions,
} from './wanted-api-services.js';

type StoredApiService = APIService & ApiObject;

/** The part of a CustomResourceDefinition that is kept in memory. */
interface ReducedDefinition extends ApiObject {
  readonly wanted: readonly WantedApiService[];
}

/**
 * Keeps an APIService for every group version that this server serves: those of built-in groups are made and corrected
 * once, when the loop starts; those of custom resources always (specification 2.1). It is a controller, because
 * definitions may be added and removed at any time and only one process must act on that. No request depends on these
 * objects.
 */
export class ApiServiceRegistrationController extends ReconcileLoop {
  readonly name = 'apiservice-registration-controller';
  protected override readonly pauses: Pauses = { firstMs: 500, longestMs: 60_000 };
  private readonly informed = this.informer<StoredApiService>('apiregistration', 'apiservices');
  private readonly apiServices: ResourceClient<StoredApiService>;
  private readonly definitions: Informer<ReducedDefinition> | undefined;
  private readonly priorities: LocalPriorities;
  private builtIn = new Map<string, WantedApiService>();
  private custom = new WantedByDefinitions();
  private corrected = new Set<string>();
  private atStart = new Set<string>();

  /** @throws Error when the registry has no APIServices. */
  constructor(dependencies: ReconcileDependencies) {
    super(dependencies);
    const { storage, registry, names, logger } = dependencies;
    this.apiServices = this.client<StoredApiService>('apiregistration', 'apiservices');
    this.priorities = new LocalPriorities(names);
    const group = groupName('apiextensions', names);
    const definitions = registry.findStoredResource(group, 'v1', 'customresourcedefinitions');
    const lost = (error: unknown) =>
      logger.warn('a control loop lost its place in the change log', { loop: this.name, error });
    this.definitions =
      definitions && new Informer<ReducedDefinition>(storage, registry, definitions.storageResource, lost, reduced);
  }

  protected override get user() {
    return serverUser;
  }

  protected override get queueName(): string {
    return 'autoregister';
  }

  protected sources(): readonly Source[] {
    const services = source(this.informed, ownKey);
    if (this.definitions === undefined) return [services];
    // All definitions are read before any APIService is checked, so none is removed by mistake as superfluous.
    const wanted = source(this.definitions, (definition, old) =>
      this.custom.set((definition ?? old)?.metadata.name ?? '', definition?.wanted ?? []),
    );
    return [wanted, services];
  }

  protected override started(): void {
    const { registry } = this.dependencies;
    this.builtIn = new Map(
      builtInApiServices(registry.groups(), this.priorities).map((wanted) => [wanted.name, wanted]),
    );
    this.custom = new WantedByDefinitions();
    this.corrected = new Set();
    this.atStart = new Set([...this.informed.all()].map(({ metadata }) => metadata.name ?? ''));
    for (const name of this.builtIn.keys()) this.enqueue(name);
  }

  private wanted(name: string): WantedApiService | undefined {
    return this.builtIn.get(name) ?? this.custom.find(name);
  }

  protected async reconcile(name: string, work: ReconcileContext): Promise<WorkOutcome> {
    const live = await this.apiServices.get('', name);
    const wanted = this.wanted(name);
    await this.take(name, live, wanted, work);
    if (wanted?.automanaged === 'onstart') this.corrected.add(name);
    return 'done';
  }

  private async take(
    name: string,
    live: StoredApiService | undefined,
    wanted: WantedApiService | undefined,
    work: ReconcileContext,
  ): Promise<void> {
    const step = registrationStep(live, wanted, this.corrected.has(name), this.atStart.has(name));
    if (step === 'delete' && live !== undefined) await this.apiServices.delete(work, live);
    else if (step === 'create' && wanted !== undefined) {
      const metadata = { name, labels: { [automanagedLabel]: wanted.automanaged } };
      await this.apiServices.create(work, { metadata, spec: wanted.spec });
    } else if (step === 'update' && wanted !== undefined && live !== undefined) {
      const written = await this.apiServices.update(work, live, (current) =>
        registrationStep(current, wanted, false, true) === 'update' ? { ...current, spec: wanted.spec } : undefined,
      );
      if (written === undefined) throw new StatusError('Conflict', 'the APIService was changed meanwhile');
    }
  }
}

function reduced(object: ApiObject, resourceVersion: bigint): ReducedDefinition {
  const { name, uid } = object.metadata;
  return {
    metadata: { name, uid, resourceVersion: String(resourceVersion) },
    wanted: customApiServices(object),
  } as ReducedDefinition;
}
