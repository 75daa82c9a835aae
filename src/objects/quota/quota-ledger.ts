import type { ApiObject } from '../../base/machinery/api-object.js';
import type { StatusError } from '../../base/machinery/status-error.js';
import { Turn } from '../../base/machinery/turns.js';
import {
  mostTiedWrites,
  type Storage,
  type StoredObject,
  type TiedWriteAnswer,
  type Write,
  type WriteAnswer,
} from '../../storage/storage.interface.js';
import { StorageError } from '../../storage/storage-error.js';
import type { ResourceQuota } from '../apis/core/v1/resource-quota.types.js';
import type { StoredServedResource } from '../registry/resource-registry.js';
import { encodeForStorage, parseText } from '../registry/store/object-codec.js';
import { charged, draftOf, judge, type QuotaDraft, take, type UsageChange } from './charge.js';

/** A write that quotas may refuse. */
export interface QuotaRequest extends UsageChange {
  readonly namespace: string;
  /**
   * Returns why the write is refused even if it exceeds no quota, given all quotas of the namespace; undefined if it is
   * not.
   */
  readonly uncovered?: ((quotas: readonly (ResourceQuota & ApiObject)[]) => string | undefined) | undefined;
  /** Makes the error that the client receives. */
  readonly refusal: (reason: string) => StatusError;
}

type LedgerStorage = Pick<Storage, 'list' | 'writeTogether'>;

