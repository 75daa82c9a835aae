import { listAt, textAt } from './dig.js';

/** A container whose log is read. */
export interface LogSource {
  readonly pod: string;
  readonly container: string;
}

/** The containers of a pod, in the order in which people want them. */
export function containersOf(pod: unknown): readonly string[] {
  const named = (field: string) => listAt(pod, 'spec', field).map((each) => textAt(each, 'name'));
  return [...named('containers'), ...named('initContainers'), ...named('ephemeralContainers')].filter(Boolean);
}

/** The container that `kubectl logs` takes: the one that an annotation names, or the first. */
export function usualContainer(pod: unknown): string {
  const named = textAt(pod, 'metadata', 'annotations', 'kubectl.kubernetes.io/default-container');
  const all = containersOf(pod);
  return all.includes(named) ? named : (all[0] ?? '');
}

/** More logs than this at a time would be unreadable, and use up the requests that one user may have. */
const mostSources = 12;

/**
 * The logs to read.
 *
 * @param pod the name of one; empty: all
 * @param container the name of one; empty: all regular ones
 */
export function sourcesOf(pods: readonly unknown[], pod: string, container: string): readonly LogSource[] {
  return pods
    .filter((each) => pod === '' || textAt(each, 'metadata', 'name') === pod)
    .flatMap((each) => {
      const all = listAt(each, 'spec', 'containers').map((one) => textAt(one, 'name'));
      const wanted = container === '' ? all : containersOf(each).filter((name) => name === container);
      return wanted.map((name) => ({ pod: textAt(each, 'metadata', 'name'), container: name }));
    })
    .slice(0, mostSources);
}
