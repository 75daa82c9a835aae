import type { ApiObject } from '../../base/machinery/api-object.js';
import { compareText } from '../../base/machinery/compare-text.js';
import type { LabelSelector } from '../../base/machinery/label-selector.js';
import type { PodDisruptionBudget } from '../../objects/apis/policy/v1/pod-disruption-budget.types.js';
import { selectorFrom } from './affinity-terms.js';
import type { SchedulingView } from './cluster.js';
import type { NodeFilter } from './filter.js';
import { demandsOf, type NoNode, refusalBesideNominated } from './find-node.js';
import { availability } from './fit-message.js';
import type { NodeInfo } from './node-info.js';
import type { PodInfo } from './pod-info.js';

type Budget = PodDisruptionBudget & ApiObject;

/** A possible preemption on a node. */
export interface Preemption {
  readonly kind: 'room';
  readonly node: string;
  /** The victims, the most important first. */
  readonly victims: readonly PodInfo[];
}

/** Why there is no preemption. */
export interface NoPreemption {
  readonly kind: 'none';
  /** The message to report, in the form of {@link fitMessage}. */
  readonly message: string;
  /** Whether the pod still waits for a preemption that is under way. */
  readonly isWaiting: boolean;
}

export interface PreemptionOptions {
  /** The budgets of a namespace. */
  readonly budgets: (namespace: string) => Iterable<Budget>;
  /** Returns a random number from 0 to 1, which decides at which node the search begins. */
  readonly random: () => number;
}

const notHelpful = 'Preemption is not helpful for scheduling';
const noVictims = 'No preemption victims found for incoming pod';
const leastCandidates = 100;
const candidateShare = 0.1;

interface Candidate {
  readonly node: NodeInfo;
  readonly victims: readonly PodInfo[];
  readonly violations: number;
}

/**
 * Chooses less important pods as victims so that a pod fits on a node: where the fewest budgets are violated, then
 * where the victims are the least important, then the fewest. Changes nothing.
 */
export function selectVictims(
  pod: PodInfo,
  cluster: SchedulingView,
  refused: NoNode,
  options: PreemptionOptions,
): Preemption | NoPreemption {
  const obstacle = ineligibility(pod, cluster, refused);
  if (obstacle !== undefined) return obstacle;
  const { nodes } = cluster;
  const possible = nodes.filter(({ name }) => refused.refusals.get(name)?.isFinal === false);
  const reasons = new Map<string, number>();
  const count = (reason: string, times = 1) => reasons.set(reason, (reasons.get(reason) ?? 0) + times);
  if (possible.length < nodes.length) count(notHelpful, nodes.length - possible.length);
  const found = candidatesAmong(pod, possible, cluster, options, count);
  if (found.length === 0) return { kind: 'none', message: availability(nodes.length, reasons), isWaiting: false };
  const [{ node, victims }] = [...found].sort(compareCandidates) as [Candidate];
  return { kind: 'room', node: node.name, victims };
}

function ineligibility(pod: PodInfo, cluster: SchedulingView, { refusals }: NoNode): NoPreemption | undefined {
  if (pod.pod.spec.preemptionPolicy === 'Never') {
    return { kind: 'none', message: 'not eligible due to preemptionPolicy=Never.', isWaiting: false };
  }
  const nominated = cluster.nominationOf(pod.uid);
  const node = nominated === undefined ? undefined : cluster.node(nominated);
  if (node === undefined || refusals.get(node.name)?.isFinal === true) return undefined;
  for (const other of node.pods.values()) {
    if (!other.isEnding || other.priority >= pod.priority) continue;
    return { kind: 'none', message: 'not eligible due to a terminating pod on the nominated node.', isWaiting: true };
  }
  return undefined;
}

function candidatesAmong(
  pod: PodInfo,
  possible: readonly NodeInfo[],
  cluster: SchedulingView,
  { budgets, random }: PreemptionOptions,
  count: (reason: string, times?: number) => void,
): readonly Candidate[] {
  if (possible.length === 0) return [];
  const enough = Math.max(leastCandidates, Math.trunc(possible.length * candidateShare));
  const { filters } = demandsOf(pod, cluster);
  const isViolation = budgetTest(budgets);
  const found: Candidate[] = [];
  let hasHarmless = false;
  const from = Math.trunc(random() * possible.length);
  for (let i = 0; i < possible.length && !(hasHarmless && found.length >= enough); i++) {
    const node = possible[(from + i) % possible.length] as NodeInfo;
    const outcome = victimsOn(pod, node, filters, cluster, isViolation);
    if ('reasons' in outcome) for (const reason of outcome.reasons) count(reason);
    else {
      found.push(outcome);
      hasHarmless ||= outcome.violations === 0;
    }
  }
  return found;
}

