import type { ApiObject } from '../../../base/machinery/api-object.js';
import { parseApiVersion } from '../../../base/machinery/group-version.js';
import { StatusError } from '../../../base/machinery/status-error.js';
import { inTurns, mappedInSteps } from '../../../base/machinery/turns.js';
import type { ConversionCall, ConversionTransport } from '../../../base/outgoing/conversion-transports.js';
import { ReviewClient } from '../../../base/outgoing/review-client.js';
import { WebhookFault } from '../../../base/outgoing/webhook-fault.js';
import type { WebhookConversion } from '../../apis/apiextensions/v1/custom-resource-definition.types.js';
import { ConversionError } from './conversion-error.js';
import { type ConversionReviewVersion, conversionReview } from './conversion-review.js';
import { checkedObject } from './converted-object.js';
import { ConvertedObjectFault } from './converted-object-fault.js';
import { readConversionAnswer } from './read-conversion-answer.js';

const maxObjects = 500;
/** The most characters of the objects of one review. A single object may be longer. */
const maxCharacters = 3 * 1024 * 1024;
/** The most bytes of a response: enough for objects that the conversion makes twice as long. */
const maxAnswerBytes = 2 * maxCharacters + 256 * 1024;
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
   * The objects as the webhook converts them, in the same order, with its labels and annotations and otherwise their
   * own metadata; objects of the wanted version come back unchanged. Makes several calls when there are many objects.
   *
   * @param signal of the request; its deadline takes precedence over the 30 s of a call
   * @throws a 500 when there is no usable answer, and the errors of {@link ReviewClient.ask}
   */
  async convert(objects: readonly ApiObject[], apiVersion: string, signal: AbortSignal): Promise<ApiObject[]> {
    const result = [...objects];
    let batch: { readonly index: number; readonly text: string }[] = [];
    let characters = 0;
    const flush = async () => {
      const asked = batch;
      batch = [];
      characters = 0;
      if (asked.length === 0) return;
      const originals = asked.map(({ index }) => objects[index] as ApiObject);
      const texts = asked.map(({ text }) => text);
      const converted = await this.ask(originals, texts, apiVersion, signal);
      for (const [n, { index }] of asked.entries()) result[index] = converted[n] as ApiObject;
    };
    const texts = await inTurns(
      mappedInSteps(objects, (object) => (object.apiVersion === apiVersion ? '' : JSON.stringify(object))),
    );
    for (const [index, text] of texts.entries()) {
      const object = objects[index] as ApiObject;
      if (object.apiVersion === apiVersion) continue;
      const isFull = batch.length === maxObjects || characters + text.length > maxCharacters;
      const first = batch[0];
      const isOther = first !== undefined && objects[first.index]?.apiVersion !== object.apiVersion;
      if (isFull || isOther) await flush();
      batch.push({ index, text });
      characters += text.length;
    }
    await flush();
    return result;
  }

  /** Closes the connections as soon as no call uses them. */
  retire(): void {
    this.client?.retire();
  }

  private async ask(
    objects: readonly ApiObject[],
    texts: readonly string[],
    apiVersion: string,
    signal: AbortSignal,
  ): Promise<ApiObject[]> {
    const transport = this.transport();
    const began = performance.now();
    let failure: ConversionCall['failure'];
    try {
      if (transport === undefined) throw new WebhookFault('no webhooks are called in this process');
      if (this.version === undefined) {
        throw new WebhookFault('webhook does not accept known ConversionReview versions (v1, v1beta1)');
      }
      failure = 'call';
      this.client ??= new ReviewClient(this.webhook.clientConfig ?? {}, transport, settings);
      const { uid, body } = conversionReview(this.of.reviewGroup, this.version, apiVersion, texts);
      const text = await this.client.ask(() => body, timeoutMs, signal);
      failure = 'malformed_response';
      const asked = { uid, version: this.version, group: this.of.reviewGroup, count: objects.length };
      const answered = await readConversionAnswer(text, asked);
      failure = 'invalid_converted_object';
      const converted = answered.map((object, i) =>
        checkedObject(object, objects[i] as ApiObject, apiVersion, `converted object at index ${i}`),
      );
      failure = undefined;
      return converted;
    } catch (error) {
      throw this.failed(objects[0] as ApiObject, error);
    } finally {
      transport?.countConversion({
        definition: this.of.definition,
        fromVersion: versionOf(objects[0]?.apiVersion),
        toVersion: versionOf(apiVersion),
        seconds: (performance.now() - began) / 1000,
        failure,
      });
    }
  }

  private failed({ apiVersion = '' }: ApiObject, error: unknown): unknown {
    // The request has no time left, or too many requests wait for this webhook.
    if (error instanceof StatusError) return error;
    const isFault = error instanceof WebhookFault || error instanceof ConvertedObjectFault;
    // An unusable address or certificate causes other errors.
    const { message } = isFault ? error : (error as Error);
    const group = parseApiVersion(apiVersion);
    const from = group === undefined ? apiVersion : `${group.group}/${group.version}`;
    return new ConversionError(`conversion webhook for ${from}, Kind=${this.of.kind} failed: ${message}`, error);
  }
}

function versionOf(apiVersion = ''): string {
  return parseApiVersion(apiVersion)?.version ?? '';
}

function isSpoken(version: string): version is ConversionReviewVersion {
  return version === 'v1' || version === 'v1beta1';
}
