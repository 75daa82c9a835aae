import { formatTime } from '../../machinery/clock.js';
import { FieldPath, required } from '../../machinery/field-error.js';
import { cloneJson } from '../../machinery/json/exact-numbers.js';
import { applyPatch, conflictsError } from '../../machinery/managed-fields/index.js';
import { badRequestError, invalidError } from '../../machinery/status-error.js';
import { ensureIdentity } from '../../registry/metadata/before-update.js';
import { toServed, toStored } from '../../registry/store/object-codec.js';
import { updateRulesOf } from '../../registry/subresource-definition.js';
import { negotiateObject } from '../negotiation/answer-form.js';
import { decodePatched, type FieldValidation, parsePatchBody } from '../negotiation/decode-body.js';
import { readBody } from '../negotiation/read-body.js';
import { sendObject } from '../negotiation/respond.js';
import { parseWriteOptions } from '../negotiation/write-options.js';
import type { ResourceRequest } from '../resource-request.js';
import { admissionOf, applyDefaults, resetOptions, validateWith, versionViews } from './write-context.js';

/** PATCH with an applier's whole intent (specification 5.9): merged by field ownership, created when missing. */
export async function handleApply(request: ResourceRequest): Promise<void> {
  const { services, context, resource, subresource } = request;
  const accepted = negotiateObject(request);
  const options = parseWriteOptions(context, services.names, 'PatchOptions');
  if (!options.fieldManagerGiven) {
    const missing = required(FieldPath.of('fieldManager'), 'is required for apply patch');
    throw invalidError({ group: `meta.${services.names.suffix}`, kind: 'PatchOptions' }, '', [missing]);
  }
  const body = await readBody(request);
  const config = parseConfig(request, body, options.fieldValidation);

  const outcome = await request.store.update(context, request.namespace, request.name, {
    dryRun: options.dryRun,
    validate: validateWith(context, options),
    subresource: updateRulesOf(subresource),
    forceAllowCreate: true,
    transform: async (live) => {
      const servedLive = live === undefined || resource.isStored ? live : toServed(resource, cloneJson(live));
      const result = applyPatch(resource.served.type, servedLive, config, {
        manager: options.fieldManager,
        apiVersion: resource.apiVersion,
        time: formatTime(services.clock.now()),
        force: options.force,
        lastAppliedAnnotation: services.names.lastAppliedAnnotation,
        versions: versionViews(services, resource),
        ...(subresource === undefined ? {} : { subresource: subresource.name }),
        ...resetOptions(resource, subresource?.name),
      });
      if (result.kind === 'conflicts') throw conflictsError(result.conflicts);
      const object = decodePatched(context, resource.served.type, request.kind, result.object, options.fieldValidation);
      ensureIdentity(resource.definition, object, request.namespace, request.name);
      applyDefaults(resource, object);
      await admissionOf(context).admit({
        operation: live === undefined ? 'CREATE' : 'UPDATE',
        name: request.name,
        object,
        oldObject: live,
        options: options.raw,
        dryRun: options.dryRun,
      });
      return toStored(resource, object);
    },
  });
  sendObject(request, outcome.created ? 201 : 200, outcome, accepted);
}

/** JSON is valid YAML, so both are read as YAML. */
function parseConfig(
  { context, kind }: ResourceRequest,
  body: Buffer,
  fieldValidation: FieldValidation,
): Readonly<Record<string, unknown>> {
  let config: unknown;
  try {
    config = parsePatchBody(context, kind, body, 'yaml', fieldValidation);
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequestError(`error decoding YAML: ${error.message}`, error);
    throw error;
  }
  if (config === null || typeof config !== 'object' || Array.isArray(config)) {
    throw badRequestError('error decoding YAML: the applied configuration must be an object');
  }
  return config as Readonly<Record<string, unknown>>;
}
