import diagnostics from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { currentSpan, type TraceSpan } from './trace-scope.js';

let users = 0;
let stopTracing: (() => void) | undefined;

/**
 * Records a span for each HTTP call of a traced request, and sends the called server a reference to it (W3C Trace
 * Context). Node reports each call, whichever part of the program makes it. Returns the function that stops the
 * tracing. A call has one span, however many parts of the process send traces.
 */
export function traceOutgoing(): () => void {
  users++;
  stopTracing ??= subscribe();
  return () => {
    users--;
    if (users > 0) return;
    stopTracing?.();
    stopTracing = undefined;
  };
}

function subscribe(): () => void {
  const spans = new WeakMap<ClientRequest, TraceSpan>();
  const end = (request: ClientRequest, settle: (span: TraceSpan) => void) => {
    const span = spans.get(request);
    if (span === undefined) return;
    spans.delete(request);
    settle(span);
    span.end();
  };
  const listeners: readonly (readonly [string, (message: never) => void])[] = [
    [
      'http.client.request.created',
      ({ request }: { request: ClientRequest }) => {
        const span = currentSpan()?.child(`HTTP ${request.method}`, {
          'http.request.method': request.method,
          'server.address': request.host,
        });
        if (span === undefined) return;
        spans.set(request, span);
        if (request.headersSent) return;
        request.setHeader('traceparent', span.traceparent);
        if (span.tracestate !== '') request.setHeader('tracestate', span.tracestate);
      },
    ],
    [
      'http.client.response.finish',
      ({ request, response }: { request: ClientRequest; response: IncomingMessage }) =>
        end(request, (span) => span.set({ 'http.response.status_code': response.statusCode ?? 0 })),
    ],
    [
      'http.client.request.error',
      ({ request, error }: { request: ClientRequest; error: unknown }) => end(request, (span) => span.fail(error)),
    ],
  ];
  for (const [channel, listener] of listeners) diagnostics.subscribe(channel, listener as (message: unknown) => void);
  return () => {
    for (const [channel, listener] of listeners) {
      diagnostics.unsubscribe(channel, listener as (message: unknown) => void);
    }
  };
}
