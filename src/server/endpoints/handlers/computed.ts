import type { ApiObject } from '../../../base/machinery/api-object.js';
import { notFoundError } from '../../../base/machinery/status-error.js';
import type { ComputedResource } from '../../../objects/registry/resource-definition.js';
import { encodeForStorage } from '../../../objects/registry/store/object-codec.js';
import { fieldsOf, parseSelection } from '../../../objects/registry/store/selection.js';
import { selects } from '../../../storage/selection-predicate.js';
import { negotiateList, negotiateObject } from '../negotiation/answer-form.js';
import { parseTimeoutSeconds } from '../negotiation/list-options.js';
import { checkListRules } from '../negotiation/list-rules.js';
import { parseCountedNumber } from '../negotiation/query-number.js';
import { sendObject } from '../negotiation/respond.js';
import type { ResourceRequest } from '../resource-request.js';
import { listWriter } from './list-writer.js';

/**
 * GET of one or all objects of a computed kind. They have no versions, so parameters for paging and versions have no
 * effect.
 */
export async function handleComputed(request: ResourceRequest, definition: ComputedResource): Promise<void> {
  const { context, resource, verb, name } = request;
  const accepted = verb === 'get' ? negotiateObject(request) : negotiateList(request);
  const selection = parseSelection(resource, context.query);
  if (verb === 'list') checkListParameters(request);
  const objects = await definition.compute(context);
  if (verb === 'get') {
    const found = objects.find(({ metadata }) => metadata.name === name);
    if (found === undefined) throw notFoundError(definition, name);
    const text = { json: encodeForStorage(resource, found), resourceVersion: undefined };
    await sendObject(request, 200, text, accepted);
    return;
  }
  const isSelected = (object: ApiObject) => {
    const { name: ownName = '', namespace = '', labels } = object.metadata;
    const attributes = { source: selection.source, labels, fields: fieldsOf(definition, object) };
    return selects(selection, attributes, { namespace, name: ownName });
  };
  const writer = listWriter(request, accepted);
  writer.add(objects.filter(isSelected));
  await writer.send({});
}

function checkListParameters({ context, services }: ResourceRequest): void {
  const { query } = context;
  parseTimeoutSeconds(query.get('timeoutSeconds'));
  parseCountedNumber(query.get('limit'), 'limit');
  checkListRules(query, services.names);
}
