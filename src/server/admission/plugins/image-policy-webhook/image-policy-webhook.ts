import type { Clock } from '../../../../base/machinery/clock.js';
import { deepEqual } from '../../../../base/machinery/patch/json-value.js';
import { remoteCall } from '../../../../base/machinery/remote-call.js';
import { StatusError } from '../../../../base/machinery/status-error.js';
import { groupName, type VendorNames } from '../../../../base/machinery/vendor.js';
import { CallSeats } from '../../../../base/outgoing/call-seats.js';
import type { Pod } from '../../../../objects/apis/core/v1/pod.types.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { addForeignAnnotations } from '../../foreign-annotations.js';
import { isFor, refused } from '../../refused.js';
import { type ImageReviewSpec, type ImageReviewStatus, imageReview, imageReviewStatus } from './image-review.js';

/** Dependencies of the plugin. */
export interface ImagePolicyDependencies {
  readonly client: { post(value: unknown, signal: AbortSignal): Promise<unknown>; stop(): void };
  readonly names: VendorNames;
  readonly clock: Clock;
  readonly logger: { warn(text: string, fields?: object): void };
}

/**
 * How long responses are cached in milliseconds (0: not at all), and whether pods are allowed when there is no
 * response.
 */
export interface ImagePolicyRules {
  readonly allowTtlMs: number;
  readonly denyTtlMs: number;
  readonly defaultAllow: boolean;
}

const maxCachedAnswers = 1024;
/** Responses to longer reviews are not cached. */
const maxCachedReview = 10_000;
/** Maximum time a request waits for a response, over all attempts. */
const totalTimeoutMs = 30_000;

/**
 * Asks another server whether the images of a pod may run (specification 4.11, 5.5): those of new pods, changed images,
 * and new ephemeral containers. The call holds up nothing but the request itself.
 */
export class ImagePolicyWebhook implements AdmissionPlugin {
  readonly name = 'ImagePolicyWebhook';
  private readonly answers = new Map<string, { readonly status: ImageReviewStatus; readonly until: number }>();
  private readonly seats = new CallSeats({ calls: 64, waiting: 64 });
  private readonly annotationMark: string;
  private readonly auditPrefix: string;

  constructor(
    private readonly rules: ImagePolicyRules,
    private readonly dependencies: ImagePolicyDependencies,
  ) {
    const domain = groupName('image-policy', dependencies.names);
    this.annotationMark = `.${domain}/`;
    this.auditPrefix = `imagepolicywebhook.${domain}`;
  }

  handles(operation: AdmissionOperation): boolean {
    return operation === 'CREATE' || operation === 'UPDATE';
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    const images = imagesOf(attributes);
    if (images === undefined) return;
    const annotations = this.annotationsFor(attributes.storedObject as unknown as Pod);
    const spec: ImageReviewSpec = {
      containers: images.map((image) => ({ image })),
      ...(annotations === undefined ? {} : { annotations }),
      namespace: attributes.namespace,
    };
    const status = await this.ask(spec, attributes);
    if (status === undefined) return;
    const { auditAnnotations } = attributes.context;
    const leftOut = addForeignAnnotations(auditAnnotations, this.auditPrefix, status.auditAnnotations);
    if (leftOut !== undefined) {
      this.dependencies.logger.warn('audit annotations of the image policy webhook are left out', { ...leftOut });
    }
    if (status.allowed) return;
    const detail =
      status.reason === ''
        ? 'one or more images rejected by webhook backend'
        : `image policy webhook backend denied one or more images: ${status.reason}`;
    throw refused(attributes, detail);
  }

  stop(): void {
    this.dependencies.client.stop();
  }

  /** The response; undefined when there is none and the pod is allowed without one. */
  private async ask(spec: ImageReviewSpec, attributes: AdmissionAttributes): Promise<ImageReviewStatus | undefined> {
    const key = JSON.stringify(spec);
    const known = this.cached(key);
    if (known !== undefined) return known;
    const { signal, auditAnnotations } = attributes.context;
    const { client, names, logger } = this.dependencies;
    try {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(totalTimeoutMs)]);
      const asked = this.seats.take(limit, () => client.post(imageReview(spec, names), limit));
      if (asked === undefined) throw crowdedError();
      const status = imageReviewStatus(await remoteCall(attributes.context, () => asked), names);
      if (status === undefined) throw new Error('the image policy webhook does not answer with a review');
      this.keep(key, status);
      return status;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof StatusError) throw error;
      logger.warn('the image policy webhook gives no answer', { error, allowed: this.rules.defaultAllow });
      if (!this.rules.defaultAllow) throw refused(attributes, (error as Error).message);
      auditAnnotations.set(`${this.auditPrefix}/failed-open`, 'true');
      return undefined;
    }
  }

  private cached(key: string): ImageReviewStatus | undefined {
    const found = this.answers.get(key);
    if (found === undefined) return undefined;
    this.answers.delete(key);
    if (this.dependencies.clock.now() >= found.until) return undefined;
    this.answers.set(key, found);
    return found.status;
  }

  private keep(key: string, status: ImageReviewStatus): void {
    const ttlMs = status.allowed ? this.rules.allowTtlMs : this.rules.denyTtlMs;
    if (ttlMs === 0 || key.length > maxCachedReview) return;
    this.answers.delete(key);
    this.answers.set(key, { status, until: this.dependencies.clock.now() + ttlMs });
    if (this.answers.size <= maxCachedAnswers) return;
    for (const oldest of this.answers.keys()) {
      this.answers.delete(oldest);
      break;
    }
  }

  private annotationsFor({ metadata }: Pod): Readonly<Record<string, string>> | undefined {
    const sent = Object.entries(metadata.annotations ?? {}).filter(([key]) => key.includes(this.annotationMark));
    return sent.length === 0 ? undefined : Object.fromEntries(sent);
  }
}

/** The failure does not depend on the images, so the client may retry. */
function crowdedError(): StatusError {
  const message = 'too many requests wait for the image policy webhook, please try again later';
  return new StatusError('TooManyRequests', message, { details: { retryAfterSeconds: 1 } });
}

/** The images to review; undefined when the request adds none. */
function imagesOf(attributes: AdmissionAttributes): readonly string[] | undefined {
  const { subresource, storedObject, storedOldObject } = attributes;
  if (!isFor(attributes, '', 'pods') || storedObject === undefined) return undefined;
  if (subresource !== '' && subresource !== 'ephemeralcontainers') return undefined;
  const images = (pod: unknown): string[] => {
    const { spec } = pod as Pod;
    if (subresource !== '') return (spec.ephemeralContainers ?? []).map(({ image }) => image ?? '');
    return [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ image }) => image ?? '');
  };
  const now = images(storedObject);
  const isSame = storedOldObject !== undefined && deepEqual(now, images(storedOldObject));
  return isSame || now.length === 0 ? undefined : now;
}
