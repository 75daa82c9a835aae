import type { AuthenticationOptions } from '../../../base/config/authentication.options.js';
import { type Delay, systemDelay } from '../../../base/config/file-poll.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { ResourceStores } from '../../../objects/registry/store/resource-stores.js';
import type { TlsFiles } from '../x509/tls-files.js';
import { authorityData } from './authority-data.js';
import { publishClientAuthorities } from './publish-client-authorities.js';

const retryMs = 5_000;

/** Publishes the client CA certificates for extension servers, at the start and whenever their files change. */
export class AuthorityPublisher {
  private work: Promise<void> | undefined;
  private isWanted = false;

  constructor(
    private readonly names: VendorNames,
    private readonly stores: ResourceStores,
    private readonly options: AuthenticationOptions,
    private readonly tls: Pick<TlsFiles, 'authorities'>,
    private readonly logger: { warn(text: string, fields?: object): void },
    private readonly wait: Delay = systemDelay,
  ) {}

  /**
   * Publishes the CA certificates in force, which differ from the files if a change was refused. Throws when the
   * database is unreachable.
   */
  async publish(): Promise<void> {
    const { tls } = this;
    const inForce = { client: tls.authorities('client'), proxy: tls.authorities('proxy') };
    await publishClientAuthorities(this.names, this.stores, authorityData(this.options, inForce), this.logger);
  }

  /** Publishes in the background and retries until it succeeds or the signal is aborted. */
  publishSoon(signal: AbortSignal): void {
    this.isWanted = true;
    this.work ??= this.run(signal);
  }

  /** Resolves when all background work has ended after the signal is aborted. */
  async stopped(): Promise<void> {
    await this.work;
  }

  private async run(signal: AbortSignal): Promise<void> {
    while (this.isWanted && !signal.aborted) {
      this.isWanted = false;
      try {
        await this.publish();
      } catch (error) {
        this.isWanted = true;
        if (!signal.aborted) this.logger.warn('changed authorities are not published yet', { error });
        await this.wait(retryMs, signal).catch(() => undefined);
      }
    }
    this.work = undefined;
  }
}
