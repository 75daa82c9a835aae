import { setTimeout as delay } from 'node:timers/promises';
import type { ApiObject } from '../../base/machinery/api-object.js';
import { formatGroupResource } from '../../base/machinery/group-version.js';
import { serverContext } from '../../base/machinery/internal-context.js';
import { StatusError } from '../../base/machinery/status-error.js';
import { groupName, type VendorNames } from '../../base/machinery/vendor.js';
import type { Logger } from '../../base/observability/logger.js';
import type { FlowSchema } from '../../objects/apis/flowcontrol/v1/flow-schema.types.js';
import type { PriorityLevelConfiguration } from '../../objects/apis/flowcontrol/v1/priority-level-configuration.types.js';
import { Informer } from '../../objects/registry/informers/informer.js';
import { partOf } from '../../objects/registry/resource-definition.js';
import { parseStored } from '../../objects/registry/store/object-codec.js';
import type { OwningStore } from '../../objects/registry/store/owning-store.js';
import type { ResourceStores } from '../../objects/registry/store/resource-stores.js';
import { changedDangling, withDangling } from './dangling.js';
import { DefaultObjectKeeper } from './default-object-keeper.js';
import { type DefaultObject, defaultLevels, defaultSchemas } from './default-objects.js';
import type { FlowControl } from './flow-control.js';

const schemas = 'flowschemas';
const levels = 'prioritylevelconfigurations';
/** How often the default objects are checked, in milliseconds. */
const upkeepMs = 60_000;
const retryMs = 2_000;

/** Dependencies of the {@link FlowConfiguration}. */
export interface FlowConfigurationDependencies {
  readonly stores: ResourceStores;
  readonly names: VendorNames;
  readonly control: Pick<FlowControl, 'apply'>;
  readonly logger: Pick<Logger, 'warn'>;
}

interface Informers {
  readonly schemas: Informer<FlowSchema & ApiObject>;
  readonly levels: Informer<PriorityLevelConfiguration & ApiObject>;
}

/**
 * Connects flow control with its objects: each process follows them and puts every change into effect at once, records
 * in the status of a schema whether its level exists, and maintains the default objects. If the API group is not
 * served, the default objects are in effect.
 */
export class FlowConfiguration {
  private readonly group: string;
  private informers: Informers | undefined;
  private isDue = false;
  private readonly work = new Set<Promise<void>>();

  constructor(private readonly dependencies: FlowConfigurationDependencies) {
    this.group = groupName('flowcontrol', dependencies.names);
    this.applyDefaults();
  }

  /**
   * Resolves when all objects are in effect. Follows them until the signal is aborted. Waits until the database is
   * ready.
   */
  async start(signal: AbortSignal): Promise<void> {
    const { stores, logger } = this.dependencies;
    const { registry, storage } = stores;
    if (registry.findStoredResource(this.group, 'v1', schemas) === undefined) return;
    if (registry.findStoredResource(this.group, 'v1', levels) === undefined) return;
    const informer = <T extends ApiObject>(resource: string) =>
      new Informer<T>(storage, registry, formatGroupResource({ group: this.group, resource }), (error) =>
        logger.warn('flow control lost its place in the change log', { resource, error }),
      );
    const informers: Informers = { schemas: informer(schemas), levels: informer(levels) };
    this.informers = informers;
    await Promise.all([informers.schemas.use(signal), informers.levels.use(signal)]);
    this.apply();
  }

  /**
   * Creates the missing default objects. Call it before the first request: a ready server writes nothing on its own.
   * Throws when the store can't be used, and can then be called again.
   */
  async prepare(signal: AbortSignal): Promise<void> {
    if (this.informers === undefined) return;
    await this.keepDefaults(signal);
    await this.writeStatuses(signal, await this.storedSchemas());
  }

  /** From now on, puts every change into effect and maintains the default objects, until the signal is aborted. */
  maintain(signal: AbortSignal): void {
    const { informers } = this;
    if (informers === undefined || signal.aborted) return;
    const handler = { changed: () => this.applySoon(signal) };
    void informers.schemas.subscribe(handler, signal);
    void informers.levels.subscribe(handler, signal);
    this.track(this.upkeep(signal));
  }

  /** Resolves when all background work has ended after the signal is aborted. */
  async stopped(): Promise<void> {
    await Promise.all([...this.work]);
    await Promise.all([this.informers?.schemas.stopped(), this.informers?.levels.stopped()]);
  }

  private applySoon(signal: AbortSignal): void {
    if (this.isDue) return;
    this.isDue = true;
    // Objects that arrive together are applied together.
    setImmediate(() => {
      this.isDue = false;
      if (signal.aborted) return;
      this.apply();
      if (this.informers !== undefined) this.track(this.writeStatuses(signal, this.informers.schemas.all()));
    });
  }

