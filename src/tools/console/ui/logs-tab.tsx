import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Blank, Skeleton } from './blank.js';
import { selectorText } from './details.js';
import { textAt } from './dig.js';
import { pathOf } from './kinds.js';
import { containersOf, usualContainer } from './log-sources.js';
import { LogView } from './log-view.js';
import type { ObjectRoute } from './routes.js';
import { api } from './session.js';
import type { ApiObject } from './yaml-text.js';

const podKind = { group: '', version: 'v1', resource: 'pods' };
const mostPods = 50;

/** The logs of a pod, or of the pods of a workload. */
export function LogsTab({ route, object }: { readonly route: ObjectRoute; readonly object: ApiObject }) {
  const isPod = route.resource === 'pods';
  const { namespace } = route;
  const pods = useSignal<readonly unknown[] | undefined>(isPod ? [object] : undefined);
  const problem = useSignal('');
  const selector = isPod ? '' : selectorText(route.resource, object);
  // A pod's containers don't change, but its status reports new runs.
  const runs = isPod ? textAt(object, 'metadata', 'resourceVersion') : '';
  useEffect(() => {
    if (isPod) pods.value = [object];
  }, [runs]);
  useEffect(() => {
    if (isPod || selector === '') return;
    const stop = new AbortController();
    const query = new URLSearchParams({ labelSelector: selector, limit: String(mostPods) });
    api
      .json<{ readonly items?: readonly unknown[] }>(`${pathOf(podKind, namespace)}?${query}`, { signal: stop.signal })
      .then(
        ({ items = [] }) => {
          pods.value = items;
        },
        (error: unknown) => {
          if (!stop.signal.aborted) problem.value = (error as Error).message;
        },
      );
    return () => stop.abort();
  }, [selector, namespace]);
  if (problem.value !== '') return <p class="problem">{problem.value}</p>;
  if (pods.value === undefined) return <Skeleton lines={8} />;
  if (pods.value.length === 0) {
    return (
      <Blank icon="workloads" title="There are no pods">
        <p>Logs are those of running pods, and of their last runs.</p>
      </Blank>
    );
  }
  const names = pods.value.map((pod) => textAt(pod, 'metadata', 'name'));
  const containers = [...new Set(pods.value.flatMap(containersOf))];
  return (
    <LogView
      namespace={namespace}
      pods={pods.value}
      podNames={names}
      containers={containers}
      usual={usualContainer(pods.value[0])}
    />
  );
}