/** The fewest and least important pods that have to leave a node, or why that would not help. */
function victimsOn(
  pod: PodInfo,
  node: NodeInfo,
  filters: readonly NodeFilter[],
  cluster: SchedulingView,
  isViolation: (pods: readonly PodInfo[]) => ReadonlySet<PodInfo>,
): Candidate | { readonly reasons: readonly string[] } {
  const lesser = [...node.pods.values()].filter(({ priority }) => priority < pod.priority);
  if (lesser.length === 0) return { reasons: [noVictims] };
  const rest = node.copy();
  const leave = (other: PodInfo) => {
    rest.remove(other.uid);
    for (const filter of filters) filter.podChanged?.(other, rest, -1);
  };
  const stay = (other: PodInfo) => {
    rest.add(other);
    for (const filter of filters) filter.podChanged?.(other, rest, 1);
  };
  for (const other of lesser) leave(other);
  const refusal = refusalBesideNominated(filters, pod, rest, cluster);
  if (refusal !== undefined) {
    for (const other of lesser) stay(other);
    return { reasons: refusal.reasons };
  }
  lesser.sort(compareImportance);
  const violating = isViolation(lesser);
  const victims: PodInfo[] = [];
  let violations = 0;
  // Pods that may not be disturbed are the first to stay.
  for (const other of [...lesser.filter((p) => violating.has(p)), ...lesser.filter((p) => !violating.has(p))]) {
    stay(other);
    if (refusalBesideNominated(filters, pod, rest, cluster) === undefined) continue;
    leave(other);
    victims.push(other);
    if (violating.has(other)) violations += 1;
  }
  // The trial is undone: the filters are used for further nodes.
  for (const other of victims) stay(other);
  return { node, victims: victims.sort(compareImportance), violations };
}

/** The more important pod first: the one with the higher priority, then the one that runs for longer. */
function compareImportance(a: PodInfo, b: PodInfo): number {
  return b.priority - a.priority || compareText(startOf(a), startOf(b));
}

/** When a pod began to run; a pod that did not yet sorts after all others. */
function startOf({ pod }: PodInfo): string {
  return pod.status?.startTime ?? '~';
}

/** Sorts the better candidate first. */
function compareCandidates(a: Candidate, b: Candidate): number {
  return (
    a.violations - b.violations ||
    highestPriority(a) - highestPriority(b) ||
    sumOfPriorities(a) - sumOfPriorities(b) ||
    a.victims.length - b.victims.length ||
    compareText(earliestStart(b), earliestStart(a))
  );
}

function highestPriority({ victims }: Candidate): number {
  return victims[0]?.priority ?? Number.NEGATIVE_INFINITY;
}

/** Shifted so that no priority is negative: more victims are never better. */
function sumOfPriorities({ victims }: Candidate): number {
  return victims.reduce((sum, { priority }) => sum + priority + 2 ** 31, 0);
}

/** The start time of the most important victims. */
function earliestStart({ victims }: Candidate): string {
  const most = victims[0]?.priority;
  return victims
    .filter(({ priority }) => priority === most)
    .map(startOf)
    .reduce((a, b) => (a < b ? a : b), '~');
}

/** Returns which of some pods, in this order, could not be evicted within the limits of their budgets. */
function budgetTest(budgets: PreemptionOptions['budgets']) {
  const known = new Map<string, { readonly budget: Budget; readonly selector: LabelSelector }[]>();
  const of = (namespace: string) => {
    let found = known.get(namespace);
    if (found === undefined) {
      found = [...budgets(namespace)]
        .map((budget) => ({ budget, selector: selectorFrom(budget.spec?.selector ?? undefined) }))
        .filter(({ selector }) => selector.requirements.length > 0);
      known.set(namespace, found);
    }
    return found;
  };
  return (pods: readonly PodInfo[]): ReadonlySet<PodInfo> => {
    const left = new Map<Budget, number>();
    const violating = new Set<PodInfo>();
    for (const pod of pods) {
      for (const { budget, selector } of of(pod.namespace)) {
        if (!selector.matches(pod.labels)) continue;
        // The eviction of this pod was counted already.
        if (budget.status?.disruptedPods?.[pod.name] !== undefined) continue;
        const allowed = (left.get(budget) ?? budget.status?.disruptionsAllowed ?? 0) - 1;
        left.set(budget, allowed);
        if (allowed < 0) violating.add(pod);
      }
    }
    return violating;
  };
}
