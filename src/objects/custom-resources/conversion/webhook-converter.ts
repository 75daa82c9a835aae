import type { ApiObject } from '../../../base/machinery/api-object.js';
import { parseApiVersion } from '../../../base/machinery/group-version.js';
import { parseJson } from '../../../base/machinery/json/exact-numbers.js';
import { checkNesting } from '../../../base/machinery/json/nesting.js';
import { NestingError } from '../../../base/machinery/json/nesting-error.js';
import { parseInTurns } from '../../../base/machinery/json/parse-in-turns.js';
import { isLarge, LargeWork, largeBytes, largeLimits, throwIfLarge } from '../../../base/machinery/large-work.js';
import { remoteCall } from '../../../base/machinery/remote-call.js';
import { StatusError } from '../../../base/machinery/status-error.js';
import { inTurns, mappedInSteps, Turn } from '../../../base/machinery/turns.js';
import type { ConversionCall, ConversionTransport } from '../../../base/outgoing/conversion-transports.js';
import { ReviewClient } from '../../../base/outgoing/review-client.js';
import { WebhookFault } from '../../../base/outgoing/webhook-fault.js';
import type { WebhookConversion } from '../../apis/apiextensions/v1/custom-resource-definition.types.js';
import type { ConvertingRequest } from '../../registry/resource-definition.js';
import { ConversionError } from './conversion-error.js';
import { type ConversionReviewVersion, conversionReview } from './conversion-review.js';
import { checkedObject } from './converted-object.js';
import { ConvertedObjectFault } from './converted-object-fault.js';
import { readConversionAnswer } from './read-conversion-answer.js';

const maxObjects = 500;
/** The most characters of the objects of one review. A single object may be longer. */
const maxCharacters = 3 * 1024 * 1024;
/** The most bytes of a response: enough for many objects that the conversion makes twice as long. */
const maxAnswerBytes = 2 * maxCharacters + 256 * 1024;
/** A converted object may be this many times as long as the object that was sent, and {@link largeBytes} longer. */
const mostGrowth = 4;
/** How much longer the objects of a response may be on average, in bytes. */
const usualGrowth = 8 * 1024;
const timeoutMs = 30_000;

const settings = { userAgent: 'plinth-conversion', maxAnswerBytes };

/** The kind whose objects a converter converts. */
interface ConvertedKind {
  /** Name of the definition. */
  readonly definition: string;
  readonly kind: string;
  /** Name of the group of ConversionReview. */
  readonly reviewGroup: string;
}

/**
 * Calls the webhook of one definition to convert objects to another version. Each definition has connections and seats
 * of its own, so a webhook that hangs harms the requests for its kind only.
 */
export class WebhookConverter {
  private client: ReviewClient | undefined;
  private readonly version: ConversionReviewVersion | undefined;

  /** @param transport how webhooks are reached, once that is known */
  constructor(
    private readonly of: ConvertedKind,
    private readonly webhook: WebhookConversion,
    private readonly transport: () => ConversionTransport | undefined,
  ) {
    const { conversionReviewVersions } = webhook;
    this.version = (conversionReviewVersions ?? []).find(isSpoken);
  }

  /**
   * What `finish` makes of each object as the webhook converts it, in the same order: with its labels and annotations and
   * otherwise the own metadata of the object. Objects of the wanted version come back unchanged. Makes several calls
   * when there are many objects.
   *
   * @param request its deadline takes precedence over the 30 s of a call
   * @throws a 500 when there is no usable answer; a LargeWork when an object became large, if the request can move; the
   * errors of {@link ReviewClient.ask}
   */
  async convert<R>(
    objects: readonly ApiObject[],
    apiVersion: string,
    request: ConvertingRequest,
    finish: (object: ApiObject, isConverted: boolean) => R,
  ): Promise<R[]> {
    const result: R[] = [];
    let batch: Sent[] = [];
    let characters = 0;
    const flush = async () => {
      const sent = batch;
      batch = [];
      characters = 0;
      if (sent.length === 0) return;
      const converted = await this.ask(sent, apiVersion, request, (object) => finish(object, true));
      for (const [n, { index }] of sent.entries()) result[index] = converted[n] as R;
    };
    const texts = await inTurns(
      mappedInSteps(objects, (object) => (object.apiVersion === apiVersion ? '' : JSON.stringify(object))),
    );
    const turn = new Turn();
    for (const [index, text] of texts.entries()) {
      const object = objects[index] as ApiObject;
      if (object.apiVersion === apiVersion) {
        result[index] = finish(object, false);
        if (turn.isOver) await turn.next();
        continue;
      }
      const isFull = batch.length === maxObjects || characters + text.length > maxCharacters;
      const first = batch[0];
      const isOther = first !== undefined && first.object.apiVersion !== object.apiVersion;
      if (isFull || isOther) await flush();
      batch.push({ index, object, text });
      characters += text.length;
    }
    await flush();
    return result;
  }

  /** Closes the connections as soon as no call uses them. */
  retire(): void {
    this.client?.retire();
  }

