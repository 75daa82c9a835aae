import diagnostics from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Counter, Histogram, type Registry } from 'prom-client';

/** Above this many, hosts share a label: addresses come from objects that users write. */
const mostHosts = 256;

interface Started {
  readonly request: ClientRequest;
}

interface Finished extends Started {
  readonly response: IncomingMessage;
}

/**
 * Counts the HTTP calls that this process makes, under the names that clients of the API use: webhooks, extension
 * servers, node agents, identity providers. Node reports each call, whichever part of the program makes it.
 */
export class OutgoingMetrics {
  private readonly requests: Counter<'code' | 'method' | 'host'>;
  private readonly durations: Histogram<'verb' | 'host'>;
  private readonly begun = new WeakMap<ClientRequest, number>();
  private readonly hosts = new Set<string>();
  private readonly listeners: readonly (readonly [channel: string, listener: (message: unknown) => void])[];

  constructor(registry: Registry) {
    const registers = [registry];
    this.requests = new Counter({
      name: 'rest_client_requests_total',
      help: 'HTTP calls of this process to others, by code (<error>: no answer), method and host.',
      labelNames: ['code', 'method', 'host'],
      registers,
    });
    this.durations = new Histogram({
      name: 'rest_client_request_duration_seconds',
      help: 'Time of HTTP calls of this process to others until the answer began, by method and host.',
      labelNames: ['verb', 'host'],
      buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
      registers,
    });
    this.listeners = [
      ['http.client.request.start', (message) => this.begun.set((message as Started).request, performance.now())],
      ['http.client.response.finish', (message) => this.answered(message as Finished)],
      ['http.client.request.error', (message) => this.done((message as Started).request, '<error>')],
    ];
    for (const [channel, listener] of this.listeners) diagnostics.subscribe(channel, listener);
  }

  /** Stops counting calls. */
  stop(): void {
    for (const [channel, listener] of this.listeners) diagnostics.unsubscribe(channel, listener);
  }

  private answered({ request, response }: Finished): void {
    this.done(request, String(response.statusCode ?? 0));
  }

  private done(request: ClientRequest, code: string): void {
    const begun = this.begun.get(request);
    // An error after the response began: the call has been counted already.
    if (begun === undefined) return;
    this.begun.delete(request);
    const host = this.hostOf(request);
    const { method } = request;
    this.requests.inc({ code, method, host });
    this.durations.observe({ verb: method, host }, (performance.now() - begun) / 1000);
  }

  private hostOf({ host }: ClientRequest): string {
    if (this.hosts.has(host)) return host;
    if (this.hosts.size >= mostHosts) return 'other';
    this.hosts.add(host);
    return host;
  }
}
