import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient } from '../e2e/support/api-client.js';
import { mapsPath } from './counter-writer.js';
import type { FailoverRecord } from './failover-record.js';

/**
 * Follows all counters as a client's cache does: a list, a watch from its version, another watch from the newest version
 * when that ends, and a list again only when the server says that this version is gone.
 */
export class CounterWatcher {
  readonly values = new Map<string, number>();
  /** Lists after the first one. */
  relists = -1;
  events = 0;
  private version: string | undefined;

  constructor(
    private readonly title: string,
    private readonly clients: readonly ApiClient[],
    private readonly record: FailoverRecord,
    private readonly maySkip: boolean,
  ) {}

  async run(signal: AbortSignal): Promise<void> {
    for (let turn = 0; !signal.aborted; turn++) {
      const client = this.clients[turn % this.clients.length] as ApiClient;
      try {
        if (this.version === undefined) await this.list(client);
        else await this.watch(client, this.version, signal);
      } catch {
        // The connection broke.
      }
      await delay(50);
    }
  }

  private async list(client: ApiClient): Promise<void> {
    const { status, body } = await client.get(mapsPath);
    if (status !== 200) return;
    this.relists++;
    for (const { metadata, data } of body.items) {
      if (metadata.name.startsWith('counter-')) this.see(metadata.name, Number(data.value), true);
    }
    this.version = body.metadata.resourceVersion;
  }

  private async watch(client: ApiClient, version: string, signal: AbortSignal): Promise<void> {
    const query = `watch=1&allowWatchBookmarks=true&timeoutSeconds=60&resourceVersion=${version}`;
    const stream = await client.watch(`${mapsPath}?${query}`);
    const close = () => stream.close();
    signal.addEventListener('abort', close, { once: true });
    try {
      if (stream.status === 410) this.version = undefined;
      if (stream.status !== 200) return;
      for (;;) {
        const event = await stream.next(90_000);
        if (event === undefined) return;
        if (event.type === 'ERROR') {
          // Any other error is tried again from the same version.
          if (event.object.code === 410) this.version = undefined;
          return;
        }
        this.version = event.object.metadata.resourceVersion;
        const { name = '' } = event.object.metadata;
        if (event.type !== 'BOOKMARK' && name.startsWith('counter-')) {
          this.events++;
          this.see(name, Number(event.object.data.value), false);
        }
      }
    } finally {
      signal.removeEventListener('abort', close);
      stream.close();
    }
  }

  private see(name: string, value: number, isListed: boolean): void {
    const before = this.values.get(name);
    const isNext = value === (before ?? 0) + 1;
    const isRight = isListed ? before === undefined || value >= before : isNext;
    if (!isRight && !this.maySkip) {
      this.record.violation(
        `${this.title}: ${name} went from ${before} to ${value} ${isListed ? 'in a list' : 'in a watch'}`,
      );
    }
    this.values.set(name, value);
  }
}
