import type { ApiObject } from '../../../base/machinery/api-object.js';
import { FieldPath, required } from '../../../base/machinery/field-error.js';
import { formatApiVersion } from '../../../base/machinery/group-version.js';
import { checkApplied } from '../../../base/machinery/managed-fields/index.js';
import { badRequestError, invalidError, notFoundError } from '../../../base/machinery/status-error.js';
import type { ViewSubresource } from '../../../objects/registry/subresource-definition.js';
import { negotiateObject } from '../negotiation/answer-form.js';
import { unfitJson } from '../negotiation/body-errors.js';
import { parseApplyBody } from '../negotiation/decode-body.js';
import { plainIntent } from '../negotiation/plain-intent.js';
import { readBody } from '../negotiation/read-body.js';
import { sendObject } from '../negotiation/respond.js';
import type { ResourceRequest } from '../resource-request.js';
import { mergeApplied } from '../writes/managed-fields.js';
import type { ObjectForms } from '../writes/object-forms.js';
import { WritePipeline } from '../writes/write-pipeline.js';

/**
 * PATCH with an applier's full intent (specification 5.9). It is merged by field ownership; a missing object is
 * created.
 */
export async function handleApply(request: ResourceRequest, format: 'yaml' | 'cbor'): Promise<void> {
  const accepted = negotiateObject(request);
  const write = new WritePipeline(request, 'PatchOptions');
  if (!write.options.fieldManagerGiven) {
    const missing = required(FieldPath.of('fieldManager'), 'is required for apply patch');
    throw invalidError({ group: `meta.${request.services.names.suffix}`, kind: 'PatchOptions' }, '', [missing]);
  }
  const config = parseConfig(write, await readBody(request), format);
  const { subresource } = request;
  const outcome = await write.apply(async (live) =>
    subresource?.type === 'view'
      ? await appliedView(write, subresource, live, config)
      : write.decodePatched(await mergeApplied(request, write.options, live?.requested, config)),
  );
  await sendObject(request, outcome.created ? 201 : 200, outcome, accepted);
}

/**
 * The subresource view after an apply. Its fields belong to the parent and are owned there, so the intent is merged
 * into the parent. The owners are in the metadata of the view.
 */
async function appliedView(
  write: WritePipeline,
  view: ViewSubresource,
  live: ObjectForms | undefined,
  config: Readonly<Record<string, unknown>>,
): Promise<ApiObject> {
  const { request, options } = write;
  const { resource, store, namespace, name } = request;
  checkApplied(write.type, config, formatApiVersion(write.kind), false);
  if (live === undefined) throw notFoundError(store.groupResource, name);
  const shown = live.shown as ApiObject;
  const fields = (part: unknown) => (part ?? {}) as Readonly<Record<string, unknown>>;
  // The client sends only the fields that it sets, and at most the name of the object.
  const { metadata, spec } = config;
  write.decodePatched({
    ...config,
    metadata: { ...shown.metadata, ...fields(metadata) },
    spec: { ...fields(shown.spec), ...fields(spec) },
  });
  const parent = {
    apiVersion: resource.apiVersion,
    kind: resource.definition.kind,
    metadata: { name, ...(namespace === '' ? {} : { namespace }) },
    ...view.intent(config),
  };
  const merged = (await mergeApplied(request, options, live.requested, parent)) as ApiObject;
  const next = view.read(merged);
  const { uid = shown.metadata.uid, resourceVersion = shown.metadata.resourceVersion } = fields(
    metadata,
  ) as ApiObject['metadata'];
  const { managedFields } = merged.metadata;
  return { ...next, metadata: { ...shown.metadata, uid, resourceVersion, managedFields } as ApiObject['metadata'] };
}

/** How the message about invalid YAML begins, which differs for a body that begins as JSON does. */
function yamlFault(body: Buffer): string {
  const isJson = /^\s*\{/.test(body.toString('latin1', 0, 256));
  return isJson ? 'error decoding patch: error converting YAML to JSON' : 'error encoding patch';
}

function parseConfig(
  { request, options }: WritePipeline,
  body: Buffer,
  format: 'yaml' | 'cbor',
): Readonly<Record<string, unknown>> {
  const fault = format === 'yaml' ? 'error decoding patch' : 'error decoding CBOR';
  let config: unknown;
  try {
    // An empty body, as null, has no kind, which is the error to report.
    config = body.length === 0 ? {} : parseApplyBody(request.context, body, format, options.fieldValidation);
    if (format === 'yaml') config ??= {};
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw badRequestError(`${format === 'yaml' ? yamlFault(body) : fault}: ${error.message}`, error);
    }
    throw error;
  }
  if (request.type.custom !== undefined) config = plainIntent(config, fault);
  if (config === null || typeof config !== 'object' || Array.isArray(config)) {
    const detail =
      format === 'cbor'
        ? 'the applied configuration must be an object'
        : `error unmarshaling JSON: while decoding JSON: ${unfitJson(config, 'map[string]interface {}')}`;
    throw badRequestError(`${fault}: ${detail}`);
  }
  request.context.audit?.requested(config);
  return config as Readonly<Record<string, unknown>>;
}
