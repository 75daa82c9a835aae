import { setTimeout as delay } from 'node:timers/promises';
import type { FlowSchema } from '../apis/flowcontrol/v1/flow-schema.types.js';
import type { PriorityLevelConfiguration } from '../apis/flowcontrol/v1/priority-level-configuration.types.js';
import type { ApiObject } from '../machinery/api-object.js';
import { formatGroupResource } from '../machinery/group-version.js';
import { serverContext } from '../machinery/internal-context.js';
import { StatusError } from '../machinery/status-error.js';
import { groupName, type VendorNames } from '../machinery/vendor.js';
import type { Logger } from '../observability/logger.js';
import { Informer } from '../registry/informers/informer.js';
import { partOf } from '../registry/resource-definition.js';
import type { ResourceStores } from '../registry/store/resource-stores.js';
import { changedDangling, withDangling } from './dangling.js';
import { DefaultObjectKeeper } from './default-object-keeper.js';
import { type DefaultObject, defaultLevels, defaultSchemas } from './default-objects.js';
import type { FlowControl } from './flow-control.js';

const schemas = 'flowschemas';
const levels = 'prioritylevelconfigurations';
/** How often the default objects are looked after, in milliseconds. */
const upkeepMs = 60_000;
const retryMs = 2_000;

/** The parts that it needs. */
export interface FlowConfigurationParts {
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
 * What connects flow control with its objects: each process follows them and puts every change into effect at once, says
 * in the status of a schema whether its level exists, and looks after the default objects. Without the API group, the
 * default objects are in effect.
 */
export class FlowConfiguration {
  private readonly group: string;
  private informers: Informers | undefined;
  private isDue = false;
  private readonly work = new Set<Promise<void>>();

  constructor(private readonly parts: FlowConfigurationParts) {
    this.group = groupName('flowcontrol', parts.names);
    this.applyDefaults();
  }

  /** Resolves when all objects are in effect. Follows them until the abort. Waits for a database that is not ready. */
  async start(signal: AbortSignal): Promise<void> {
    const { stores, logger } = this.parts;
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
    if (signal.aborted) return;
    const handler = { changed: () => this.applySoon(signal) };
    informers.schemas.subscribe(handler, signal);
    informers.levels.subscribe(handler, signal);
    this.apply();
  }

  /** Looks after the default objects from now on, until the abort. */
  maintain(signal: AbortSignal): void {
    if (this.informers === undefined) return;
    this.track(this.upkeep(signal));
  }

  /** Resolves when all background work has ended after the abort. */
  async stopped(): Promise<void> {
    await Promise.all([...this.work]);
    await Promise.all([this.informers?.schemas.stopped(), this.informers?.levels.stopped()]);
  }

  private applySoon(signal: AbortSignal): void {
    if (this.isDue) return;
    this.isDue = true;
    // Objects that come together are put into effect together.
    setImmediate(() => {
      this.isDue = false;
      if (signal.aborted) return;
      this.apply();
      this.track(this.writeStatuses(signal));
    });
  }

  private apply(): void {
    if (this.informers === undefined) return;
    const levelSettings = [...this.informers.levels.all()].map(settingsOf<PriorityLevelConfiguration['spec']>);
    const schemaSettings = [...this.informers.schemas.all()].map(settingsOf<FlowSchema['spec']>);
    this.parts.control.apply(levelSettings, withMandatory(schemaSettings, defaultSchemas(this.parts.names)));
  }

  private applyDefaults(): void {
    const settings = <Spec>(defaults: readonly DefaultObject<Spec>[]) =>
      defaults.map(({ name, spec }) => ({ name, uid: '', spec }));
    this.parts.control.apply(settings(defaultLevels()), settings(defaultSchemas(this.parts.names)));
  }

  private async upkeep(signal: AbortSignal): Promise<void> {
    const { stores, names, logger } = this.parts;
    const annotation = `apf.${names.labelPrefix}/autoupdate-spec`;
    const keeper = (resource: string, defaults: readonly DefaultObject<unknown>[]) =>
      new DefaultObjectKeeper(stores, stores.named(this.group, resource), defaults, annotation, signal);
    // Levels first, so that no schema is without its level even for a moment.
    const keepers = [keeper(levels, defaultLevels()), keeper(schemas, defaultSchemas(names))];
    while (!signal.aborted) {
      let waitMs = upkeepMs;
      try {
        for (const one of keepers) await one.keep();
      } catch (error) {
        if (signal.aborted) return;
        logger.warn('the default objects of flow control could not be looked after', { error });
        waitMs = retryMs;
      }
      await delay(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Writes the condition of every schema whose condition is not right. The first process does it, the others see it. */
  private async writeStatuses(signal: AbortSignal): Promise<void> {
    const { informers } = this;
    if (informers === undefined) return;
    const { stores, logger } = this.parts;
    const isLevel = (name: string) => informers.levels.get('', name) !== undefined;
    const wrong = [...informers.schemas.all()].filter(
      (schema) => changedDangling(schema, isLevel, stores.clock.now()) !== undefined,
    );
    if (wrong.length === 0) return;
    const store = stores.named(this.group, schemas);
    const subresource = partOf(store.resource.definition, 'status');
    const request = serverContext(stores.clock.now(), signal);
    for (const { metadata } of wrong) {
      try {
        await store.update(request, '', metadata.name ?? '', {
          dryRun: false,
          subresource,
          validate: () => Promise.resolve(),
          transform: (live) => {
            const schema = live as FlowSchema & ApiObject;
            const condition = changedDangling(schema, isLevel, stores.clock.now());
            return condition === undefined ? schema : (withDangling(schema, condition) as FlowSchema & ApiObject);
          },
        });
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof StatusError && error.reason === 'NotFound') continue;
        logger.warn('the status of a FlowSchema could not be written', { name: metadata.name, error });
      }
    }
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
