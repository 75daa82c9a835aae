import { readFileSync } from 'node:fs';
import type { ControlLoopOptions } from '../../base/config/control-loop.options.js';
import { LiveFiles } from '../../base/config/live-files.js';
import { errorText, StartupError } from '../../base/machinery/startup-error.js';
import type { VendorNames } from '../../base/machinery/vendor.js';
import type { Logger } from '../../base/observability/logger.js';
import { KeyFileError } from '../../server/authentication/service-account/key-file-error.js';
import { signSecretToken } from '../../server/authentication/service-account/secret-token.js';
import { readSigningKey, type SigningKey } from '../../server/authentication/service-account/token-issuer.js';
import { CertificatePool } from '../../server/authentication/x509/certificate-pool.js';
import type { ControllersOptions } from './controllers-options.js';
import type { SigningAuthorities } from './csr-signing/csr-signing.controller.js';
import { loadSigningAuthorities, signingAuthorityFiles } from './signing-authorities.js';

/** The authorities and keys that control loops read from files, always in their current state. */
export class LoopFiles {
  /** Options for the controllers. */
  readonly options: Pick<ControllersOptions, 'signing' | 'signToken' | 'rootAuthority'>;
  private readonly files: Pick<LiveFiles<unknown>, 'start' | 'stopped'>[] = [];
  private readonly running = new AbortController();

  /** @throws StartupError when a file can't be read or used. */
  constructor(
    options: Readonly<ControlLoopOptions>,
    names: VendorNames,
    private readonly logger: Logger,
  ) {
    const { serviceAccountPrivateKeyFile: keyFile, rootCaFile } = options;
    this.options = {
      signing: this.signing(options, names),
      signToken: keyFile === undefined ? undefined : this.signToken(keyFile, names),
      rootAuthority: rootCaFile === undefined ? undefined : this.rootAuthority(rootCaFile),
    };
  }

  /** Starts following the files. */
  start(): void {
    for (const file of this.files) file.start(this.running.signal);
  }

  async stop(): Promise<void> {
    this.running.abort();
    await Promise.all(this.files.map((file) => file.stopped()));
  }

  private live<T>(paths: readonly string[], subject: string, load: () => T): LiveFiles<T> {
    const files = new LiveFiles<T>({ paths, load, subject, logger: this.logger });
    this.files.push(files);
    return files;
  }

  private signing(options: Readonly<ControlLoopOptions>, names: VendorNames): SigningAuthorities | undefined {
    const paths = signingAuthorityFiles(options, names);
    if (paths.length === 0) return undefined;
    const load = () => loadSigningAuthorities(options, names) as SigningAuthorities;
    const live = this.live(paths, 'authorities that sign certificates', load);
    return {
      get authorities() {
        return live.current.authorities;
      },
      durationMs: options.clusterSigningDurationMs,
    };
  }

  private signToken(path: string, names: VendorNames): ControllersOptions['signToken'] {
    const load = (): SigningKey => {
      try {
        return readSigningKey(path);
      } catch (error) {
        if (error instanceof KeyFileError) throw new StartupError(error.message, { cause: error });
        throw error;
      }
    };
    const live = this.live([path], 'keys of service account tokens', load);
    return (request) => signSecretToken(request, live.current, names);
  }

  private rootAuthority(path: string): ControllersOptions['rootAuthority'] {
    const load = (): string => {
      try {
        const pem = readFileSync(path);
        // Throws when the file contains no certificates or broken ones.
        new CertificatePool(pem);
        return pem.toString('utf8');
      } catch (error) {
        throw new StartupError(`${path}: ${errorText(error)}`, { cause: error });
      }
    };
    const live = this.live([path], "authorities of the API's certificate", load);
    return {
      get pem() {
        return live.current;
      },
      onChange: (listener) => live.onChange(() => listener()),
    };
  }
}
