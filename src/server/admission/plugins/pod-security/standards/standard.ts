import type { PodSpec } from '../../../../../objects/apis/core/v1/pod-spec.types.js';
import { type AnyContainer, containersOf } from '../../../pods/containers-of.js';

/** A pod or a pod template as the checks see it. */
export interface CheckedPod {
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
  /** All containers of the spec. */
  readonly containers: readonly AnyContainer[];
}

/** A violation of a pod. */
export interface Violation {
  /** Short description of the rule. */
  readonly reason: string;
  /** The parts that violate the rule, and how. */
  readonly detail: string;
}

export type PodCheck = (pod: CheckedPod) => Violation | undefined;

/** One rule of the published standards with the versions in which it changed. */
export interface Standard {
  /** Sorts the violations; clients see the order, but not the id. */
  readonly id: string;
  readonly level: 'baseline' | 'restricted';
  /** The checks, sorted by `since`, the first minor version to which each applies. */
  readonly versions: readonly { readonly since: number; readonly check: PodCheck }[];
  /** Ids of baseline rules that this one makes superfluous in the versions in which it exists. */
  readonly overrides?: readonly string[];
}

/** A pod spec in the form that the checks read. */
export function checkedPod(annotations: Readonly<Record<string, string>> | undefined, spec: PodSpec): CheckedPod {
  return { annotations: annotations ?? {}, spec, containers: [...containersOf(spec)] };
}

/** Names of the containers for which `isBad` holds. */
export function containersWhere({ containers }: CheckedPod, isBad: (container: AnyContainer) => boolean): string[] {
  return containers.filter(isBad).map(({ name }) => name);
}

/** `container "a"`, `containers "a", "b"`. */
export function containersText(names: readonly string[]): string {
  return `${plural('container', names)} ${quoted(names)}`;
}

/** The parts with a bad setting: `pod and containers "a", "b"`. */
export function settersText(isPodBad: boolean, containers: readonly string[]): string {
  const setters = isPodBad ? ['pod'] : [];
  if (containers.length > 0) setters.push(containersText(containers));
  return setters.join(' and ');
}

/** The word, with an s unless there is exactly one value. */
export function plural(word: string, values: readonly unknown[]): string {
  return values.length === 1 ? word : `${word}s`;
}

/** Formats values like `"a", "b"`; quotes in them stay as they are, as in the release. */
export function quoted(values: readonly string[]): string {
  return values.map((value) => `"${value}"`).join(', ');
}

/** The distinct values, sorted. */
export function sortedSet(values: Iterable<string>): string[] {
  return [...new Set(values)].sort();
}

/** Since this minor version, the rules are relaxed for pods in a user namespace. */
export const userNamespaceRelaxation = 35;

/** A check that pods with a user namespace of their own always pass. */
export function unlessInUserNamespace(check: PodCheck): PodCheck {
  return (pod) => (pod.spec.hostUsers === false ? undefined : check(pod));
}

/** A check that Windows pods always pass, since Windows does not have the setting. */
export function unlessWindows(check: PodCheck): PodCheck {
  return (pod) => (pod.spec.os?.name === 'windows' ? undefined : check(pod));
}
