import { setTimeout as delay } from 'node:timers/promises';
import type { WatchStream } from './api-client.js';
import type { TestCluster, TestServer } from './test-cluster.js';

/** The pause after a failed request, since a server without its database refuses requests at once. */
const retryMs = 20;

/** The objects of the load. */
export interface ConfigMap {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
  readonly data?: { readonly n?: string };
}

/** The content of each version, as seen by acknowledged writes and watches. */
export class Contents {
  newest = 0n;
  readonly contradictions: string[] = [];
  private readonly byVersion = new Map<string, string>();

  note({ metadata: { name, uid, resourceVersion }, data }: ConfigMap): void {
    const content = `${name} ${uid} ${data?.n}`;
    const known = this.byVersion.get(resourceVersion);
    if (known !== undefined && known !== content)
      this.contradictions.push(`${resourceVersion}: ${known} and ${content}`);
    this.byVersion.set(resourceVersion, content);
    if (BigInt(resourceVersion) > this.newest) this.newest = BigInt(resourceVersion);
  }
}

/** Creates objects and changes them, one write after the other. */
export class LoadWriter {
  acknowledged = 0;
  private stopped = false;

  constructor(
    private readonly cluster: TestCluster,
    private readonly server: number,
    private readonly prefix: string,
    private readonly contents: Contents,
    private readonly path: string,
  ) {}

  async run(): Promise<void> {
    const client = this.cluster.servers[this.server]?.client as TestServer['client'];
    for (let i = 0; !this.stopped; i++) {
      const name = `${this.prefix}-${i % 7}`;
      const data = { n: String(i) };
      let answer = await client.patch(`${this.path}/${name}`, 'merge', { data }).catch(() => undefined);
      if (answer?.status === 404)
        answer = await client.post(this.path, { metadata: { name }, data }).catch(() => undefined);
      if (answer?.status !== 200 && answer?.status !== 201) {
        await delay(retryMs);
        continue;
      }
      this.acknowledged += 1;
      this.contents.note(answer.body);
    }
  }

  stop(): void {
    this.stopped = true;
  }
}

/** The state of a client that lists and watches, and lists again when its version has expired. */
export class Mirror {
  /** How often the client had to list again because its version had expired. */
  restarts = 0;
  private readonly objects = new Map<string, string>();
  private stream: WatchStream | undefined;
  private stopped = false;

  constructor(
    private readonly cluster: TestCluster,
    private readonly server: number,
    private readonly contents: Contents,
    private readonly path: string,
  ) {}

  get state(): string[] {
    return [...this.objects.values()].sort();
  }

  async run(): Promise<void> {
    let version: string | undefined;
    while (!this.stopped) {
      const began = performance.now();
      version = await this.follow(version).catch(() => version);
      if (performance.now() - began < retryMs) await delay(retryMs);
    }
  }

  stop(): void {
    this.stopped = true;
    this.stream?.close();
  }

  /** Returns the version to continue from; undefined if the client must list again. */
  private async follow(from: string | undefined): Promise<string | undefined> {
    const client = this.cluster.servers[this.server]?.client as TestServer['client'];
    let version = from;
    if (version === undefined) {
      const { status, body } = await client.get(this.path);
      if (status !== 200) return undefined;
      this.objects.clear();
      for (const item of body.items) this.take(item);
      version = body.metadata.resourceVersion as string;
    }
    this.stream = await client.watch(`${this.path}?watch=1&resourceVersion=${version}`);
    if (this.stopped) this.stream.close();
    if (this.stream.status === 410) return this.restart();
    if (this.stream.status !== 200) return version;
    for (;;) {
      const event = await this.stream.next(60_000).catch(() => undefined);
      if (event === undefined) return version;
      if (event.type === 'ERROR') return event.object.code === 410 ? this.restart() : version;
      this.take(event.object);
      version = event.object.metadata.resourceVersion as string;
    }
  }

  private restart(): undefined {
    this.restarts += 1;
    return undefined;
  }

  private take(object: ConfigMap): void {
    this.contents.note(object);
    this.objects.set(object.metadata.name, summary(object));
  }
}

/** One line per object and state. */
export function summary({ metadata: { name, resourceVersion }, data }: ConfigMap): string {
  return `${name} ${resourceVersion} ${data?.n}`;
}
