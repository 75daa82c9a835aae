import type { Hide } from './hidden-values.js';

/** What the trail keeps of the answer to a request. */
export interface Answer {
  readonly code: number;
  /** `status` and `reason` of a `Status`; empty for objects. */
  readonly status: string;
  readonly reason: string;
  /** Empty where it could quote values that the level does not record. */
  readonly message: string;
  /** The details of a `Status` as JSON; empty when there are none. */
  readonly details: string;
}

/** What an answer may show. */
export interface AnswerOptions {
  /** Whether the trail records objects, and so may record messages that quote them. */
  readonly showsValues: boolean;
  /** Hides the secrets of the kind. */
  readonly hide: Hide | undefined;
  /** Whether authorization has refused the request: that message names only who wanted what. */
  readonly isForbidden: boolean;
}

/** Reasons whose messages name objects, methods and versions, and never quote what an object contains. */
const plainReasons: ReadonlySet<string> = new Set([
  'NotFound',
  'AlreadyExists',
  'Unauthorized',
  'MethodNotAllowed',
  'NotAcceptable',
  'UnsupportedMediaType',
  'TooManyRequests',
  'ServiceUnavailable',
  'Expired',
  'Gone',
  'Timeout',
  'ServerTimeout',
]);

/** The answer to record for a response. */
export function answerOf(code: number, value: unknown, options: AnswerOptions): Answer {
  const { kind, status, reason } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (kind !== 'Status' || typeof status !== 'string')
    return { code, status: '', reason: '', message: '', details: '' };
  const { hide, showsValues } = options;
  const known = typeof reason === 'string' ? reason : '';
  const isPlain = plainReasons.has(known) || (known === 'Forbidden' && options.isForbidden);
  const shown = (showsValues && !isPlain && hide !== undefined ? hide(value) : value) as Readonly<
    Record<string, unknown>
  >;
  const { message, details } = shown;
  return {
    code,
    status,
    reason: known,
    message: (showsValues || isPlain) && typeof message === 'string' ? message : '',
    details: detailsText(details, showsValues),
  };
}

function detailsText(details: unknown, showsCauses: boolean): string {
  if (typeof details !== 'object' || details === null) return '';
  const { causes, ...rest } = details as Readonly<Record<string, unknown>>;
  return JSON.stringify(showsCauses && causes !== undefined ? { ...rest, causes } : rest);
}
