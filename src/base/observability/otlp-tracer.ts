import {
  type AttributeValue,
  type Context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-grpc';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { traceOutgoing } from './outgoing-traces.js';
import type { RemoteSpan, RequestTracer, SpanAttributes, TraceBeginning, TraceSpan } from './trace-scope.js';

/* The only module that imports the tracing libraries; loaded only when tracing is on. */

export interface OtlpSettings {
  /**
   * `host:port` or `unix:path` of a receiver without TLS, or `https://name:port`. The library takes header fields, and for
   * `https` the authority and the client certificate, from the variables of OpenTelemetry.
   */
  readonly endpoint: string;
  readonly samplingRatePerMillion: number;
  /** The service name shown in traces. */
  readonly service: string;
  readonly version: string;
}

/** Finished spans are sent at least this often. */
const sendEveryMs = 1000;
const sendTimeoutMs = 10_000;
/** The most spans that are buffered for an unreachable receiver; further spans are dropped. */
const maxWaiting = 4096;

/**
 * Sends traces over OTLP. A request that belongs to a trusted client's trace is traced as well; of the other requests,
 * the configured share is traced. Spans that can't be sent are dropped: no request waits for them.
 */
export class OtlpTracer implements RequestTracer {
  private readonly provider: TracerProvider;
  private readonly tracer: Tracer;
  private readonly endOutgoing: () => void;

  constructor({ endpoint, samplingRatePerMillion, service, version }: OtlpSettings) {
    const url = /^(?:unix:|https:)/.test(endpoint) ? endpoint : `http://${endpoint}`;
    const exporter = new OTLPTraceExporter({ url, timeoutMillis: sendTimeoutMs });
    this.provider = new TracerProvider({
      resource: resourceFromAttributes({
        'service.name': service,
        'service.version': version,
        'process.pid': process.pid,
      }),
      sampler: new ParentBasedSampler({
        root:
          samplingRatePerMillion === 0
            ? new AlwaysOffSampler()
            : new TraceIdRatioBasedSampler(samplingRatePerMillion / 1_000_000),
      }),
      spanProcessors: [
        new BatchSpanProcessor({ exporter, scheduledDelayMillis: sendEveryMs, maxQueueSize: maxWaiting }),
      ],
    });
    this.tracer = this.provider.getTracer('plinth', version);
    this.endOutgoing = traceOutgoing();
  }

  begin(name: string, { remote, isTrusted, isInner, begunAt }: TraceBeginning = {}): TraceSpan | undefined {
    const kind = isInner === true ? SpanKind.INTERNAL : SpanKind.SERVER;
    const startTime = begunAt === undefined ? {} : { startTime: timeAt(begunAt) };
    const context = remote && contextOf(remote);
    if (context !== undefined && isTrusted === true) {
      const parent = trace.setSpanContext(ROOT_CONTEXT, context);
      return this.sampled(this.tracer.startSpan(name, { kind, ...startTime }, parent), parent, remote?.state ?? '');
    }
    const links = context === undefined ? {} : { links: [{ context }] };
    return this.sampled(this.tracer.startSpan(name, { kind, ...links, ...startTime }, ROOT_CONTEXT), ROOT_CONTEXT, '');
  }

  private sampled(span: Span, parent: Context, state: string): TraceSpan | undefined {
    return span.isRecording() ? new OtlpSpan(this.tracer, span, parent, state) : undefined;
  }

  /** Sends the remaining spans. */
  async stop(): Promise<void> {
    this.endOutgoing();
    await this.provider.shutdown();
  }
}

/** The wall-clock time for a recent time of `performance.now()`. The two clocks drift apart over days. */
function timeAt(elapsed: number): number {
  return Date.now() - performance.now() + elapsed;
}

function contextOf({ traceId, spanId, isSampled }: RemoteSpan): SpanContext {
  return { traceId, spanId, traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote: true };
}

class OtlpSpan implements TraceSpan {
  private readonly context: Context;

  constructor(
    private readonly tracer: Tracer,
    private readonly span: Span,
    parent: Context,
    readonly tracestate: string,
  ) {
    this.context = trace.setSpan(parent, span);
  }

  get traceId(): string {
    return this.span.spanContext().traceId;
  }

  get traceparent(): string {
    const { traceId, spanId } = this.span.spanContext();
    return `00-${traceId}-${spanId}-01`;
  }

  child(name: string, attributes: SpanAttributes = {}): TraceSpan {
    const span = this.tracer.startSpan(name, { attributes: { ...attributes } }, this.context);
    return new OtlpSpan(this.tracer, span, this.context, this.tracestate);
  }

  past(name: string, begin: number, end: number): void {
    this.tracer.startSpan(name, { startTime: timeAt(begin) }, this.context).end(timeAt(end));
  }

  set(attributes: SpanAttributes): void {
    for (const [key, value] of Object.entries(attributes)) this.span.setAttribute(key, value as AttributeValue);
  }

  fail(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.span.setStatus({ code: SpanStatusCode.ERROR, message });
  }

  end(): void {
    this.span.end();
  }
}
