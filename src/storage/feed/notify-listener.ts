import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Backoff, untilAborted } from '../wait.js';

/** Times in milliseconds. */
export interface ListenerTimes {
  readonly heartbeatMs: number;
  /** Limit for every statement of the listener. */
  readonly heartbeatTimeoutMs: number;
  /** How long the self-test waits for its notification. */
  readonly probeTimeoutMs: number;
}

const DEFAULT_TIMES: ListenerTimes = { heartbeatMs: 5_000, heartbeatTimeoutMs: 3_000, probeTimeoutMs: 2_000 };

/** A connection that is only used for listening. */
export interface ListenConnection {
  /** Runs SQL without parameters. After `timeoutMs` milliseconds it rejects and gives up the connection. */
  execute(name: string, sql: string, timeoutMs: number): Promise<unknown>;
  onNotification(callback: (payload: string) => void): void;
  /** Calls back once when the connection is gone; at once if it already is. */
  onBroken(callback: () => void): void;
  close(): Promise<void>;
}

/** The parts of the program that the listener works with. */
export interface ListenerHooks {
  /** Gets the version of a notification; undefined after every connect. */
  readonly onVersion: (newest: bigint | undefined) => void;
  readonly onError: (error: unknown) => void;
  /** Name of the channel that announces versions. */
  readonly channel: (connection: ListenConnection, timeoutMs: number) => Promise<string>;
  /** Sends a notification from another connection. */
  readonly notify: (channel: string, payload: string) => Promise<void>;
  /** Checks that the connection is alive; rejects without an answer within `timeoutMs` milliseconds. */
  readonly heartbeat: (connection: ListenConnection, timeoutMs: number) => Promise<void>;
}

/**
 * Listens for "something was committed" on a connection of its own. A notification only makes the feed look sooner: a
 * lost one (broken connection, pooler in between) delays changes until the next poll. A heartbeat checks the
 * connection, since a half-open socket would be silent for ever. After a reconnect LISTEN comes first and a look at the
 * log second, so nothing falls between them.
 */
export class NotifyListener {
  private readonly connect: () => Promise<ListenConnection>;
  private readonly hooks: ListenerHooks;
  private readonly times: ListenerTimes;
  private readonly stopping = new AbortController();
  private loop: Promise<void> | undefined;
  private warned = false;

  constructor(connect: () => Promise<ListenConnection>, hooks: ListenerHooks, times: ListenerTimes = DEFAULT_TIMES) {
    this.connect = connect;
    this.hooks = hooks;
    this.times = times;
  }

  start(): void {
    this.loop = this.run();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.loop;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    const backoff = new Backoff(100, 5_000);
    while (!signal.aborted) {
      let session: ListenConnection | undefined;
      try {
        session = await this.connect();
        await this.listen(session);
        backoff.reset();
        await this.watchOver(session);
      } catch (error) {
        if (!signal.aborted) this.hooks.onError(error);
      } finally {
        await session?.close();
      }
      await untilAborted(backoff.next(), signal);
    }
  }

  /**
   * A transaction pooler accepts LISTEN and delivers nothing. So the listener first tests the way with a notification
   * from another connection. A notification from the same one would arrive whenever the pooler uses one server
   * connection for both. If the test fails, it does not LISTEN to the channel of versions, since that would stay
   * behind on a connection that serves others.
   */
  private async listen(session: ListenConnection): Promise<void> {
    const probe = `plinth_probe_${randomBytes(6).toString('hex')}`;
    let arrived: (() => void) | undefined;
    const probed = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    session.onNotification((payload) => {
      if (payload === probe) arrived?.();
      else if (/^\d{1,19}$/.test(payload)) this.heard(BigInt(payload));
    });
    await session.execute('listen', `listen ${probe}`, this.times.heartbeatTimeoutMs);
    await this.hooks.notify(probe, probe);
    const late = new AbortController();
    const silent = await Promise.race([
      probed.then(() => false),
      sleep(this.times.probeTimeoutMs, true, { signal: late.signal, ref: false }),
    ]);
    late.abort();
    if (!silent) {
      const channel = await this.hooks.channel(session, this.times.heartbeatTimeoutMs);
      await session.execute('listen', `listen ${channel}`, this.times.heartbeatTimeoutMs);
    } else if (!this.warned) {
      this.warned = true;
      this.hooks.onError(
        new Error(
          'notifications do not arrive on this connection, as behind a transaction pooler: changes of other processes ' +
            'are found by polling; --listen-database-url takes a direct connection',
        ),
      );
    }
    this.hooks.onVersion(undefined);
    await session.execute('unlisten', `unlisten ${probe}`, this.times.heartbeatTimeoutMs);
  }

  /** Another process has written this version. */
  heard(version: bigint): void {
    this.hooks.onVersion(version);
  }

  /** Returns when the connection is gone or the listener has to stop. */
  private async watchOver(session: ListenConnection): Promise<void> {
    const broken = new AbortController();
    session.onBroken(() => broken.abort());
    const over = AbortSignal.any([broken.signal, this.stopping.signal]);
    while (!over.aborted) {
      await this.hooks.heartbeat(session, this.times.heartbeatTimeoutMs);
      await untilAborted(this.times.heartbeatMs, over);
    }
  }
}
