import type { IncomingMessage } from 'node:http';
import { checkNesting } from '../machinery/json/nesting.js';
import { parseInTurns } from '../machinery/json/parse-in-turns.js';
import type { UserInfo } from '../machinery/request-context.js';
import { inTurns, type Steps } from '../machinery/turns.js';
import { aggregatorUser } from './availability.js';
import { type Backend, BackendFault } from './backend.js';
import { identityHeaders } from './forwarded-headers.js';

export interface RemoteDocumentOptions<T> {
  readonly path: string;
  /** Longer ones are refused. */
  readonly maxBytes: number;
  /** Makes the value, in turns with other work; throws for a document that can't be used. */
  readonly read: (value: unknown) => T | Promise<T>;
  readonly onFault: (error: unknown) => void;
  readonly user?: UserInfo;
  /** Milliseconds from a fixed point. */
  readonly elapsed?: () => number;
}

/** A younger copy is used as it is. */
const freshMs = 10_000;
/** An older copy is used only if no newer one comes soon. */
const oldMs = 60_000;
/** How long a reader waits for the other server at most. */
const patienceMs = 500;
const fetchLimitMs = 10_000;
const maxDepth = 100;
/** Characters that take a few milliseconds. */
const parsedAtOnce = 256 * 1024;
const valuesPerStep = 1000;

/**
 * A JSON document of an extension server, kept and fetched again while it is read. However slow the server is, readers
 * wait half a second for it at most.
 */
export class RemoteDocument<T> {
  private value: T | undefined;
  private etag: string | undefined;
  private fetchedAt = Number.NEGATIVE_INFINITY;
  private isFailed = false;
  private pending: Promise<void> | undefined;
  private readonly elapsed: () => number;

  constructor(
    private readonly backend: Pick<Backend, 'call' | 'host'>,
    private readonly options: RemoteDocumentOptions<T>,
  ) {
    this.elapsed = options.elapsed ?? (() => performance.now());
  }

  /** The last copy, if there was ever one, and whether the server still answers. Never throws. */
  async get(): Promise<{ readonly value: T | undefined; readonly isCurrent: boolean }> {
    const age = this.elapsed() - this.fetchedAt;
    if (age >= freshMs) {
      this.pending ??= this.fetch();
      if (this.value === undefined || age >= oldMs) await Promise.race([this.pending, patience()]);
    }
    return this.last;
  }

  /** The same without asking the server. */
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
        ...identityHeaders(user),
        host: backend.host,
        accept: 'application/json',
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
    const text = await textOf(response, maxBytes);
    checkNesting(text);
    const value: unknown = text.length > parsedAtOnce ? await parseInTurns(text) : JSON.parse(text);
    if ((await inTurns(depthOf(value))) > maxDepth) throw new BackendFault(`${path} is nested too deeply`);
    this.value = await read(value);
    this.etag = response.headers.etag;
  }
}

function patience(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, patienceMs).unref();
  });
}

async function textOf(response: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += (chunk as Buffer).length;
    if (bytes > maxBytes) throw new BackendFault(`a document has more than ${maxBytes} bytes`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** How deeply a value is nested. */
function* depthOf(value: unknown): Steps<number> {
  let deepest = 0;
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    deepest = depth;
    const next: unknown[] = [];
    for (const [i, at] of level.entries()) {
      if (i % valuesPerStep === valuesPerStep - 1) yield;
      if (typeof at !== 'object' || at === null) continue;
      for (const member of Object.values(at)) next.push(member);
    }
    level = next;
  }
  return deepest;
}
