import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatGroupResource } from '../../../base/machinery/group-version.js';
import { inTurns, type Steps } from '../../../base/machinery/turns.js';
import type { ExpressionMetrics } from '../../../base/observability/expression-metrics.js';
import type { Logger } from '../../../base/observability/logger.js';
import { conversionTransport } from '../../../base/outgoing/conversion-transports.js';
import type { Storage } from '../../../storage/storage.interface.js';
import type { CustomResourceDefinition } from '../../apis/apiextensions/v1/custom-resource-definition.types.js';
import { type ObjectSink, Reflector } from '../../registry/informers/reflector.js';
import type { StoredResource } from '../../registry/resource-definition.js';
import type { ResourceRegistry } from '../../registry/resource-registry.js';
import { WebhookConverter } from '../conversion/webhook-converter.js';
import { type CustomState, customResource, type ObjectConverter } from '../definition/custom-version.js';
import { type DefinitionSource, definitionSource } from '../definition/definition-source.js';

/** A definition in the form kept for serving. */
interface Reduced extends ApiObject {
  readonly source: DefinitionSource | undefined;
}

function* reduced(object: ApiObject): Steps<Reduced> {
  const source = yield* definitionSource(object as unknown as CustomResourceDefinition);
  return { metadata: { name: object.metadata.name ?? '' }, source };
}

interface Known {
  readonly digest: string;
  readonly state: CustomState;
  readonly resource: StoredResource;
  readonly converter: WebhookConverter | undefined;
}

/**
 * Keeps the registry in step with the definitions of custom resources: established definitions are served under their
 * accepted names. A change that does not affect what is served changes nothing; any other change replaces the
 * definition at once. When a definition is gone, the memory that the storage held for it is freed, too.
 */
export class DefinitionInformer {
  /** The definitions known so far, by name. */
  private readonly known = new Map<string, Known>();
  private readonly reflector: Reflector;

  /** @param storageName where definitions are stored */
  constructor(
    private readonly registry: ResourceRegistry,
    private readonly storage: Storage,
    private readonly storageName: string,
    private readonly logger: Pick<Logger, 'warn'>,
    private readonly times: ExpressionMetrics,
  ) {
    const sink: ObjectSink = {
      reduce: (object) => inTurns(reduced(object)),
      replace: (objects, at) => inTurns(this.replacingAll(objects as readonly Reduced[], at)),
      set: (object, at) => this.set(object as Reduced, at),
      delete: (_namespace, name, at) => this.remove(name, at),
    };
    this.reflector = new Reflector(storage, registry, storageName, sink, (error) =>
      logger.warn('the definitions of custom resources may be outdated', { error }),
    );
  }

  /** Resolves when everything that is established is registered. Continues until `signal` is aborted. */
  start(signal: AbortSignal): Promise<void> {
    return this.reflector.start(signal);
  }

  /** Resolves when the follower has stopped after the abort. */
  stopped(): Promise<void> {
    return this.reflector.stopped();
  }

  /** Resolves when the registry shows everything up to a version of the store, or when the follower has stopped. */
  reached(version: bigint): Promise<void> {
    return this.reflector.reached(version);
  }

  private *replacingAll(objects: readonly Reduced[], at: bigint): Steps {
    const present = new Set(objects.map(({ metadata }) => metadata.name ?? ''));
    for (const name of [...this.known.keys()]) {
      if (!present.has(name)) this.remove(name, at);
      yield;
    }
    for (const object of objects) {
      this.set(object, at);
      yield;
    }
  }

  private set({ metadata: { name = '' }, source }: Reduced, at: bigint): void {
    if (source === undefined) {
      this.remove(name, at);
      return;
    }
    const before = this.known.get(name);
    const state = before?.digest === source.digest ? before.state : { isTerminating: false, isUniform: false };
    state.isTerminating = source.isTerminating;
    state.isUniform = source.isUniform;
    if (before?.state === state) return;
    const converter = this.converterOf(source);
    const convert: ObjectConverter | undefined = converter && ((...asked) => converter.convert(...asked));
    const resource = customResource(source, this.storageName, state, convert, this.times);
    try {
      if (before === undefined) this.registry.register(resource, at);
      else this.registry.replace(before.resource, resource, at);
      before?.converter?.retire();
      this.known.set(name, { digest: source.digest, state, resource, converter });
    } catch (error) {
      // A built-in resource with the same path keeps it.
      this.logger.warn('a custom resource is not served', { definition: name, error });
      this.remove(name, at);
    }
  }

  private converterOf({ name, conversionWebhook, names: { kind } }: DefinitionSource): WebhookConverter | undefined {
    if (conversionWebhook === undefined) return undefined;
    const reviewGroup = this.storageName.slice(this.storageName.indexOf('.') + 1);
    return new WebhookConverter({ definition: name, kind, reviewGroup }, conversionWebhook, () =>
      conversionTransport(this.registry),
    );
  }

  private remove(name: string, at: bigint): void {
    const before = this.known.get(name);
    if (before === undefined) return;
    this.known.delete(name);
    before.converter?.retire();
    this.registry.unregister(before.resource, at);
    this.storage.forget?.(formatGroupResource(before.resource));
  }
}