interface Waiting {
  readonly request: QuotaRequest;
  readonly write: Write;
  readonly resolve: (answer: WriteAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/** The writes of one namespace that wait for their turn, and what is known about its quotas. */
interface NamespaceQueue {
  waiting: Waiting[];
  isRunning: boolean;
  /**
   * By name, the states of quotas that this process wrote, or found when its write failed. The cache may not have them
   * yet.
   */
  readonly known: Map<string, KnownQuota>;
}

interface KnownQuota {
  /** If the cache has a newer version of the quota, that one is used. */
  readonly version: bigint;
  /** The stored quota; undefined if it has been removed. */
  readonly stored: StoredObject | undefined;
}

/** The most characters of a batch: a long batch would delay other writes. */
const mostCharacters = 1024 * 1024;
/** The most writes of one batch; the remainder of the storage's limit is for quotas. */
const mostWrites = mostTiedWrites - 50;
const mostRounds = 500;
const mostIdleQueues = 1000;

/**
 * Charges quotas. A charge is written in the transaction of the write that it is for, under the condition that no other
 * process charged the quota meanwhile. So at every version a quota shows at least the real usage: no limit is exceeded,
 * nothing has to be given back, and a process that dies leaves no charge without its object.
 *
 * While a batch of a namespace is being written, the next writes wait and share the following batch, which changes each
 * quota once, however many objects it has. A write that does not fit in the batch is refused, the others go on. Cached
 * quotas are only used for a first try: a refusal is always based on a fresh read.
 */
export class QuotaLedger {
  private readonly queues = new Map<string, NamespaceQueue>();

  /** @param isBehind whether memory may be too stale to know which quotas exist */
  constructor(
    private readonly storage: LedgerStorage,
    private readonly quotas: StoredServedResource,
    private readonly isBehind: () => boolean,
  ) {}

  /** Throws the refusal of a write that would exceed a quota now. Charges nothing. */
  async check(request: QuotaRequest): Promise<void> {
    const queueOf = this.queues.get(request.namespace);
    const judged = judgeRequest(request, await this.drafts(await this.recent(request.namespace, queueOf)));
    if (judged.kind === 'fits') return;
    const fresh = judgeRequest(request, await this.drafts(await this.read(request.namespace)));
    if (fresh.kind === 'refused') throw request.refusal(fresh.reason);
  }

  /**
   * Makes a write together with its charges. Returns the result of the write itself; throws the refusal when it exceeds
   * a quota, and StorageErrors.
   */
  write(request: QuotaRequest, write: Write): Promise<WriteAnswer> {
    return new Promise((resolve, reject) => {
      const queue = this.queueOf(request.namespace);
      queue.waiting.push({ request, write, resolve, reject });
      if (!queue.isRunning) void this.run(request.namespace, queue);
    });
  }

  private queueOf(namespace: string): NamespaceQueue {
    let queue = this.queues.get(namespace);
    if (queue === undefined) {
      if (this.queues.size >= mostIdleQueues) {
        for (const [name, { isRunning }] of this.queues) if (!isRunning) this.queues.delete(name);
      }
      queue = { waiting: [], isRunning: false, known: new Map() };
      this.queues.set(namespace, queue);
    }
    return queue;
  }

  private async run(namespace: string, queue: NamespaceQueue): Promise<void> {
    queue.isRunning = true;
    // Writes that become ready in the same turn of the event loop belong together.
    await new Promise((resolve) => setImmediate(resolve));
    while (queue.waiting.length > 0) {
      const batch = takeBatch(queue);
      try {
        await this.settle(namespace, queue, batch);
      } catch (error) {
        // Rejecting has no effect on a write that was already resolved or rejected.
        for (const { reject } of batch) reject(error);
      }
    }
    queue.isRunning = false;
  }

  /**
   * Resolves or rejects every write of a batch. Throws if the remaining writes were not made, or their outcome is
   * unknown.
   */
  private async settle(namespace: string, queue: NamespaceQueue, batch: readonly Waiting[]): Promise<void> {
    let left = [...batch];
    for (let round = 0; left.length > 0; round++) {
      if (round === mostRounds)
        throw new StorageError('Conflict', `quotas changed during each of ${mostRounds} attempts`);
      const { writes, passed, free } = await this.prepare(namespace, queue, left);
      for (const one of free) void this.writeFree(one);
      if (passed.length === 0) return;
      let answers: readonly TiedWriteAnswer[];
      try {
        answers = await this.storage.writeTogether([...writes, ...passed.map(({ write }) => write)]);
      } catch (error) {
        const isOneBad = error instanceof StorageError && error.code === 'Invalid' && passed.length > 1;
        if (!isOneBad) throw error;
        // A value in one of the writes can't be stored, so each write is made by itself.
        for (const one of passed) {
          await this.settle(namespace, queue, [one]).catch((reason: unknown) => one.reject(reason));
        }
        return;
      }
      for (const [i, write] of writes.entries()) note(queue, write, answers[i] as TiedWriteAnswer);
      left = passed.filter(({ resolve }, i) => {
        const answer = answers[writes.length + i] as TiedWriteAnswer;
        if (answer.kind === 'withdrawn') return true;
        resolve(answer);
        return false;
      });
    }
  }

  /** Makes a write that no quota counts in a transaction of its own, so that it does not fail with the others. */
  private async writeFree({ write, resolve, reject }: Waiting): Promise<void> {
    try {
      const [answer] = await this.storage.writeTogether([write]);
      // A write on its own is never withdrawn.
      resolve(answer as WriteAnswer);
    } catch (error) {
      reject(error);
    }
  }

  /**
   * Refuses writes that do not fit. Returns the changes of the quotas, the writes that fit, and those that no quota
   * counts.
   */
  private async prepare(
    namespace: string,
    queue: NamespaceQueue,
    batch: readonly Waiting[],
  ): Promise<Prepared & { readonly writes: readonly Write[] }> {
    let drafts = await this.drafts(await this.recent(namespace, queue));
    let judged = await judgeAll(batch, drafts);
    if (judged.refused.length > 0) {
      const fresh = await this.read(namespace);
      for (const stored of fresh) queue.known.set(stored.key.name, { version: stored.resourceVersion, stored });
      drafts = await this.drafts(fresh);
      judged = await judgeAll(batch, drafts);
    }
    for (const { waiting, reason } of judged.refused) waiting.reject(waiting.request.refusal(reason));
    const writes: Write[] = [];
    const turn = new Turn();
    for (const { stored, draft } of drafts) {
      const object = charged(draft);
      if (object === undefined) continue;
      const { key, uid, resourceVersion: expected, json: previousJson } = stored;
      writes.push({ op: 'update', key, uid, expected, json: encodeForStorage(this.quotas, object), previousJson });
      if (turn.isOver) await turn.next();
    }
    return { writes, passed: judged.passed, free: judged.free };
  }

  /** The quotas of a namespace in the newest versions that this process knows. */
  private async recent(namespace: string, queue: NamespaceQueue | undefined): Promise<readonly StoredObject[]> {
    if (this.isBehind()) return this.read(namespace);
    const resource = this.quotas.storageResource;
    const { items } = await this.storage.list({ resource, namespace, notOlderThan: 0n });
    return items.flatMap((item) => {
      const { name } = item.key;
      const known = queue?.known.get(name);
      if (known === undefined) return [item];
      if (known.version > item.resourceVersion) return known.stored === undefined ? [] : [known.stored];
      queue?.known.delete(name);
      return [item];
    });
  }

  private async read(namespace: string): Promise<readonly StoredObject[]> {
    return (await this.storage.list({ resource: this.quotas.storageResource, namespace })).items;
  }

  /** Made in turns with other work: a namespace may have hundreds of quotas. */
  private async drafts(quotas: readonly StoredObject[]): Promise<readonly StoredDraft[]> {
    const drafts: StoredDraft[] = [];
    const turn = new Turn();
    for (const stored of quotas) {
      const quota = parseText(this.quotas, stored.json) as ResourceQuota & ApiObject;
      drafts.push({ stored, draft: draftOf(quota) });
      if (turn.isOver) await turn.next();
    }
    return drafts;
  }
}

interface StoredDraft {
  readonly stored: StoredObject;
  readonly draft: QuotaDraft;
}

function judgeRequest(request: QuotaRequest, drafts: readonly StoredDraft[]) {
  const all = drafts.map(({ draft }) => draft);
  const judged = judge(request, all);
  if (judged.kind === 'refused') return judged;
  const reason = request.uncovered?.(all.map(({ quota }) => quota));
  return reason === undefined ? judged : { kind: 'refused' as const, reason };
}

interface Prepared {
  readonly passed: readonly Waiting[];
  readonly free: readonly Waiting[];
}

/** Judges the writes one after the other, in turns with other work. The drafts must belong to the caller. */
async function judgeAll(batch: readonly Waiting[], drafts: readonly StoredDraft[]) {
  const passed: Waiting[] = [];
  const free: Waiting[] = [];
  const refused: { readonly waiting: Waiting; readonly reason: string }[] = [];
  const turn = new Turn();
  for (const waiting of batch) {
    if (turn.isOver) await turn.next();
    const judged = judgeRequest(waiting.request, drafts);
    if (judged.kind === 'refused') refused.push({ waiting, reason: judged.reason });
    else if (judged.charges.length === 0 || isTaken(waiting, drafts)) free.push(waiting);
    else {
      take(judged.charges);
      passed.push(waiting);
    }
  }
  return { passed, free, refused };
}

/**
 * Whether a new quota has the name of an existing one: it will be refused, and can't be in one transaction with a
 * charge to that one.
 */
function isTaken({ write }: Waiting, drafts: readonly StoredDraft[]): boolean {
  return drafts.some(({ stored: { key } }) => key.resource === write.key.resource && key.name === write.key.name);
}

/** Takes the first writes that fit in one batch; the others stay queued. */
function takeBatch(queue: NamespaceQueue): readonly Waiting[] {
  const batch: Waiting[] = [];
  const left: Waiting[] = [];
  const keys = new Set<string>();
  let characters = 0;
  for (const waiting of queue.waiting) {
    const { key, json } = waiting.write;
    const id = `${key.resource}/${key.name}`;
    const fitsResources = batch.length < mostWrites && characters + json.length <= mostCharacters;
    if (!keys.has(id) && (batch.length === 0 || fitsResources)) {
      batch.push(waiting);
      characters += json.length;
    } else left.push(waiting);
    keys.add(id);
  }
  queue.waiting = left;
  return batch;
}

/** Records the state of a quota after its update was written or refused. */
function note(queue: NamespaceQueue, { key, uid, json, expected }: Write, answer: TiedWriteAnswer): void {
  if (answer.kind === 'written') {
    const version = answer.resourceVersion;
    queue.known.set(key.name, { version, stored: { key, uid, json, resourceVersion: version } });
  } else if (answer.kind === 'refused') {
    const { current } = answer;
    // Without a current state, the version just above the expected one is recorded: only a cache that still has the
    // expected version is wrong.
    queue.known.set(key.name, { version: current?.resourceVersion ?? (expected ?? 0n) + 1n, stored: current });
  }
}
