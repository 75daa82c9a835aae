import { isAbsolute } from 'node:path';
import { type AuthorizationMode, authorizationModes } from '../../../base/config/authorization.options.js';
import { DocumentFields } from '../../../base/config/document-fields.js';
import { DocumentProblems } from '../../../base/config/document-problems.js';
import { formatFlagDuration, parseFlagDuration } from '../../../base/config/flag-duration.js';
import { duplicate, invalid, notSupported, required, tooMany } from '../../../base/machinery/field-error.js';
import { isDns1123Subdomain } from '../../../base/machinery/names.js';
import { errorText } from '../../../base/machinery/startup-error.js';
import { type ClientConfig, loadClientConfig } from '../../../base/outgoing/client-config.js';
import type { CompileWork, Program } from '../../../objects/cel/index.js';
import { accessReviewVersions, type SubjectAccessReviewVersion } from '../webhook/review.js';
import { compileCondition, conditionWork } from './request-conditions.js';

/** A webhook of the file. Times are in milliseconds. */
export interface WebhookSettings {
  /** Webhooks with equal settings have equal keys. */
  readonly key: string;
  readonly name: string;
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
  readonly timeoutMs: number;
  readonly version: SubjectAccessReviewVersion;
  /** The decision when a review gets no response. */
  readonly failurePolicy: 'NoOpinion' | 'Deny';
  readonly connection: ClientConfig;
  readonly conditions: readonly Program[];
}

/** One authorizer of the file. */
export type AuthorizerEntry =
  | { readonly type: 'Webhook'; readonly name: string; readonly webhook: WebhookSettings }
  | { readonly type: Exclude<AuthorizationMode, 'Webhook'>; readonly name: string };

const maxTimeoutMs = 30_000;
const maxConditions = 64;
/** In the order of messages. */
const knownTypes = authorizationModes.toSorted();

/**
 * Reads a document of kind `AuthorizationConfiguration`, and the client configurations that it names.
 *
 * @param suffix suffix of the names of API groups
 * @throws DocumentError with all problems of these files.
 */
export function readAuthorizationConfiguration(document: unknown, suffix: string): readonly AuthorizerEntry[] {
  const problems = new DocumentProblems();
  const versions = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `apiserver.config.${suffix}/${version}`);
  const root = DocumentFields.ofDocument(document, 'AuthorizationConfiguration', versions, problems);
  const list = root.objects('authorizers');
  if (list.length === 0)
    problems.add(required(root.at('authorizers'), 'at least one authorization mode must be defined'));
  const reader = new AuthorizerReader(problems, conditionWork());
  const entries = list.flatMap((fields) => reader.read(fields) ?? []);
  root.done();
  problems.throwIfAny();
  return entries;
}

class AuthorizerReader {
  private readonly types = new Set<string>();
  private readonly names = new Set<string>();

  constructor(
    private readonly problems: DocumentProblems,
    private readonly work: CompileWork,
  ) {}

  /** The authorizer; undefined when it is unusable. */
  read(fields: DocumentFields): AuthorizerEntry | undefined {
    const { problems } = this;
    const type = fields.requiredText('type');
    const known = authorizationModes.find((mode) => mode === type);
    if (type !== '' && known === undefined) problems.add(notSupported(fields.at('type'), type, knownTypes));
    if (known !== undefined && known !== 'Webhook') {
      if (this.types.has(type)) problems.add(duplicate(fields.at('type'), type));
      this.types.add(type);
    }
    const name = fields.requiredText('name');
    if (name !== '') {
      const faults = isDns1123Subdomain(name);
      if (this.names.has(name)) problems.add(duplicate(fields.at('name'), name));
      else if (faults.length > 0) {
        problems.add(invalid(fields.at('name'), name, `authorizer name is invalid: ${faults.join(', ')}`));
      }
      this.names.add(name);
    }
    const own = fields.object('webhook');
    if (known === 'Webhook' && own === undefined)
      problems.add(required(fields.at('webhook'), 'required when type=Webhook'));
    const webhook = own && this.readWebhook(own, name);
    if (known !== 'Webhook' && own !== undefined && type !== '') {
      problems.add(invalid(fields.at('webhook'), 'non-null', 'may only be specified when type=Webhook'));
    }
    fields.done();
    if (known === undefined) return undefined;
    if (known !== 'Webhook') return { type: known, name };
    return webhook && { type: known, name, webhook };
  }

