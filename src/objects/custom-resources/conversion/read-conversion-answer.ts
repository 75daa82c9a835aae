import { parseJson } from '../../../base/machinery/json/exact-numbers.js';
import { parseInTurns } from '../../../base/machinery/json/parse-in-turns.js';
import { isLarge } from '../../../base/machinery/large-work.js';
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

type Fields = Readonly<Record<string, unknown>>;

/**
 * The objects in the answer of a conversion webhook: as many as were sent, otherwise unchecked.
 *
 * @throws WebhookFault for an answer that can't be used, or that reports a failure
 */
export async function readConversionAnswer(text: string, asked: AskedConversion): Promise<readonly unknown[]> {
  const review = await parsed(text);
  if (!isFields(review)) throw new WebhookFault('the answer is not a JSON object');
  const expected = `${asked.group}/${asked.version}`;
  // Webhooks of v1beta1 may omit the kind of their response.
  const isKindLess = asked.version === 'v1beta1' && !review.apiVersion && !review.kind;
  if (!isKindLess && (review.apiVersion !== expected || review.kind !== 'ConversionReview')) {
    const got = `${shown(review.apiVersion) || '/'}, Kind=${shown(review.kind)}`;
    throw new WebhookFault(`expected webhook response of ${expected}, Kind=ConversionReview, got ${got}`);
  }
  const { response } = review;
  if (!isFields(response)) throw new WebhookFault('no response provided');
  const isIdLess = asked.version === 'v1beta1' && !response.uid;
  if (!isIdLess && response.uid !== asked.uid) {
    throw new WebhookFault(
      `expected response.uid=${JSON.stringify(asked.uid)}, got ${JSON.stringify(shown(response.uid))}`,
    );
  }
  const result = isFields(response.result) ? response.result : {};
  if (result.status !== 'Success') {
    throw new WebhookFault(
      shown(result.message) || `invalid response.result.status ${JSON.stringify(shown(result.status))}`,
    );
  }
  const objects = Array.isArray(response.convertedObjects) ? (response.convertedObjects as unknown[]) : [];
  if (objects.length !== asked.count) {
    throw new WebhookFault(`webhook returned ${objects.length} objects, expected ${asked.count}`);
  }
  return objects;
}

async function parsed(text: string): Promise<unknown> {
  try {
    // Parsing in turns assumes valid JSON. Its result for anything else fails the checks that follow.
    return isLarge(text) ? await parseInTurns(text, true) : parseJson(text);
  } catch (error) {
    throw new WebhookFault('the answer is not JSON', 0, error);
  }
}

const maxShown = 1_000;

/** Text from a webhook, shortened for a message. */
function shown(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') return `a value of type ${typeof value}`;
  return value.length > maxShown ? `${value.slice(0, maxShown)}...` : value;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
