import { parseJson } from '../../../base/machinery/json/exact-numbers.js';
import { parseInTurns } from '../../../base/machinery/json/parse-in-turns.js';
import { afterSpace, isObjectAt, objectMembers, type TextRange } from '../../../base/machinery/json/scan-in-steps.js';
import { isLarge } from '../../../base/machinery/large-work.js';
import { DecodeError, decode, type Infer } from '../../../base/machinery/schema/index.js';
import { inTurns, type Steps } from '../../../base/machinery/turns.js';
import { WebhookFault } from '../../../base/outgoing/webhook-fault.js';
import { admissionResponse } from '../../../objects/apis/admission/v1/admission-review.types.js';
import type { AdmissionReviewVersion } from './review-writer.js';

/** Mutating hooks may also change the object; validating ones only allow or refuse it. */
export type WebhookKind = 'mutating' | 'validating';

/** A checked response. */
export interface AdmissionReviewAnswer {
  readonly allowed: boolean;
  /** Status of a refusal; hooks may omit it. */
  readonly status: Infer<typeof admissionResponse>['status'];
  /** Operations of a JSON patch, not checked yet; empty for none. Always empty from validating hooks. */
  readonly patch: readonly unknown[];
  /** Length of the patch in base64 characters. */
  readonly patchLength: number;
  readonly warnings: readonly string[];
  readonly auditAnnotations: Readonly<Record<string, string>>;
}

/** The review that a response belongs to. */
export interface Asked {
  readonly uid: string;
  readonly version: AdmissionReviewVersion;
  /** Name of the group of AdmissionReview. */
  readonly group: string;
  readonly hook: WebhookKind;
}

/**
 * Reads the response of a hook. Every response that does not clearly answer the review is an error, except that v1beta1
 * hooks may omit kind, id and patch type.
 *
 * @throws WebhookFault for an unusable response
 */
export async function readAnswer(text: string, asked: Asked): Promise<AdmissionReviewAnswer> {
  const review = isLarge(text) ? await readLarge(text) : await parsed(text);
  if (!isRecord(review)) throw new WebhookFault('failed to call webhook: the answer is not a JSON object');
  checkKind(review, asked);
  if (review.response === undefined || review.response === null)
    throw new InvalidResponse('webhook response was absent');
  const response = decodeResponse(review.response);
  const isIdLess = asked.version === 'v1beta1' && response.uid === '';
  if (response.uid !== asked.uid && !isIdLess) {
    throw new InvalidResponse(
      `expected response.uid=${JSON.stringify(asked.uid)}, got ${JSON.stringify(response.uid)}`,
    );
  }
  return {
    allowed: response.allowed,
    status: response.status,
    patch: await readPatch(response, asked),
    patchLength: response.patch?.length ?? 0,
    warnings: response.warnings ?? [],
    auditAnnotations: response.auditAnnotations ?? {},
  };
}

/** A well-formed response that does not answer the review. */
class InvalidResponse extends WebhookFault {
  constructor(fault: string) {
    super(`received invalid webhook response: ${fault}`);
  }
}

type Response = Infer<typeof admissionResponse>;

function checkKind({ apiVersion = '', kind = '' }: Readonly<Record<string, unknown>>, asked: Asked): void {
  const expected = `${asked.group}/${asked.version}`;
  if (apiVersion === expected && kind === 'AdmissionReview') return;
  if (asked.version === 'v1beta1' && apiVersion === '' && kind === '') return;
  // Values of other types are not shown: neither String nor JSON.stringify can handle every JSON value.
  const shown = (value: unknown) => (typeof value === 'string' ? value : `a value of type ${typeof value}`);
  const got = `${shown(apiVersion) || '/'}, Kind=${shown(kind)}`;
  throw new InvalidResponse(`expected webhook response of ${expected}, Kind=AdmissionReview, got ${cut(got)}`);
}

function decodeResponse(response: unknown): Response {
  try {
    return decode(admissionResponse, response).value;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new WebhookFault(
      `failed to call webhook: the answer is not an AdmissionReview: response.${cut(error.message)}`,
      0,
      error,
    );
  }
}

