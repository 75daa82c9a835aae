import { type Delay, systemDelay } from '../../../base/config/file-poll.js';
import { LiveFiles, type LiveFilesOptions } from '../../../base/config/live-files.js';
import type { Clock } from '../../../base/machinery/clock.js';
import type { ReloadMetrics } from '../../../base/observability/reload-metrics.js';
import { claimedIssuer } from '../oidc/oidc-token.authenticator.js';
import { ownAudiences, type TokenAuthenticator, type TokenResult, unknownToken } from '../token-authenticator.js';
import type { AnonymousRule, AuthenticationConfiguration, JwtIssuer } from './authentication-document.js';
import { JwtAuthenticator, type JwtDependencies } from './jwt.authenticator.js';

/** A changed file takes effect once all of its issuers respond within this time, or not at all. */
const readyMs = 60_000;

/** The dependency by which caches drop identities of configured issuers. */
export const configurationDependency = 'authentication configuration';

/** Dependencies of the {@link LiveAuthentication}. */
export interface LiveAuthenticationDependencies extends JwtDependencies {
  readonly logger: LiveFilesOptions<unknown>['logger'] & JwtDependencies['logger'];
  readonly clock: Clock;
  readonly apiAudiences: readonly string[];
  readonly metrics: Pick<ReloadMetrics, 'reloaded'>;
  /** Reads the file; throws a DocumentError for an unusable one. */
  readonly load: () => AuthenticationConfiguration;
  /** Called when the issuers in force change: tokens accepted earlier may be invalid now. */
  readonly onChange: () => void;
  readonly wait?: Delay;
}

type Issuers = ReadonlyMap<string, JwtAuthenticator>;

/**
 * The issuers that the file of `--authentication-config` currently names. A changed file replaces all of them at once,
 * after all of its new issuers have been found. An unusable file, or one with an issuer that can't be found within a
 * minute, changes nothing. Unchanged issuers keep their keys.
 */
export class LiveAuthentication implements TokenAuthenticator {
  private readonly files: LiveFiles<AuthenticationConfiguration>;
  private issuers: Issuers;
  private rule: AnonymousRule | undefined;
  /** Aborted to stop waiting for the issuers of a file that has been replaced again. */
  private change = new AbortController();
  private changing: Promise<void> = Promise.resolve();
  private signal: AbortSignal | undefined;

  /** Throws a DocumentError when the file is unusable now. */
  constructor(
    file: string,
    private readonly dependencies: LiveAuthenticationDependencies,
  ) {
    this.files = new LiveFiles({
      paths: [file],
      load: () => dependencies.load(),
      logger: {
        info: () => undefined,
        error: (text, fields) => {
          dependencies.metrics.reloaded('failure', dependencies.clock.now());
          dependencies.logger.error(text, fields);
        },
      },
      subject: 'authentication configuration',
      wait: dependencies.wait ?? systemDelay,
    });
    const { issuers, anonymous } = this.files.current;
    this.issuers = new Map(issuers.map((issuer) => [issuer.url, new JwtAuthenticator(issuer, dependencies)]));
    this.rule = anonymous;
    this.files.onChange((configuration) => this.changed(configuration));
  }

  /** The rule for the anonymous user; undefined if the flag decides. */
  get anonymous(): AnonymousRule | undefined {
    return this.rule;
  }

  start(signal: AbortSignal): void {
    this.signal = signal;
    for (const issuer of this.issuers.values()) issuer.start();
    this.files.start(signal);
  }

  /** Resolves when all background work has ended after the signal is aborted. */
  async stopped(): Promise<void> {
    this.change.abort(new Error('the process stops'));
    await this.files.stopped();
    await this.changing;
    await Promise.all([...this.issuers.values()].map((issuer) => issuer.stop()));
  }

  async authenticateToken(token: string, asked: readonly string[], signal: AbortSignal): Promise<TokenResult> {
    if (this.issuers.size === 0) return unknownToken;
    const issuer = this.issuers.get(claimedIssuer(token) ?? '');
    if (issuer === undefined) return unknownToken;
    const audiences = ownAudiences(asked, this.dependencies.apiAudiences);
    if (audiences === undefined) return unknownToken;
    const result = await issuer.authenticate(token, audiences, signal);
    // The issuer may have been removed or changed during the check.
    if (this.issuers.get(issuer.issuer.url) !== issuer) return unknownToken;
    return result.kind === 'user' ? { ...result, dependsOn: [configurationDependency] } : result;
  }

  private changed(configuration: AuthenticationConfiguration): void {
    this.change.abort(new Error('the file changed again'));
    const change = new AbortController();
    this.change = change;
    this.changing = this.changing.then(() => this.replace(configuration, change.signal));
  }

  private async replace({ issuers, anonymous }: AuthenticationConfiguration, changed: AbortSignal): Promise<void> {
    if (changed.aborted) return;
    const { dependencies } = this;
    const next = new Map(
      issuers.map((issuer) => [issuer.url, this.kept(issuer) ?? new JwtAuthenticator(issuer, dependencies)]),
    );
    const isNew = (issuer: JwtAuthenticator) => this.issuers.get(issuer.issuer.url) !== issuer;
    const added = [...next.values()].filter(isNew);
    for (const issuer of added) issuer.start();
    try {
      const late = AbortSignal.timeout(readyMs);
      const limited = AbortSignal.any([changed, late, ...(this.signal === undefined ? [] : [this.signal])]);
      await Promise.all(added.map((issuer) => issuer.ready(limited)));
    } catch (error) {
      await Promise.all(added.map((issuer) => issuer.stop()));
      if (this.signal?.aborted === true) return;
      dependencies.metrics.reloaded('failure', dependencies.clock.now());
      dependencies.logger.error(
        'changed authentication configuration is not used: not all issuers were found in time',
        {
          error,
        },
      );
      return;
    }
    const dropped = [...this.issuers.values()].filter((issuer) => next.get(issuer.issuer.url) !== issuer);
    this.issuers = next;
    this.rule = anonymous;
    dependencies.onChange();
    dependencies.metrics.reloaded('success', dependencies.clock.now());
    dependencies.logger.info('changed authentication configuration is in use', { issuers: issuers.length });
    await Promise.all(dropped.map((issuer) => issuer.stop()));
  }

  private kept({ url, key }: JwtIssuer): JwtAuthenticator | undefined {
    const issuer = this.issuers.get(url);
    return issuer?.issuer.key === key ? issuer : undefined;
  }
}
