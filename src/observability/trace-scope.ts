import { AsyncLocalStorage } from 'node:async_hooks';

/** Values that a span carries. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** One timed piece of work of a request that is traced. */
export interface TraceSpan {
  readonly traceId: string;
  /** The value of the header that tells another server of this span (W3C Trace Context). */
  readonly traceparent: string;
  /** The value of `tracestate`, as it came; empty: none. */
  readonly tracestate: string;
  child(name: string, attributes?: SpanAttributes): TraceSpan;
  /** Adds a finished child. Times in milliseconds of `performance.now()`. */
  past(name: string, begin: number, end: number): void;
  set(attributes: SpanAttributes): void;
  fail(error: unknown): void;
  end(): void;
}

/** Begins traces. */
export interface RequestTracer {
  /** The root of a request's trace; undefined when it is not sampled. */
  begin(name: string, headers: Readonly<Record<string, string | string[] | undefined>>): TraceSpan | undefined;
}

/** Undefined until something is traced, so a process without tracing pays for one comparison. */
let scope: AsyncLocalStorage<TraceSpan> | undefined;

/** Runs the rest of a request as part of its trace. */
export function runInTrace(span: TraceSpan, run: () => void): void {
  scope ??= new AsyncLocalStorage();
  scope.run(span, run);
}

/** The span of what runs at the moment; undefined when it is not traced. */
export function currentSpan(): TraceSpan | undefined {
  return scope?.getStore();
}

/** Does some work as a span of the current trace, if there is one. */
export function traced<T>(name: string, attributes: SpanAttributes, work: () => Promise<T>): Promise<T> {
  const parent = scope?.getStore();
  return parent === undefined ? work() : tracedIn(parent, name, attributes, work);
}

async function tracedIn<T>(
  parent: TraceSpan,
  name: string,
  attributes: SpanAttributes,
  work: () => Promise<T>,
): Promise<T> {
  const span = parent.child(name, attributes);
  try {
    return await (scope as AsyncLocalStorage<TraceSpan>).run(span, work);
  } catch (error) {
    span.fail(error);
    throw error;
  } finally {
    span.end();
  }
}