/** A patch and its type go together, and only mutating hooks may send them. */
async function readPatch({ patch = '', patchType }: Response, asked: Asked): Promise<readonly unknown[]> {
  const isStrict = asked.version === 'v1';
  if (asked.hook === 'validating') {
    if (isStrict && patch !== '') throw new InvalidResponse('validating webhook may not return response.patch');
    if (isStrict && patchType !== undefined) {
      throw new InvalidResponse('validating webhook may not return response.patchType');
    }
    return [];
  }
  if (isStrict && patch !== '' && patchType === undefined) {
    throw new InvalidResponse('webhook returned response.patch but not response.patchType');
  }
  if (isStrict && patch === '' && patchType !== undefined) {
    throw new InvalidResponse('webhook returned response.patchType but not response.patch');
  }
  if (patch === '') return [];
  if (isStrict && patchType !== 'JSONPatch')
    throw new WebhookFault(`unsupported patch type ${JSON.stringify(patchType)}`);
  const operations = await parsed(Buffer.from(patch, 'base64').toString('utf8'), 'the patch of the answer');
  if (!Array.isArray(operations)) throw new WebhookFault('the patch of the answer is not a list of operations');
  return operations as unknown[];
}

async function parsed(text: string, what = 'failed to call webhook: the answer'): Promise<unknown> {
  try {
    // The stepwise parser assumes valid JSON. Its result for invalid JSON fails the checks that follow.
    return isLarge(text) ? await parseInTurns(text, true) : parseJson(text);
  } catch (error) {
    throw new WebhookFault(`${what} is not JSON`, 0, error);
  }
}

/** The most characters of a large answer besides its patch: few bytes may be very many values. */
const mostBesidesPatch = 256 * 1024;
const reviewFields = ['apiVersion', 'kind', 'response'] as const;
const responseFields = ['uid', 'allowed', 'status', 'patch', 'patchType', 'auditAnnotations', 'warnings'] as const;

/** The fields of a large answer that count, in turns with other work: it is not parsed as a whole. */
async function readLarge(text: string): Promise<unknown> {
  const start = afterSpace(text, 0);
  if (!isObjectAt(text, start)) return undefined;
  try {
    return await inTurns(knownFields(text, start));
  } catch (error) {
    if (error instanceof WebhookFault) throw error;
    throw new WebhookFault('failed to call webhook: the answer is not JSON', 0, error);
  }
}

function* knownFields(text: string, start: number): Steps<Readonly<Record<string, unknown>>> {
  const review = new Map<string, TextRange>();
  const end = yield* objectMembers(text, start, keeper(review, reviewFields));
  if (afterSpace(text, end) < text.length) throw new SyntaxError('text follows the answer');
  const response = review.get('response');
  const isObject = response !== undefined && isObjectAt(text, response.start);
  let left = mostBesidesPatch;
  const valueOfField = (name: string, range: TextRange): unknown => {
    const length = range.end - range.start;
    const isPatch = name === 'patch' && text.charCodeAt(range.start) === quote;
    if (!isPatch) left -= length;
    if (left < 0) {
      throw new WebhookFault(
        `failed to call webhook: the answer has more than ${mostBesidesPatch} characters besides its patch`,
      );
    }
    return parseJson(text.slice(range.start, range.end));
  };
  const read: Record<string, unknown> = {};
  for (const [name, range] of review) {
    if (name !== 'response' || !isObject) read[name] = valueOfField(name, range);
  }
  if (!isObject) return read;
  const fields = new Map<string, TextRange>();
  yield* objectMembers(text, response.start, keeper(fields, responseFields));
  const answered: Record<string, unknown> = {};
  for (const [name, range] of fields) answered[name] = valueOfField(name, range);
  return { ...read, response: answered };
}

function keeper(found: Map<string, TextRange>, names: readonly string[]): (name: string, value: TextRange) => void {
  return (name, value) => {
    if (names.includes(name)) found.set(name, value);
  };
}

const quote = 0x22;

const maxShown = 200;

function cut(text: string): string {
  return text.length > maxShown ? `${text.slice(0, maxShown)}...` : text;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