  private async ask<R>(
    sent: readonly Sent[],
    apiVersion: string,
    request: ConvertingRequest,
    finish: (object: ApiObject) => R,
  ): Promise<R[]> {
    const [first] = sent as [Sent, ...Sent[]];
    const transport = this.transport();
    const began = performance.now();
    let failure: ConversionCall['failure'];
    try {
      if (transport === undefined) throw new WebhookFault('no webhooks are called in this process');
      const { version } = this;
      if (version === undefined) {
        throw new WebhookFault('webhook does not accept known ConversionReview versions (v1, v1beta1)');
      }
      failure = 'call';
      this.client ??= new ReviewClient(this.webhook.clientConfig ?? {}, transport, settings);
      const texts = sent.map(({ text }) => text);
      const { uid, body } = conversionReview(this.of.reviewGroup, version, apiVersion, texts);
      const call = { write: () => body, timeoutMs, signal: request.signal, maxAnswerBytes: longestAnswer(sent) };
      const { client } = this;
      const read = async (text: string) => {
        failure = 'malformed_response';
        const asked = { uid, version, group: this.of.reviewGroup, count: sent.length };
        const answered = await readConversionAnswer(text, asked);
        checkLengths(answered, sent);
        for (const one of answered) if (isMovable(one, sent.length)) throwIfLarge(request, one);
        return readObjects(answered, (object, i) => {
          failure = 'invalid_converted_object';
          const { object: original } = sent[i] as Sent;
          const checked = checkedObject(object, original, apiVersion, `converted object at index ${i}`);
          return finish(checked);
        });
      };
      const converted = await remoteCall(request, () => client.askAndRead(call, read));
      failure = undefined;
      return converted;
    } catch (error) {
      if (error instanceof LargeWork) failure = undefined;
      throw this.failed(first.object, error);
    } finally {
      transport?.countConversion({
        definition: this.of.definition,
        fromVersion: versionOf(first.object.apiVersion),
        toVersion: versionOf(apiVersion),
        seconds: (performance.now() - began) / 1000,
        failure,
      });
    }
  }

  private failed({ apiVersion = '' }: ApiObject, error: unknown): unknown {
    // The request has no time left, or too many requests wait for this webhook.
    if (error instanceof StatusError || error instanceof LargeWork) return error;
    const isFault = error instanceof WebhookFault || error instanceof ConvertedObjectFault;
    // An unusable address or certificate causes other errors.
    const { message } = isFault ? error : (error as Error);
    const group = parseApiVersion(apiVersion);
    const from = group === undefined ? apiVersion : `${group.group}/${group.version}`;
    return new ConversionError(`conversion webhook for ${from}, Kind=${this.of.kind} failed: ${message}`, error);
  }
}

/** An object in a review. */
interface Sent {
  /** Its place in the objects to convert. */
  readonly index: number;
  readonly object: ApiObject;
  readonly text: string;
}

/** The most bytes of the answer to a review: what is sent limits what comes back, and so the memory that it takes. */
function longestAnswer(sent: readonly Sent[]): number {
  const most = sent.reduce((sum, { text }) => sum + mostGrowth * text.length + usualGrowth, largeBytes);
  return Math.min(most, maxAnswerBytes);
}

/** Throws a ConvertedObjectFault for an object that is far longer than the one that was sent. */
function checkLengths(answered: readonly string[], sent: readonly Sent[]): void {
  for (const [i, { length }] of answered.entries()) {
    const most = mostGrowth * (sent[i] as Sent).text.length + largeBytes;
    if (length <= most) continue;
    throw new ConvertedObjectFault(`invalid converted object at index ${i}: more than ${most} characters`);
  }
}

/** Whether a converted object may be too large to be read here: one of many only if a list of it would be, too. */
function isMovable({ length }: string, count: number): boolean {
  return count === 1 || length > largeLimits.listItem;
}

/** What `make` makes of the parsed texts, in turns with other work. */
async function readObjects<R>(texts: readonly string[], make: (object: unknown, index: number) => R): Promise<R[]> {
  const made: R[] = [];
  const turn = new Turn();
  for (const [i, text] of texts.entries()) {
    made.push(make(isLarge(text) ? await parsedInTurns(text) : parsed(text), i));
    if (turn.isOver) await turn.next();
  }
  return made;
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw unreadable(error);
  }
}

/** Assumes valid JSON; its result for anything else fails the checks that follow. */
async function parsedInTurns(text: string): Promise<unknown> {
  try {
    checkNesting(text);
    return await parseInTurns(text, true);
  } catch (error) {
    throw unreadable(error);
  }
}

function unreadable(error: unknown): WebhookFault {
  const isDeep = error instanceof NestingError;
  return new WebhookFault(isDeep ? 'a converted object is nested too deeply' : 'the answer is not JSON', 0, error);
}

function versionOf(apiVersion = ''): string {
  return parseApiVersion(apiVersion)?.version ?? '';
}

function isSpoken(version: string): version is ConversionReviewVersion {
  return version === 'v1' || version === 'v1beta1';
}
