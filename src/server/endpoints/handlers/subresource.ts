import type { ApiObject } from '../../../base/machinery/api-object.js';
import { notFoundError, StatusError } from '../../../base/machinery/status-error.js';
import type { CreatedSubresource, VirtualSubresource } from '../../../objects/registry/subresource-definition.js';
import { negotiateAnswer } from '../negotiation/answer-form.js';
import { sendAnswer } from '../negotiation/respond.js';
import type { ResourceRequest } from '../resource-request.js';
import { WritePipeline } from '../writes/write-pipeline.js';

const namespaces = { group: '', resource: 'namespaces' };

/** POST to a subresource that is written into its parent (`binding`). */
export async function handleSubresourceCreate(
  request: ResourceRequest,
  subresource: CreatedSubresource,
): Promise<void> {
  const accepted = negotiateAnswer(request, undefined);
  const write = new WritePipeline(request, 'CreateOptions');
  const nextBody = await write.readCandidate();
  let body: ApiObject | undefined;
  const written = write.update(() => {
    body = nextBody();
    return body;
  });
  await written.catch(async (error: unknown) => {
    const isMissing = error instanceof StatusError && error.reason === 'NotFound';
    throw isMissing && (await lacksNamespace(request)) ? notFoundError(namespaces, request.namespace) : error;
  });
  sendAnswer(request, subresource.createAnswer(request.context, body as unknown as ApiObject), accepted);
}

async function lacksNamespace({ services, namespace }: ResourceRequest): Promise<boolean> {
  return (await services.storage.get({ resource: namespaces.resource, namespace: '', name: namespace })) === undefined;
}

/** POST to a virtual subresource, which processes the body itself. */
export async function handlePerform(request: ResourceRequest, subresource: VirtualSubresource): Promise<void> {
  const { context, namespace, name } = request;
  const { garbageCollector } = request.services.options;
  const accepted = negotiateAnswer(request, subresource.answersStatus === true ? undefined : subresource.body.kind);
  const write = new WritePipeline(request, 'CreateOptions');
  const body = await write.admit(write.decode(await write.readBody()), undefined);
  const { dryRun } = write.options;
  const validate = (object: ApiObject) => write.validateBody(object);
  const answer = await subresource.perform(context, { namespace, name, body, dryRun, garbageCollector, validate });
  sendAnswer(request, answer, accepted);
}
