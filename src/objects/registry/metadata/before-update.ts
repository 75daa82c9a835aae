import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { FieldError } from '../../../base/machinery/field-error.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import { badRequestError } from '../../../base/machinery/status-error.js';
import type { ResourceDefinition, StoredResource } from '../resource-definition.js';
import type { UpdateRules } from '../subresource-definition.js';
import { isolatesStatus, otherNamespaceError } from './before-create.js';
import { refuseBrokenRules } from './broken-rules.js';
import { validateMetadataUpdate } from './validate-metadata.js';

/**
 * Checks that name and namespace of a body are those of the URL. A body without a name is refused: that is more likely
 * a mistake than an object meant to replace another one. A missing namespace is filled in, and that of a cluster-scoped
 * object is dropped. Changes `object`.
 *
 * @param otherName the message about another name, or its error; default: the usual one
 */
export function ensureIdentity(
  definition: ResourceDefinition,
  object: ApiObject,
  namespace: string,
  name: string,
  otherName?: string | ((given: string, name: string) => Error),
): void {
  const meta = object.metadata;
  if (!definition.namespaced) delete meta.namespace;
  else if (!meta.namespace) meta.namespace = namespace;
  else if (meta.namespace !== namespace) throw otherNamespaceError();
  if (!meta.name && typeof otherName !== 'string') {
    throw badRequestError(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (meta.name !== name) {
    if (typeof otherName === 'function') throw otherName(meta.name ?? '', name);
    throw badRequestError(
      otherName ?? `the name of the object (${meta.name}) does not match the name on the URL (${name})`,
    );
  }
}

/**
 * Carries over fields that a client may not change, counts the generation and checks the result against the live
 * object. Throws a 422 that lists all broken rules. Changes `object`.
 */
export function beforeUpdate(
  context: RequestContext,
  definition: StoredResource,
  object: ApiObject,
  old: ApiObject,
  subresource?: UpdateRules,
): void {
  const meta = object.metadata;
  delete meta.selfLink;
  meta.uid ||= old.metadata.uid ?? '';
  if (old.metadata.creationTimestamp) meta.creationTimestamp = old.metadata.creationTimestamp;
  else delete meta.creationTimestamp;
  carryDeletion(meta, old.metadata);
  carryGeneration(meta, old.metadata);

  const { strategy } = definition;
  if (subresource === undefined) {
    if (isolatesStatus(definition)) carryField(object, old, 'status');
    strategy.prepareForUpdate?.(context, object, old);
    if (generationChanged(definition, object, old)) meta.generation = (old.metadata.generation ?? 0) + 1;
  } else {
    subresource.prepareForUpdate?.(context, object, old);
  }

  const validate = subresource?.validateUpdate ?? strategy.validateUpdate?.bind(strategy);
  refuseBrokenRules(definition, object, () => [
    ...metadataErrors(definition, meta, old.metadata),
    ...(validate?.(context, object, old) ?? []),
  ]);
}

/**
 * The broken rules of changed metadata. Those of custom kinds are reported as often as in the release, whose parts each
 * check the metadata: what holds for every object once, what holds for updates twice, and labels, annotations and
 * owners in each of them.
 */
function metadataErrors(
  definition: StoredResource,
  meta: ApiObject['metadata'],
  old: ApiObject['metadata'],
): FieldError[] {
  const errors = validateMetadataUpdate(meta, old, definition.strategyOptions);
  if (errors.length === 0 || definition.versions[0].type.custom === undefined) return errors;
  const isOfUpdates = ({ type, message }: FieldError) =>
    type === 'FieldValueForbidden' || message.endsWith('field is immutable');
  const isOfBoth = ({ field }: FieldError) => /^metadata\.(labels|annotations|ownerReferences)/.test(field);
  const ofUpdates = errors
    .filter((error) => isOfUpdates(error) || isOfBoth(error))
    .map((error): FieldError => ({ ...error, isRepeated: true }));
  return [...errors.filter((error) => !isOfUpdates(error)), ...ofUpdates, ...ofUpdates];
}

function carryField(object: ApiObject, old: ApiObject, field: string): void {
  if (old[field] === undefined) delete object[field];
  else object[field] = old[field];
}

/** The time of deletion stays once it is set. Setting it by an update is reported as a change of an immutable field. */
function carryDeletion(meta: ApiObject['metadata'], old: ApiObject['metadata']): void {
  if (old.deletionTimestamp !== undefined) meta.deletionTimestamp = old.deletionTimestamp;
  if (old.deletionGracePeriodSeconds !== undefined) meta.deletionGracePeriodSeconds ??= old.deletionGracePeriodSeconds;
}

function carryGeneration(meta: ApiObject['metadata'], old: ApiObject['metadata']): void {
  if (old.generation === undefined) delete meta.generation;
  else meta.generation = old.generation;
}

function generationChanged(definition: StoredResource, object: ApiObject, old: ApiObject): boolean {
  const generation = definition.strategyOptions?.generation;
  if (generation === undefined) return false;
  const part = generation === 'spec' ? (o: ApiObject) => o.spec : generation;
  return !deepEqual(part(object), part(old));
}
