import { randomUUID } from 'node:crypto';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { type Clock, formatTime } from '../../../base/machinery/clock.js';
import { type FieldError, FieldPath, invalid } from '../../../base/machinery/field-error.js';
import { addWarning, type RequestContext } from '../../../base/machinery/request-context.js';
import { badRequestError, conflictError, invalidError, notFoundError } from '../../../base/machinery/status-error.js';
import type {
  BoundObject,
  ServiceAccountTokenIssuer,
  ServiceAccountTokenRequest,
} from '../../../base/machinery/tokens.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import {
  type BoundObjectReference,
  type TokenRequest,
  tokenRequest,
} from '../../../objects/apis/authentication/v1/token-request.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { readStored, type StoredResources } from '../../../objects/registry/store/object-codec.js';
import { toStatusError } from '../../../objects/registry/store/to-status-error.js';
import type { SubresourceAction, VirtualSubresource } from '../../../objects/registry/subresource-definition.js';
import type { Storage } from '../../../storage/storage.interface.js';

const minSeconds = 600;
const maxSeconds = 2 ** 32;
const defaultSeconds = 3600;
const expirationPath = FieldPath.of('spec', 'expirationSeconds');

/** The dependencies of token requests; bound objects are looked up in the store. */
export interface TokenContext {
  readonly clock: Clock;
  readonly names: VendorNames;
  readonly registry: StoredResources;
  readonly storage: Pick<Storage, 'get'>;
}
type Target = Pick<ServiceAccountTokenRequest, 'bound' | 'node'>;

/**
 * `token`: requests a token of the service account (specification 4.9). A token works without being stored, so a dry
 * run is checked like any other request but returns an empty token.
 */
export function tokenPath(context: TokenContext, issuer: ServiceAccountTokenIssuer): VirtualSubresource {
  const group = groupName('authentication', context.names);
  return {
    type: 'virtual',
    name: 'token',
    body: { kind: { group, version: 'v1', kind: 'TokenRequest' }, type: tokenRequest },
    otherName: (given, name) => {
      const detail = 'must match the service account name if specified';
      return invalidError({ group, kind: 'TokenRequest' }, name, [
        invalid(FieldPath.of('metadata', 'name'), given, detail),
      ]);
    },
    perform: (request, action) => performToken(context, issuer, group, request, action),
  };
}

async function performToken(
  context: TokenContext,
  issuer: ServiceAccountTokenIssuer,
  group: string,
  request: RequestContext,
  action: SubresourceAction,
): Promise<ApiObject> {
  const body = action.body as TokenRequest & ApiObject;
  const { spec } = body;
  // Numbers that a double can't represent exactly are decoded as another type.
  const seconds = Number(spec.expirationSeconds ?? defaultSeconds);
  const { namespace, name } = action;
  const account = await read(context, 'serviceaccounts', namespace, name);
  await action.validate(body);
  const errors = expirationErrors(seconds, spec.expirationSeconds);
  if (errors.length > 0) throw invalidError({ group, kind: 'TokenRequest' }, '', errors);
  const audiences = spec.audiences?.length ? spec.audiences : [...issuer.audiences];
  const expirationSeconds = shortened(seconds, issuer, request);
  const target = spec.boundObjectRef ? await boundTarget(context, action, spec.boundObjectRef) : {};
  const uid = account.metadata.uid ?? '';
  const asked = { namespace, name, uid, audiences, expirationSeconds, ...target };
  const { token, id, expiresAt } = action.dryRun
    ? { token: '', id: undefined, expiresAt: new Date(context.clock.now() + expirationSeconds * 1000) }
    : await issuer.issue(asked);
  if (id !== undefined) {
    request.auditAnnotations.set(`${context.names.credentialPrefix}/issued-credential-id`, `JTI=${id}`);
  }
  const creationTimestamp = formatTime(context.clock.now());
  return {
    kind: body.kind,
    apiVersion: body.apiVersion,
    metadata: { ...body.metadata, name, namespace, uid: randomUUID(), creationTimestamp },
    spec: { audiences, expirationSeconds, boundObjectRef: spec.boundObjectRef ?? null },
    status: { token, expirationTimestamp: formatTime(expiresAt.getTime()) },
  } as unknown as ApiObject;
}

function expirationErrors(seconds: number, shown: unknown): FieldError[] {
  if (seconds < minSeconds) return [invalid(expirationPath, shown, 'may not specify a duration less than 10 minutes')];
  if (seconds > maxSeconds) {
    return [invalid(expirationPath, shown, 'may not specify a duration larger than 2^32 seconds')];
  }
  return [];
}

function shortened(
  seconds: number,
  { maxExpirationSeconds }: ServiceAccountTokenIssuer,
  request: RequestContext,
): number {
  if (maxExpirationSeconds === undefined || seconds <= maxExpirationSeconds) return seconds;
  const text = `requested expiration of ${seconds} seconds shortened to ${maxExpirationSeconds} seconds`;
  addWarning(request, text);
  return maxExpirationSeconds;
}

async function boundTarget(
  context: TokenContext,
  { namespace, name }: SubresourceAction,
  reference: BoundObjectReference,
): Promise<Target> {
  const { kind = '', apiVersion = '', name: boundName = '' } = reference;
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  const resource = group === '' ? boundResources[kind] : undefined;
  if (resource === undefined) {
    throw badRequestError(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
  }
  if (boundName === '') throw badRequestError('Name parameter required.');
  const object = await read(context, resource, kind === 'Node' ? '' : namespace, boundName);
  const uid = object.metadata.uid ?? '';
  if (kind === 'Pod' && (object as unknown as Pod).spec.serviceAccountName !== name) {
    const account = JSON.stringify(name);
    throw badRequestError(
      `cannot bind token for serviceaccount ${account} to pod running with different serviceaccount name.`,
    );
  }
  if (reference.uid && reference.uid !== uid) {
    const detail = `the UID in the bound object reference (${reference.uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflictError({ group, resource: kind }, boundName, detail);
  }
  const bound = { kind: kind as BoundObject['kind'], name: boundName, uid };
  return kind === 'Pod' ? { bound, node: await nodeOf(context, object as unknown as Pod) } : { bound };
}

const boundResources: Readonly<Record<string, 'pods' | 'secrets' | 'nodes' | undefined>> = Object.freeze({
  __proto__: null as never,
  Pod: 'pods',
  Secret: 'secrets',
  Node: 'nodes',
});

/** The node that a pod runs on; if the node was deleted, only its name is known. */
async function nodeOf(context: TokenContext, pod: Pod): Promise<Target['node']> {
  const name = pod.spec.nodeName;
  if (!name) return undefined;
  const node = await find(context, 'nodes', '', name);
  return { name, uid: node?.metadata.uid ?? '' };
}

async function read(context: TokenContext, resource: string, namespace: string, name: string): Promise<ApiObject> {
  const found = await find(context, resource, namespace, name);
  if (found === undefined) throw notFoundError({ group: '', resource }, name);
  return found;
}

async function find(
  { storage, registry }: TokenContext,
  resource: string,
  namespace: string,
  name: string,
): Promise<ApiObject | undefined> {
  try {
    const stored = await storage.get({ resource, namespace, name });
    return stored === undefined ? undefined : await readStored(registry, stored);
  } catch (error) {
    throw toStatusError(error, { group: '', resource }, name);
  }
}
