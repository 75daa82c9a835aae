import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { Backoff, type PauseRange } from '../machinery/backoff.js';
import type { DatabaseTarget } from './database-targets.js';
import { forgetPassword, obtainPassword } from './obtain-password.js';
import { openStream } from './open-stream.js';
import type { PasswordOwner } from './pass-file.js';
import type { PasswordSource } from './password-source.js';
import { type Protection, protectionOf } from './protection.js';
import type { TlsSettings } from './tls-settings.js';
import { type ByteSource, wholeMessages } from './whole-messages.js';

/** Where to connect, and for how long to try. */
export interface ConnectOptions {
  readonly target: DatabaseTarget;
  /** All settings except the host and the path to the server. */
  readonly config: Omit<pg.ClientConfig, 'connectionString' | 'connectionTimeoutMillis' | 'ssl' | 'stream'>;
  /** Time limit of connection, handshake and authentication together. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** A connection whose client is ready for statements. */
export interface DatabaseConnection {
  readonly client: pg.Client;
  readonly stream: Socket;
  readonly protection: Protection;
  /** The TLS settings for further connections to the same server. */
  readonly tls: TlsSettings;
}

/** The parts of the driver's client that its types do not expose. */
interface ClientParts {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  password: string | null | (() => Promise<string | undefined>);
  readonly connection: {
    stream: Socket;
    /** Begins to parse what arrives. */
    attachListeners: (source: ByteSource) => void;
    on(event: string, listener: (message: { readonly mechanisms?: readonly string[] }) => void): void;
  };
}

/**
 * The code of the error for a user who may not connect with encryption (`hostnossl` in pg_hba.conf), and for a token that an
 * external service refuses.
 */
const refusesUser = '28000';
const wrongPassword = '28P01';
const unbound = 'the server does not bind the password to its certificate, which channel_binding=require asks for';

/**
 * Pauses between attempts with a password that the server refuses and that may change, and the time limit of all of
 * them. An administrator who rotates a password changes the role and the source one after the other.
 */
const rotationPause: PauseRange = { firstMs: 250, longestMs: 1000 };
const rotationMs = 10_000;
/** The accounts that the server has accepted in this process: their password was right once. */
const accepted = new Set<string>();

/**
 * Connects a client. TLS is not left to the driver, which reads `sslmode` differently from libpq, treats a server
 * without TLS as a failure, and would connect twice for `prefer`. A password from a command that the server refuses is
 * requested from the command again. If the server has accepted the account before, a refused password that comes from a
 * source is tried again for up to ten seconds, with what the source has by then. Rejects with the error of the system,
 * of the handshake, of the server or of the source of the password.
 */
export async function connectDatabase(options: ConnectOptions): Promise<DatabaseConnection> {
  const deadline = performance.now() + Math.min(rotationMs, options.timeoutMs);
  const pauses = new Backoff(rotationPause);
  let { target } = options;
  for (;;) {
    try {
      const connection = await connectProtected({ ...options, target });
      accepted.add(accountOf(connection.client));
      return connection;
    } catch (error) {
      if (!(error instanceof RefusedPassword)) throw error;
      const isRenewed = error.mayDiffer && pauses.failures === 0;
      const pauseMs = pauses.next();
      if (!isRenewed) {
        if (!accepted.has(error.account) || performance.now() + pauseMs > deadline) throw error.cause;
        // The pause keeps the process alive: a command without other work would end without an error.
        await setTimeout(pauseMs, undefined, { signal: options.signal });
      }
      target = target.renewed?.() ?? target;
    }
  }
}

function accountOf({ host, port, user, database }: Pick<pg.Client, 'host' | 'port' | 'user' | 'database'>): string {
  return JSON.stringify([host, port, user, database]);
}

async function connectProtected(options: ConnectOptions): Promise<DatabaseConnection> {
  const { target } = options;
  const attempt = new Attempt(options, target.tls);
  try {
    return await attempt.connect();
  } catch (error) {
    const { encrypt, verify } = target.tls;
    const isRefused = error instanceof pg.DatabaseError && error.code === refusesUser;
    // A server that requested a password has accepted the encrypted connection: the password is not sent again in plain
    // text.
    if (!isRefused || encrypt !== 'prefer' || verify !== 'nothing' || !attempt.isEncrypted || attempt.wasAsked)
      throw error;
    try {
      return await new Attempt(options, { ...target.tls, encrypt: 'never' }).connect();
    } catch {
      throw error;
    }
  }
}

/** The server refuses a password that was obtained from a source. */
class RefusedPassword extends Error {
  constructor(
    override readonly cause: unknown,
    /** Whether the source may have another one at once. */
    readonly mayDiffer: boolean,
    readonly account: string,
  ) {
    super('the server refuses the password');
  }
}

class Attempt {
  private readonly client: pg.Client;
  private readonly parts: ClientParts;
  private stream: Socket | undefined;
  /** Whether the server has requested a password. */
  wasAsked = false;
  private isBound = false;
  /** The password from its source, once the server has asked for one. */
  private obtained: string | undefined;

