import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { pathOf } from './kinds.js';
import { shownVersion } from './moment.js';
import { podState } from './pod-state.js';
import type { PodProblem } from './problems.js';
import { api } from './session.js';

const podKind = { group: '', version: 'v1', resource: 'pods' };

/** Why pods do not run, in the words of the component that reported it, by the key of the problem. */
export function usePodReasons(problems: readonly PodProblem[]): Readonly<Record<string, string>> {
  const reasons = useSignal<Readonly<Record<string, string>>>({});
  const wanted = problems.map(keyOfProblem).join('\n');
  useEffect(() => {
    const stop = new AbortController();
    for (const problem of problems) {
      const [first = ''] = problem.pods;
      api.json(pathOf(podKind, problem.namespace, first), { signal: stop.signal }).then(
        (pod) => {
          reasons.value = { ...reasons.value, [keyOfProblem(problem)]: podState(pod).why };
        },
        () => {
          // It is gone, or may not be read: only the status of the table is known.
        },
      );
    }
    return () => stop.abort();
  }, [wanted, shownVersion()]);
  return reasons.value;
}

export function keyOfProblem({ namespace, owner, word, pods }: PodProblem): string {
  return `${namespace} ${owner} ${word} ${pods[0] ?? ''}`;
}
