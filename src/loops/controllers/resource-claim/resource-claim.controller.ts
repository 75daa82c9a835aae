import { StatusError } from '../../../base/machinery/status-error.js';
import type { PodResourceClaim } from '../../../objects/apis/core/v1/pod-spec.types.js';
import type { ResourceClaimConsumerReference } from '../../../objects/apis/resource/v1/resource-claim.types.js';
import type { StoredPod } from '../frame/indexes.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import { keyOf, ReconcileLoop, type Source, source, splitKey } from '../frame/reconcile-loop.js';
import { errorMessage, isNamespaceTerminating } from '../frame/refusals.js';
import type { WorkOutcome } from '../work-queue.js';
import {
  claimFromTemplate,
  claimKeysOf,
  deviceClaimName,
  isClaimOfPod,
  isPodDone,
  owningPod,
  type StoredClaimTemplate,
  type StoredResourceClaim,
} from './pod-claims.js';

const podKey = 'pod:';
const claimKey = 'claim:';
const maxConsumers = 256;

/**
 * Creates the device claims that pods request by templates and writes their names into the pods, reserves allocated
 * claims for pods that were placed without the scheduler, removes pods that are gone or done from the claims, and frees
 * the devices of claims that nobody uses any more.
 */
export class ResourceClaimController extends ReconcileLoop {
  readonly name = 'resourceclaim-controller';
  private readonly pods = this.informer<StoredPod>('', 'pods');
  private readonly claims = this.informer<StoredResourceClaim>('resource', 'resourceclaims');
  private readonly templates = this.informer<StoredClaimTemplate>('resource', 'resourceclaimtemplates');
  private readonly podsByClaim = this.pods.index('resource claims', claimKeysOf);
  private readonly podsByTemplate = this.pods.index('resource claim templates', (pod) =>
    (pod.spec.resourceClaims ?? []).flatMap(({ resourceClaimTemplateName: name }) =>
      name === undefined ? [] : [`${pod.metadata.namespace}/${name}`],
    ),
  );
  private readonly claimsByPod = this.claims.index('owning pod', (claim) => {
    const pod = owningPod(claim);
    return pod === undefined ? [] : [pod.uid];
  });
  private readonly prefix = `resource.${this.dependencies.names.labelPrefix}`;
  private readonly finalizer = `${this.prefix}/delete-protection`;

  protected override get account(): string {
    return 'resource-claim-controller';
  }

  protected override get component(): string {
    return 'resource_claim';
  }

  protected override get queueName(): string {
    return 'resource_claim';
  }

  protected override partyOf(key: string): string {
    return splitKey(key.slice(key.indexOf(':') + 1)).namespace;
  }

  protected sources(): readonly Source[] {
    const keysOfPods = (pods: Iterable<StoredPod>) => [...pods].map((pod) => podKey + keyOf(pod));
    return [
      source(this.pods, (pod, old) => {
        const known = (pod ?? old) as StoredPod;
        if ((known.spec.resourceClaims ?? []).length === 0 && claimKeysOf(known).length === 0) return [];
        // A pod that took the place of another one does not need the claims of that one.
        const isReplaced = old !== undefined && pod !== undefined && old.metadata.uid !== pod.metadata.uid;
        const freed = pod === undefined || isPodDone(pod) ? claimKeysOf(known) : [];
        const before = isReplaced ? claimKeysOf(old) : [];
        return [
          ...[...freed, ...before].map((key) => claimKey + key),
          ...(pod === undefined ? [] : [podKey + keyOf(pod)]),
        ];
      }),
      source(this.claims, (claim, old) => {
        const key = keyOf((claim ?? old) as StoredResourceClaim);
        return [...(claim === undefined ? [] : [claimKey + key]), ...keysOfPods(this.podsByClaim.get(key))];
      }),
      source(this.templates, (template, old) => {
        const isNew = template !== undefined && template.metadata.uid !== old?.metadata.uid;
        return isNew ? keysOfPods(this.podsByTemplate.get(keyOf(template))) : [];
      }),
    ];
  }

  protected reconcile(key: string, work: ReconcileContext): Promise<WorkOutcome> {
    if (key.startsWith(podKey)) return this.reconcilePod(key.slice(podKey.length), work);
    return this.reconcileClaim(key.slice(claimKey.length), work);
  }

