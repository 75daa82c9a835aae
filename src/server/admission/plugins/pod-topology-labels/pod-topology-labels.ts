import type { ApiObject } from '../../../../base/machinery/api-object.js';
import type { VendorNames } from '../../../../base/machinery/vendor.js';
import type { Binding, Pod } from '../../../../objects/apis/core/v1/pod.types.js';
import type { ReadLister } from '../../../../objects/registry/informers/shared-listers.js';
import type { ObjectReader } from '../../../../objects/registry/store/storage-reader.js';
import type { AdmissionDependencies } from '../../admission-dependencies.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { createdPod, isForPods } from '../../pods/pod-request.js';

type Labels = Readonly<Record<string, string>>;

const nodes = { group: '', resource: 'nodes' };

/**
 * Gives pods the zone and the region of their node as labels, when they are bound and when they are created on a node.
 * What the node says replaces labels of these names. A node that does not exist gives none.
 */
export class PodTopologyLabels implements AdmissionPlugin {
  readonly name = 'PodTopologyLabels';
  private readonly keys: readonly string[];
  private readonly places: ReadLister<Labels>;
  private readonly objects: ObjectReader;

  constructor({ listers, objects, names }: Pick<AdmissionDependencies, 'listers' | 'objects' | 'names'>) {
    this.keys = topologyKeys(names);
    this.places = listers.of(nodes, (node) => this.placeOf(node));
    this.objects = objects;
  }

  handles(operation: AdmissionOperation): boolean {
    return operation === 'CREATE';
  }

  admit(attributes: AdmissionAttributes): Promise<void> | void {
    const pod = createdPod(attributes);
    if (pod !== undefined) return this.label(pod, pod.spec.nodeName);
    if (!isForPods(attributes, 'binding')) return undefined;
    // The labels of a binding become those of the pod.
    const binding = attributes.object as (Binding & ApiObject) | undefined;
    return binding?.target.kind === 'Node' ? this.label(binding, binding.target.name) : undefined;
  }

  private label(object: Pick<Pod, 'metadata'>, node: string | undefined): Promise<void> | void {
    if (!node) return undefined;
    const known = this.places.get('', node);
    return known === undefined ? this.fresh(node).then((place) => add(object, place)) : add(object, known);
  }

  /** Reads the node from the store: it may have been registered a moment ago. */
  private async fresh(name: string): Promise<Labels> {
    const node = await this.objects.read(nodes, '', name);
    return node === undefined ? {} : this.placeOf(node);
  }

  private placeOf({ metadata }: ApiObject): Labels {
    const labels = metadata.labels ?? {};
    return Object.fromEntries(
      this.keys.flatMap((key) => {
        const value = labels[key];
        return value === undefined ? [] : [[key, value]];
      }),
    );
  }
}

function topologyKeys({ labelPrefix }: VendorNames): readonly string[] {
  return ['region', 'zone'].map((name) => `topology.${labelPrefix}/${name}`);
}

function add(object: Pick<Pod, 'metadata'>, place: Labels): void {
  if (Object.keys(place).length > 0) object.metadata.labels = { ...object.metadata.labels, ...place };
}
