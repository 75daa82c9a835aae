import type { ApiObject } from '../../base/machinery/api-object.js';
import { serverContext } from '../../base/machinery/internal-context.js';
import { cloneJson } from '../../base/machinery/json/exact-numbers.js';
import type { RequestContext } from '../../base/machinery/request-context.js';
import { decode } from '../../base/machinery/schema/index.js';
import { StatusError } from '../../base/machinery/status-error.js';
import { parseStored } from '../../objects/registry/store/object-codec.js';
import type { ResourceStores } from '../../objects/registry/store/resource-stores.js';
import type { Store } from '../../objects/registry/store/store.js';
import type { DefaultObject } from './default-objects.js';
import { kept, upkeepOf, type WantedObject } from './upkeep.js';

const admitted = () => Promise.resolve();

/** Reasons of write errors that mean that another process was faster. */
const overtaken: ReadonlySet<string> = new Set(['AlreadyExists', 'Conflict', 'NotFound']);

/**
 * Maintains the default objects of one kind: creates missing ones, corrects those that the server owns, and removes
 * objects that are no longer defaults. Safe for many processes at once.
 */
export class DefaultObjectKeeper {
  private readonly request: RequestContext;

  /** @param annotation the one that defines who owns an object */
  constructor(
    stores: ResourceStores,
    private readonly store: Store,
    private readonly defaults: readonly DefaultObject<unknown>[],
    private readonly annotation: string,
    signal: AbortSignal,
  ) {
    this.request = serverContext(stores.clock.now(), signal);
  }

  /** Checks all objects once. Throws when the store can't be used. */
  async keep(): Promise<void> {
    const { resource } = this.store;
    const { items } = await this.store.list({});
    const live = new Map(items.map((item) => [item.key.name, item]));
    const wanted = new Map(this.defaults.map((one) => [one.name, this.wantedOf(one)]));
    // Concurrent writes reach the store in few batches.
    await Promise.all([
      ...[...wanted].flatMap(([name, { object }]) => (live.has(name) ? [] : [this.create(object)])),
      ...items.map((item) => this.care(item.key.name, parseStored(resource, item), wanted.get(item.key.name)?.wanted)),
    ]);
  }

  /** The object as it would be stored, with the defaults of its kind. */
  private wantedOf({ name, spec, isMandatory }: DefaultObject<unknown>) {
    const { served, definition } = this.store.resource;
    const body = { metadata: { name, annotations: { [this.annotation]: 'true' } }, spec: cloneJson(spec) };
    const object = decode(served.type, body).value as ApiObject & { spec?: unknown };
    definition.strategy.applyDefaults?.(object);
    const wanted: WantedObject = { spec: cloneJson(object.spec), isMandatory };
    return { object, wanted };
  }

  private async create(object: ApiObject): Promise<void> {
    await unlessOvertaken(this.store.create(this.request, object, { dryRun: false, validate: admitted }));
  }

  private async care(name: string, live: ApiObject, wanted: WantedObject | undefined): Promise<void> {
    const { kind } = upkeepOf(live, wanted, this.annotation);
    if (kind === 'leave') return;
    if (kind === 'delete') {
      const { uid, resourceVersion } = live.metadata;
      const preconditions = { uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
      const options = { dryRun: false, preconditions, validate: () => Promise.resolve() };
      await unlessOvertaken(this.store.delete(this.request, '', name, options));
      return;
    }
    await unlessOvertaken(
      this.store.update(this.request, '', name, {
        dryRun: false,
        validate: admitted,
        transform: (current) => {
          const object = current as ApiObject;
          const upkeep = upkeepOf(object, wanted, this.annotation);
          return upkeep.kind === 'write' ? kept(object, upkeep, this.annotation) : object;
        },
      }),
    );
  }
}

async function unlessOvertaken(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!(error instanceof StatusError && overtaken.has(error.reason))) throw error;
  }
}
