import { OptionsError } from '../../../../base/config/options-error.js';
import type { Pod } from '../../../../objects/apis/core/v1/pod.types.js';
import type { AdmissionDependencies } from '../../admission-dependencies.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { createdPod } from '../../pods/pod-request.js';
import { refused } from '../../refused.js';
import { contradict, isAmong, parseNodeLabels, type SelectorLabels } from './node-selector-labels.js';

/** Node selectors by namespace, and one for all namespaces without their own. */
export interface NodeSelectors {
  readonly clusterDefault: SelectorLabels;
  /** The only labels that pods of a namespace may select. */
  readonly namespaces: ReadonlyMap<string, SelectorLabels>;
}

/**
 * Keeps the pods of a namespace on the nodes intended for it (specification 5.5): the annotation `node-selector` of the
 * namespace, or else the default of the cluster, is added to the selector of each new pod, which must not contradict
 * it. The configuration may limit what the selectors of a namespace's pods contain.
 */
export class PodNodeSelector implements AdmissionPlugin {
  readonly name = 'PodNodeSelector';
  private readonly annotation: string;

  constructor(
    private readonly dependencies: Pick<AdmissionDependencies, 'names' | 'namespaces'>,
    private readonly selectors: NodeSelectors,
  ) {
    this.annotation = `scheduler.alpha.${dependencies.names.labelPrefix}/node-selector`;
  }

  handles(operation: AdmissionOperation): boolean {
    return operation === 'CREATE';
  }

  admit(attributes: AdmissionAttributes): Promise<void> | void {
    return this.withSelector(attributes, (pod, selector) => {
      if (Object.keys(selector).length > 0) pod.spec.nodeSelector = { ...selector, ...pod.spec.nodeSelector };
      this.judge(attributes, pod);
    });
  }

  validate(attributes: AdmissionAttributes): Promise<void> | void {
    return this.withSelector(attributes, (pod) => this.judge(attributes, pod));
  }

  private withSelector(
    attributes: AdmissionAttributes,
    use: (pod: Pod, selector: SelectorLabels) => void,
  ): Promise<void> | void {
    const pod = createdPod(attributes);
    if (pod === undefined) return undefined;
    const go = (annotations: Readonly<Record<string, string>> | undefined): void => {
      const selector = this.selectorOf(attributes, annotations);
      if (contradict(selector, pod.spec.nodeSelector ?? {})) {
        throw refused(attributes, 'pod node label selector conflicts with its namespace node label selector');
      }
      use(pod, selector);
    };
    const found = this.dependencies.namespaces.get(attributes.namespace);
    return found instanceof Promise ? found.then((namespace) => go(namespace?.annotations)) : go(found?.annotations);
  }

  private selectorOf(
    attributes: AdmissionAttributes,
    annotations: Readonly<Record<string, string>> | undefined,
  ): SelectorLabels {
    const text = annotations?.[this.annotation];
    if (text === undefined) return this.selectors.clusterDefault;
    const selector = parseNodeLabels(text);
    if (selector === undefined) throw refused(attributes, `annotation ${this.annotation} of the namespace is invalid`);
    return selector;
  }

  private judge(attributes: AdmissionAttributes, { spec }: Pod): void {
    const allowed = this.selectors.namespaces.get(attributes.namespace) ?? {};
    if (Object.keys(allowed).length === 0 || isAmong(spec.nodeSelector ?? {}, allowed)) return;
    throw refused(attributes, 'pod node label selector labels conflict with its namespace whitelist');
  }
}

/** The plugin with its configuration. Throws an OptionsError with all faults of that configuration. */
export function buildPodNodeSelector(dependencies: AdmissionDependencies): PodNodeSelector {
  const given = dependencies.configuration.of('PodNodeSelector');
  if (given === undefined) return new PodNodeSelector(dependencies, { clusterDefault: {}, namespaces: new Map() });
  const { selectors, problems } = readNodeSelectors(given.value);
  if (problems.length > 0) throw new OptionsError(problems.map((problem) => `${given.source}: ${problem}`));
  return new PodNodeSelector(dependencies, selectors);
}

const root = 'podNodeSelectorPluginConfig';
const defaultKey = 'clusterDefaultNodeSelector';

/** Reads the configuration; all its problems are in `problems`. */
export function readNodeSelectors(input: unknown): {
  readonly selectors: NodeSelectors;
  readonly problems: readonly string[];
} {
  const problems: string[] = [];
  const namespaces = new Map<string, SelectorLabels>();
  let clusterDefault: SelectorLabels = {};
  const document = isRecord(input) ? input : {};
  for (const key of Object.keys(document)) if (key !== root) problems.push(`${key}: unknown field`);
  const config = document[root];
  if (!isRecord(config)) problems.push(`${root}: must be an object of selectors`);
  else {
    for (const [key, value] of Object.entries(config)) {
      const labels = typeof value === 'string' ? parseNodeLabels(value) : undefined;
      if (labels === undefined) problems.push(`${root}.${key}: must be labels as in "a=b,c=d"`);
      else if (key === defaultKey) clusterDefault = labels;
      else namespaces.set(key, labels);
    }
  }
  return { selectors: { clusterDefault, namespaces }, problems };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
