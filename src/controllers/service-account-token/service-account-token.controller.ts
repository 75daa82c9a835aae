import type { Secret } from '../../apis/core/v1/secret.types.js';
import type { ServiceAccount } from '../../apis/core/v1/service-account.types.js';
import type { ApiObject } from '../../machinery/api-object.js';
import { cloneJson } from '../../machinery/json/exact-numbers.js';
import { StatusError } from '../../machinery/status-error.js';
import type { VendorNames } from '../../machinery/vendor.js';
import type { Logger } from '../../observability/logger.js';
import { ChangeInformer } from '../../registry/informers/change-informer.js';
import { Reflector } from '../../registry/informers/reflector.js';
import type { ResourceRegistry } from '../../registry/resource-registry.js';
import type { AdmittedStore, WriteAdmission } from '../../registry/store/admitted-store.js';
import { parseStored } from '../../registry/store/object-codec.js';
import type { Storage } from '../../storage/storage.interface.js';
import type { ControlLoop } from '../control-loop.js';
import type { RootAuthority } from '../root-authority/root-authority.js';
import type { Timers } from '../timers.js';
import { coreResource } from '../token-secrets.js';
import { accountContext } from '../work-context.js';
import { type WorkOutcome, WorkQueue } from '../work-queue.js';
import { workStore } from '../work-store.js';
import { AccountIndex, accountOf, keyText } from './account-index.js';

/** The content of a token in a secret. */
export interface SecretTokenRequest {
  readonly namespace: string;
  readonly secretName: string;
  readonly accountName: string;
  readonly accountUid: string;
}

export interface ServiceAccountTokenOptions {
  readonly storage: Storage;
  readonly admission?: WriteAdmission | undefined;
  readonly registry: ResourceRegistry;
  readonly names: VendorNames;
  readonly logger: Logger;
  readonly timers: Timers;
  /** Signs a token. */
  readonly signToken: (request: SecretTokenRequest) => Promise<string>;
  /** Stored in the secrets next to the tokens; if unset, left out. */
  readonly rootAuthority?: RootAuthority | undefined;
  /** First and longest pause before failed work is retried. Default 500 ms and 1 minute. */
  readonly firstPauseMs?: number | undefined;
  readonly longestPauseMs?: number | undefined;
}

const workers = 4;
const entries = { token: 'token', authority: 'ca.crt', namespace: 'namespace' } as const;

/** The secret or its account changed meanwhile; that change queues work of its own. */
class Superseded extends Error {}

/**
 * Fills secrets of the type for service account tokens (specification 5.3) with three entries: a token of the account
 * that their annotation names, the authorities of the API, and the namespace. A secret is deleted if its account no
 * longer exists or was replaced. A token dies with its secret, because verification reads the secret.
 */
export class ServiceAccountTokenController implements ControlLoop {
  readonly name = 'tokens-controller';
  private readonly secrets: AdmittedStore;
  private readonly accounts: AdmittedStore;
  private readonly index = new AccountIndex();
  /** Deleted secrets, with the account that may still list them. */
  private readonly gone = new Map<string, string>();

  /** @throws Error when the registry lacks secrets or service accounts. */
  constructor(private readonly options: ServiceAccountTokenOptions) {
    const { registry } = options;
    this.secrets = workStore(coreResource(registry, 'secrets'), options);
    this.accounts = workStore(coreResource(registry, 'serviceaccounts'), options);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { storage, registry, logger, timers, rootAuthority } = this.options;
    const failed = new AbortController();
    const ended = AbortSignal.any([signal, failed.signal]);
    const queue = new WorkQueue({
      work: (key) => this.process(key, ended),
      onFault: (secret, error) =>
        logger.warn('a secret could not be given its token yet', { loop: this.name, secret, error }),
      workers,
      firstPauseMs: this.options.firstPauseMs ?? 500,
      longestPauseMs: this.options.longestPauseMs ?? 60_000,
      timers,
    });
    const addAll = () => {
      for (const secret of this.index.all()) queue.add(secret);
    };
    const lost = (error: unknown) =>
      logger.warn('a control loop lost its place in the change log', { loop: this.name, error });
    // Follow the accounts first, so no change is missed while the secrets are read.
    const accounts = new ChangeInformer(
      storage,
      this.accounts.resource.storageResource,
      {
        changed: ({ namespace, name }) => {
          for (const secret of this.index.secretsOf(keyText(namespace, name))) queue.add(secret);
        },
        missed: addAll,
      },
      lost,
    );
    const { storageResource } = this.secrets.resource;
    const secrets = new Reflector(storage, registry, storageResource, this.secretSink(queue), lost);
    const stopListening = rootAuthority?.onChange(addAll);
    const work = queue.run(ended);
    try {
      await accounts.start(ended);
      await secrets.start(ended);
      await work;
    } finally {
      stopListening?.();
      failed.abort();
      await Promise.all([work, accounts.stopped(), secrets.stopped()]);
    }
  }