  private async reconcilePod(key: string, work: ReconcileContext): Promise<WorkOutcome> {
    const { namespace, name } = splitKey(key);
    const pod = this.pods.get(namespace, name);
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined || isPodDone(pod)) return 'done';
    const made = new Map<string, string>();
    for (const podClaim of pod.spec.resourceClaims ?? []) {
      try {
        const claim = await this.claimFor(pod, podClaim, work);
        if (claim !== undefined) made.set(podClaim.name, claim);
      } catch (error) {
        if (isNamespaceTerminating(error)) return 'done';
        const text = `PodResourceClaim ${podClaim.name}: ${errorMessage(error)}`;
        this.events.warning(pod, 'FailedResourceClaimCreation', text);
        throw error;
      }
    }
    if (made.size > 0) await this.noteClaims(pod, made, work);
    // The scheduler reserves claims for the pods that it places.
    if ((pod.spec.nodeName ?? '') !== '' && made.size === 0) await this.reserve(pod, work);
    return 'done';
  }

  /** Creates the claim that a pod requests by a template. Returns its name if the pod's status does not have it yet. */
  private async claimFor(
    pod: StoredPod,
    podClaim: PodResourceClaim,
    work: ReconcileContext,
  ): Promise<string | undefined> {
    const { resourceClaimTemplateName: templateName } = podClaim;
    if (templateName === undefined) return undefined;
    const namespace = pod.metadata.namespace ?? '';
    const status = pod.status?.resourceClaimStatuses?.find(({ name }) => name === podClaim.name);
    // A status without a name records that no claim is needed.
    if (status !== undefined && status.resourceClaimName === undefined) return undefined;
    const known = deviceClaimName(pod, podClaim);
    const claim = known === undefined ? undefined : this.claims.get(namespace, known);
    if (claim !== undefined && isClaimOfPod(claim, pod)) return undefined;
    const annotation = `${this.prefix}/pod-claim-name`;
    const uid = pod.metadata.uid ?? '';
    // A claim that was created, but whose name was not written into the pod.
    const orphan = [...this.claimsByPod.get(uid)].find(
      ({ metadata }) =>
        metadata.annotations?.[annotation] === podClaim.name && metadata.deletionTimestamp === undefined,
    );
    if (orphan !== undefined) return orphan.metadata.name;
    const template = this.templates.get(namespace, templateName);
    if (template === undefined) {
      const resource = `resourceclaimtemplate.resource.${this.dependencies.names.suffix}`;
      const text = `resource claim template "${templateName}": ${resource} "${templateName}" not found`;
      throw new StatusError('NotFound', text);
    }
    const made = await this.client<StoredResourceClaim>('resource', 'resourceclaims').create(
      work,
      claimFromTemplate(pod, podClaim.name, template, annotation) as object,
    );
    return made.metadata.name;
  }

  private async noteClaims(pod: StoredPod, made: ReadonlyMap<string, string>, work: ReconcileContext): Promise<void> {
    await this.client<StoredPod>('', 'pods').updateStatus(work, pod, (live) => {
      const statuses = new Map((live.status.resourceClaimStatuses ?? []).map((status) => [status.name, status]));
      for (const [name, resourceClaimName] of made) statuses.set(name, { name, resourceClaimName });
      live.status.resourceClaimStatuses = [...statuses.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
      return live;
    });
  }

  /** Reserves allocated claims for a pod that somebody else placed. */
  private async reserve(pod: StoredPod, work: ReconcileContext): Promise<void> {
    const { name = '', namespace = '', uid = '' } = pod.metadata;
    for (const podClaim of pod.spec.resourceClaims ?? []) {
      const claimName = deviceClaimName(pod, podClaim);
      const claim = claimName === undefined ? undefined : this.claims.get(namespace, claimName);
      if (claim === undefined || !canReserve(claim, uid)) continue;
      if (podClaim.resourceClaimTemplateName !== undefined && !isClaimOfPod(claim, pod)) continue;
      await this.client<StoredResourceClaim>('resource', 'resourceclaims').updateStatus(work, claim, (live) => {
        if (!canReserve(live, uid)) return undefined;
        live.status.reservedFor = [...(live.status.reservedFor ?? []), { resource: 'pods', name, uid }];
        return live;
      });
    }
  }

  private async reconcileClaim(key: string, work: ReconcileContext): Promise<WorkOutcome> {
    const { namespace, name } = splitKey(key);
    const claim = this.claims.get(namespace, name);
    if (claim === undefined) return 'done';
    const { reservedFor = [] } = claim.status;
    const users = reservedFor.length === 0 ? [] : await this.remaining(namespace, reservedFor);
    const isHeld = claim.metadata.finalizers?.includes(this.finalizer) === true;
    const gone = new Set(reservedFor.filter((user) => !users.includes(user)).map(({ uid }) => uid));
    if (gone.size > 0) await this.release(claim, gone, work);
    else if (isHeld && claim.metadata.deletionTimestamp !== undefined && users.length === 0)
      await this.free(claim, work);
    if (users.length === 0) await this.deleteUnused(claim, work);
    return 'done';
  }

  /**
   * The users that still need a claim. Whether a pod is gone is read from the store: the pod may be newer than the
   * cache.
   */
  private async remaining(
    namespace: string,
    reservedFor: readonly ResourceClaimConsumerReference[],
  ): Promise<readonly ResourceClaimConsumerReference[]> {
    const users: ResourceClaimConsumerReference[] = [];
    for (const user of reservedFor) {
      const isPod = (user.apiGroup ?? '') === '' && user.resource === 'pods';
      const pod = isPod
        ? (this.pods.get(namespace, user.name) ?? (await this.client<StoredPod>('', 'pods').get(namespace, user.name)))
        : undefined;
      if (!isPod || (pod !== undefined && pod.metadata.uid === user.uid && !isPodDone(pod))) users.push(user);
    }
    return users;
  }

  /** Removes users that no longer need a claim from it; the removal of the last one frees its devices. */
  private async release(claim: StoredResourceClaim, gone: ReadonlySet<string>, work: ReconcileContext): Promise<void> {
    const client = this.client<StoredResourceClaim>('resource', 'resourceclaims');
    let isFree = false;
    await client.updateStatus(work, claim, (live) => {
      const { reservedFor = [] } = live.status;
      const users = reservedFor.filter(({ uid }) => !gone.has(uid));
      if (users.length === reservedFor.length) return undefined;
      if (users.length > 0) live.status.reservedFor = users;
      else {
        delete live.status.reservedFor;
        if (live.metadata.finalizers?.includes(this.finalizer) === true) delete live.status.allocation;
      }
      isFree = live.status.allocation === undefined;
      return live;
    });
    if (isFree) await this.removeFinalizer(claim, work);
  }

  /** Frees the devices of a deleted claim that nobody uses. */
  private async free(claim: StoredResourceClaim, work: ReconcileContext): Promise<void> {
    if (claim.status.allocation !== undefined) {
      await this.client<StoredResourceClaim>('resource', 'resourceclaims').updateStatus(work, claim, (live) => {
        if ((live.status.reservedFor ?? []).length > 0) return undefined;
        delete live.status.allocation;
        return live;
      });
    }
    await this.removeFinalizer(claim, work);
  }

  private async removeFinalizer(claim: StoredResourceClaim, work: ReconcileContext): Promise<void> {
    await this.client<StoredResourceClaim>('resource', 'resourceclaims').update(work, claim, (live) => {
      const { finalizers = [] } = live.metadata;
      if (!finalizers.includes(this.finalizer) || live.status.allocation !== undefined) return undefined;
      live.metadata.finalizers = finalizers.filter((entry) => entry !== this.finalizer);
      return live;
    });
  }

  /** Deletes a claim that was made for a pod which will not run any more. */
  private async deleteUnused(claim: StoredResourceClaim, work: ReconcileContext): Promise<void> {
    const owner = owningPod(claim);
    if (owner === undefined || claim.metadata.deletionTimestamp !== undefined) return;
    const pod = this.pods.get(claim.metadata.namespace ?? '', owner.name);
    // A pod that is not known yet may be new; the garbage collector deletes the claims of pods that are gone.
    if (pod === undefined || (pod.metadata.uid === owner.uid && !isPodDone(pod))) return;
    await this.client<StoredResourceClaim>('resource', 'resourceclaims').delete(work, claim);
  }
}

function canReserve({ status }: Readonly<StoredResourceClaim>, uid: string): boolean {
  const { allocation, reservedFor = [] } = status;
  return allocation !== undefined && reservedFor.length < maxConsumers && !reservedFor.some((user) => user.uid === uid);
}
