import { OptionsError } from '../../../../base/config/options-error.js';
import type { Toleration } from '../../../../objects/apis/core/v1/affinity.types.js';
import type { Pod } from '../../../../objects/apis/core/v1/pod.types.js';
import { podQosClass } from '../../../../objects/apis/core/v1/pod-qos.js';
import type { AdmissionDependencies } from '../../admission-dependencies.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { isForPods } from '../../pods/pod-request.js';
import { coversToleration, mergeTolerations } from '../../pods/tolerations.js';
import { refused } from '../../refused.js';
import { type ClusterTolerations, parseTolerations, readClusterTolerations } from './toleration-configuration.js';

/** Maximum number of comparisons between a pod's tolerations and the allowed ones; real pods need far fewer. */
const maxComparisons = 100_000;

/**
 * Adds the default tolerations of the namespace or the cluster to new pods, and refuses tolerations that the namespace
 * or the cluster does not allow (specification 5.5). Pods with resource requests also tolerate nodes under memory
 * pressure.
 */
export class PodTolerationRestriction implements AdmissionPlugin {
  readonly name = 'PodTolerationRestriction';
  private readonly prefix: string;
  private readonly memoryPressure: Toleration;

  constructor(
    private readonly dependencies: Pick<AdmissionDependencies, 'names' | 'namespaces'>,
    private readonly cluster: ClusterTolerations,
  ) {
    const { labelPrefix } = dependencies.names;
    this.prefix = `scheduler.alpha.${labelPrefix}/`;
    this.memoryPressure = { key: `node.${labelPrefix}/memory-pressure`, operator: 'Exists', effect: 'NoSchedule' };
  }

  handles(operation: AdmissionOperation): boolean {
    return operation === 'CREATE' || operation === 'UPDATE';
  }

  admit(attributes: AdmissionAttributes): Promise<void> | void {
    return this.withNamespace(attributes, ({ spec }, annotations) => {
      const own = spec.tolerations ?? [];
      let extra: readonly Toleration[] = [];
      if (attributes.operation === 'CREATE') {
        const defaults = this.read(attributes, annotations, 'defaultTolerations') ?? this.cluster.default;
        if (defaults.length > 0) extra = mergeTolerations(defaults, own);
      }
      if (podQosClass(spec) !== 'BestEffort') extra = mergeTolerations(extra, [this.memoryPressure]);
      if (extra.length > 0) spec.tolerations = mergeTolerations(own, extra);
    });
  }

  validate(attributes: AdmissionAttributes): Promise<void> | void {
    return this.withNamespace(attributes, ({ spec: { tolerations = [] } }, annotations) => {
      if (tolerations === null || tolerations.length === 0) return;
      const ofNamespace = this.read(attributes, annotations, 'tolerationsWhitelist');
      const allowed = ofNamespace ?? this.cluster.whitelist;
      if (allowed.length === 0) return;
      const isAllowed = (each: Toleration) => allowed.some((other) => coversToleration(other, each));
      if (tolerations.length * allowed.length <= maxComparisons && tolerations.every(isAllowed)) return;
      const scope = ofNamespace === undefined ? 'cluster' : 'namespace';
      const detail = `pod tolerations (possibly merged with namespace default tolerations) conflict with its ${scope} whitelist`;
      throw refused(attributes, detail);
    });
  }

  private withNamespace(
    attributes: AdmissionAttributes,
    use: (pod: Pod, annotations: Readonly<Record<string, string>>) => void,
  ): Promise<void> | void {
    if (!isForPods(attributes) || attributes.object === undefined) return undefined;
    const pod = attributes.object as unknown as Pod;
    const found = this.dependencies.namespaces.get(attributes.namespace);
    if (found instanceof Promise) return found.then((namespace) => use(pod, namespace?.annotations ?? {}));
    return use(pod, found?.annotations ?? {});
  }

  /** Tolerations of the namespace; undefined when it has none. */
  private read(
    attributes: AdmissionAttributes,
    annotations: Readonly<Record<string, string>>,
    name: string,
  ): readonly Toleration[] | undefined {
    const text = annotations[this.prefix + name];
    if (text === undefined) return undefined;
    const tolerations = parseTolerations(text);
    if (tolerations !== undefined) return tolerations;
    throw refused(attributes, `annotation ${this.prefix}${name} of the namespace is not a list of tolerations`);
  }
}

/** The plugin with its configuration. Throws an OptionsError with all faults of that configuration. */
export function buildPodTolerationRestriction(dependencies: AdmissionDependencies): PodTolerationRestriction {
  const given = dependencies.configuration.of('PodTolerationRestriction');
  if (given === undefined) return new PodTolerationRestriction(dependencies, { default: [], whitelist: [] });
  const { tolerations, problems } = readClusterTolerations(given, dependencies.names);
  if (problems.length > 0) throw new OptionsError(problems);
  return new PodTolerationRestriction(dependencies, tolerations);
}