  private apply(): void {
    if (this.informers === undefined) return;
    const levelSettings = [...this.informers.levels.all()].map(settingsOf<PriorityLevelConfiguration['spec']>);
    const schemaSettings = [...this.informers.schemas.all()].map(settingsOf<FlowSchema['spec']>);
    this.dependencies.control.apply(
      levelSettings,
      withMandatory(schemaSettings, defaultSchemas(this.dependencies.names)),
    );
  }

  private applyDefaults(): void {
    const settings = <Spec>(defaults: readonly DefaultObject<Spec>[]) =>
      defaults.map(({ name, spec }) => ({ name, uid: '', spec }));
    this.dependencies.control.apply(settings(defaultLevels()), settings(defaultSchemas(this.dependencies.names)));
  }

  private async upkeep(signal: AbortSignal): Promise<void> {
    let waitMs = upkeepMs;
    for (;;) {
      await delay(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      waitMs = upkeepMs;
      try {
        await this.keepDefaults(signal);
      } catch (error) {
        if (signal.aborted) return;
        this.dependencies.logger.warn('could not write the default objects of flow control', { error });
        waitMs = retryMs;
      }
    }
  }

  private async keepDefaults(signal: AbortSignal): Promise<void> {
    const { stores, names } = this.dependencies;
    const annotation = `apf.${names.labelPrefix}/autoupdate-spec`;
    const keep = (resource: string, defaults: readonly DefaultObject<unknown>[]) => {
      const store = stores.owning(this.group, resource, names.fieldManagers.flowDefaults);
      return new DefaultObjectKeeper(stores, store, defaults, annotation, signal).keep();
    };
    // Levels are written first, so that no schema is ever without its level.
    await keep(levels, defaultLevels());
    await keep(schemas, defaultSchemas(names));
  }

  private async storedSchemas(): Promise<(FlowSchema & ApiObject)[]> {
    const store = this.schemaStore();
    const { items } = await store.list({});
    return items.map((item) => parseStored(store.resource, item) as ApiObject as FlowSchema & ApiObject);
  }

  /**
   * Corrects the condition of every schema whose condition is wrong. The fastest process writes it, the others see the
   * change.
   */
  private async writeStatuses(signal: AbortSignal, all: Iterable<FlowSchema & ApiObject>): Promise<void> {
    const isKnown = (name: string) => this.informers?.levels.get('', name) !== undefined;
    const wrong = [...all].filter(
      (one) => changedDangling(one, isKnown, this.dependencies.stores.clock.now()) !== undefined,
    );
    // Concurrent writes reach the store in few batches.
    await Promise.all(wrong.map((schema) => this.writeStatus(schema, signal)));
  }

  private async writeStatus({ metadata, spec }: FlowSchema & ApiObject, signal: AbortSignal): Promise<void> {
    const { stores, logger } = this.dependencies;
    const store = this.schemaStore();
    try {
      const level = spec.priorityLevelConfiguration.name;
      // Levels and schemas are followed separately, so only the store knows whether the level exists.
      const isFound = await this.isStoredLevel(level);
      await store.update(serverContext(stores.clock.now(), signal), '', metadata.name ?? '', {
        dryRun: false,
        subresource: partOf(store.resource.definition, 'status'),
        validate: () => Promise.resolve(),
        transform: (live) => {
          const schema = live as FlowSchema & ApiObject;
          // If the schema has changed meanwhile, that change is processed separately.
          if (schema.spec.priorityLevelConfiguration.name !== level) return schema;
          const condition = changedDangling(schema, () => isFound, stores.clock.now());
          return condition === undefined ? schema : (withDangling(schema, condition) as FlowSchema & ApiObject);
        },
      });
    } catch (error) {
      if (signal.aborted || (error instanceof StatusError && error.reason === 'NotFound')) return;
      logger.warn('the status of a FlowSchema could not be written', { name: metadata.name, error });
    }
  }

  private async isStoredLevel(name: string): Promise<boolean> {
    const resource = formatGroupResource({ group: this.group, resource: levels });
    return (await this.dependencies.stores.storage.get({ resource, namespace: '', name })) !== undefined;
  }

  /** For the conditions of schemas. */
  private schemaStore(): OwningStore {
    const { stores, names } = this.dependencies;
    return stores.owning(this.group, schemas, names.fieldManagers.flowConditions);
  }

  private track(work: Promise<void>): void {
    const tracked = work.finally(() => this.work.delete(tracked));
    this.work.add(tracked);
  }
}

function settingsOf<Spec>({ metadata, spec }: { readonly metadata: ApiObject['metadata']; readonly spec: Spec }) {
  return { name: metadata.name ?? '', uid: metadata.uid ?? '', spec };
}

function withMandatory<T extends { readonly name: string }>(
  present: readonly T[],
  defaults: readonly DefaultObject<unknown>[],
): T[] {
  const names = new Set(present.map(({ name }) => name));
  const missing = defaults.filter(({ name, isMandatory }) => isMandatory && !names.has(name));
  return [...present, ...missing.map(({ name, spec }) => ({ name, uid: '', spec }) as unknown as T)];
}
