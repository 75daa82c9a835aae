import { randomUUID } from 'node:crypto';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { type Clock, formatTime } from '../../../base/machinery/clock.js';
import { isDns1123Subdomain } from '../../../base/machinery/names.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import { badRequestError } from '../../../base/machinery/status-error.js';
import { isStoredKind, type ResourceDefinition, type StoredResource } from '../resource-definition.js';
import { refuseBrokenRules } from './broken-rules.js';
import { generateName, type RandomBytes } from './generate-name.js';
import { validateMetadata } from './validate-metadata.js';

/** The default rule for names. The base of `generateName` may end in a dash, because the suffix follows. */
function subdomainName(name: string, prefix: boolean): string[] {
  return isDns1123Subdomain(prefix ? maskTrailingDash(name) : name);
}

/** Lets the base of a generated name end in one dash, which a full name may not. */
export function maskTrailingDash(name: string): string {
  return name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name;
}

/**
 * Puts the namespace of the request into the object; 400 when the body names another one. The namespace of a
 * cluster-scoped object is dropped, not refused: clients do send one.
 */
export function ensureNamespace(definition: ResourceDefinition, object: ApiObject, namespace: string): void {
  if (!definition.namespaced) {
    delete object.metadata.namespace;
    return;
  }
  const own = object.metadata.namespace ?? '';
  if (own === '') object.metadata.namespace = namespace;
  else if (own !== namespace) throw otherNamespaceError();
}

/** The 400 for a body whose namespace differs from that of the path. */
export function otherNamespaceError(): Error {
  return badRequestError('the namespace of the provided object does not match the namespace sent on the request');
}

/**
 * Makes a decoded body a new object: generated name, uid, timestamps, first values of the kind. Throws a 422 that lists
 * all broken rules. Changes `object`.
 */
export function beforeCreate(
  context: RequestContext,
  definition: StoredResource,
  object: ApiObject,
  clock: Clock,
  random?: RandomBytes,
): void {
  const meta = object.metadata;
  delete meta.selfLink;
  delete meta.deletionTimestamp;
  delete meta.deletionGracePeriodSeconds;
  meta.uid = randomUUID();
  meta.creationTimestamp = formatTime(clock.now());
  if (!meta.name && meta.generateName) meta.name = generateName(meta.generateName, random);

  const { strategy, strategyOptions } = definition;
  if (strategyOptions?.generation !== undefined) meta.generation = 1;
  if (isolatesStatus(definition)) resetStatus(object);
  strategy.prepareForCreate?.(context, object);

  refuseBrokenRules(definition, object, () => [
    ...validateMetadata(meta, definition.namespaced, strategy.validateName ?? subdomainName, strategyOptions),
    ...(strategy.validate?.(context, object) ?? []),
  ]);
}

/** Whether status can be written only through its own path. */
export function isolatesStatus(definition: ResourceDefinition): boolean {
  if (!isStoredKind(definition)) return false;
  const { strategyOptions, subresources } = definition;
  return strategyOptions?.statusIsolated ?? subresources?.some((s) => s.name === 'status') ?? false;
}

function resetStatus(object: ApiObject): void {
  // A kind with a status always shows it, if empty as `{}`: the canonical form keeps the key.
  if ('status' in object) object.status = {};
}
