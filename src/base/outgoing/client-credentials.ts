import { readFile } from 'node:fs/promises';
import { type Clock, systemClock } from '../machinery/clock.js';
import type { Credentials } from './api-access.js';
import {
  type ClientAuth,
  type ClientConfig,
  type ClientTls,
  type ClientUser,
  checkClientTls,
} from './client-config.js';
import { ClientConfigError } from './client-config-error.js';
import { ExecCredentials } from './exec/exec-credentials.js';

/** Files older than this, in milliseconds, are checked again before the next call that needs them. */
const fileAgeMs = 10_000;

/** A user, and the server address that is passed to a credential program. */
type CredentialsConfig = ClientUser & Partial<Pick<ClientConfig, 'server' | 'clusterExtras'>>;

/**
 * The credentials that this side presents to a remote service. Certificates and tokens in files are read again while
 * the process runs. A credential program runs on first use, when its credentials have expired, and when they were
 * refused.
 */
export class ClientCredentials {
  private ownTls: ClientTls;
  private tlsReadAt: number;
  private tokenOfFile: { readonly header: string; readonly until: number } | undefined;
  private readonly exec: ExecCredentials | undefined;

  constructor(
    private readonly config: CredentialsConfig,
    private readonly clock: Clock = systemClock,
  ) {
    const { auth, tls, server = '', clusterExtras } = config;
    this.ownTls = tls;
    this.tlsReadAt = clock.now();
    this.tokenOfFile = undefined;
    if (auth.kind === 'exec')
      this.exec = new ExecCredentials(auth.plugin, { server, extras: clusterExtras }, { clock });
  }

  /**
   * The credentials for the next request.
   *
   * @throws ExecPluginError when a program returns no credentials; the error of a token file that was never readable
   */
  async present(): Promise<Credentials> {
    const tls = await this.tls();
    return this.exec?.present(tls) ?? { tls, authorization: await this.authorization() };
  }

  /** After a 401: whether the current credentials differ from the refused ones. */
  async renew(refused: Credentials): Promise<boolean> {
    return this.exec?.renew(refused) ?? false;
  }

  /**
   * The current certificates from the files; the same object until they change. If the files hold something that can't
   * be used (a key that is ahead of its certificate), the old ones stay until the next check.
   */
  async tls(): Promise<ClientTls> {
    const { ca, cert, key } = this.config.files;
    const now = this.clock.now();
    if ((ca ?? cert ?? key) === undefined || now < this.tlsReadAt + fileAgeMs) return this.ownTls;
    // Calls that arrive meanwhile use the current certificates.
    this.tlsReadAt = now;
    const read = async (path: string | undefined, known: string | undefined) =>
      path === undefined ? known : await readFile(path, 'utf8');
    const before = this.ownTls;
    try {
      const tls: ClientTls = {
        ...before,
        ca: await read(ca, before.ca),
        cert: await read(cert, before.cert),
        key: await read(key, before.key),
      };
      if (tls.ca === before.ca && tls.cert === before.cert && tls.key === before.key) return before;
      checkClientTls(tls, (problem) => new ClientConfigError(problem));
      this.ownTls = tls;
    } catch {
      // The old certificates stay. If a connection fails because of them, its error gives the reason.
    }
    return this.ownTls;
  }

  /**
   * The content of the Authorization header, unless it comes from a program or there is none. Throws when a token file
   * was never readable.
   */
  async authorization(): Promise<string | undefined> {
    const auth: ClientAuth = this.config.auth;
    switch (auth.kind) {
      case 'none':
      case 'exec':
        return undefined;
      case 'bearer':
        return `Bearer ${auth.token}`;
      case 'basic':
        return `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`;
      case 'bearerFile':
        return this.tokenFrom(auth.path);
    }
  }

  private async tokenFrom(path: string): Promise<string> {
    const now = this.clock.now();
    const known = this.tokenOfFile;
    if (known !== undefined && now < known.until) return known.header;
    try {
      const header = `Bearer ${(await readFile(path, 'utf8')).trim()}`;
      this.tokenOfFile = { header, until: now + fileAgeMs };
      return header;
    } catch (error) {
      // If the file is unreadable now, the last readable token is used.
      if (known !== undefined) return known.header;
      throw error;
    }
  }
}
