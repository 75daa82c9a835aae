import { LiveFiles } from '../../base/config/live-files.js';
import { type ConfiguredProvider, type EncryptedResources, Encryption } from './encryption.js';
import {
  type EncryptionEntry,
  type ProviderSettings,
  readEncryptionConfiguration,
} from './encryption-configuration.js';
import { AesCbcProvider } from './providers/aes-cbc-provider.js';
import { AesGcmProvider } from './providers/aes-gcm-provider.js';
import { connectKms } from './providers/kms-client.js';
import { KmsProvider } from './providers/kms-provider.js';
import { measuredKms } from './providers/measured-kms.js';
import { SecretBoxProvider } from './providers/secret-box-provider.js';
import { plainSealing, type Sealing } from './sealing.js';

export interface EncryptionAtRestOptions {
  /** The file of `--encryption-provider-config`; undefined if nothing is encrypted. */
  readonly file: string | undefined;
  /** Whether the file is loaded again when it changes. */
  readonly reloads: boolean;
  /** Vendor suffix in the API version of the file. */
  readonly suffix: string;
  readonly logger: {
    info(text: string, fields?: object): void;
    warn(text: string, fields?: object): void;
    error(text: string, fields?: object): void;
  };
  /** Called when a changed file was loaded or refused. */
  readonly onReload?: (outcome: 'success' | 'failure') => void;
  /** Called after each call of a key management service. */
  readonly onKmsCall?: (provider: string, method: string, code: string, seconds: number) => void;
}

/** The providers of one version of the file. */
interface Providers {
  readonly entries: readonly EncryptedResources[];
  readonly services: readonly KmsProvider[];
}

/**
 * Encryption of what the database stores (`--encryption-provider-config`), for the life of the process. A changed file
 * takes effect only when its key management services have answered; until then, and if it is unusable, the old
 * configuration stays.
 */
export class EncryptionAtRest {
  readonly sealing: Sealing;
  private readonly encryption: Encryption | undefined;
  private readonly file: LiveFiles<readonly EncryptionEntry[]> | undefined;
  private readonly stopping = new AbortController();
  private services: readonly KmsProvider[] = [];

  /** @throws an Error that names everything that is wrong with the file. */
  constructor(private readonly options: EncryptionAtRestOptions) {
    const { file, suffix, logger, onReload } = options;
    if (file === undefined) {
      this.sealing = plainSealing;
      return;
    }
    this.encryption = new Encryption([]);
    this.sealing = this.encryption;
    const failed = (text: string, fields?: object) => {
      onReload?.('failure');
      logger.error(text, fields);
    };
    this.file = new LiveFiles({
      paths: [file],
      load: () => readEncryptionConfiguration(file, suffix),
      logger: { info: () => undefined, error: failed },
      subject: 'encryption providers',
    });
  }

  /** Starts the services. A service that does not answer is retried; {@link healthChecks} reports it. */
  async start(): Promise<void> {
    const { encryption, file } = this;
    if (encryption === undefined || file === undefined) return;
    const { entries, services } = await this.started(file.current);
    encryption.replace(entries);
    this.services = services;
    if (!this.options.reloads) return;
    let last: Promise<void> = Promise.resolve();
    file.onChange((settings) => {
      last = last.then(() => this.takeIn(encryption, settings));
    });
    file.start(this.stopping.signal);
  }

  stop(): void {
    this.stopping.abort();
    for (const service of this.services) service.stop();
  }

  /** Fails while a key management service does not answer or is unhealthy. */
  get healthChecks() {
    if (this.encryption === undefined) return [];
    const check = () => {
      for (const service of this.services) service.check();
    };
    return [{ name: 'kms-providers', paths: ['healthz', 'readyz'] as const, check }];
  }

  private async takeIn(encryption: Encryption, settings: readonly EncryptionEntry[]): Promise<void> {
    const { file, logger, onReload } = this.options;
    const { entries, services } = await this.started(settings);
    try {
      for (const service of services) service.check();
    } catch (error) {
      for (const service of services) service.stop();
      onReload?.('failure');
      logger.error('changed encryption providers are not used', { file, error });
      return;
    }
    const before = this.services;
    encryption.replace(entries);
    this.services = services;
    for (const service of before) service.stop();
    if (this.stopping.signal.aborted) this.stop();
    onReload?.('success');
    logger.info('changed encryption providers are in use', { file });
  }

  private async started(settings: readonly EncryptionEntry[]): Promise<Providers> {
    const services: KmsProvider[] = [];
    const entries = settings.map(({ resources, providers }) => ({
      resources,
      providers: providers.flatMap((one) => this.make(one, services)),
    }));
    await Promise.all(services.map((service) => service.start()));
    return { entries, services };
  }

  private make(settings: ProviderSettings, services: KmsProvider[]): ConfiguredProvider[] {
    switch (settings.kind) {
      case 'identity':
        return ['identity'];
      case 'aesgcm':
        return settings.keys.map(({ name, secret }) => new AesGcmProvider(name, secret));
      case 'aescbc':
        return settings.keys.map(({ name, secret }) => new AesCbcProvider(name, secret));
      case 'secretbox':
        return settings.keys.map(({ name, secret }) => new SecretBoxProvider(name, secret));
      case 'kms': {
        const { name, socket, timeoutMs } = settings.kms;
        const { logger, onKmsCall } = this.options;
        const service = new KmsProvider({
          name,
          connect: async () => {
            const client = await connectKms(socket, timeoutMs);
            return measuredKms(client, (...call) => onKmsCall?.(name, ...call));
          },
          onError: (error) => logger.warn('key management service', { name, error }),
        });
        services.push(service);
        return [service];
      }
    }
  }
}
