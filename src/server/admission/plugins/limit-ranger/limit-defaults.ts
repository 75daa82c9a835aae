import type { Container } from '../../../../objects/apis/core/v1/container.types.js';
import type { LimitRange } from '../../../../objects/apis/core/v1/limit-range.types.js';
import type { Pod } from '../../../../objects/apis/core/v1/pod.types.js';
import type { ResourceList } from '../../../../objects/apis/core/v1/resources.types.js';

/**
 * Gives the containers of a pod the default requests and limits of a range. Changes `pod`. Returns a human-readable
 * list of the values set; empty if there are none.
 */
export function applyLimitDefaults(pod: Pod, range: LimitRange): string {
  const items = (range.spec.limits ?? []).filter(({ type }) => type === 'Container');
  const requests = byName(Object.assign({}, ...items.map(({ defaultRequest }) => defaultRequest)));
  const limits = byName(Object.assign({}, ...items.map((item) => item.default)));
  const texts: string[] = [];
  const complete = (container: Container, what: string): void => {
    const { resources } = container;
    const newRequests = missing(requests, resources.requests);
    const newLimits = missing(limits, resources.limits);
    if (newRequests.length > 0) {
      resources.requests = { ...resources.requests, ...Object.fromEntries(newRequests) };
      texts.push(`${namesOf(newRequests)} request for ${what} ${container.name}`);
    }
    if (newLimits.length > 0) {
      resources.limits = { ...resources.limits, ...Object.fromEntries(newLimits) };
      texts.push(`${namesOf(newLimits)} limit for ${what} ${container.name}`);
    }
  };
  for (const container of pod.spec.containers ?? []) complete(container, 'container');
  for (const container of pod.spec.initContainers ?? []) complete(container, 'init container');
  return texts.join('; ');
}

type Amount = readonly [name: string, amount: string];

function byName(amounts: ResourceList): Amount[] {
  return Object.entries(amounts).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The defaults of resources that the container does not set. */
function missing(defaults: readonly Amount[], given: ResourceList | undefined): readonly Amount[] {
  return given === undefined ? defaults : defaults.filter(([name]) => !Object.hasOwn(given, name));
}

function namesOf(amounts: readonly Amount[]): string {
  return amounts.map(([name]) => name).join(', ');
}
