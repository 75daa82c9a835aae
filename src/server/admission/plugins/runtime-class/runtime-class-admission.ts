import type { ApiObject } from '../../../../base/machinery/api-object.js';
import type { GroupResource } from '../../../../base/machinery/group-version.js';
import { compareQuantities } from '../../../../base/machinery/values/quantity.js';
import { groupName } from '../../../../base/machinery/vendor.js';
import type { Pod } from '../../../../objects/apis/core/v1/pod.types.js';
import type { RuntimeClass } from '../../../../objects/apis/node/v1/runtime-class.types.js';
import type { ReadLister } from '../../../../objects/registry/informers/shared-listers.js';
import type { ObjectReader } from '../../../../objects/registry/store/storage-reader.js';
import type { AdmissionDependencies } from '../../admission-dependencies.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { createdPod } from '../../pods/pod-request.js';
import { mergeTolerations } from '../../pods/tolerations.js';
import { refused } from '../../refused.js';

type KnownRuntime = Pick<RuntimeClass, 'overhead' | 'scheduling'>;
type Resources = Readonly<Record<string, string>>;

function known(object: ApiObject): KnownRuntime {
  const { overhead, scheduling } = object as unknown as RuntimeClass;
  return { ...(overhead === undefined ? {} : { overhead }), ...(scheduling === undefined ? {} : { scheduling }) };
}

/**
 * Gives new pods the overhead and the node constraints of their runtime class (specification 5.5). Refuses pods that
 * name an unknown class or set a different overhead.
 */
export class RuntimeClassAdmission implements AdmissionPlugin {
  readonly name = 'RuntimeClass';
  private readonly classes: ReadLister<KnownRuntime>;
  private readonly resource: GroupResource;
  private readonly objects: ObjectReader;

  constructor({ listers, objects, names }: Pick<AdmissionDependencies, 'listers' | 'objects' | 'names'>) {
    this.resource = { group: groupName('node', names), resource: 'runtimeclasses' };
    this.classes = listers.of(this.resource, known);
    this.objects = objects;
  }

  handles(operation: AdmissionOperation): boolean {
    return operation === 'CREATE';
  }

  admit(attributes: AdmissionAttributes): Promise<void> | void {
    return this.withClass(attributes, (pod, runtime) => {
      if (runtime?.overhead !== undefined) setOverhead(attributes, pod, runtime.overhead.podFixed ?? {});
      if (runtime?.scheduling !== undefined) setScheduling(attributes, pod, runtime.scheduling);
    });
  }

  validate(attributes: AdmissionAttributes): Promise<void> | void {
    return this.withClass(attributes, ({ spec }, runtime) => {
      if (runtime?.overhead !== undefined) {
        if (!isSame(spec.overhead ?? {}, runtime.overhead.podFixed ?? {})) throw otherOverhead(attributes);
      } else if (Object.keys(spec.overhead ?? {}).length > 0) {
        throw refused(attributes, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
      }
    });
  }

  private withClass(
    attributes: AdmissionAttributes,
    use: (pod: Pod, runtime: KnownRuntime | undefined) => void,
  ): Promise<void> | void {
    const pod = createdPod(attributes);
    if (pod === undefined) return undefined;
    const name = pod.spec.runtimeClassName;
    if (!name) return use(pod, undefined);
    const found = this.classes.get('', name);
    return found === undefined ? this.fresh(attributes, name).then((runtime) => use(pod, runtime)) : use(pod, found);
  }

  /** Reads the class from the store: a client may have created it a moment ago. */
  private async fresh(attributes: AdmissionAttributes, name: string): Promise<KnownRuntime> {
    const object = await this.objects.read(this.resource, '', name);
    if (object !== undefined) return known(object);
    throw refused(attributes, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
  }
}

function setOverhead(attributes: AdmissionAttributes, { spec }: Pod, fixed: Resources): void {
  if (Object.keys(spec.overhead ?? {}).length > 0 && !isSame(spec.overhead ?? {}, fixed)) {
    throw otherOverhead(attributes);
  }
  if (Object.keys(fixed).length > 0) spec.overhead = { ...fixed };
}

function otherOverhead(attributes: AdmissionAttributes) {
  return refused(attributes, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
}

function isSame(a: Resources, b: Resources): boolean {
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && compareQuantities(a[key] as string, b[key] as string) === 0);
}

function setScheduling(
  attributes: AdmissionAttributes,
  { spec }: Pod,
  { nodeSelector, tolerations }: NonNullable<KnownRuntime['scheduling']>,
): void {
  const own = spec.nodeSelector ?? {};
  for (const [key, value] of Object.entries(nodeSelector ?? {})) {
    if (!Object.hasOwn(own, key) || own[key] === value) continue;
    const theirs = `runtimeClass.scheduling.nodeSelector[${key}] = ${value}`;
    throw refused(attributes, `conflict: ${theirs}; pod.spec.nodeSelector[${key}] = ${own[key]}`);
  }
  if (nodeSelector !== undefined) spec.nodeSelector = { ...own, ...nodeSelector };
  if (tolerations !== undefined) spec.tolerations = mergeTolerations(spec.tolerations ?? [], tolerations);
}
