import type { ApiObject } from '../../../../base/machinery/api-object.js';
import { forbiddenError } from '../../../../base/machinery/status-error.js';
import { inTurns, type Steps } from '../../../../base/machinery/turns.js';
import type { VendorNames } from '../../../../base/machinery/vendor.js';
import type { LimitRange } from '../../../../objects/apis/core/v1/limit-range.types.js';
import type { PersistentVolumeClaim } from '../../../../objects/apis/core/v1/persistent-volume-claim.types.js';
import type { Pod } from '../../../../objects/apis/core/v1/pod.types.js';
import type { ReadLister } from '../../../../objects/registry/informers/shared-listers.js';
import { readStored } from '../../../../objects/registry/store/object-codec.js';
import type { ResourceStores } from '../../../../objects/registry/store/resource-stores.js';
import type { AdmissionDependencies } from '../../admission-dependencies.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { claimLimitCheck, type LimitCheck, podLimitCheck, problemsText } from './limit-checks.js';
import { applyLimitDefaults } from './limit-defaults.js';

type Range = LimitRange & ApiObject;

const ranges = { group: '', resource: 'limitranges' };

/** How long the cache may lag behind the change log, in milliseconds; after that, ranges are read from the store. */
const maxLostMs = 2_000;
/** Up to this many ranges are visited without yielding. */
const fewRanges = 4;

/**
 * Gives pods the default requests and limits of their namespace, and keeps pods and claims within its limit ranges
 * (specification 5.5). Resources of a pod change only by a resize, which gets no defaults.
 */
export class LimitRanger implements AdmissionPlugin {
  readonly name = 'LimitRanger';
  private readonly known: ReadLister<Range>;
  private readonly names: VendorNames;
  private readonly stores: ResourceStores;

  constructor({ listers, names, stores }: Pick<AdmissionDependencies, 'listers' | 'names' | 'stores'>) {
    this.known = listers.of(ranges, (object) => object as Range);
    this.names = names;
    this.stores = stores;
  }

  handles(operation: AdmissionOperation): boolean {
    return operation === 'CREATE' || operation === 'UPDATE';
  }

  admit(attributes: AdmissionAttributes): Promise<void> | void {
    const { resource, subresource, operation, namespace } = attributes;
    if (resource.group !== '' || resource.resource !== 'pods' || subresource !== '' || operation !== 'CREATE') return;
    const pod = attributes.object as Pod & ApiObject;
    return forEachRange(this.ranges(namespace), (range) => this.complete(pod, range));
  }

  validate(attributes: AdmissionAttributes): Promise<void> | void {
    if (!isLimited(attributes)) return;
    let check: LimitCheck | undefined;
    return forEachRange(this.ranges(attributes.namespace), (range) => {
      check ??= limitCheck(attributes);
      const problems = check(range);
      if (problems.length > 0) throw forbiddenError(attributes.resource, attributes.name, problemsText(problems));
    });
  }

  private complete(pod: Pod & ApiObject, range: Range): void {
    const text = applyLimitDefaults(pod, range);
    if (text === '') return;
    const annotation = `${this.names.labelPrefix}/limit-ranger`;
    pod.metadata.annotations = { ...pod.metadata.annotations, [annotation]: `LimitRanger plugin set: ${text}` };
  }

  /** The ranges of a namespace, sorted by name: the first range that is violated is reported. */
  private ranges(namespace: string): readonly Range[] | Promise<readonly Range[]> {
    if (this.known.lostForMs > maxLostMs) return this.read(namespace);
    const found = [...this.known.inNamespace(namespace)];
    return found.length > 1 ? found.sort(byName) : found;
  }

  private async read(namespace: string): Promise<readonly Range[]> {
    const { storage, registry } = this.stores;
    const { items } = await storage.list({ resource: ranges.resource, namespace });
    return Promise.all(items.map(async (item) => (await readStored(registry, item)) as Range));
  }
}

function byName(a: Range, b: Range): number {
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
}

/**
 * Visits the ranges in order. The number of ranges in a namespace is unlimited, so a long list yields to other work.
 */
function forEachRange(
  found: readonly Range[] | Promise<readonly Range[]>,
  visit: (range: Range) => void,
): Promise<void> | void {
  if (found instanceof Promise) return found.then((ranges) => forEachRange(ranges, visit));
  if (found.length > fewRanges) return inTurns(visitEach(found, visit));
  for (const range of found) visit(range);
}

function* visitEach(ranges: readonly Range[], visit: (range: Range) => void): Steps {
  for (const range of ranges) {
    visit(range);
    yield;
  }
}

/** Whether limit ranges apply to the object of a request. */
function isLimited({ resource, subresource, operation, storedObject }: AdmissionAttributes): boolean {
  if (resource.group !== '') return false;
  const isPod =
    resource.resource === 'pods' && (operation === 'CREATE' ? subresource === '' : subresource === 'resize');
  const isClaim = resource.resource === 'persistentvolumeclaims' && subresource === '';
  if (!isPod && !isClaim) return false;
  // An object being deleted may be changed freely: its finalizers have to be removed.
  return operation !== 'UPDATE' || (storedObject as ApiObject).metadata.deletionTimestamp === undefined;
}

function limitCheck({ resource, storedObject }: AdmissionAttributes): LimitCheck {
  return resource.resource === 'pods'
    ? podLimitCheck(storedObject as Pod & ApiObject)
    : claimLimitCheck(storedObject as PersistentVolumeClaim & ApiObject);
}
