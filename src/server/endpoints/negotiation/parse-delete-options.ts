import { badRequestError, type StatusError } from '../../../base/machinery/status-error.js';
import {
  checkedDeleteOptions,
  type WrittenDeleteOptions,
} from '../../../objects/registry/metadata/checked-delete-options.js';
import type { DeleteOptions } from '../../../objects/registry/strategy.js';
import type { EndpointServices } from '../endpoint-services.js';
import { isTrue } from '../request-info/request-info.js';
import type { ResourceRequest } from '../resource-request.js';
import { unfitJson, unknownKind } from './body-errors.js';
import { bodyFormat, identityType, parseBody } from './decode-body.js';
import { decodeProtobufOptions } from './protobuf-request.js';
import { parseQueryNumber } from './query-number.js';
import { dryRunOf } from './write-options.js';

const unsafe = 'ignoreStoreReadErrorWithClusterBreakingPotential';

interface RawDeleteOptions {
  kind?: unknown;
  apiVersion?: unknown;
  gracePeriodSeconds?: unknown;
  preconditions?: unknown;
  orphanDependents?: unknown;
  propagationPolicy?: unknown;
  dryRun?: unknown;
  ignoreStoreReadErrorWithClusterBreakingPotential?: unknown;
}

/**
 * Reads the options of a delete from its body and its query. Where both set an option, the body takes precedence.
 * Either can request a dry run, so nobody who requested one loses an object. Throws a 400 for an unreadable body and a
 * 422 for values that are not allowed.
 */
export function parseDeleteOptions({ services, context, verb }: ResourceRequest, body: Buffer): DeleteOptions {
  const raw = body.length > 0 ? fromBody(services, body, context.contentType) : undefined;
  if (raw !== undefined) context.audit?.requested(raw);
  const written = raw === undefined ? {} : checkTypes(raw);
  const asked = fromQuery(context.query);
  const saysPolicy = written.propagationPolicy !== undefined || written.orphanDependents !== undefined;
  const options = checkedDeleteOptions(
    {
      dryRun: [...(written.dryRun ?? []), ...(asked.dryRun ?? [])],
      // Both fields control what happens to dependents, so they are taken from the same source.
      propagationPolicy: saysPolicy ? written.propagationPolicy : asked.propagationPolicy,
      orphanDependents: saysPolicy ? written.orphanDependents : asked.orphanDependents,
      gracePeriodSeconds: written.gracePeriodSeconds ?? asked.gracePeriodSeconds,
      // The version in the query of a delete of a collection is one of lists.
      preconditions: written.preconditions ?? (verb === 'delete' ? asked.preconditions : undefined),
      [unsafe]: written[unsafe] ?? asked[unsafe],
    },
    services.names,
  );
  return { ...options, garbageCollector: services.options.garbageCollector };
}

function checkTypes(raw: RawDeleteOptions): WrittenDeleteOptions {
  return {
    [unsafe]: optionalBoolean(raw[unsafe], `DeleteOptions.${unsafe}`),
    dryRun: stringList(raw.dryRun, 'DeleteOptions.dryRun'),
    propagationPolicy: optionalString(
      raw.propagationPolicy,
      'DeleteOptions.propagationPolicy',
      'v1.DeletionPropagation',
    ),
    orphanDependents: optionalBoolean(raw.orphanDependents, 'DeleteOptions.orphanDependents'),
    gracePeriodSeconds: optionalInteger(raw.gracePeriodSeconds, 'DeleteOptions.gracePeriodSeconds'),
    preconditions: parsePreconditions(raw.preconditions),
  };
}

function fromBody(services: EndpointServices, body: Buffer, contentType: string | undefined): RawDeleteOptions {
  const format = bodyFormat(contentType, services.accept);
  if (format === 'protobuf') return decodeProtobufOptions(services.kinds.deleteOptions, body);
  let value: unknown;
  try {
    value = parseBody(body, format);
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequestError(`couldn't get version/kind; ${error.message}`, error);
    throw error;
  }
  if (value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value))
    throw badRequestError(`couldn't get version/kind; json parse error: ${unfitJson(value, identityType)}`);
  const raw = value as RawDeleteOptions;
  const kind = identityText(raw, 'kind');
  const apiVersion = identityText(raw, 'apiVersion');
  if (kind !== '' && kind !== 'DeleteOptions') throw badRequestError(otherKindText(kind, apiVersion));
  return raw;
}

