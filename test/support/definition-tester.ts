import type { ApiObject } from '../../src/base/machinery/api-object.js';
import { type Clock, formatTime } from '../../src/base/machinery/clock.js';
import { applyMergePatch } from '../../src/base/machinery/patch/index.js';
import type { RequestContext, UserInfo } from '../../src/base/machinery/request-context.js';
import { decode } from '../../src/base/machinery/schema/index.js';
import { StatusError } from '../../src/base/machinery/status-error.js';
import { type VendorNames, vendorNames } from '../../src/base/machinery/vendor.js';
import { applyDefaults } from '../../src/objects/registry/definition/apply-defaults.js';
import { shownCell } from '../../src/objects/registry/definition/default-columns.js';
import { beforeCreate } from '../../src/objects/registry/metadata/before-create.js';
import { beforeUpdate } from '../../src/objects/registry/metadata/before-update.js';
import {
  isStoredKind,
  partOf,
  type ResourceDefinition,
  type StoredResource,
  type TableColumn,
} from '../../src/objects/registry/resource-definition.js';
import { ResourceRegistry, type StoredServedResource } from '../../src/objects/registry/resource-registry.js';
import { toServed, toStored } from '../../src/objects/registry/store/object-codec.js';
import { ResourceStores } from '../../src/objects/registry/store/resource-stores.js';
import type { Storage } from '../../src/storage/storage.interface.js';

/** The current time in these tests. */
export const testTime = '2030-01-01T00:00:00Z';
export const testClock: Clock = { now: () => Date.parse(testTime) };
export const testNames: VendorNames = vendorNames('k8s.io');

/** The ranges that Services allocate from. */
export const testRanges = { serviceClusterIpRange: '10.0.0.0/16', serviceNodePortRange: '30000-32767' } as const;

/** Stores without resources; without a database behind them unless one is given. */
export function testStores(storage = undefined as unknown as Storage): ResourceStores {
  return new ResourceStores(new ResourceRegistry(), storage, testClock);
}

/** The outcome of a write: the object as served, or the broken rules as `reason | field | message`. */
export interface TestOutcome {
  readonly object: ApiObject;
  readonly causes: readonly string[];
}

/** Sends bodies through the pure part of a write: decoding, defaults, conversion, preparation, validation. */
export class DefinitionTester {
  private readonly definition: StoredResource;
  private readonly resource: StoredServedResource;

  constructor(
    definition: ResourceDefinition,
    version: string = definition.versions[0].version,
    private readonly user?: UserInfo,
  ) {
    if (!isStoredKind(definition)) throw new Error(`${definition.resource} are not stored`);
    this.definition = definition;
    const registry = new ResourceRegistry();
    registry.register(definition);
    const resource = registry.findStoredResource(definition.group, version, definition.resource);
    if (resource === undefined) throw new Error(`${definition.resource} has no version ${version}`);
    this.resource = resource;
  }

  /** Creates an object from a body, adding a name (and a namespace where necessary) if it has none. */
  create(body: Record<string, unknown>): TestOutcome {
    const namespace = this.definition.namespaced ? { namespace: 'default' } : {};
    const metadata = { name: 'a', ...namespace, ...(body.metadata as object | undefined) };
    const object = this.decode({ ...body, metadata });
    return this.outcome(object, () => beforeCreate(this.context(), this.definition, object, testClock));
  }

  /** Applies a merge patch to a stored object, or to one of its subresources. */
  patch(old: ApiObject, patch: Record<string, unknown>, subresource?: string): TestOutcome {
    const served = toServed(this.resource, structuredClone(old));
    const object = this.decode(applyMergePatch(served, patch) as Record<string, unknown>);
    const target = subresource === undefined ? undefined : partOf(this.definition, subresource);
    const live = toStored(this.resource, toServed(this.resource, structuredClone(old)));
    return this.outcome(object, () => beforeUpdate(this.context(), this.definition, object, live, target));
  }

  /** Cells of a stored object's table row, `seconds` after the time of these tests. */
  cells(object: ApiObject, seconds = 0): unknown[] {
    const now = Date.parse(testTime) + seconds * 1000;
    return (this.definition.columns as readonly TableColumn[]).map((column) => shownCell(column.cell(object), now));
  }

  private decode(body: Record<string, unknown>): ApiObject {
    const object = decode(this.resource.served.type, body).value as ApiObject;
    applyDefaults(this.resource, object);
    return toStored(this.resource, object);
  }

  private context(): RequestContext {
    return {
      requestInfo: { apiVersion: this.resource.served.version },
      user: this.user,
      warnings: [],
    } as unknown as RequestContext;
  }

  private outcome(object: ApiObject, check: () => void): TestOutcome {
    try {
      check();
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      const causes = error.details?.causes?.map((c) => `${c.reason} | ${c.field} | ${c.message}`);
      return { object, causes: causes ?? [error.message] };
    }
    return { object, causes: [] };
  }
}

/** The object without the metadata that the server sets, for comparison. */
export function withoutServerFields({ metadata, ...rest }: ApiObject): Record<string, unknown> {
  const { uid: _uid, creationTimestamp, ...own } = metadata;
  if (creationTimestamp !== formatTime(testClock.now())) throw new Error(`unexpected time ${creationTimestamp}`);
  return { ...rest, metadata: own };
}