  private secretSink(queue: WorkQueue) {
    const { names } = this.options;
    const set = (object: ApiObject) => {
      const { namespace = '', name = '' } = object.metadata;
      const secret = keyText(namespace, name);
      const account = accountOf(object, names);
      this.index.set(secret, account && keyText(namespace, account.name));
      if (account !== undefined) queue.add(secret);
    };
    return {
      // Keep nothing confidential in memory.
      reduce: (object: ApiObject) => {
        const { metadata, type } = object as ApiObject as Secret;
        const { namespace, name, annotations } = metadata;
        return { metadata: { namespace, name, annotations }, type } as ApiObject;
      },
      replace: (objects: readonly ApiObject[]) => {
        this.index.clear();
        for (const object of objects) set(object);
      },
      set,
      delete: (namespace: string, name: string) => {
        const account = this.index.set(keyText(namespace, name), undefined);
        if (account === undefined) return;
        this.gone.set(keyText(namespace, name), account.slice(namespace.length + 1));
        queue.add(keyText(namespace, name));
      },
    };
  }

  private async process(key: string, signal: AbortSignal): Promise<WorkOutcome> {
    const { storage, names } = this.options;
    const [namespace = '', name = ''] = key.split('/');
    const stored = await storage.get({ resource: this.secrets.resource.storageResource, namespace, name });
    if (stored === undefined) {
      const accountName = this.gone.get(key);
      if (accountName !== undefined) await this.forget(namespace, accountName, name, signal);
      this.gone.delete(key);
      return 'done';
    }
    this.gone.delete(key);
    const secret = parseStored(this.secrets.resource, stored);
    const wanted = accountOf(secret, names);
    if (wanted === undefined || secret.metadata.deletionTimestamp !== undefined) return 'done';
    const account = await this.account(namespace, wanted.name);
    try {
      if (account === undefined || (wanted.uid !== '' && wanted.uid !== account.metadata.uid)) {
        await this.remove(secret, wanted.name, signal);
      } else if (this.lacks(secret)) {
        await this.fill(secret, account, signal);
      }
    } catch (error) {
      const isRace = error instanceof StatusError && ['NotFound', 'Conflict'].includes(error.reason);
      if (!isRace && !(error instanceof Superseded)) throw error;
    }
    return 'done';
  }

  private async account(namespace: string, name: string): Promise<ApiObject | undefined> {
    const { resource } = this.accounts;
    const stored = await this.options.storage.get({ resource: resource.storageResource, namespace, name });
    return stored && parseStored(resource, stored);
  }

  private lacks(object: ApiObject): boolean {
    const { data = {}, immutable } = object as ApiObject as Secret;
    // An immutable secret can't be filled; its owner will find it empty.
    if (immutable === true) return false;
    const { rootAuthority } = this.options;
    const isBehind = rootAuthority !== undefined && data[entries.authority] !== base64(rootAuthority.pem);
    return isBehind || !data[entries.token] || !data[entries.namespace];
  }

  private async fill(seen: ApiObject, account: ApiObject, signal: AbortSignal): Promise<void> {
    const { names, logger, rootAuthority } = this.options;
    const { namespace = '', name = '', uid } = seen.metadata;
    const { name: accountName = '', uid: accountUid = '' } = account.metadata;
    const isNew = !(seen as ApiObject as Secret).data?.[entries.token];
    const token = isNew
      ? await this.options.signToken({ namespace, secretName: name, accountName, accountUid })
      : undefined;
    await this.secrets.update(this.context(signal), namespace, name, {
      transform: (live) => {
        if (live?.metadata.uid !== uid || accountOf(live as ApiObject, names)?.name !== accountName) {
          throw new Superseded();
        }
        const copy = cloneJson(live) as ApiObject;
        const { data = {} } = copy as ApiObject as Secret;
        // Keep a token that was added meanwhile: somebody may already use it.
        if (token !== undefined && !data[entries.token]) data[entries.token] = base64(token);
        if (!data[entries.namespace]) data[entries.namespace] = base64(namespace);
        if (rootAuthority !== undefined) data[entries.authority] = base64(rootAuthority.pem);
        copy.metadata.annotations = {
          ...copy.metadata.annotations,
          [names.serviceAccountNameAnnotation]: accountName,
          [names.serviceAccountUidAnnotation]: accountUid,
        };
        return { ...copy, data } as ApiObject;
      },
    });
    if (isNew) logger.info('a service account token was put into a secret', { namespace, secret: name, accountName });
  }

  private async remove({ metadata }: ApiObject, accountName: string, signal: AbortSignal): Promise<void> {
    const { namespace = '', name = '', uid, resourceVersion } = metadata;
    const preconditions = { uid, resourceVersion };
    const context = this.context(signal);
    await this.secrets.delete(context, namespace, name, { preconditions });
    this.options.logger.info('a service account token was deleted with its account', {
      namespace,
      secret: name,
      accountName,
    });
  }

  /** Removes a deleted secret from the account's list. */
  private async forget(namespace: string, accountName: string, secret: string, signal: AbortSignal): Promise<void> {
    const account = (await this.account(namespace, accountName)) as ServiceAccount | undefined;
    if (account?.secrets?.some(({ name }) => name === secret) !== true) return;
    try {
      await this.accounts.update(this.context(signal), namespace, accountName, {
        transform: (live) => {
          const copy = cloneJson(live) as ApiObject as ServiceAccount;
          const kept = (copy.secrets ?? []).filter(({ name }) => name !== secret);
          const { secrets: _, ...rest } = copy;
          return (kept.length === 0 ? rest : { ...rest, secrets: kept }) as ApiObject;
        },
      });
    } catch (error) {
      if (!(error instanceof StatusError && error.reason === 'NotFound')) throw error;
    }
  }

  private context(signal: AbortSignal) {
    return accountContext(this.name, this.options.names, this.options.timers.now(), signal);
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
