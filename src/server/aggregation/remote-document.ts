import { createHash } from 'node:crypto';
import type { UserInfo } from '../../base/machinery/request-context.js';
import { inTurns, type Steps } from '../../base/machinery/turns.js';
import { aggregatorUser } from './availability.js';
import { BackendFault } from './backend-fault.js';
import type { ExtensionBackend } from './extension-backend.js';
import { parseRemoteText, readText } from './remote-text.js';

export interface RemoteDocumentOptions<T> {
  readonly path: string;
  /** Longer documents are refused. */
  readonly maxBytes: number;
  /** Converts the document to its value, in steps that yield to other work; throws for an unusable document. */
  readonly read: (value: unknown) => T | Promise<T>;
  readonly onFault: (error: unknown) => void;
  readonly user?: UserInfo;
  /** The current time in milliseconds from a fixed point. */
  readonly elapsed?: () => number;
}

/** A copy younger than this is used without a new request. */
const freshMs = 10_000;
/** A copy older than this is used only if no newer one arrives within {@link patienceMs}. */
const oldMs = 60_000;
/** The longest time that a reader waits for the other server. */
const patienceMs = 500;
const fetchLimitMs = 10_000;
const maxDepth = 100;
const valuesPerStep = 1000;

/**
 * A JSON document of an extension server, cached and fetched again when it is read. Readers wait at most half a second,
 * however slow the server is.
 */
export class RemoteDocument<T> {
  private value: T | undefined;
  private etag: string | undefined;
  private digest: string | undefined;
  private fetchedAt = Number.NEGATIVE_INFINITY;
  private isFailed = false;
  private pending: Promise<void> | undefined;
  private readonly elapsed: () => number;

  constructor(
    private readonly backend: Pick<ExtensionBackend, 'call' | 'headersAs'>,
    private readonly options: RemoteDocumentOptions<T>,
  ) {
    this.elapsed = options.elapsed ?? (() => performance.now());
  }

  /** The last copy, if there ever was one, and whether the server still responds. Never throws. */
  async get(): Promise<{ readonly value: T | undefined; readonly isCurrent: boolean }> {
    const age = this.elapsed() - this.fetchedAt;
    if (age >= freshMs) {
      this.pending ??= this.fetch();
      if (this.value === undefined || age >= oldMs) await Promise.race([this.pending, patience()]);
    }
    return this.last;
  }

  /** The last copy, without a request to the server. */
  get last(): { readonly value: T | undefined; readonly isCurrent: boolean } {
    return { value: this.value, isCurrent: this.value !== undefined && !this.isFailed };
  }

  private async fetch(): Promise<void> {
    try {
      await this.load();
      this.isFailed = false;
    } catch (error) {
      if (!this.isFailed) this.options.onFault(error);
      this.isFailed = true;
    } finally {
      this.fetchedAt = this.elapsed();
      this.pending = undefined;
    }
  }

  private async load(): Promise<void> {
    const { path, maxBytes, read, user = aggregatorUser } = this.options;
    const { backend, etag } = this;
    const answer = await backend.call({
      method: 'GET',
      path,
      headers: {
        ...(await backend.headersAs(user)),
        ...(etag === undefined ? {} : { 'if-none-match': etag }),
      },
      signal: AbortSignal.timeout(fetchLimitMs),
      headLimitMs: fetchLimitMs,
    });
    const { response } = answer;
    if (response.statusCode === 304 && etag !== undefined) {
      response.resume();
      return;
    }
    if (response.statusCode !== 200) {
      response.destroy();
      throw new BackendFault(`${path} was answered with ${response.statusCode}`);
    }
    const text = await readText(response, maxBytes);
    // An unchanged document stays the same value, so data derived from it need not be recomputed.
    const digest = createHash('sha256').update(text).digest('base64');
    if (digest !== this.digest) {
      const value = await parseRemoteText(text);
      if ((await inTurns(depthOf(value))) > maxDepth) throw new BackendFault(`${path} is nested too deeply`);
      this.value = await read(value);
      this.digest = digest;
    }
    this.etag = response.headers.etag;
  }
}

function patience(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, patienceMs).unref();
  });
}

/** Measures how deeply a value is nested. */
function* depthOf(value: unknown): Steps<number> {
  let deepest = 0;
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    const next: unknown[] = [];
    for (const [i, at] of level.entries()) {
      if (i % valuesPerStep === valuesPerStep - 1) yield;
      if (typeof at !== 'object' || at === null) continue;
      const members = Object.values(at);
      if (members.length > 0) deepest = depth + 1;
      // Of many members, too, only some in each step.
      for (const [k, member] of members.entries()) {
        if (k % valuesPerStep === valuesPerStep - 1) yield;
        if (typeof member === 'object' && member !== null) next.push(member);
      }
    }
    level = next;
  }
  return deepest;
}
