import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Backoff, untilAborted } from '../wait.js';

const CHANNEL = 'plinth_changes';
const HEARTBEAT_MS = 5_000;
const HEARTBEAT_TIMEOUT_MS = 3_000;
const PROBE_TIMEOUT_MS = 2_000;

/** A connection that is used for nothing but listening. */
export interface ListenConnection {
  /** Runs SQL without parameters; rejects, and gives the connection up, after `timeoutMs` milliseconds. */
  execute(name: string, sql: string, timeoutMs: number): Promise<unknown>;
  onNotification(callback: (payload: string) => void): void;
  /** Calls back once when the connection is gone, at once when it already is. */
  onBroken(callback: () => void): void;
  close(): Promise<void>;
}

/**
 * Listens for "something was committed" on a connection of its own. A notification only makes the feed look sooner:
 * one that is lost (broken connection, pooler in between) delays until the next poll. The connection is asked for a
 * sign of life, since a half-open socket would be silent for ever; after a reconnect LISTEN comes first and a look at
 * the log second, so nothing falls between them.
 */
export class NotifyListener {
  readonly #connect: () => Promise<ListenConnection>;
  readonly #onError: (error: unknown) => void;
  readonly #onVersion: (newest: bigint | undefined) => void;
  readonly #stop = new AbortController();
  #loop: Promise<void> | undefined;
  #warned = false;

  /** `onVersion` gets the version of a notification, undefined after every (re)connect. */
  constructor(
    connect: () => Promise<ListenConnection>,
    onVersion: (newest: bigint | undefined) => void,
    onError: (error: unknown) => void,
  ) {
    this.#connect = connect;
    this.#onError = onError;
    this.#onVersion = onVersion;
  }

  start(): void {
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const backoff = new Backoff(100, 5_000);
    while (!signal.aborted) {
      let session: ListenConnection | undefined;
      try {
        session = await this.#connect();
        await this.#listen(session);
        backoff.reset();
        await this.#watchOver(session);
      } catch (error) {
        if (!signal.aborted) this.#onError(error);
      } finally {
        await session?.close();
      }
      await untilAborted(backoff.next(), signal);
    }
  }

  async #listen(session: ListenConnection): Promise<void> {
    const probe = `plinth_probe_${randomBytes(6).toString('hex')}`;
    let arrived: (() => void) | undefined;
    const probed = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    session.onNotification((payload) => {
      if (payload === probe) arrived?.();
      else if (/^\d{1,19}$/.test(payload)) this.#onVersion(BigInt(payload));
    });
    await session.execute('listen', `listen ${CHANNEL}; listen ${probe}`, HEARTBEAT_TIMEOUT_MS);
    this.#onVersion(undefined);
    await session.execute('notify-probe', `select pg_notify('${probe}', '${probe}')`, HEARTBEAT_TIMEOUT_MS);
    const late = new AbortController();
    const silent = await Promise.race([
      probed.then(() => false),
      sleep(PROBE_TIMEOUT_MS, true, { signal: late.signal, ref: false }),
    ]);
    late.abort();
    if (silent && !this.#warned) {
      // A transaction pooler accepts LISTEN and delivers nothing.
      this.#warned = true;
      this.#onError(
        new Error('notifications do not arrive on this connection; changes of other processes are found by polling'),
      );
    }
    await session.execute('unlisten', `unlisten ${probe}`, HEARTBEAT_TIMEOUT_MS);
  }

  /** Returns when the connection is gone or it is time to stop. */
  async #watchOver(session: ListenConnection): Promise<void> {
    const broken = new AbortController();
    session.onBroken(() => broken.abort());
    const over = AbortSignal.any([broken.signal, this.#stop.signal]);
    while (!over.aborted) {
      await untilAborted(HEARTBEAT_MS, over);
      if (!over.aborted) await session.execute('heartbeat', 'select 1', HEARTBEAT_TIMEOUT_MS);
    }
  }
}
