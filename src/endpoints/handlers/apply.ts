import { FieldPath, required } from '../../machinery/field-error.js';
import { badRequestError, invalidError } from '../../machinery/status-error.js';
import { negotiateObject } from '../negotiation/answer-form.js';
import { parsePatchBody } from '../negotiation/decode-body.js';
import { readBody } from '../negotiation/read-body.js';
import { sendObject } from '../negotiation/respond.js';
import type { ResourceRequest } from '../resource-request.js';
import { mergeApplied } from '../writes/managed-fields.js';
import { Write } from '../writes/write.js';

/**
 * PATCH with an applier's full intent (specification 5.9). It is merged by field ownership; a missing object is
 * created.
 */
export async function handleApply(request: ResourceRequest): Promise<void> {
  const accepted = negotiateObject(request);
  const write = new Write(request, 'PatchOptions');
  if (!write.options.fieldManagerGiven) {
    const missing = required(FieldPath.of('fieldManager'), 'is required for apply patch');
    throw invalidError({ group: `meta.${request.services.names.suffix}`, kind: 'PatchOptions' }, '', [missing]);
  }
  const config = parseConfig(write, await readBody(request));
  const outcome = await write.apply(async (live) =>
    write.decodePatched(await mergeApplied(request, write.options, live?.requested, config)),
  );
  await sendObject(request, outcome.created ? 201 : 200, outcome, accepted);
}

/** Reads JSON and YAML: JSON is valid YAML. */
function parseConfig({ request, kind, options }: Write, body: Buffer): Readonly<Record<string, unknown>> {
  let config: unknown;
  try {
    config = parsePatchBody(request.context, kind, body, 'yaml', options.fieldValidation);
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequestError(`error decoding YAML: ${error.message}`, error);
    throw error;
  }
  if (config === null || typeof config !== 'object' || Array.isArray(config)) {
    throw badRequestError('error decoding YAML: the applied configuration must be an object');
  }
  request.context.audit?.requested(config);
  return config as Readonly<Record<string, unknown>>;
}
