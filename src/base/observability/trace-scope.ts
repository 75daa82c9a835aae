import { AsyncLocalStorage } from 'node:async_hooks';

/** The attributes of a span. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** One timed piece of work in a traced request. */
export interface TraceSpan {
  readonly traceId: string;
  /** The value of the header that passes this span on to another server (W3C Trace Context). */
  readonly traceparent: string;
  /** The value of `tracestate` as received; empty if there was none. */
  readonly tracestate: string;
  child(name: string, attributes?: SpanAttributes): TraceSpan;
  /** Adds a finished child. Times in milliseconds of `performance.now()`. */
  past(name: string, begin: number, end: number): void;
  set(attributes: SpanAttributes): void;
  fail(error: unknown): void;
  end(): void;
}

/** The span that a client names as the parent of its request. Ids are in hexadecimal. */
export interface RemoteSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
  /** The value of `tracestate`; empty if there was none. */
  readonly state: string;
}

/** What is known about a piece of work when its first span begins. */
export interface TraceBeginning {
  /** The trace that the work claims to belong to. */
  readonly remote?: RemoteSpan;
  /**
   * Whether the other side may decide that the work is traced. Otherwise the work begins a trace of its own, or none,
   * as if no trace had been requested, with a link to the span that it claims to belong to.
   */
  readonly isTrusted?: boolean;
  /** The work is not a request, or is part of one that already has a span of this program. */
  readonly isInner?: boolean;
  /** Milliseconds of `performance.now()`; default: now. */
  readonly begunAt?: number;
}

/** Begins traces. */
export interface RequestTracer {
  /** The first span of a request or of other work; undefined when it is not sampled. */
  begin(name: string, beginning?: TraceBeginning): TraceSpan | undefined;
}

/** Holds the span of a request, which may be created later than the request. */
export interface TraceHolder {
  readonly trace: TraceSpan | undefined;
  /** Ids of the requests that the work is for. */
  readonly requestId?: string | undefined;
}

/** Undefined until something is traced, so a process without tracing pays for one comparison. */
let scope: AsyncLocalStorage<TraceHolder> | undefined;
let requestsAreNoted = false;
/** More ids than this say nothing more about a statement. */
const mostIds = 20;

/** From now on, work knows the ids of its requests, see {@link currentRequestId}. */
export function noteRequests(): void {
  requestsAreNoted = true;
  scope ??= new AsyncLocalStorage();
}

/** Whether a request has to run in {@link runInTrace} although it is not traced. */
export function notesRequests(): boolean {
  return requestsAreNoted;
}

/** The id of the request, or ids of the requests, that the code is running for; undefined unless that is noted. */
export function currentRequestId(): string | undefined {
  return scope?.getStore()?.requestId;
}

/** Runs work that is done for several requests together. */
export function runForRequests<T>(ids: () => readonly (string | undefined)[], work: () => T): T {
  if (scope === undefined || !requestsAreNoted) return work();
  const known = [...new Set(ids())].filter((id) => id !== undefined);
  return scope.run({ trace: undefined, requestId: known.slice(0, mostIds).join() || undefined }, work);
}

/** Runs the rest of a request as part of the trace that it has, or will have. */
export function runInTrace(holder: TraceHolder, run: () => void): void {
  scope ??= new AsyncLocalStorage();
  scope.run(holder, run);
}

/** The span of the code that is running; undefined when it is not traced. */
export function currentSpan(): TraceSpan | undefined {
  return scope?.getStore()?.trace;
}

/** Runs work as a span of the current trace, if there is one. */
export function traced<T>(name: string, attributes: SpanAttributes, work: () => Promise<T>): Promise<T> {
  const parent = currentSpan();
  return parent === undefined ? work() : tracedIn(parent.child(name, attributes), work);
}

/** Runs work as a trace of its own, if the tracer samples it. */
export function tracedAlone<T>(
  tracer: RequestTracer | undefined,
  name: string,
  attributes: SpanAttributes,
  work: () => Promise<T>,
): Promise<T> {
  const span = tracer?.begin(name, { isInner: true });
  if (span === undefined) return work();
  span.set(attributes);
  scope ??= new AsyncLocalStorage();
  return tracedIn(span, work);
}

async function tracedIn<T>(span: TraceSpan, work: () => Promise<T>): Promise<T> {
  try {
    return await (scope as AsyncLocalStorage<TraceHolder>).run({ trace: span }, work);
  } catch (error) {
    span.fail(error);
    throw error;
  } finally {
    span.end();
  }
}

/** The form of the `traceparent` header (W3C Trace Context). */
const parentForm = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const maxStateLength = 512;

/** The trace that a client names for a request; undefined if it is missing or invalid. */
export function remoteSpanOf({
  traceparent,
  tracestate,
}: Readonly<Record<string, string | string[] | undefined>>): RemoteSpan | undefined {
  if (typeof traceparent !== 'string') return undefined;
  const [, traceId = '', spanId = '', flags = ''] = parentForm.exec(traceparent) ?? [];
  if (!/[^0]/.test(traceId) || !/[^0]/.test(spanId)) return undefined;
  const state = typeof tracestate === 'string' && tracestate.length <= maxStateLength ? tracestate : '';
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1, state };
}
