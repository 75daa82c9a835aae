import {
  type FieldError,
  FieldPath,
  forbidden,
  invalid,
  notSupported,
  rootPath,
} from '../../../base/machinery/field-error.js';
import { badRequestError, invalidError, type StatusError } from '../../../base/machinery/status-error.js';
import { parseTime } from '../../../base/machinery/values/time.js';
import { ValueFormatError } from '../../../base/machinery/values/value-format-error.js';
import { parseQueryNumber } from '../negotiation/query-number.js';
import { isTrue } from '../request-info/request-info.js';

/** The parts of a pod's log that a client requests. */
export interface LogOptions {
  readonly container: string;
  readonly skipVerify: boolean;
  /** The query for the node agent. */
  readonly forAgent: URLSearchParams;
}

const numbers = ['tailLines', 'limitBytes', 'sinceSeconds'] as const;
const switches = ['follow', 'previous', 'timestamps'] as const;
const streams: readonly string[] = ['All', 'Stderr', 'Stdout'];

/**
 * Reads the query of a log request. Throws a 400 for an invalid value, and a 422 for values that can't be combined.
 *
 * @param hasStreams whether one of the streams may be requested
 */
export function parseLogOptions(query: URLSearchParams, pod: string, hasStreams: boolean): LogOptions {
  const forAgent = new URLSearchParams();
  for (const name of switches) if (isTrue(query.get(name))) forAgent.set(name, 'true');
  const values = new Map<string, bigint>();
  for (const name of numbers) {
    const value = parseQueryNumber(query.get(name));
    if (value === undefined) continue;
    values.set(name, value);
    forAgent.set(name, String(value));
  }
  const sinceTime = query.get('sinceTime') ?? '';
  if (sinceTime !== '') {
    try {
      parseTime(sinceTime);
    } catch (error) {
      if (error instanceof ValueFormatError) throw badRequestError(error.message);
      throw error;
    }
    forAgent.set('sinceTime', sinceTime);
  }
  const stream = query.get('stream') ?? '';
  if (stream !== '') forAgent.set('stream', stream);
  const errors = problems(values, sinceTime, hasStreams ? stream : '');
  // Even an empty one is refused.
  if (!hasStreams && query.has('stream')) errors.push(forbidden(FieldPath.of('stream'), 'may not be specified'));
  if (errors.length > 0) throw invalidLogOptions(pod, errors);
  return {
    container: query.get('container') ?? '',
    skipVerify: isTrue(query.get('insecureSkipTLSVerifyBackend')),
    forAgent,
  };
}

function invalidLogOptions(pod: string, errors: readonly FieldError[]): StatusError {
  return invalidError({ group: '', kind: 'PodLogOptions' }, pod, errors);
}

function problems(values: ReadonlyMap<string, bigint>, sinceTime: string, stream: string): FieldError[] {
  const errors: FieldError[] = [];
  const [tail, limit, seconds] = numbers.map((name) => values.get(name));
  const at = (name: string) => FieldPath.of(name);
  if (tail !== undefined && tail < 0n) {
    errors.push(invalid(at('tailLines'), Number(tail), 'must be greater than or equal to 0'));
  }
  if (limit !== undefined && limit < 1n) {
    errors.push(invalid(at('limitBytes'), Number(limit), 'must be greater than 0'));
  }
  if (seconds !== undefined && sinceTime !== '') {
    errors.push(forbidden(rootPath, 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  } else if (seconds !== undefined && seconds < 1n) {
    errors.push(invalid(at('sinceSeconds'), Number(seconds), 'must be greater than 0'));
  }
  if (stream !== '' && !streams.includes(stream)) errors.push(notSupported(at('stream'), stream, streams));
  if (tail !== undefined && (stream === 'Stdout' || stream === 'Stderr')) {
    errors.push(forbidden(rootPath, '`tailLines` and specific `stream` are mutually exclusive for now'));
  }
  return errors;
}
