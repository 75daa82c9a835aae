import type { AuthorizationMode } from '../../../base/config/authorization.options.js';
import { DocumentError } from '../../../base/config/document-error.js';
import type { Delay } from '../../../base/config/file-poll.js';
import { LiveFiles, type LiveFilesOptions } from '../../../base/config/live-files.js';
import type {
  AuthorizationDecision,
  Authorizer,
  AuthorizerAttributes,
  RuleList,
  RuleResolver,
} from '../../../base/machinery/authorizer.js';
import type { UserInfo } from '../../../base/machinery/request-context.js';
import type { ReloadMetrics } from '../../../base/observability/reload-metrics.js';
import type { ConfiguredMode } from '../configured-mode.js';
import { PrivilegedGroupAuthorizer } from '../privileged-group.authorizer.js';
import { UnionAuthorizer } from '../union.authorizer.js';
import { UnionRuleResolver } from '../union-rule-resolver.js';
import type { AuthorizerEntry } from './authorization-document.js';
import type { AuthorizerMetrics } from './authorizer-metrics.js';
import { ConfiguredWebhook, type ConfiguredWebhookDependencies } from './configured-webhook.js';

type OtherMode = Exclude<AuthorizationMode, 'Webhook'>;

/** Longer than any webhook call may take. */
const retireMs = 31_000;

/** Dependencies of the {@link LiveAuthorization}. */
export interface LiveAuthorizationDependencies extends ConfiguredWebhookDependencies {
  readonly logger: ConfiguredWebhookDependencies['logger'] & LiveFilesOptions<unknown>['logger'];
  readonly metrics: AuthorizerMetrics;
  readonly reloads: Pick<ReloadMetrics, 'reloaded'>;
  /** Reads the file; throws a DocumentError for an unusable one. */
  readonly load: () => readonly AuthorizerEntry[];
  /** Makes a mode other than Webhook. */
  readonly mode: (type: OtherMode) => ConfiguredMode;
  readonly wait?: Delay;
}

interface Chain {
  readonly entries: readonly AuthorizerEntry[];
  readonly authorizer: Authorizer;
  readonly rules: RuleResolver;
  readonly webhooks: ReadonlyMap<string, ConfiguredWebhook>;
}

/**
 * The authorizers of `--authorization-config`, in the current order of its file. A changed file takes effect as a
 * whole, for later requests; an unusable one changes nothing. A change may add, change and remove webhooks, and remove
 * or move the modes that the file had at the start, but not add other modes, which must follow stored objects from the
 * start on.
 */
export class LiveAuthorization implements Authorizer, RuleResolver {
  /** The modes that the file named at the start, besides webhooks. */
  readonly modes: ReadonlyMap<OtherMode, ConfiguredMode>;
  private readonly files: LiveFiles<readonly AuthorizerEntry[]>;
  private chain: Chain;
  private readonly retired = new Map<ConfiguredWebhook, NodeJS.Timeout>();

  /** Throws a DocumentError when the file is unusable now. */
  constructor(
    file: string,
    private readonly dependencies: LiveAuthorizationDependencies,
  ) {
    let known: ReadonlyMap<OtherMode, ConfiguredMode> | undefined;
    this.files = new LiveFiles({
      paths: [file],
      load: () => {
        const entries = dependencies.load();
        if (known !== undefined) refuseNewModes(entries, known);
        return entries;
      },
      logger: {
        info: () => undefined,
        error: (text, fields) => {
          dependencies.reloads.reloaded('failure', dependencies.clock.now());
          dependencies.logger.error(text, fields);
        },
      },
      subject: 'authorization configuration',
      wait: dependencies.wait,
    });
    const entries = this.files.current;
    const types = entries.flatMap(({ type }) => (type === 'Webhook' ? [] : [type]));
    known = new Map(types.map((type) => [type, dependencies.mode(type)]));
    this.modes = known;
    this.chain = this.chainOf(entries, new Map());
    this.files.onChange((changed) => this.replace(changed));
  }

  /** The types in force, in order. */
  get types(): readonly AuthorizationMode[] {
    return this.chain.entries.map(({ type }) => type);
  }

  authorize(attributes: AuthorizerAttributes): Promise<AuthorizationDecision> | AuthorizationDecision {
    return this.chain.authorizer.authorize(attributes);
  }

  rulesFor(user: UserInfo, namespace: string): Promise<RuleList> | RuleList {
    return this.chain.rules.rulesFor(user, namespace);
  }

  start(signal: AbortSignal): void {
    this.files.start(signal);
  }

  /**
   * Resolves when the file is no longer followed after the signal is aborted. Webhooks stop only then, since requests
   * still need decisions.
   */
  async stopped(): Promise<void> {
    await this.files.stopped();
    for (const webhook of this.chain.webhooks.values()) webhook.stop();
    for (const [webhook, timer] of this.retired) {
      clearTimeout(timer);
      webhook.stop();
    }
  }

  private replace(entries: readonly AuthorizerEntry[]): void {
    const before = this.chain.webhooks;
    this.chain = this.chainOf(entries, before);
    const kept = new Set(this.chain.webhooks.values());
    for (const webhook of before.values()) if (!kept.has(webhook)) this.retire(webhook);
    this.dependencies.reloads.reloaded('success', this.dependencies.clock.now());
    const authorizers = this.types.join(',');
    this.dependencies.logger.info('changed authorization configuration is in use', { authorizers });
  }

  /** Stops a replaced webhook only after the reviews in progress have ended. */
  private retire(webhook: ConfiguredWebhook): void {
    const timer = setTimeout(() => {
      this.retired.delete(webhook);
      webhook.stop();
    }, retireMs);
    timer.unref();
    this.retired.set(webhook, timer);
  }

  private chainOf(entries: readonly AuthorizerEntry[], before: ReadonlyMap<string, ConfiguredWebhook>): Chain {
    const { metrics } = this.dependencies;
    const webhooks = new Map<string, ConfiguredWebhook>();
    const rules: RuleResolver[] = [];
    const authorizers = entries.map((entry) => {
      const module = this.moduleOf(entry, before);
      if (module instanceof ConfiguredWebhook) webhooks.set(module.settings.key, module);
      rules.push(module instanceof ConfiguredWebhook ? module : module.rules);
      return metrics.counted(entry.type, entry.name, module instanceof ConfiguredWebhook ? module : module.authorizer);
    });
    const hasPolicy = entries.some(({ type }) => type !== 'AlwaysAllow' && type !== 'AlwaysDeny');
    const all = hasPolicy ? [new PrivilegedGroupAuthorizer(), ...authorizers] : authorizers;
    return { entries, authorizer: new UnionAuthorizer(all), rules: new UnionRuleResolver(rules), webhooks };
  }

  private moduleOf(
    entry: AuthorizerEntry,
    before: ReadonlyMap<string, ConfiguredWebhook>,
  ): ConfiguredWebhook | ConfiguredMode {
    if (entry.type !== 'Webhook') return this.modes.get(entry.type) as ConfiguredMode;
    return before.get(entry.webhook.key) ?? new ConfiguredWebhook(entry.webhook, this.dependencies);
  }
}

function refuseNewModes(entries: readonly AuthorizerEntry[], known: ReadonlyMap<string, unknown>): void {
  const added = entries.flatMap(({ type }, i) => (type === 'Webhook' || known.has(type) ? [] : [{ type, i }]));
  if (added.length === 0) return;
  throw new DocumentError(
    added.map(({ type, i }) => `authorizers[${i}].type: ${type} was not there at the start; it needs a restart`),
  );
}
