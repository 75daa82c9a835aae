import { isatty } from 'node:tty';
import { type Clock, systemClock } from '../../machinery/clock.js';
import type { Credentials } from '../api-access.js';
import type { ClientTls } from '../client-config.js';
import { type ExecCredential, readExecCredential } from './exec-credential.js';
import type { ClusterExtras, ExecPlugin } from './exec-plugin.js';
import { ExecPluginError } from './exec-plugin-error.js';
import { runPlugin } from './run-plugin.js';

/** The cluster for which a plugin returns credentials. */
export interface PluginCluster {
  /** An https URL. */
  readonly server: string;
  readonly extras: ClusterExtras | undefined;
}

export interface PluginDependencies {
  readonly clock?: Clock;
  readonly isTerminal?: () => boolean;
  readonly limitMs?: number;
}

/** A plugin may wait for a person who logs in with a browser. */
const usualLimitMs = 5 * 60_000;
/** The environment variable through which plugins receive the request. */
const infoVariable = 'KUBERNETES_EXEC_INFO';

/** What the plugin returned, and the credentials built from it. */
interface Shown {
  readonly obtained: ExecCredential;
  readonly base: ClientTls;
  readonly credentials: Credentials;
}

/**
 * Credentials from a plugin, kept in memory until they expire or the server refuses them. The plugin never runs twice at a
 * time.
 */
export class ExecCredentials {
  private readonly clock: Clock;
  private kept: ExecCredential | undefined;
  private running: Promise<ExecCredential> | undefined;
  private shown: Shown | undefined;

  constructor(
    private readonly plugin: ExecPlugin,
    private readonly cluster: PluginCluster,
    private readonly dependencies: PluginDependencies = {},
  ) {
    this.clock = dependencies.clock ?? systemClock;
  }

  /**
   * The credentials for the next request; the same object until they change.
   *
   * @param base how to verify the server
   * @throws ExecPluginError when the plugin returns none
   */
  async present(base: ClientTls): Promise<Credentials> {
    const obtained = await this.obtain(base);
    if (this.shown?.obtained !== obtained || this.shown.base !== base) {
      const tls = this.tlsWith(base, obtained);
      this.shown = { obtained, base, credentials: { tls, authorization: obtained.authorization } };
    }
    return this.shown.credentials;
  }

  /**
   * After a 401: whether the current credentials differ from the refused ones. Runs the plugin unless it has run since.
   *
   * @throws ExecPluginError when the plugin returns no credentials
   */
  async renew(refused: Credentials): Promise<boolean> {
    if (this.shown?.credentials !== refused) return true;
    const { obtained: before, base } = this.shown;
    if (this.kept === before) this.kept = undefined;
    const now = await this.obtain(base);
    return now.authorization !== before.authorization || now.cert !== before.cert || now.key !== before.key;
  }

  private async obtain(base: ClientTls): Promise<ExecCredential> {
    if (this.kept !== undefined && this.clock.now() <= (this.kept.expiresAt ?? Number.POSITIVE_INFINITY)) {
      return this.kept;
    }
    this.running ??= this.run(base).finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  private async run(base: ClientTls): Promise<ExecCredential> {
    const { plugin } = this;
    const isInteractive = this.isInteractive();
    const environment = { ...process.env, ...plugin.env, [infoVariable]: this.infoFor(base, isInteractive) };
    const limitMs = this.dependencies.limitMs ?? usualLimitMs;
    this.kept = readExecCredential(await runPlugin(plugin, { environment, isInteractive, limitMs }), plugin);
    return this.kept;
  }

  private isInteractive(): boolean {
    const { interactiveMode } = this.plugin;
    if (interactiveMode === 'Never') return false;
    const isTerminal = (this.dependencies.isTerminal ?? (() => isatty(0)))();
    if (interactiveMode === 'Always' && !isTerminal) {
      throw new ExecPluginError(this.plugin, 'it reads input (interactiveMode Always), and there is no terminal');
    }
    return isTerminal;
  }

  /** The `ExecCredential` that is passed to the plugin to request credentials. */
  private infoFor({ ca, serverName, insecureSkipVerify }: ClientTls, interactive: boolean): string {
    const { plugin, cluster } = this;
    const info = {
      server: cluster.server.replace(/\/$/, ''),
      ...(serverName === undefined ? {} : { 'tls-server-name': serverName }),
      ...(insecureSkipVerify ? { 'insecure-skip-tls-verify': true } : {}),
      ...(ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
      ...cluster.extras,
    };
    const spec = { ...(plugin.provideClusterInfo ? { cluster: info } : {}), interactive };
    return JSON.stringify({ kind: 'ExecCredential', apiVersion: plugin.apiVersion, spec });
  }

  /** The TLS settings with these credentials; the same object as before if nothing in it changes. */
  private tlsWith(base: ClientTls, { cert, key }: ExecCredential): ClientTls {
    const before = this.shown;
    const isSame = before?.base === base && before.obtained.cert === cert && before.obtained.key === key;
    return isSame ? before.credentials.tls : { ...base, cert, key };
  }
}
