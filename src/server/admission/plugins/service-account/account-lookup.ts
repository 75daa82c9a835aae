import { setTimeout as pause } from 'node:timers/promises';
import type { ReadLister } from '../../../../objects/registry/informers/shared-listers.js';
import type { ObjectReader } from '../../../../objects/registry/store/storage-reader.js';
import type { AdmissionDependencies } from '../../admission-dependencies.js';
import { accountReader, type KnownAccount } from './known-account.js';

const resource = { group: '', resource: 'serviceaccounts' };

/** The service account that a controller creates in every namespace. */
export const defaultAccount = 'default';

/**
 * How long a pod waits for the service account `default` of a new namespace, and how often it checks, in milliseconds.
 */
const patienceMs = 1000;
const roundMs = 50;

/**
 * Finds service accounts in the cache, or else in the store, since a client may have created the account a moment ago.
 */
export class AccountLookup {
  private readonly accounts: ReadLister<KnownAccount>;
  private readonly read: ReturnType<typeof accountReader>;
  private readonly objects: ObjectReader;

  constructor({ listers, objects, names }: Pick<AdmissionDependencies, 'listers' | 'objects' | 'names'>) {
    this.read = accountReader(names);
    this.accounts = listers.of(resource, this.read);
    this.objects = objects;
  }

  /**
   * The service account; undefined when it does not exist. For `default`, waits up to a second: the controller creates
   * it soon after the namespace, but clients may create pods at once.
   */
  find(namespace: string, name: string, signal: AbortSignal): KnownAccount | Promise<KnownAccount | undefined> {
    return this.accounts.get(namespace, name) ?? this.look(namespace, name, signal);
  }

  private async look(namespace: string, name: string, signal: AbortSignal): Promise<KnownAccount | undefined> {
    const stored = await this.stored(namespace, name);
    if (stored !== undefined || name !== defaultAccount) return stored;
    for (let waited = 0; waited < patienceMs; waited += roundMs) {
      await pause(roundMs, undefined, { signal });
      const account = this.accounts.get(namespace, name);
      if (account !== undefined) return account;
    }
    return await this.stored(namespace, name);
  }

  private async stored(namespace: string, name: string): Promise<KnownAccount | undefined> {
    const object = await this.objects.read(resource, namespace, name);
    return object === undefined ? undefined : this.read(object);
  }
}
