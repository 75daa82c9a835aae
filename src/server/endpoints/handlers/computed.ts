import type { ApiObject } from '../../../base/machinery/api-object.js';
import { noteWait } from '../../../base/machinery/request-context.js';
import { notFoundError } from '../../../base/machinery/status-error.js';
import type { ComputedResource } from '../../../objects/registry/resource-definition.js';
import { encodeForStorage } from '../../../objects/registry/store/object-codec.js';
import { fieldsOf, parseSelectors, selectionOf } from '../../../objects/registry/store/selection.js';
import { selects } from '../../../storage/selection-predicate.js';
import { negotiateList, negotiateObject } from '../negotiation/answer-form.js';
import { parseTimeoutSeconds } from '../negotiation/list-options.js';
import { checkListRules } from '../negotiation/list-rules.js';
import { parseCountedNumber } from '../negotiation/query-number.js';
import { sendObject } from '../negotiation/respond.js';
import type { ResourceRequest } from '../resource-request.js';
import { listWriter } from './list-writer.js';

/**
 * GET of one or all objects of a computed kind. Computed objects have no versions, so parameters for paging and
 * versions have no effect.
 */
export async function handleComputed(request: ResourceRequest, definition: ComputedResource): Promise<void> {
  const { context, resource, verb, namespace, name } = request;
  // Other threads do not have the data that the objects are computed from.
  context.mayChangeThread = false;
  const accepted = verb === 'get' ? negotiateObject(request) : negotiateList(request);
  // A read of one object has no selectors.
  const selectors = verb === 'get' ? undefined : parseSelectors(context.query);
  if (verb === 'list') checkListParameters(request);
  const selection = selectors && selectionOf(resource, selectors);
  const isInScope = ({ metadata }: ApiObject) =>
    !definition.namespaced || !namespace || metadata.namespace === namespace;
  const wants = (object: ApiObject) => {
    if (selection === undefined) return true;
    const { name: ownName = '', namespace: ownNamespace = '', labels } = object.metadata;
    const attributes = { source: selection.source, labels, fields: fieldsOf(definition, object) };
    return selects(selection, attributes, { namespace: ownNamespace, name: ownName });
  };
  const begun = performance.now();
  const objects = await definition.compute({
    namespace: definition.namespaced && namespace ? namespace : undefined,
    name: verb === 'get' ? name : undefined,
    wants,
    signal: context.signal,
  });
  // This counts as waiting time, since the data may come from other programs.
  noteWait(context, begun);
  if (verb === 'get') {
    const found = objects.find((object) => isInScope(object) && object.metadata.name === name);
    if (found === undefined) {
      throw notFoundError({ group: definition.group, resource: definition.missingAs ?? definition.resource }, name);
    }
    const text = { json: encodeForStorage(resource, found), resourceVersion: undefined };
    await sendObject(request, 200, text, accepted);
    return;
  }
  const writer = listWriter(request, accepted);
  writer.add(objects.filter((object) => isInScope(object) && wants(object)));
  await writer.send({});
}

function checkListParameters({ context, services }: ResourceRequest): void {
  const { query } = context;
  parseTimeoutSeconds(query.get('timeoutSeconds'));
  parseCountedNumber(query.get('limit'));
  checkListRules(query, services.names);
}