  private readWebhook(fields: DocumentFields, name: string): WebhookSettings | undefined {
    const { problems } = this;
    const authorizedTtlMs = this.ttl(fields, 'authorizedTTL', 'cacheAuthorizedRequests', 300_000);
    const unauthorizedTtlMs = this.ttl(fields, 'unauthorizedTTL', 'cacheUnauthorizedRequests', 30_000);
    const timeoutMs = fields.has('timeout') ? this.duration(fields, 'timeout') : 0;
    if (timeoutMs === 0) problems.add(required(fields.at('timeout')));
    else if (timeoutMs !== undefined && (timeoutMs < 0 || timeoutMs > maxTimeoutMs)) {
      problems.add(invalid(fields.at('timeout'), formatFlagDuration(timeoutMs), 'must be > 0s and <= 30s'));
    }
    const version = this.oneOf(fields, 'subjectAccessReviewVersion', accessReviewVersions);
    const failurePolicy = this.oneOf(fields, 'failurePolicy', ['NoOpinion', 'Deny'] as const);
    const conditions = this.readConditions(fields);
    const connectionInfo = fields.object('connectionInfo');
    if (connectionInfo === undefined) problems.add(required(fields.at('connectionInfo')));
    const connection = connectionInfo && this.readConnection(connectionInfo);
    fields.done();
    if (version === undefined || failurePolicy === undefined || connection === undefined) return undefined;
    const settings = {
      name,
      authorizedTtlMs,
      unauthorizedTtlMs,
      timeoutMs: timeoutMs ?? maxTimeoutMs,
      version,
      failurePolicy,
      connection,
    };
    const key = JSON.stringify([settings, conditions.map(({ text }) => text)]);
    return { ...settings, conditions, key };
  }

  private readConditions(fields: DocumentFields): readonly Program[] {
    const { problems } = this;
    const list = fields.objects('matchConditions');
    const versionField = 'matchConditionSubjectAccessReviewVersion';
    const version = fields.text(versionField);
    if (version !== '' && version !== 'v1') problems.add(notSupported(fields.at(versionField), version, ['v1']));
    if (version === '' && list.length > 0) {
      problems.add(required(fields.at(versionField), 'required if match conditions are specified'));
    }
    if (list.length > maxConditions) {
      problems.add(tooMany(fields.at('matchConditions'), list.length, maxConditions));
    }
    const seen = new Set<string>();
    return list.slice(0, maxConditions).flatMap((entry) => {
      const text = entry.requiredText('expression');
      entry.done();
      if (text === '') return [];
      if (seen.has(text)) problems.add(duplicate(entry.at('expression'), text));
      seen.add(text);
      const compiled = compileCondition(text, entry.at('expression'), this.work);
      if ('evaluate' in compiled) return [compiled];
      problems.add(compiled);
      return [];
    });
  }

  private readConnection(fields: DocumentFields): ClientConfig | undefined {
    const { problems } = this;
    const type = this.oneOf(fields, 'type', ['KubeConfigFile', 'InClusterConfig'] as const);
    const file = fields.text('kubeConfigFile');
    const at = fields.at('kubeConfigFile');
    fields.done();
    if (type === 'InClusterConfig') {
      problems.add(invalid(fields.at('type'), type, 'is not for this server, which would ask itself'));
      if (file !== '') problems.add(invalid(at, file, 'can only be set when type=KubeConfigFile'));
      return undefined;
    }
    if (type === undefined) return undefined;
    if (file === '') problems.add(required(at));
    else if (!isAbsolute(file)) problems.add(invalid(at, file, 'must be an absolute path'));
    else {
      try {
        return loadClientConfig(file);
      } catch (error) {
        problems.add(invalid(at, file, `error loading file: ${errorText(error)}`));
      }
    }
    return undefined;
  }

  private ttl(fields: DocumentFields, name: string, switchName: string, defaultMs: number): number {
    const isCached = fields.flag(switchName) ?? true;
    const ms = (fields.has(name) ? this.duration(fields, name) : undefined) || defaultMs;
    if (ms < 0) this.problems.add(invalid(fields.at(name), formatFlagDuration(ms), 'must be > 0s'));
    return isCached ? ms : 0;
  }

  private duration(fields: DocumentFields, name: string): number | undefined {
    const text = fields.text(name);
    const ms = parseFlagDuration(text);
    if (ms === undefined) this.problems.add(invalid(fields.at(name), text, 'must be a duration such as 30s or 5m'));
    return ms;
  }

  private oneOf<T extends string>(fields: DocumentFields, name: string, allowed: readonly T[]): T | undefined {
    const text = fields.requiredText(name);
    const found = allowed.find((value) => value === text);
    if (text !== '' && found === undefined) this.problems.add(notSupported(fields.at(name), text, allowed));
    return found;
  }
}
