import type { VendorNames } from '../../../../base/machinery/vendor.js';
import type {
  NodeSelectorRequirement,
  NodeSelectorTerm,
} from '../../../../objects/apis/core/v1/node-selector.types.js';
import type { PersistentVolume } from '../../../../objects/apis/core/v1/persistent-volume.types.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { isFor, refused } from '../../refused.js';

/** Separates zones in the label of a volume that is reachable from several zones. */
const zoneSeparator = '__';

/**
 * Ties provisioned volumes with labels of a zone and a region to the nodes there (specification 5.5). Without cloud
 * providers the plugin does nothing else: it looks up no labels, so it trusts only those that a provisioner wrote.
 */
export class PersistentVolumeLabel implements AdmissionPlugin {
  readonly name = 'PersistentVolumeLabel';
  private readonly provisionedBy: string;
  /** Label keys of zone and region, the current ones before the older ones. */
  private readonly topologies: readonly (readonly [zone: string, region: string])[];

  constructor({ labelPrefix }: VendorNames) {
    this.provisionedBy = `pv.${labelPrefix}/provisioned-by`;
    this.topologies = [`topology.${labelPrefix}`, `failure-domain.beta.${labelPrefix}`].map(
      (domain) => [`${domain}/zone`, `${domain}/region`] as const,
    );
  }

  handles(operation: AdmissionOperation): boolean {
    return operation === 'CREATE';
  }

  admit(attributes: AdmissionAttributes): void {
    if (attributes.subresource !== '' || !isFor(attributes, '', 'persistentvolumes')) return;
    const { metadata, spec } = attributes.object as PersistentVolume;
    const { labels = {}, annotations } = metadata;
    if (annotations?.[this.provisionedBy] === undefined) return;
    const keys = this.topologies.find((pair) => pair.every((key) => labels[key] !== undefined));
    if (keys === undefined) return;
    const [zone, region] = keys;
    const zones = zonesOf(labels[zone] ?? '');
    if (zones === undefined) {
      throw refused(attributes, `failed to convert label string for Zone: ${labels[zone]} to a Set`);
    }
    const requirements = (): NodeSelectorRequirement[] => [
      { key: region, operator: 'In', values: [labels[region] ?? ''] },
      { key: zone, operator: 'In', values: [...zones] },
    ];
    const given = spec.nodeAffinity?.required?.nodeSelectorTerms ?? [];
    const terms: readonly NodeSelectorTerm[] = given.length === 0 ? [{}] : given;
    const isTaken = terms.some(({ matchExpressions = [] }) => matchExpressions.some(({ key }) => keys.includes(key)));
    // A provisioner that set these terms itself takes precedence.
    if (isTaken) return;
    const nodeSelectorTerms = terms.map((term) => ({
      ...term,
      matchExpressions: [...(term.matchExpressions ?? []), ...requirements()],
    }));
    spec.nodeAffinity = { ...spec.nodeAffinity, required: { ...spec.nodeAffinity?.required, nodeSelectorTerms } };
  }
}

/** The zones in a label, sorted; undefined when it has an empty one. */
function zonesOf(label: string): string[] | undefined {
  const zones = label.split(zoneSeparator).map((zone) => zone.trim());
  return zones.includes('') ? undefined : [...new Set(zones)].sort();
}