const metaVersion = 'meta.k8s.io/v1';
/** Kinds of the meta group that `v1` has, too. */
const commonKinds = new Set(['Status', 'APIVersions', 'APIGroup', 'APIGroupList', 'APIResourceList']);
for (const verb of ['Create', 'Update', 'Patch']) commonKinds.add(`${verb}Options`);
/** Kinds of the meta group alone. */
const metaKinds = new Set(['ListOptions', 'GetOptions', 'WatchEvent', 'Table', 'PartialObjectMetadata']);

/** The upstream message for the body of another kind: one that exists cannot become options. */
function otherKindText(kind: string, apiVersion: string): string {
  const isMeta = apiVersion === '' || apiVersion === metaVersion;
  const exists = isMeta ? commonKinds.has(kind) || metaKinds.has(kind) : apiVersion === 'v1' && commonKinds.has(kind);
  if (exists) return `converting (v1.${kind}) to (v1.DeleteOptions): unknown conversion`;
  return unknownKind(kind, apiVersion || metaVersion);
}

/** Where a body says what it is; empty if it does not. */
function identityText(raw: RawDeleteOptions, name: 'kind' | 'apiVersion'): string {
  const value = Object.hasOwn(raw, name) ? (raw[name] ?? '') : '';
  if (typeof value === 'string') return value;
  const fault = unfitJson(value, 'string').replace('Go value', `Go struct field .${name}`);
  throw badRequestError(`couldn't get version/kind; json parse error: ${fault}`);
}

function fromQuery(query: URLSearchParams): WrittenDeleteOptions {
  const orphan = query.get('orphanDependents');
  const [uid, resourceVersion] = [query.get('uid') || undefined, query.get('resourceVersion') || undefined];
  return {
    preconditions: uid === undefined && resourceVersion === undefined ? undefined : { uid, resourceVersion },
    dryRun: dryRunOf(query),
    gracePeriodSeconds: parseQueryNumber(query.get('gracePeriodSeconds')),
    propagationPolicy: query.get('propagationPolicy') ?? undefined,
    orphanDependents: orphan === null ? undefined : isTrue(orphan),
    [unsafe]: query.has(unsafe) ? isTrue(query.get(unsafe)) : undefined,
  };
}

function parsePreconditions(value: unknown): DeleteOptions['preconditions'] | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw wrongType(value, 'DeleteOptions.preconditions', 'v1.Preconditions');
  }
  const { uid, resourceVersion } = value as Record<string, unknown>;
  return {
    uid: optionalString(uid, 'Preconditions.preconditions.uid', 'types.UID'),
    resourceVersion: optionalString(resourceVersion, 'Preconditions.preconditions.resourceVersion'),
  };
}

/** The 400 for an option of another type. */
function wrongType(value: unknown, field: string, wanted: string): StatusError {
  const found = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  const shown = (found === 'number' || found === 'bigint') && wanted === 'int64' ? `number ${String(value)}` : found;
  return badRequestError(`json: cannot unmarshal ${shown} into Go struct field ${field} of type ${wanted}`);
}

function optionalString(value: unknown, field: string, type = 'string'): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw wrongType(value, field, type);
  return value;
}

function optionalBoolean(value: unknown, field: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'boolean') throw wrongType(value, field, 'bool');
  return value;
}

function optionalInteger(value: unknown, field: string): number | bigint | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'bigint' && BigInt.asIntN(64, value) === value) return value;
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw wrongType(value, field, 'int64');
  return value;
}

function stringList(value: unknown, field: string): string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw wrongType(value, field, '[]string');
  const other = value.find((item) => typeof item !== 'string');
  if (other !== undefined) throw wrongType(other, field, 'string');
  return value as string[];
}
