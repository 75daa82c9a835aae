import type { ApiObject } from '../../../../base/machinery/api-object.js';
import { forbiddenError } from '../../../../base/machinery/status-error.js';
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
import { claimLimitProblems, podLimitProblems, problemsText } from './limit-checks.js';
import { applyLimitDefaults } from './limit-defaults.js';

type Range = LimitRange & ApiObject;

const ranges = { group: '', resource: 'limitranges' };

/** If memory has not followed the log for longer, the store is read for the existing ranges, in milliseconds. */
const maxLostMs = 2_000;

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
    const found = this.ranges(namespace);
    const complete = (all: readonly Range[]) => this.complete(attributes.object as Pod & ApiObject, all);
    return found instanceof Promise ? found.then(complete) : complete(found);
  }

  validate(attributes: AdmissionAttributes): Promise<void> | void {
    const problemsOf = problemsFunction(attributes);
    if (problemsOf === undefined) return;
    const found = this.ranges(attributes.namespace);
    const check = (all: readonly Range[]): void => {
      for (const range of all) {
        const problems = problemsOf(range);
        if (problems.length > 0) throw forbiddenError(attributes.resource, attributes.name, problemsText(problems));
      }
    };
    return found instanceof Promise ? found.then(check) : check(found);
  }

  private complete(pod: Pod & ApiObject, all: readonly Range[]): void {
    for (const range of all) {
      const text = applyLimitDefaults(pod, range);
      if (text === '') continue;
      const annotation = `${this.names.labelPrefix}/limit-ranger`;
      pod.metadata.annotations = { ...pod.metadata.annotations, [annotation]: `LimitRanger plugin set: ${text}` };
    }
  }

  /** The ranges of a namespace by name: the first one that is broken is reported. */
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

/** How the object of a request is checked; undefined for an object that no range concerns. */
function problemsFunction(attributes: AdmissionAttributes): ((range: Range) => string[]) | undefined {
  const { resource, subresource, operation } = attributes;
  if (resource.group !== '') return undefined;
  const isPod =
    resource.resource === 'pods' && (operation === 'CREATE' ? subresource === '' : subresource === 'resize');
  const isClaim = resource.resource === 'persistentvolumeclaims' && subresource === '';
  if (!isPod && !isClaim) return undefined;
  const object = attributes.storedObject as ApiObject;
  // An object being deleted may be changed freely: its finalizers have to be removed.
  if (operation === 'UPDATE' && object.metadata.deletionTimestamp !== undefined) return undefined;
  return isPod
    ? (range) => podLimitProblems(object as Pod & ApiObject, range)
    : (range) => claimLimitProblems(object as PersistentVolumeClaim & ApiObject, range);
}
