import type { Socket } from 'node:net';
import { isSealed, type Sealing } from '../encryption/sealing.js';
import type { Database, DatabaseEvents, Queries, QueryPool, Writer } from '../postgres/database.js';
import { EpochKeeper } from '../postgres/epoch-keeper.js';
import type { ResolvedOptions } from '../postgres/postgres-storage-options.js';
import type { Row } from '../postgres/session.js';
import type { WrittenBatch } from '../postgres/written-batch.js';
import type { StoredObject, TiedWriteAnswer, Write, WriteAnswer } from '../storage.interface.js';
import { StorageError } from '../storage-error.js';
import { DirectReads } from './direct-reads.js';
import { HubChannel } from './hub-channel.js';
import type { HubMessage, HubRequest } from './hub-messages.js';
import { receiveBatch } from './sent-batch.js';
import { receiveError } from './sent-error.js';
import { sendWrite } from './sent-write.js';

type Asked = HubRequest extends infer Request
  ? Request extends readonly [infer Kind, number, ...infer Rest]
    ? readonly [Kind, ...Rest]
    : never
  : never;

interface Call {
  readonly isWrite: boolean;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** The database, reached through the hub of this machine. Texts are encrypted and decrypted here. */
export class HubDatabase implements Database, Writer {
  readonly pool: QueryPool;
  readonly replica: QueryPool | undefined;
  readonly epochs: EpochKeeper;
  readonly writer: Writer = this;
  /** Always false: the hub sends notifications only while no batch is in progress. */
  readonly isSending = false;
  /** Reads that do not go through the hub; undefined: all do. */
  private readonly direct: DirectReads | undefined;
  private readonly givenUp = new AbortController();
  private readonly channel: HubChannel<HubRequest, HubMessage>;
  private readonly sealing: Sealing;
  /**
   * Calls without a response, by their number, which counts from 1; a number is reused once its call has been answered.
   * Not a Map: see `LinkedItems`.
   */
  private readonly calls: (Call | undefined)[] = [undefined];
  private readonly freeIds: number[] = [];
  private isStopping = false;
  private ended: StorageError | undefined;
  private onQuiet: (() => void) | undefined;

  /** @param readsDirectly whether reads use connections of this process, at most `poolSize`, rather than those of the hub */
  constructor(
    stream: Socket,
    options: ResolvedOptions,
    private readonly events: DatabaseEvents,
    readsDirectly = false,
  ) {
    const { observer, sealing, signal, readDatabaseUrl } = options;
    this.sealing = sealing;
    this.channel = new HubChannel(
      stream,
      (message: HubMessage) => this.receive(message),
      () => this.end(new StorageError('Unavailable', 'the process with the database connections has ended')),
    );
    this.epochs = new EpochKeeper(observer, async () => {
      await this.ask(['check-epoch', this.epochs.seen]);
    });
    const through = (kind: 'read' | 'read-replica'): QueryPool => {
      const session: Queries = {
        run: async (statement, values, timeoutMs) =>
          (await this.ask([kind, statement.name, values, timeoutMs])) as Row[],
      };
      return { run: (use) => use(session) };
    };
    this.direct = readsDirectly ? this.ownReads(options) : undefined;
    this.pool = this.direct ?? through('read');
    this.replica = readDatabaseUrl === undefined ? undefined : through('read-replica');
    signal.addEventListener('abort', () => this.giveUp());
  }

  async start(): Promise<void> {
    await this.ask(['start']);
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    const isWriting = () => this.calls.some((call) => call?.isWrite === true);
    while (isWriting()) {
      await new Promise<void>((resolve) => {
        this.onQuiet = resolve;
      });
    }
  }

  async close(): Promise<void> {
    await this.direct?.stop();
    this.giveUp();
    this.channel.close();
  }

  follow(resource: string, isFollowed: boolean): void {
    if (this.ended === undefined) this.channel.send(['follow', 0, resource, isFollowed]);
  }

  giveUp(): void {
    this.givenUp.abort();
    this.end(new StorageError('Closed', 'storage is shutting down'));
  }

  async write(write: Write): Promise<WriteAnswer> {
    const [sealed] = this.sealed([write]);
    const answer = (await this.ask(['write', sendWrite(sealed as Write)])) as WriteAnswer;
    return (await this.opened(write, answer)) as WriteAnswer;
  }