  constructor(
    private readonly options: ConnectOptions,
    private readonly tls: TlsSettings,
  ) {
    const { target, config } = options;
    this.client = new pg.Client({
      ...config,
      connectionString: target.connectionString,
      ssl: false,
      sslnegotiation: 'postgres',
      enableChannelBinding: tls.channelBinding !== 'no' && tls.encrypt !== 'never',
    } as pg.ClientConfig);
    this.client.on('error', () => undefined);
    this.parts = this.client as unknown as ClientParts;
    const { password } = target;
    // The driver asks only if the server does.
    if (this.parts.password === null) {
      this.parts.password = async () => (password === undefined ? undefined : this.obtain(password));
    }
  }

  private async obtain(source: PasswordSource): Promise<string | undefined> {
    this.obtained = await obtainPassword(source, this.owner);
    return this.obtained;
  }

  private get owner(): PasswordOwner {
    const { host, port, user, database } = this.parts;
    return { host, port, user, database };
  }

  get isEncrypted(): boolean {
    return this.stream !== undefined && 'getPeerCertificate' in this.stream;
  }

  async connect(): Promise<DatabaseConnection> {
    const { timeoutMs, signal } = this.options;
    const late = AbortSignal.timeout(timeoutMs);
    const either = signal === undefined ? late : AbortSignal.any([late, signal]);
    const expire = (): void => void this.stream?.destroy(timedOut());
    try {
      const stream = await openStream(this.parts, this.tls, either);
      this.stream = stream;
      either.addEventListener('abort', expire);
      if (either.aborted) expire();
      this.hand(stream);
      this.watchPassword();
      await this.client.connect();
      if (this.tls.channelBinding === 'require' && !this.isBound) throw new Error(unbound);
      if (stream.destroyed) throw new Error('the connection ended while it was made');
      const protection = protectionOf(this.parts.host, stream, this.tls);
      return { client: this.client, stream, protection, tls: this.tls };
    } catch (error) {
      this.stream?.destroy();
      if (late.aborted && signal?.aborted !== true) throw timedOut();
      throw this.isRefused(error) ? new RefusedPassword(error, this.forget(), accountOf(this.client)) : error;
    } finally {
      either.removeEventListener('abort', expire);
    }
  }

  private isRefused(error: unknown): boolean {
    const mayChange = this.obtained !== undefined || this.options.target.renewed !== undefined;
    if (!mayChange || !(error instanceof pg.DatabaseError)) return false;
    return error.code === wrongPassword || error.code === refusesUser;
  }

  private forget(): boolean {
    const { password } = this.options.target;
    return password !== undefined && this.obtained !== undefined && forgetPassword(password, this.owner, this.obtained);
  }

  /**
   * The driver connects its stream itself: this stream is connected already, and reports that when the driver connects
   * it.
   */
  private hand(stream: Socket): void {
    const { config } = this.options;
    if (config.keepAlive === true) stream.setKeepAlive(true, config.keepAliveInitialDelayMillis ?? 0);
    const report = (): void => {
      if (!stream.destroyed) {
        stream.emit('connect');
        return;
      }
      stream.emit('error', new Error('Connection terminated unexpectedly'));
      stream.emit('close', true);
    };
    Object.assign(stream, {
      connect: () => {
        process.nextTick(report);
        return stream;
      },
    });
    const { connection } = this.parts;
    connection.stream = stream;
    const attach = connection.attachListeners.bind(connection);
    connection.attachListeners = (source) => attach(wholeMessages(source));
  }

  /** Without channel binding, an attacker who poses as the server may pass the password on to the real one. */
  private watchPassword(): void {
    const { connection } = this.parts;
    const isRequired = this.tls.channelBinding === 'require';
    const refuse = (): void => {
      this.wasAsked = true;
      if (isRequired) this.stream?.destroy(new Error(unbound));
    };
    connection.on('authenticationCleartextPassword', refuse);
    connection.on('authenticationMD5Password', refuse);
    connection.on('authenticationSASL', ({ mechanisms = [] }) => {
      this.wasAsked = true;
      if (!this.isEncrypted || !mechanisms.includes('SCRAM-SHA-256-PLUS')) refuse();
    });
    connection.on('authenticationSASLFinal', () => {
      this.isBound = this.isEncrypted;
    });
  }
}

function timedOut(): Error {
  return new Error('timeout expired');
}
