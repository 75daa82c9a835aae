import { badRequestError, notFoundError } from '../../../base/machinery/status-error.js';
import { isStoredResource } from '../../../objects/registry/resource-registry.js';
import { parseText } from '../../../objects/registry/store/object-codec.js';
import type { ReadNode } from '../../node-agents/read-node.js';
import type { EndpointServices } from '../endpoint-services.js';
import type { ReadPod } from './read-objects.js';

/**
 * The container that a request is for. Throws a 400 when the pod has no such container, or when it has several and the
 * request names none.
 *
 * @param container name; empty for the only one
 */
export function containerOf({ metadata, spec }: ReadPod, container: string): string {
  const names = (containers: readonly { readonly name: string }[] | null | undefined) =>
    (containers ?? []).map(({ name }) => name);
  const regular = names(spec.containers);
  const inits = names(spec.initContainers);
  if (container === '') {
    const [only] = regular;
    if (only !== undefined && regular.length === 1) return only;
    const more = inits.length === 0 ? '' : ` or one of the init containers: [${inits.join(' ')}]`;
    throw badRequestError(
      `a container name must be specified for pod ${metadata.name}, choose one of: [${regular.join(' ')}]${more}`,
    );
  }
  if ([...regular, ...inits, ...names(spec.ephemeralContainers)].includes(container)) return container;
  throw badRequestError(`container ${container} is not valid for pod ${metadata.name}`);
}

/** The node of that name; throws a 404 when there is none. */
export async function nodeOf(services: EndpointServices, name: string): Promise<ReadNode> {
  const nodes = services.registry.findServed('', 'v1', 'nodes');
  if (nodes === undefined || !isStoredResource(nodes)) throw notFoundError({ group: '', resource: 'nodes' }, name);
  return parseText(nodes, (await services.storeOf(nodes).get('', name)).json) as unknown as ReadNode;
}
