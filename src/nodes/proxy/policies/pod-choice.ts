import {
  formatLabelSelector,
  type LabelSelector,
  type LabelSelectorObject,
  labelSelectorFromObject,
} from '../../../base/machinery/label-selector.js';
import type { PodView } from './pod-view.js';

/** The labels of namespaces by name; undefined for one that is not known. */
export type NamespaceLabels = (name: string) => Readonly<Record<string, string>> | undefined;

/** Pods that a policy chooses: by their labels, and by their namespace or its labels. */
export class PodChoice {
  /** The same for two choices exactly if they choose alike. */
  readonly text: string;
  private readonly pods: LabelSelector;
  private readonly namespaces: LabelSelector | undefined;

  /**
   * @param namespace where the policy is: chosen alone unless there is a selector of namespaces
   * @throws SelectorError for a selector that is not valid
   */
  constructor(
    readonly namespace: string,
    podSelector: LabelSelectorObject | null | undefined,
    namespaceSelector?: LabelSelectorObject | null,
  ) {
    const hasSelector = namespaceSelector !== undefined && namespaceSelector !== null;
    this.pods = labelSelectorFromObject(podSelector ?? {});
    this.namespaces = hasSelector ? labelSelectorFromObject(namespaceSelector) : undefined;
    const where = hasSelector ? `in namespaces (${formatLabelSelector(namespaceSelector)})` : `in ${namespace}`;
    this.text = `pods (${formatLabelSelector(podSelector ?? {})}) ${where}`;
  }

  chooses({ namespace, labels }: Pick<PodView, 'namespace' | 'labels'>, labelsOf: NamespaceLabels): boolean {
    if (this.namespaces === undefined) return namespace === this.namespace && this.pods.matches(labels);
    const found = labelsOf(namespace);
    return found !== undefined && this.namespaces.matches(found) && this.pods.matches(labels);
  }
}
