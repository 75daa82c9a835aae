import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient, ApiResponse } from '../e2e/support/api-client.js';

const path = '/api/v1/namespaces/default/configmaps';
const pauseMs = 5;

/** Clients that write, read and watch all the time, and do not try again: whatever fails is counted. */
export class RotationLoad {
  readonly failures: string[] = [];
  requests = 0;
  events = 0;
  /** The longest time that a request took, in milliseconds. */
  longestMs = 0;
  private readonly stopping = new AbortController();
  private readonly tasks: Promise<void>[] = [];
  private readonly closers: (() => void)[] = [];

  constructor(private readonly clients: readonly ApiClient[]) {}

  async start(writers: number, readers: number): Promise<void> {
    for (const client of this.clients) await this.watch(client);
    for (let i = 0; i < writers; i++) this.tasks.push(this.write(i, this.clientOf(i)));
    for (let i = 0; i < readers; i++) this.tasks.push(this.read(i, writers, this.clientOf(i)));
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.tasks);
    for (const close of this.closers) close();
  }

  private clientOf(index: number): ApiClient {
    return this.clients[index % this.clients.length] as ApiClient;
  }

  private async write(index: number, client: ApiClient): Promise<void> {
    const name = `rotation-${index}`;
    const body = (value: number) => ({ metadata: { name }, data: { value: String(value) } });
    await this.ask(201, 'POST', () => client.post(path, body(0)));
    for (let value = 1; !this.stopping.signal.aborted; value++) {
      const answer = await this.ask(200, 'PUT', () => client.put(`${path}/${name}`, body(value)));
      if (answer?.status === 200 && answer.body.data.value !== String(value)) this.failures.push('PUT: another value');
      await delay(pauseMs);
    }
  }

  private async read(index: number, writers: number, client: ApiClient): Promise<void> {
    const name = `rotation-${index % writers}`;
    for (let turn = 0; !this.stopping.signal.aborted; turn++) {
      if (turn % 10 === 0) await this.ask(200, 'LIST', () => client.get(`${path}?limit=3`));
      // Its writer may not have made it yet.
      else await this.ask(turn < 10 ? undefined : 200, 'GET', () => client.get(`${path}/${name}`));
      await delay(pauseMs);
    }
  }

  private async ask(
    expected: number | undefined,
    what: string,
    send: () => Promise<ApiResponse>,
  ): Promise<ApiResponse | undefined> {
    const began = performance.now();
    try {
      const answer = await send();
      if (expected !== undefined && answer.status !== expected) {
        this.failures.push(`${what}: ${answer.status} ${answer.text.slice(0, 300)}`);
      }
      return answer;
    } catch (error) {
      this.failures.push(`${what}: ${error}`);
      return undefined;
    } finally {
      this.requests++;
      this.longestMs = Math.max(this.longestMs, performance.now() - began);
    }
  }

  private async watch(client: ApiClient): Promise<void> {
    const stream = await client.watch(`${path}?watch=1&allowWatchBookmarks=true`);
    if (stream.status !== 200) this.failures.push(`watch: ${stream.status}`);
    this.closers.push(() => stream.close());
    const follow = async () => {
      for (;;) {
        const event = await stream.next(120_000).catch((error: unknown) => {
          this.failures.push(`watch: ${error}`);
          return undefined;
        });
        if (event === undefined) break;
        if (event.type === 'ERROR') this.failures.push(`watch: ${JSON.stringify(event.object)}`);
        this.events++;
      }
      if (!this.stopping.signal.aborted) this.failures.push('watch: it ended');
    };
    void follow();
  }
}
