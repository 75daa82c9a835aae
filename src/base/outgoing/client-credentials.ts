import { readFile } from 'node:fs/promises';
import { type Clock, systemClock } from '../machinery/clock.js';
import {
  type ClientAuth,
  type ClientConfig,
  ClientConfigError,
  type ClientTls,
  checkClientTls,
} from './client-config.js';

/** After this time, a call that needs the files checks them again. */
const fileAgeMs = 10_000;

/**
 * The credentials that this side presents to a remote service. Certificates and tokens in files are read again while
 * the process runs.
 */
export class ClientCredentials {
  private present: ClientTls;
  private tlsReadAt: number;
  private tokenOfFile: { readonly header: string; readonly until: number } | undefined;

  constructor(
    private readonly config: Pick<ClientConfig, 'tls' | 'auth' | 'files'>,
    private readonly clock: Clock = systemClock,
  ) {
    this.present = config.tls;
    this.tlsReadAt = clock.now();
    this.tokenOfFile = undefined;
  }

  /**
   * The certificates to use now; the same object until they change. If the files hold something that can't be used (a
   * key that is ahead of its certificate), the old ones stay until the next check.
   */
  async tls(): Promise<ClientTls> {
    const { ca, cert, key } = this.config.files;
    const now = this.clock.now();
    if ((ca ?? cert ?? key) === undefined || now < this.tlsReadAt + fileAgeMs) return this.present;
    // Calls that come meanwhile use the present certificates.
    this.tlsReadAt = now;
    const read = async (path: string | undefined, known: string | undefined) =>
      path === undefined ? known : await readFile(path, 'utf8');
    const before = this.present;
    try {
      const tls: ClientTls = {
        ...before,
        ca: await read(ca, before.ca),
        cert: await read(cert, before.cert),
        key: await read(key, before.key),
      };
      if (tls.ca === before.ca && tls.cert === before.cert && tls.key === before.key) return before;
      checkClientTls(tls, (problem) => new ClientConfigError(problem));
      this.present = tls;
    } catch {
      // The old certificates stay. A connection that fails because of them reports the reason.
    }
    return this.present;
  }

  /** The content of the Authorization header, if there is one. Throws when a token file was never readable. */
  async authorization(): Promise<string | undefined> {
    const auth: ClientAuth = this.config.auth;
    switch (auth.kind) {
      case 'none':
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
      // The last readable token is used for as long as it is accepted.
      if (known !== undefined) return known.header;
      throw error;
    }
  }
}
