import type { ApiObject } from '../../../../base/machinery/api-object.js';
import type { GroupResource } from '../../../../base/machinery/group-version.js';
import { groupName } from '../../../../base/machinery/vendor.js';
import type { Pod } from '../../../../objects/apis/core/v1/pod.types.js';
import type { PriorityClass } from '../../../../objects/apis/scheduling/v1/priority-class.types.js';
import type { ReadLister } from '../../../../objects/registry/informers/shared-listers.js';
import type { ObjectReader } from '../../../../objects/registry/store/storage-reader.js';
import type { AdmissionDependencies } from '../../admission-dependencies.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { isForPods } from '../../pods/pod-request.js';
import { isFor, refused } from '../../refused.js';

type PreemptionPolicy = NonNullable<PriorityClass['preemptionPolicy']>;

/** The fields that pods copy from their priority class. */
interface KnownPriority {
  readonly name: string;
  readonly value: number;
  readonly preemptionPolicy: PreemptionPolicy;
  readonly isDefault: boolean;
}

const noClass: KnownPriority = { name: '', value: 0, preemptionPolicy: 'PreemptLowerPriority', isDefault: false };

function known(object: ApiObject): KnownPriority {
  const { metadata, value, preemptionPolicy, globalDefault } = object as unknown as PriorityClass;
  return {
    name: metadata.name ?? '',
    value,
    preemptionPolicy: preemptionPolicy ?? 'PreemptLowerPriority',
    isDefault: globalDefault === true,
  };
}

/**
 * Gives pods the priority of their class, or of the default class, and refuses any other priority; ensures that there
 * is at most one default class (specification 5.5).
 */
export class Priority implements AdmissionPlugin {
  readonly name = 'Priority';
  private readonly classes: ReadLister<KnownPriority>;
  private readonly resource: GroupResource;
  private readonly objects: ObjectReader;

  constructor({ listers, objects, names }: Pick<AdmissionDependencies, 'listers' | 'objects' | 'names'>) {
    this.resource = { group: groupName('scheduling', names), resource: 'priorityclasses' };
    this.classes = listers.of(this.resource, known);
    this.objects = objects;
  }

  handles(operation: AdmissionOperation): boolean {
    return operation === 'CREATE' || operation === 'UPDATE';
  }

  admit(attributes: AdmissionAttributes): Promise<void> | void {
    if (!isForPods(attributes) || attributes.object === undefined) return undefined;
    const pod = attributes.object as unknown as Pod;
    if (attributes.operation === 'UPDATE') {
      keepPriority(pod, attributes.oldObject as unknown as Pod);
      return undefined;
    }
    const name = pod.spec.priorityClassName;
    if (!name) return prioritize(attributes, pod, this.defaultClass() ?? noClass);
    const found = this.classes.get('', name);
    return found === undefined ? this.fresh(attributes, pod, name) : prioritize(attributes, pod, found);
  }

  validate(attributes: AdmissionAttributes): void {
    const { group, resource } = this.resource;
    if (!isFor(attributes, group, resource) || attributes.subresource !== '') return;
    const { storedObject } = attributes;
    if (storedObject === undefined || !known(storedObject).isDefault) return;
    const before = this.defaultClass();
    if (before === undefined || (attributes.operation === 'UPDATE' && before.name === attributes.name)) return;
    const detail = `PriorityClass ${before.name} is already marked as default. Only one default can exist`;
    throw refused(attributes, detail);
  }

  /**
   * The default class with the lowest value. There may be several: two processes may each have accepted one at the same
   * time.
   */
  private defaultClass(): KnownPriority | undefined {
    let lowest: KnownPriority | undefined;
    for (const each of this.classes.all()) {
      if (each.isDefault && (lowest === undefined || each.value < lowest.value)) lowest = each;
    }
    return lowest;
  }

  /** Reads the class from the store: a client may have created it a moment ago. */
  private async fresh(attributes: AdmissionAttributes, pod: Pod, name: string): Promise<void> {
    const object = await this.objects.read(this.resource, '', name);
    if (object === undefined) throw refused(attributes, `no PriorityClass with name ${name} was found`);
    prioritize(attributes, pod, known(object));
  }
}

/** Clients that update a pod may omit the fields that the plugin has set, but can't change them. */
function keepPriority({ spec }: Pod, { spec: old }: Pod): void {
  if (spec.priority === undefined && old.priority !== undefined) spec.priority = old.priority;
  if (spec.preemptionPolicy === undefined && old.preemptionPolicy !== undefined) {
    spec.preemptionPolicy = old.preemptionPolicy;
  }
}

function prioritize(
  attributes: AdmissionAttributes,
  { spec }: Pod,
  { name, value, preemptionPolicy }: KnownPriority,
): void {
  const computed = (what: string, given: unknown, right: unknown) =>
    refused(
      attributes,
      `the ${what} (${given}) must not be provided in pod spec; priority admission controller computed ${right} from the given PriorityClass name`,
    );
  if (spec.priority !== undefined && spec.priority !== value) {
    throw computed('integer value of priority', spec.priority, value);
  }
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== preemptionPolicy) {
    throw computed('string value of PreemptionPolicy', spec.preemptionPolicy, preemptionPolicy);
  }
  if (name !== '') spec.priorityClassName = name;
  spec.priority = value;
  spec.preemptionPolicy = preemptionPolicy;
}
