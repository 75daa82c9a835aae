import {
  afterSpace,
  arrayItems,
  isArrayAt,
  isObjectAt,
  objectMembers,
  type TextRange,
} from '../../../base/machinery/json/scan-in-steps.js';
import { inTurns, type Steps } from '../../../base/machinery/turns.js';
import { WebhookFault } from '../../../base/outgoing/webhook-fault.js';
import type { ConversionReviewVersion } from './conversion-review.js';

/** The review that a response belongs to. */
export interface AskedConversion {
  readonly uid: string;
  readonly version: ConversionReviewVersion;
  /** Name of the group of ConversionReview. */
  readonly group: string;
  /** How many objects were sent. */
  readonly count: number;
}

/** The parts of an answer that are read. */
interface Answer {
  readonly apiVersion: unknown;
  readonly kind: unknown;
  readonly uid: unknown;
  readonly status: unknown;
  readonly message: unknown;
  readonly hasResponse: boolean;
  readonly objects: readonly TextRange[];
  /** How many objects there are; only as many as were sent are in `objects`. */
  readonly count: number;
}

/**
 * The texts of the objects in the answer of a conversion webhook: as many as were sent, otherwise unread. The answer is
 * never parsed as a whole, since few bytes of JSON can be very many values.
 *
 * @throws WebhookFault for an answer that can't be used, or that reports a failure
 */
export async function readConversionAnswer(text: string, asked: AskedConversion): Promise<readonly string[]> {
  const answer = await scanned(text, asked.count);
  const expected = `${asked.group}/${asked.version}`;
  const { apiVersion, kind, uid, status } = answer;
  // Webhooks of v1beta1 may omit the kind of their response.
  const isKindLess = asked.version === 'v1beta1' && !apiVersion && !kind;
  if (!isKindLess && (apiVersion !== expected || kind !== 'ConversionReview')) {
    const got = `${shown(apiVersion) || '/'}, Kind=${shown(kind)}`;
    throw new WebhookFault(`expected webhook response of ${expected}, Kind=ConversionReview, got ${got}`);
  }
  if (!answer.hasResponse) throw new WebhookFault('no response provided');
  const isIdLess = asked.version === 'v1beta1' && !uid;
  if (!isIdLess && uid !== asked.uid) {
    throw new WebhookFault(`expected response.uid=${JSON.stringify(asked.uid)}, got ${JSON.stringify(shown(uid))}`);
  }
  if (status !== 'Success') {
    throw new WebhookFault(shown(answer.message) || `invalid response.result.status ${JSON.stringify(shown(status))}`);
  }
  if (answer.count !== asked.count) {
    throw new WebhookFault(`webhook returned ${answer.count} objects, expected ${asked.count}`);
  }
  return answer.objects.map(({ start, end }) => text.slice(start, end));
}

async function scanned(text: string, most: number): Promise<Answer> {
  const start = afterSpace(text, 0);
  try {
    return await inTurns(scan(text, start, most));
  } catch (error) {
    const isObject = isObjectAt(text, start) || !isJson(text);
    throw new WebhookFault(isObject ? 'the answer is not JSON' : 'the answer is not a JSON object', 0, error);
  }
}

function* scan(text: string, start: number, most: number): Steps<Answer> {
  const review = new Map<string, TextRange>();
  const end = yield* objectMembers(text, start, (name, value) => keep(review, reviewFields, name, value));
  if (afterSpace(text, end) < text.length) throw new SyntaxError('text follows the answer');
  const response = yield* membersOf(text, review.get('response'), responseFields);
  const result = yield* membersOf(text, response?.get('result'), resultFields);
  const converted = response?.get('convertedObjects');
  const objects: TextRange[] = [];
  let count = 0;
  if (converted !== undefined && isArrayAt(text, converted.start)) {
    yield* arrayItems(text, converted.start, (value) => {
      if (count++ < most) objects.push(value);
    });
  }
  return {
    apiVersion: scalarAt(text, review.get('apiVersion')),
    kind: scalarAt(text, review.get('kind')),
    uid: scalarAt(text, response?.get('uid')),
    status: scalarAt(text, result?.get('status')),
    message: scalarAt(text, result?.get('message')),
    hasResponse: response !== undefined,
    objects,
    count,
  };
}

const reviewFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'response']);
const responseFields: ReadonlySet<string> = new Set(['uid', 'result', 'convertedObjects']);
const resultFields: ReadonlySet<string> = new Set(['status', 'message']);

function keep(found: Map<string, TextRange>, fields: ReadonlySet<string>, name: string, value: TextRange): void {
  if (fields.has(name)) found.set(name, value);
}

/** The members of an object in the text; undefined when there is none. */
function* membersOf(
  text: string,
  range: TextRange | undefined,
  fields: ReadonlySet<string>,
): Steps<ReadonlyMap<string, TextRange> | undefined> {
  if (range === undefined || !isObjectAt(text, range.start)) return undefined;
  const found = new Map<string, TextRange>();
  yield* objectMembers(text, range.start, (name, value) => keep(found, fields, name, value));
  return found;
}

/** A scalar of the text; lists and objects stay unread. */
function scalarAt(text: string, range: TextRange | undefined): unknown {
  if (range === undefined) return undefined;
  if (isArrayAt(text, range.start) || isObjectAt(text, range.start)) return {};
  return JSON.parse(text.slice(range.start, range.end)) as unknown;
}

/** The longest answer that is read to find out why it is none, in characters. */
const shortAnswer = 10_000;

function isJson(text: string): boolean {
  if (text.length > shortAnswer) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const maxShown = 1_000;

/** Text from a webhook, shortened for a message. */
function shown(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') return `a value of type ${typeof value}`;
  return value.length > maxShown ? `${value.slice(0, maxShown)}...` : value;
}
