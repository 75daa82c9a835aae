import type { RequestContext } from '../../machinery/request-context.js';
import { badRequestError } from '../../machinery/status-error.js';
import { checkedDeleteOptions } from '../../registry/delete-options.js';
import type { DeleteOptions } from '../../registry/strategy.js';
import type { EndpointServices } from '../services.js';
import { bodyFormat, parseBody } from './decode-body.js';
import { decodeProtobufOptions } from './protobuf-request.js';

interface RawDeleteOptions {
  kind?: unknown;
  apiVersion?: unknown;
  gracePeriodSeconds?: unknown;
  preconditions?: unknown;
  orphanDependents?: unknown;
  propagationPolicy?: unknown;
  dryRun?: unknown;
}

/**
 * Options of a delete from its body or, only when there is no body, from the query. 400 for a body that is none, 422
 * for values that are not allowed.
 */
export function parseDeleteOptions(
  services: EndpointServices,
  context: RequestContext,
  body: Buffer,
  contentType: string | undefined,
): DeleteOptions {
  const raw = body.length > 0 ? fromBody(services, body, contentType) : fromQuery(context.query);
  return checkedDeleteOptions(
    {
      dryRun: stringList(raw.dryRun, 'dryRun'),
      propagationPolicy: optionalString(raw.propagationPolicy, 'propagationPolicy'),
      orphanDependents: optionalBoolean(raw.orphanDependents, 'orphanDependents'),
      gracePeriodSeconds: optionalInteger(raw.gracePeriodSeconds, 'gracePeriodSeconds'),
      preconditions: parsePreconditions(raw.preconditions),
    },
    services.names,
  );
}

function fromBody(services: EndpointServices, body: Buffer, contentType: string | undefined): RawDeleteOptions {
  const format = bodyFormat(contentType, services.names);
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
    throw badRequestError('the body of a delete must be an object');
  const raw = value as RawDeleteOptions;
  if (raw.kind !== undefined && raw.kind !== '' && raw.kind !== 'DeleteOptions') {
    throw badRequestError(`the body of a delete must be of kind DeleteOptions, not ${JSON.stringify(raw.kind)}`);
  }
  return raw;
}

function fromQuery(query: URLSearchParams): RawDeleteOptions {
  const raw: RawDeleteOptions = { dryRun: query.getAll('dryRun') };
  const grace = query.get('gracePeriodSeconds');
  if (grace !== null && grace !== '') {
    if (!/^-?\d{1,15}$/.test(grace))
      throw badRequestError(`gracePeriodSeconds: parsing ${JSON.stringify(grace)}: invalid syntax`);
    raw.gracePeriodSeconds = Number(grace);
  }
  const policy = query.get('propagationPolicy');
  if (policy !== null) raw.propagationPolicy = policy;
  const orphan = query.get('orphanDependents');
  if (orphan !== null) raw.orphanDependents = orphan === 'true' || orphan === '1';
  return raw;
}

function parsePreconditions(value: unknown): DeleteOptions['preconditions'] | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'object' || Array.isArray(value)) throw badRequestError('preconditions: must be an object');
  const { uid, resourceVersion } = value as Record<string, unknown>;
  return {
    uid: optionalString(uid, 'preconditions.uid'),
    resourceVersion: optionalString(resourceVersion, 'preconditions.resourceVersion'),
  };
}

function optionalString(value: unknown, field: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw badRequestError(`${field}: must be a string`);
  return value;
}

function optionalBoolean(value: unknown, field: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'boolean') throw badRequestError(`${field}: must be a boolean`);
  return value;
}

function optionalInteger(value: unknown, field: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw badRequestError(`${field}: must be an integer`);
  return value;
}

function stringList(value: unknown, field: string): string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.some((v) => typeof v !== 'string')) {
    throw badRequestError(`${field}: must be a list of strings`);
  }
  return value as string[];
}
