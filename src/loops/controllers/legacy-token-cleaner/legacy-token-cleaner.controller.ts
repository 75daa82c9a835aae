import type { ApiObject } from '../../../base/machinery/api-object.js';
import {
  dayOf,
  invalidSinceLabel,
  lastUsedLabel,
  startOfDay,
  trackedSinceKey,
  trackingMapName,
} from '../../../base/machinery/legacy-tokens.js';
import type { ConfigMap } from '../../../objects/apis/core/v1/config-map.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { Secret } from '../../../objects/apis/core/v1/secret.types.js';
import type { ServiceAccount } from '../../../objects/apis/core/v1/service-account.types.js';
import { changeSource } from '../frame/change-source.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import { type ReconcileDependencies, ReconcileLoop, type Source } from '../frame/reconcile-loop.js';
import { accountOf } from '../service-account-token/token-secret.js';
import { storedObjects } from '../stored-objects.js';
import { coreResource } from '../token-secrets.js';
import type { WorkOutcome } from '../work-queue.js';
import { secretsOfPod } from './secrets-of-pod.js';

type StoredSecret = Secret & ApiObject;

export interface LegacyTokenCleanerDependencies extends ReconcileDependencies {
  /** How long a token must have been unused before it becomes invalid, and invalid before it is deleted. */
  readonly periodMs: number;
}

/** The one key: all tokens are checked together. */
const tokens = 'tokens';
const dayMs = 86_400_000;

/**
 * Marks tokens invalid that were generated for a service account automatically, are kept in a secret, and were not used
 * for a long time, and deletes their secrets when they have been invalid as long. Only tokens that their service
 * account lists in `secrets` qualify; those that pods mount stay. Begins when uses have been recorded for long enough.
 */
export class LegacyTokenCleanerController extends ReconcileLoop {
  readonly name = 'legacy-service-account-token-cleaner';

  constructor(private readonly own: LegacyTokenCleanerDependencies) {
    super(own);
  }

  protected override get queueName(): string {
    return 'legacy_service_account_token_cleaner';
  }

  protected sources(): readonly Source[] {
    // Once a day is enough: no change requires an earlier check.
    return [changeSource(this.dependencies, 'secrets', { keysOf: () => [], all: () => [tokens] })];
  }

  protected async reconcile(_key: string, work: ReconcileContext): Promise<WorkOutcome> {
    const { storage, registry, names } = this.dependencies;
    const { periodMs } = this.own;
    const map = await this.client<ConfigMap & ApiObject>('', 'configmaps').get(names.systemNamespace, trackingMapName);
    const since = startOfDay(map?.data?.[trackedSinceKey]);
    // The map names only the day on which the recording began, so a whole day is added.
    if (since === undefined || work.now < since + dayMs + periodMs) return dayMs;
    const preservedFrom = work.now - periodMs;
    const mounted = new Map<string, ReadonlySet<string>>();
    for await (const secret of storedObjects<StoredSecret>(storage, coreResource(registry, 'secrets'))) {
      if (!this.isUnused(secret, preservedFrom)) continue;
      if (!(await this.isListed(secret))) continue;
      const { namespace = '', name = '' } = secret.metadata;
      let used = mounted.get(namespace);
      if (used === undefined) {
        used = await this.secretsOfPods(namespace);
        mounted.set(namespace, used);
      }
      if (!used.has(name)) await this.advance(secret, preservedFrom, work);
    }
    return dayMs;
  }

  private isUnused({ type, metadata }: StoredSecret, preservedFrom: number): boolean {
    const { names } = this.dependencies;
    if (type !== names.serviceAccountTokenSecretType || metadata.deletionTimestamp !== undefined) return false;
    if (!(Date.parse(metadata.creationTimestamp ?? '') < preservedFrom)) return false;
    const lastUsed = metadata.labels?.[lastUsedLabel(names)];
    // Without the label, nobody has used the token since uses have been recorded. A date that can't be parsed proves
    // nothing.
    return lastUsed === undefined || (startOfDay(lastUsed) !== undefined && lastUsed < dayOf(preservedFrom));
  }

  /** Whether the service account of the secret lists it, as it lists those that were made for it. */
  private async isListed(secret: StoredSecret): Promise<boolean> {
    const wanted = accountOf(secret, this.dependencies.names);
    if (wanted === undefined) return false;
    const { namespace = '', name } = secret.metadata;
    const account = await this.client<ServiceAccount & ApiObject>('', 'serviceaccounts').get(namespace, wanted.name);
    if (account === undefined || (wanted.uid !== '' && wanted.uid !== account.metadata.uid)) return false;
    return (account.secrets ?? []).some((listed) => listed.name === name);
  }

  private async secretsOfPods(namespace: string): Promise<ReadonlySet<string>> {
    const { storage, registry } = this.dependencies;
    const used = new Set<string>();
    for await (const pod of storedObjects<Pod & ApiObject>(storage, coreResource(registry, 'pods'), namespace)) {
      for (const name of secretsOfPod(pod)) used.add(name);
    }
    return used;
  }

  private async advance(secret: StoredSecret, preservedFrom: number, work: ReconcileContext): Promise<void> {
    const { names, logger } = this.dependencies;
    const { namespace, name, labels, resourceVersion = '' } = secret.metadata;
    const label = invalidSinceLabel(names);
    const invalidSince = labels?.[label];
    const client = this.client<StoredSecret>('', 'secrets');
    if (invalidSince === undefined || startOfDay(invalidSince) === undefined) {
      const marked = await client.update(work, secret, (live) => {
        // Somebody has used or marked it meanwhile.
        if (!this.isUnused(live, preservedFrom) || live.metadata.labels?.[label] !== invalidSince) return undefined;
        live.metadata.labels = { ...live.metadata.labels, [label]: dayOf(work.now) };
        return live;
      });
      if (marked !== undefined)
        logger.info('an unused service account token became invalid', { namespace, secret: name });
      return;
    }
    if (invalidSince >= dayOf(preservedFrom)) return;
    if (await client.delete(work, secret, { resourceVersion })) {
      logger.info('an unused service account token was deleted', { namespace, secret: name, invalidSince });
    }
  }
}
