import { setTimeout as delay } from 'node:timers/promises';
import type { ApiResponse, WatchEvent, WatchStream } from '../e2e/support/api-client.js';
import type { Random } from '../support/random.js';
import type { WorkedKind } from './cluster-view.js';
import type { Placed } from './history.js';
import { infoOf, versionOf } from './object-digest.js';
import { checkParts } from './pagers.js';
import type { WatchCheck } from './watch-check.js';
import type { Workbench } from './writers.js';

export interface WatcherOptions {
  readonly kind: WorkedKind;
  readonly check: WatchCheck;
  /** Always this server, on long-lived connections; unset: any server, on short-lived ones. */
  readonly server?: number | undefined;
}

const openTimeoutMs = 30_000;

/**
 * A client that behaves like controllers: it lists, watches from there, and continues from its last version when the
 * connection ends, wherever that is. It lists again only when the answer is that this version is gone.
 */
export class Watcher {
  /** Whether events arrive now. */
  isOpen = false;
  private version: number | undefined;
  private stream: WatchStream | undefined;

  constructor(
    private readonly bench: Workbench,
    private readonly random: Random,
    readonly options: WatcherOptions,
  ) {}

  /** Runs until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const leave = () => this.stream?.close();
    signal.addEventListener('abort', leave);
    while (!signal.aborted) {
      const server = this.options.server ?? this.random.below(this.bench.view.size);
      try {
        await this.connect(server, signal);
      } catch (error) {
        // A cut connection in any form; the comparison shows what the stream lost by it.
        if (!signal.aborted)
          this.bench.report.count(`watch connections broken (${(error as NodeJS.ErrnoException).code ?? 'other'})`);
      }
      this.isOpen = false;
      this.stream?.close();
      if (signal.aborted) break;
      // Some return only after a while, perhaps too late to continue.
      const isLate = this.options.server === undefined && this.random.chance(0.1);
      await delay(isLate ? 2_000 + this.random.below(6_000) : this.random.below(100), undefined, { signal }).catch(
        () => undefined,
      );
    }
    signal.removeEventListener('abort', leave);
  }

  private async connect(server: number, signal: AbortSignal): Promise<void> {
    const isStreamed = this.version === undefined && this.random.chance(0.5);
    if (this.version === undefined && !isStreamed) await this.listAnew(server);
    if (this.version === undefined && !isStreamed) return;
    const query = this.selection();
    query.set('watch', '1');
    query.set('allowWatchBookmarks', 'true');
    const seconds = this.options.server === undefined ? 3 + this.random.below(12) : 600;
    query.set('timeoutSeconds', String(seconds));
    if (isStreamed) {
      query.set('sendInitialEvents', 'true');
      query.set('resourceVersionMatch', 'NotOlderThan');
    } else query.set('resourceVersion', String(this.version));
    const least = this.bench.view.observed;
    const stream = await this.open(server, query);
    if (stream === undefined || signal.aborted) return;
    this.stream = stream;
    if (isStreamed && !(await this.readInitial(server, stream, least))) return;
    this.bench.report.count(isStreamed ? 'watches begun with the state' : 'watches begun at a version');
    this.isOpen = true;
    // Some leave in the middle, like clients that crash.
    const leaveAfter = this.options.server === undefined && this.random.chance(0.3) ? this.random.below(200) : Infinity;
    for (let taken = 0; taken < leaveAfter; taken++) {
      const event = await stream.next(seconds * 1000 + openTimeoutMs);
      if (event === undefined) return;
      if (!this.take(server, event)) return;
    }
  }

  private selection(): URLSearchParams {
    const { range } = this.options.check;
    const query = new URLSearchParams();
    if (range.tier !== undefined) query.set('labelSelector', `tier=${range.tier}`);
    if (range.name !== undefined) query.set('fieldSelector', `metadata.name=${range.name}`);
    return query;
  }

  private async open(server: number, query: URLSearchParams): Promise<WatchStream | undefined> {
    const { view, report } = this.bench;
    const path = `${this.options.kind.path(this.options.check.range.namespace)}?${query}`;
    const late = new AbortController();
    const opening = view.watchClient(server).watch(path);
    const timer = delay(openTimeoutMs, undefined, { signal: late.signal }).catch(() => undefined);
    // A timer left from a refused connection would keep the process alive until it fires.
    const stream = await Promise.race([opening, timer]).finally(() => late.abort());
    if (stream === undefined) {
      // The answer may still come, but nobody will read it then.
      void opening.then((unread) => unread.close()).catch(() => undefined);
      report.count('watches not answered in time');
      return undefined;
    }
    report.count(`WATCH ${stream.status}`);
    if (stream.status === 200) return stream;
    stream.close();
    if (stream.status === 410) this.version = undefined;
    else if (![429, 503, 504].includes(stream.status)) {
      report.fail('answers', `${stream.status} to a watch`, { server, path });
    } else await delay(200);
    return undefined;
  }

  /** Reads the state up to the bookmark that ends it; false when the stream ended earlier. */
  private async readInitial(server: number, stream: WatchStream, least: number): Promise<boolean> {
    const { view, report } = this.bench;
    const { check } = this.options;
    const items: Placed[] = [];
    for (;;) {
      const event = await stream.next(openTimeoutMs);
      if (event === undefined || event.type === 'ERROR') return false;
      if (event.type === 'ADDED') {
        items.push(placed(check.range.resource, event.object));
        continue;
      }
      const version = versionOf(event.object);
      view.saw(version);
      const isEnd = event.object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true';
      const evidence = { watcher: check.title, server, version, least, event };
      if (event.type !== 'BOOKMARK' || !isEnd) {
        report.fail('watch-bookmarks', 'something before the end of the initial events', evidence);
        return false;
      }
      if (version < least)
        report.fail('list-fresh', 'the initial events are older than what was known before', evidence);
      else report.pass('list-fresh');
      this.begin(server, version, items);
      return true;
    }
  }

