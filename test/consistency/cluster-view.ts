import { setTimeout as delay } from 'node:timers/promises';
import { ApiClient, type ApiRequest, type ApiResponse, type Credentials } from '../e2e/support/api-client.js';
import type { Report } from './report.js';

/** A kind that the run works on. */
export interface WorkedKind {
  /** The name in the log. */
  readonly resource: string;
  readonly path: (namespace: string | undefined) => string;
  readonly make: (value: number) => object;
  /** A merge patch for the kind's own part. */
  readonly change: (value: number) => object;
}

/** Longest time for any answer: above the request timeout of the servers. */
const answerTimeoutMs = 90_000;

/**
 * The servers as clients see them: by address, whichever process runs there at the moment. Knows the newest version
 * that any client has received; everything that starts later must be at least as new.
 */
export class ClusterView {
  /** Highest version in any answer or event that has arrived. */
  observed = 0;
  /** While set, writers, readers and pagers pause. */
  private calm: Promise<void> | undefined;
  private endCalm: (() => void) | undefined;
  private busy = 0;
  private readonly clients: ApiClient[];
  private readonly watchClients: ApiClient[];

  constructor(
    urls: readonly string[],
    credentials: Credentials,
    private readonly report: Report,
  ) {
    this.clients = urls.map((url) => new ApiClient(url, credentials));
    this.watchClients = urls.map((url) => new ApiClient(url, credentials));
  }

  get size(): number {
    return this.clients.length;
  }

  saw(version: number): void {
    if (version > this.observed) this.observed = version;
  }

  /** A client for watches, which keep their connections. */
  watchClient(server: number): ApiClient {
    return this.watchClients[server] as ApiClient;
  }

  /**
   * Sends a request to one server; undefined when the connection broke. Counts the answers by their codes; a code
   * outside `allowed` and a request without an answer are violations.
   */
  async send(
    server: number,
    method: string,
    path: string,
    allowed: readonly number[],
    options: ApiRequest = {},
  ): Promise<ApiResponse | undefined> {
    const client = this.clients[server] as ApiClient;
    const late = new AbortController();
    const timer = delay(answerTimeoutMs, 'late' as const, { signal: late.signal }).catch(() => 'late' as const);
    const answer = await Promise.race([client.send(method, path, options).catch(() => undefined), timer]);
    late.abort();
    if (answer === 'late') {
      this.report.fail('answers', `no answer within ${answerTimeoutMs} ms`, { server, method, path });
      return undefined;
    }
    this.report.count(`${method} ${answer?.status ?? 'connection broken'}`);
    if (answer === undefined) return undefined;
    // Any request may meet shed load or a database outage.
    if ([...allowed, 429, 503, 504].includes(answer.status)) this.report.pass('answers');
    else this.report.fail('answers', `${answer.status} to ${method}`, { server, path, answer: answer.text });
    return answer;
  }

  /** Runs one step of a client, or waits while calm is set. */
  async step(work: () => Promise<void>): Promise<void> {
    while (this.calm !== undefined) await this.calm;
    this.busy++;
    try {
      await work();
    } finally {
      this.busy--;
    }
  }

  /** Pauses all clients but the watchers; resolves once nothing is under way. */
  async hush(): Promise<void> {
    this.calm = new Promise((resolve) => {
      this.endCalm = resolve;
    });
    while (this.busy > 0) await delay(10);
  }

  resume(): void {
    this.calm = undefined;
    this.endCalm?.();
  }

  close(): void {
    for (const client of [...this.clients, ...this.watchClients]) client.close();
  }
}
