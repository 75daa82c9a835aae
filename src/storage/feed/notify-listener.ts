import { randomBytes } from 'node:crypto';
import { setImmediate as nextRound, setTimeout as sleep } from 'node:timers/promises';
import { quoteName } from '../../base/database/sql-text.js';
import { Backoff } from '../../base/machinery/backoff.js';
import { systemTimers } from '../../base/machinery/timers.js';
import { OtherListeners } from './other-listeners.js';

/** Times in milliseconds. */
export interface ListenerTimes {
  readonly heartbeatMs: number;
  /** Time limit for every statement of the listener. */
  readonly heartbeatTimeoutMs: number;
  /** How long the self-test waits for its notification. */
  readonly probeTimeoutMs: number;
}

/**
 * After this many heartbeats without an announcement, no other process is assumed to listen: one announcement may be
 * late.
 */
const SILENT_HEARTBEATS = 3.5;

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

/** What the listener calls in the rest of the program. */
export interface ListenerHooks {
  /** Called with the version of a notification, and with undefined after every connect. */
  readonly onVersion: (newest: bigint | undefined) => void;
  readonly onError: (error: unknown) => void;
  /** Called when the listener connects again after this error. Default: `onError`. */
  readonly onRetry?: (error: unknown) => void;
  /** Returns the name of the channel on which versions are announced. */
  readonly channel: (connection: ListenConnection, timeoutMs: number) => Promise<string>;
  /** Sends a notification from another connection. */
  readonly notify: (channel: string, payload: string) => Promise<void>;
  /** Checks that the connection is alive; rejects without an answer within `timeoutMs` milliseconds. */
  readonly heartbeat: (connection: ListenConnection, timeoutMs: number) => Promise<void>;
}

/**
 * Listens for notifications of commits on a connection of its own. A notification only makes the feed read sooner: a
 * lost one (broken connection, pooler in between) delays changes until the next poll. A heartbeat checks the
 * connection, since a half-open socket would be silent for ever. After a reconnect LISTEN comes first and a read of the
 * log second, so nothing falls between them.
 */
export class NotifyListener {
  private readonly others: OtherListeners;
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
    this.others = new OtherListeners(times.heartbeatMs * SILENT_HEARTBEATS);
  }

  /** Whether other processes may listen for the versions that this one writes. */
  get mayHaveOthers(): boolean {
    return this.others.mayExist;
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
    const backoff = new Backoff({ firstMs: 100, longestMs: 5_000 }, Math.random);
    while (!signal.aborted) {
      let session: ListenConnection | undefined;
      try {
        session = await this.connect();
        const channel = await this.listen(session);
        backoff.reset();
        await this.watchOver(session, channel);
      } catch (error) {
        if (!signal.aborted) (this.hooks.onRetry ?? this.hooks.onError)(error);
      } finally {
        this.others.disconnected();
        await session?.close();
      }
      await systemTimers.wait(backoff.next(), signal);
    }
  }

  /**
   * A transaction pooler accepts LISTEN and delivers nothing. So the listener first tests the path with a notification
   * from another connection. A notification from the same connection would arrive whenever the pooler uses one server
   * connection for both. If the test fails, the listener does not LISTEN to the channel of versions, since that would
   * stay behind on a connection that serves others. Resolves with that channel if it does listen.
   */
  private async listen(session: ListenConnection): Promise<string | undefined> {
    const probe = `plinth_probe_${randomBytes(6).toString('hex')}`;
    let isSilent = true;
    let arrived: (() => void) | undefined;
    const probed = new Promise<void>((resolve) => {
      arrived = () => {
        isSilent = false;
        resolve();
      };
    });
    session.onNotification((payload) => {
      if (payload === probe) arrived?.();
      else if (/^\d{1,19}$/.test(payload)) this.heard(BigInt(payload));
      else this.others.hear(payload);
    });
    await session.execute('listen', `listen ${probe}`, this.times.heartbeatTimeoutMs);
    await this.hooks.notify(probe, probe);
    const late = new AbortController();
    await Promise.race([probed, sleep(this.times.probeTimeoutMs, undefined, { signal: late.signal, ref: false })]);
    late.abort();
    // After the process was blocked, timers run before sockets are read: notifications that arrived meanwhile were in
    // time.
    if (isSilent) await nextRound();
    let channel: string | undefined;
    if (!isSilent) {
      channel = await this.hooks.channel(session, this.times.heartbeatTimeoutMs);
      await session.execute('listen', `listen ${quoteName(channel)}`, this.times.heartbeatTimeoutMs);
      this.others.connected();
      await this.announce(channel);
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
    return channel;
  }

  /**
   * Announces to other processes that this one listens. A process that misses the announcement starts to notify this
   * one a heartbeat later.
   */
  private async announce(channel: string): Promise<void> {
    try {
      await this.hooks.notify(channel, this.others.announcement);
    } catch (error) {
      if (!this.stopping.signal.aborted) this.hooks.onError(error);
    }
  }

  /** Called when a notification reports that another process has written this version. */
  heard(version: bigint): void {
    this.hooks.onVersion(version);
  }

  /** Returns when the connection is lost or the listener must stop. */
  private async watchOver(session: ListenConnection, channel: string | undefined): Promise<void> {
    const broken = new AbortController();
    session.onBroken(() => broken.abort());
    const over = AbortSignal.any([broken.signal, this.stopping.signal]);
    while (!over.aborted) {
      await this.hooks.heartbeat(session, this.times.heartbeatTimeoutMs);
      await systemTimers.wait(this.times.heartbeatMs, over);
      if (channel !== undefined && !over.aborted) await this.announce(channel);
    }
  }
}