  async writeTogether(writes: readonly Write[]): Promise<readonly TiedWriteAnswer[]> {
    const answers = (await this.ask([
      'write-together',
      this.sealed(writes).map(sendWrite),
    ])) as readonly TiedWriteAnswer[];
    return Promise.all(answers.map((answer, i) => this.opened(writes[i] as Write, answer)));
  }

  async check(): Promise<void> {
    await this.ask(['check-writes']);
  }

  observe(version: bigint): void {
    // The hub has already seen the version: this process receives every version from the hub.
    this.epochs.observe(version);
  }

  /** A text that the database stores encrypted is sent to the hub only in encrypted form. */
  private sealed(writes: readonly Write[]): Write[] {
    if (this.isStopping) throw new StorageError('Closed', 'storage is shutting down');
    return writes.map((write) => {
      const json = this.sealing.seal(write.key, write.json);
      return json === write.json ? write : { ...write, json, previousJson: undefined };
    });
  }

  private async opened(write: Write, answer: TiedWriteAnswer): Promise<TiedWriteAnswer> {
    if (answer.kind !== 'refused' || answer.current === undefined) return answer;
    const { current } = answer;
    if (isSealed(current.json)) await this.sealing.prepare([{ key: write.key, stored: current.json }]);
    const object: StoredObject = { ...current, json: this.sealing.open(write.key, current.json) };
    const isOutdated = this.sealing.isOutdated(write.key, current.json);
    return { kind: 'refused', current: isOutdated ? { ...object, isOutdated: true } : object };
  }

  private ask(asked: Asked): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.ended !== undefined) {
        reject(this.ended);
        return;
      }
      const id = this.freeIds.pop() ?? this.calls.length;
      const [kind, ...rest] = asked;
      this.calls[id] = { isWrite: kind === 'write' || kind === 'write-together', resolve, reject };
      this.channel.send([kind, id, ...rest] as unknown as HubRequest);
    });
  }

  private receive(message: HubMessage): void {
    switch (message[0]) {
      case 'answer':
        this.settle(message[1])?.resolve(message[2]);
        return;
      case 'written':
        this.settle(message[1])?.resolve({ kind: 'written', resourceVersion: message[2] });
        return;
      case 'failure':
        this.settle(message[1])?.reject(receiveError(message[2]));
        return;
      case 'batch':
        this.direct?.seenByHub(message[1][0]);
        this.heard(receiveBatch(message[1]));
        return;
      case 'hint':
        this.events.hint(message[1], message[2]);
        return;
      case 'epoch': {
        const { epoch, lost, seen } = message[1];
        this.direct?.seenByHub(seen);
        this.epochs.adopt(epoch, lost, seen);
        return;
      }
    }
  }

  /** Called when a batch of this machine has finished. */
  heard(written: WrittenBatch): void {
    this.events.batchEnded(withReadableChanges(written));
  }

  private settle(id: number): Call | undefined {
    const call = this.calls[id];
    if (call !== undefined) {
      this.calls[id] = undefined;
      this.freeIds.push(id);
    }
    this.onQuiet?.();
    return call;
  }

  private ownReads(options: ResolvedOptions): DirectReads {
    const signal = AbortSignal.any([options.signal, this.givenUp.signal]);
    return new DirectReads(
      { ...options, signal },
      {
        observe: async (version) => (await this.ask(['observe', version])) as boolean,
        problem: () => this.ended,
      },
    );
  }

  private end(error: StorageError): void {
    this.ended ??= error;
    const unknown = new StorageError('UnknownOutcome', 'the storage ended during the write; it may have been made');
    for (const call of this.calls) call?.reject(call.isWrite ? unknown : error);
    this.calls.length = 1;
    this.freeIds.length = 0;
    this.onQuiet?.();
  }
}

/** Leaves out encrypted changes: they are read from the log, where they can be decrypted in turns. */
function withReadableChanges(written: WrittenBatch): WrittenBatch {
  const isReadable = written.stretch?.changes.every(({ json }) => !isSealed(json)) ?? true;
  return isReadable ? written : { ...written, stretch: undefined };
}
