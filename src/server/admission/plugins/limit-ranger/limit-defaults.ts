import type { Container } from '../../../../objects/apis/core/v1/container.types.js';
import type { LimitRange } from '../../../../objects/apis/core/v1/limit-range.types.js';
import type { Pod } from '../../../../objects/apis/core/v1/pod.types.js';
import type { ResourceList } from '../../../../objects/apis/core/v1/resources.types.js';

/**
 * Gives the containers of a pod the default requests and limits of a range. Changes `pod`. Returns the values set, for
 * people; empty if there are none.
 */
export function applyLimitDefaults(pod: Pod, range: LimitRange): string {
  const items = (range.spec.limits ?? []).filter(({ type }) => type === 'Container');
  const requests = Object.assign({}, ...items.map(({ defaultRequest }) => defaultRequest)) as ResourceList;
  const limits = Object.assign({}, ...items.map((item) => item.default)) as ResourceList;
  const texts: string[] = [];
  const complete = (container: Container, what: string): void => {
    const { resources } = container;
    const setRequests = missingNames(requests, resources.requests);
    const setLimits = missingNames(limits, resources.limits);
    if (setRequests.length > 0) {
      resources.requests = { ...resources.requests, ...pick(requests, setRequests) };
      texts.push(`${setRequests.join(', ')} request for ${what} ${container.name}`);
    }
    if (setLimits.length > 0) {
      resources.limits = { ...resources.limits, ...pick(limits, setLimits) };
      texts.push(`${setLimits.join(', ')} limit for ${what} ${container.name}`);
    }
  };
  for (const container of pod.spec.containers ?? []) complete(container, 'container');
  for (const container of pod.spec.initContainers ?? []) complete(container, 'init container');
  return texts.join('; ');
}

function missingNames(defaults: ResourceList, given: ResourceList | undefined): string[] {
  return Object.keys(defaults)
    .filter((name) => !Object.hasOwn(given ?? {}, name))
    .sort();
}

function pick(amounts: ResourceList, names: readonly string[]): ResourceList {
  return Object.fromEntries(names.map((name) => [name, amounts[name] as string]));
}
