import type { VirtualResource } from '../../../objects/registry/resource-definition.js';
import { negotiateAnswer, negotiateObject } from '../negotiation/answer-form.js';
import { sendAnswer, sendObject } from '../negotiation/respond.js';
import type { ResourceRequest } from '../resource-request.js';
import { WritePipeline } from '../writes/write-pipeline.js';

/** POST to a collection. */
export async function handleCreate(request: ResourceRequest): Promise<void> {
  const accepted = negotiateObject(request);
  const write = new WritePipeline(request, 'CreateOptions');
  const object = write.decode(await write.readBody());
  const written = await write.create(object);
  await sendObject(request, 201, written, accepted);
}

/** POST to a virtual kind: the object is checked like any other, but then completed and returned instead of stored. */
export async function handleReview(request: ResourceRequest, definition: VirtualResource): Promise<void> {
  const accepted = negotiateAnswer(request, definition);
  const write = new WritePipeline(request, 'CreateOptions');
  const review = await write.admit(write.decode(await write.readBody()), undefined);
  await write.validateBody(review);
  // Nothing is stored that somebody could own.
  delete review.metadata.managedFields;
  const { dryRun } = write.options;
  sendAnswer(request, await definition.answer(request.context, review, { dryRun }), accepted);
}
