import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient } from '../e2e/support/api-client.js';
import { eventually } from '../e2e/support/test-cluster.js';

export const path = '/api/v1/namespaces/default/configmaps';
const writers = 4;
const watchers = 4;
const perWriter = 30;
const pauseMs = 20;

/** The state after a write; `DELETED` has the version of the deletion. */
interface Step {
  readonly type: string;
  readonly version: string;
}

/** One writer for each object name, so the order of its writes is known. */
class Writer {
  readonly steps = new Map<string, Step[]>();
  readonly failures: string[] = [];

  constructor(
    private readonly client: ApiClient,
    private readonly id: number,
  ) {}

  /** Creates, changes and deletes objects in turn until the load ends. */
  async run(isRunning: () => boolean): Promise<void> {
    for (let i = 0; isRunning(); i++) {
      const name = `w${this.id}-${i % perWriter}`;
      try {
        await this.step(name, i);
      } catch (error) {
        this.failures.push(`${name}: ${(error as Error).message}`);
      }
      await sleep(pauseMs);
    }
  }

  get count(): number {
    return [...this.steps.values()].reduce((sum, steps) => sum + steps.length, 0);
  }

  private async step(name: string, i: number): Promise<void> {
    const steps = this.steps.get(name) ?? [];
    this.steps.set(name, steps);
    const last = steps.at(-1)?.type ?? 'DELETED';
    const value = String(i);
    if (last === 'DELETED') {
      const { status, body, text } = await this.client.post(path, { metadata: { name }, data: { value } });
      if (status !== 201) throw new Error(`create: ${status} ${text}`);
      steps.push({ type: 'ADDED', version: body.metadata.resourceVersion });
    } else if (steps.length % 4 !== 3) {
      const { status, body, text } = await this.client.patch(`${path}/${name}`, 'merge', { data: { value } });
      if (status !== 200) throw new Error(`patch: ${status} ${text}`);
      steps.push({ type: 'MODIFIED', version: body.metadata.resourceVersion });
    } else {
      const { status, text } = await this.client.delete(`${path}/${name}`);
      if (status !== 200) throw new Error(`delete: ${status} ${text}`);
      // The response does not contain the version of the deletion.
      steps.push({ type: 'DELETED', version: '' });
    }
  }
}

/**
 * A client that lists once and then watches forever: each watch that ends is followed by another from the same version.
 */
class Watcher {
  readonly steps = new Map<string, Step[]>();
  readonly faults: string[] = [];
  private last = '';
  private version = '0';
  reconnects = -1;

  constructor(private readonly client: ApiClient) {}

  async start(): Promise<void> {
    const { body } = await this.client.get(path);
    this.last = body.metadata.resourceVersion;
    this.version = this.last;
  }

  async run(isRunning: () => boolean): Promise<void> {
    while (isRunning()) {
      try {
        await this.follow(isRunning);
      } catch (error) {
        // Like any client, sends a request that a stopping server refuses to another server, from the same version.
        if (!/ECONN|socket hang up|socket disconnected|no watch event|: 503$/.test(String(error))) {
          this.faults.push(String(error));
        }
        await sleep(pauseMs);
      }
    }
  }

  private async follow(isRunning: () => boolean): Promise<void> {
    const stream = await this.client.watch(`${path}?watch=1&resourceVersion=${this.last}&allowWatchBookmarks=true`);
    if (stream.status !== 200) {
      stream.close();
      throw new Error(`watch from ${this.last}: ${stream.status}`);
    }
    this.reconnects += 1;
    try {
      while (isRunning()) {
        const event = await stream.next(1_000);
        if (event === undefined) return;
        this.note(event);
      }
    } finally {
      stream.close();
    }
  }

  private note({
    type,
    object,
  }: {
    readonly type: string;
    readonly object: { metadata?: Record<string, string> };
  }): void {
    const { resourceVersion = '', name = '' } = object.metadata ?? {};
    if (type === 'ERROR') {
      this.faults.push(`after ${this.last}: ${JSON.stringify(object)}`);
      return;
    }
    if (BigInt(resourceVersion) < BigInt(this.version)) this.faults.push(`${resourceVersion} after ${this.version}`);
    this.version = resourceVersion;
    this.last = resourceVersion;
    if (type === 'BOOKMARK' || !name.startsWith('w')) return;
    this.steps.set(name, [...(this.steps.get(name) ?? []), { type, version: resourceVersion }]);
  }
}