  private async listAnew(server: number): Promise<void> {
    const { view, report } = this.bench;
    const { kind, check } = this.options;
    const least = view.observed;
    const path = `${kind.path(check.range.namespace)}?${this.selection()}`;
    const answer: ApiResponse | undefined = await view.send(server, 'GET', path, [200]);
    if (answer?.status !== 200) {
      await delay(200);
      return;
    }
    const version = versionOf(answer.body);
    if (version < least) report.fail('list-fresh', `version ${version}, not at least ${least}`, { server, path });
    else report.pass('list-fresh');
    const items = answer.body.items.map((item: unknown) => placed(check.range.resource, item));
    this.begin(server, version, items);
  }

  private begin(server: number, version: number, items: Placed[]): void {
    const { view } = this.bench;
    view.saw(version);
    this.version = version;
    this.bench.report.count('watchers that started with a list');
    this.options.check.receive({ kind: 'relist', version, server });
    const { range } = this.options.check;
    // The initial events may come in any order.
    items.sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
    checkParts(this.bench, range, [{ version, after: undefined, items }]);
  }

  /** Passes one event to the comparison; false when the stream reported its end. */
  private take(server: number, { type, object }: WatchEvent): boolean {
    const { view, report } = this.bench;
    const { check } = this.options;
    if (type === 'ERROR') {
      report.count(`watches ended with ${object.code} ${object.reason}`);
      if (object.code === 410) this.version = undefined;
      else if (![429, 500, 503, 504].includes(object.code)) {
        report.fail('answers', 'an unexpected ERROR event', { watcher: check.title, server, object });
      }
      return false;
    }
    const version = versionOf(object);
    view.saw(version);
    this.version = version;
    if (type === 'BOOKMARK') check.receive({ kind: 'bookmark', version, server });
    else {
      const { name, namespace } = object.metadata;
      check.receive({ kind: 'event', type, name, namespace, version, info: infoOf(object), server });
    }
    return true;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: an object of any kind
function placed(resource: string, object: any): Placed {
  const { namespace, name } = object.metadata;
  return { key: { resource, namespace, name }, version: versionOf(object), info: infoOf(object) };
}

function orderOf({ key }: Placed): string {
  return `${key.namespace}\0${key.name}`;
}
