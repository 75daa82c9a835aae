import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Secret } from '../../../objects/apis/core/v1/secret.types.js';
import type { ServiceAccount } from '../../../objects/apis/core/v1/service-account.types.js';
import { Informer, type InformerIndex } from '../../../objects/registry/informers/informer.js';
import { componentUser, type ReconcileContext } from '../frame/reconcile-context.js';
import {
  keyOf,
  type ReconcileDependencies,
  ReconcileLoop,
  type Source,
  source,
  splitKey,
} from '../frame/reconcile-loop.js';
import type { RootAuthority } from '../root-authority/root-authority.js';
import type { WorkOutcome } from '../work-queue.js';
import { accountOf, withoutData } from './token-secret.js';

type StoredSecret = Secret & ApiObject;
type StoredAccount = ServiceAccount & ApiObject;

/** The content of a token in a secret. */
export interface SecretTokenRequest {
  readonly namespace: string;
  readonly secretName: string;
  readonly accountName: string;
  readonly accountUid: string;
}

export interface ServiceAccountTokenDependencies extends ReconcileDependencies {
  /** Signs a token. */
  readonly signToken: (request: SecretTokenRequest) => Promise<string>;
  /** Stored in the secrets next to the tokens; left out if unset. */
  readonly rootAuthority?: RootAuthority | undefined;
}

const entries = { token: 'token', authority: 'ca.crt', namespace: 'namespace' } as const;

/**
 * Fills secrets of the type for service account tokens (specification 5.3) with three entries: a token of the service
 * account that their annotation names, the authorities of the API, and the namespace. A secret is deleted if its
 * service account no longer exists or was replaced. A token becomes invalid with its secret, because verification reads
 * the secret.
 */
export class ServiceAccountTokenController extends ReconcileLoop {
  readonly name = 'tokens-controller';
  private readonly accounts = this.informer<StoredAccount>('', 'serviceaccounts');
  private readonly secrets: Informer<StoredSecret>;
  /** Secrets that should hold tokens, by the key of their service account. */
  private readonly secretsOf: InformerIndex<StoredSecret>;
  /** Deleted secrets, with the service account that may still list them. */
  private readonly gone = new Map<string, string>();

  constructor(private readonly own: ServiceAccountTokenDependencies) {
    super(own);
    const { storage, registry, logger, names } = own;
    const lost = (error: unknown) =>
      logger.warn('a control loop lost its place in the change log', { loop: this.name, error });
    this.secrets = new Informer(storage, registry, 'secrets', lost, withoutData);
    this.secretsOf = this.secrets.index('account', (secret) => {
      const account = accountOf(secret, names);
      return account === undefined ? [] : [`${secret.metadata.namespace}/${account.name}`];
    });
  }

  /** No service account has the rights that this loop needs, so it acts as the upstream component. */
  protected override get user() {
    return componentUser('kube-controller-manager');
  }

  protected override get queueName(): string {
    return 'serviceaccount_tokens_secret';
  }

  protected sources(): readonly Source[] {
    return [
      source(this.accounts, (account, old) =>
        [...this.secretsOf.get(keyOf((account ?? old) as StoredAccount))].map(keyOf),
      ),
      source(this.secrets, (secret, old) => {
        const wanted = accountOf((secret ?? old) as StoredSecret, this.dependencies.names);
        if (wanted === undefined) return [];
        const key = keyOf((secret ?? old) as StoredSecret);
        if (secret === undefined) this.gone.set(key, wanted.name);
        return [key];
      }),
    ];
  }

  protected override started(signal: AbortSignal): void {
    this.gone.clear();
    const stopListening = this.own.rootAuthority?.onChange(() => {
      for (const secret of this.secrets.all()) this.enqueue(keyOf(secret));
    });
    if (stopListening !== undefined) signal.addEventListener('abort', stopListening, { once: true });
  }

  protected async reconcile(key: string, work: ReconcileContext): Promise<WorkOutcome> {
    const { namespace, name } = splitKey(key);
    const secret = await this.client<StoredSecret>('', 'secrets').get(namespace, name);
    if (secret === undefined) {
      const accountName = this.gone.get(key);
      if (accountName !== undefined) await this.forget(namespace, accountName, name, work);
      this.gone.delete(key);
      return 'done';
    }
    this.gone.delete(key);
    const wanted = accountOf(secret, this.dependencies.names);
    if (wanted === undefined || secret.metadata.deletionTimestamp !== undefined) return 'done';
    const account = await this.client<StoredAccount>('', 'serviceaccounts').get(namespace, wanted.name);
    if (account === undefined || (wanted.uid !== '' && wanted.uid !== account.metadata.uid)) {
      await this.remove(secret, wanted.name, work);
    } else if (this.lacks(secret)) {
      await this.fill(secret, account, work);
    }
    return 'done';
  }

  private lacks({ data = {}, immutable }: StoredSecret): boolean {
    // An immutable secret can't be filled; its owner will find it empty.
    if (immutable === true) return false;
    const { rootAuthority } = this.own;
    const isBehind = rootAuthority !== undefined && data[entries.authority] !== base64(rootAuthority.pem);
    return isBehind || !data[entries.token] || !data[entries.namespace];
  }

  private async fill(seen: StoredSecret, account: StoredAccount, work: ReconcileContext): Promise<void> {
    const { names, logger, rootAuthority, signToken } = this.own;
    const { namespace = '', name = '' } = seen.metadata;
    const { name: accountName = '', uid: accountUid = '' } = account.metadata;
    const isNew = !seen.data?.[entries.token];
    const token = isNew ? await signToken({ namespace, secretName: name, accountName, accountUid }) : undefined;
    const written = await this.client<StoredSecret>('', 'secrets').update(work, seen, (live) => {
      if (accountOf(live, names)?.name !== accountName) return undefined;
      const { data = {} } = live;
      // Keep a token that was added meanwhile: somebody may already use it.
      if (token !== undefined && !data[entries.token]) data[entries.token] = base64(token);
      if (!data[entries.namespace]) data[entries.namespace] = base64(namespace);
      if (rootAuthority !== undefined) data[entries.authority] = base64(rootAuthority.pem);
      live.metadata.annotations = {
        ...live.metadata.annotations,
        [names.serviceAccountNameAnnotation]: accountName,
        [names.serviceAccountUidAnnotation]: accountUid,
      };
      return { ...live, data };
    });
    if (!isNew || written === undefined) return;
    logger.info('a service account token was put into a secret', { namespace, secret: name, accountName });
  }

  private async remove(secret: StoredSecret, accountName: string, work: ReconcileContext): Promise<void> {
    const { namespace = '', name = '', resourceVersion = '' } = secret.metadata;
    if (!(await this.client('', 'secrets').delete(work, secret, { resourceVersion }))) return;
    this.dependencies.logger.info('a service account token was deleted with its account', {
      namespace,
      secret: name,
      accountName,
    });
  }

  /** Removes a deleted secret from the service account's list. */
  private async forget(namespace: string, accountName: string, secret: string, work: ReconcileContext): Promise<void> {
    const accounts = this.client<StoredAccount>('', 'serviceaccounts');
    const account = await accounts.get(namespace, accountName);
    if (account?.secrets?.some(({ name }) => name === secret) !== true) return;
    await accounts.update(work, account, (live) => {
      const kept = (live.secrets ?? []).filter(({ name }) => name !== secret);
      const { secrets: _, ...rest } = live;
      return kept.length === 0 ? rest : { ...rest, secrets: kept };
    });
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