/** Writers and watchers, which check each other's results. */
export class Load {
  private readonly clients: ApiClient[] = [];
  private readonly writers: Writer[];
  private readonly watchers: Watcher[];
  private readonly writing: Promise<void>[] = [];
  private readonly watching: Promise<void>[] = [];
  private isWriting = true;
  private isWatching = true;

  /** @param connect makes a client that connects to a server that is ready */
  constructor(connect: () => ApiClient) {
    const client = (): ApiClient => {
      const made = connect();
      this.clients.push(made);
      return made;
    };
    this.writers = Array.from({ length: writers }, (_, id) => new Writer(client(), id));
    this.watchers = Array.from({ length: watchers }, () => new Watcher(client()));
  }

  async start(): Promise<void> {
    for (const watcher of this.watchers) {
      await watcher.start();
      this.watching.push(watcher.run(() => this.isWatching));
    }
    for (const writer of this.writers) this.writing.push(writer.run(() => this.isWriting));
  }

  get writes(): number {
    return this.writers.reduce((sum, { count }) => sum + count, 0);
  }

  /** Resolves after this many more writes; the load continues. */
  async goesOn(count = 40): Promise<void> {
    const wanted = this.writes + count;
    await eventually(() => this.writes >= wanted, 'writes to go on');
  }

  /** Ends the load. Resolves with all faults and the amount of work. */
  async stop(list: ApiClient): Promise<{ faults: string[]; writes: number; events: number; reconnects: number }> {
    this.isWriting = false;
    await Promise.all(this.writing);
    const faults = this.writers.flatMap(({ failures }) => failures.map((failure) => `write failed: ${failure}`));
    const expected = new Map(this.writers.flatMap(({ steps }) => [...steps]));
    for (const [index, watcher] of this.watchers.entries()) {
      const isComplete = () =>
        [...expected].every(([name, steps]) => (watcher.steps.get(name)?.length ?? 0) >= steps.length);
      await eventually(isComplete, 'all events', 30_000).catch(() => faults.push(`watcher ${index} misses events`));
    }
    this.isWatching = false;
    await Promise.all(this.watching);
    for (const [index, watcher] of this.watchers.entries()) {
      faults.push(...watcher.faults.map((fault) => `watcher ${index}: ${fault}`));
      for (const [name, steps] of expected) {
        const problem = difference(steps, watcher.steps.get(name) ?? []);
        if (problem !== undefined) faults.push(`watcher ${index}, ${name}: ${problem}`);
      }
    }
    faults.push(...(await this.compareList(list, expected)));
    for (const client of this.clients) client.close();
    const events = this.watchers
      .flatMap(({ steps }) => [...steps.values()])
      .reduce((sum, { length }) => sum + length, 0);
    const reconnects = this.watchers.reduce((sum, watcher) => sum + watcher.reconnects, 0);
    return { faults, writes: this.writes, events, reconnects };
  }

  private async compareList(client: ApiClient, expected: ReadonlyMap<string, readonly Step[]>): Promise<string[]> {
    const { body } = await client.get(path);
    const items = body.items as { metadata: { name: string; resourceVersion: string } }[];
    const listed = new Map(items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
    return [...expected].flatMap(([name, steps]) => {
      const last = steps.at(-1);
      const wanted = last === undefined || last.type === 'DELETED' ? undefined : last.version;
      return listed.get(name) === wanted ? [] : [`${name} is at ${listed.get(name)}, and was left at ${wanted}`];
    });
  }
}

/** The first difference between what was written and what was seen. */
function difference(written: readonly Step[], seen: readonly Step[]): string | undefined {
  for (let i = 0; i < Math.max(written.length, seen.length); i++) {
    const [left, right] = [written[i], seen[i]];
    const isSame = left?.type === right?.type && (left?.version === '' || left?.version === right?.version);
    if (!isSame) return `step ${i} was ${left?.type} ${left?.version}, seen was ${right?.type} ${right?.version}`;
  }
  return undefined;
}
