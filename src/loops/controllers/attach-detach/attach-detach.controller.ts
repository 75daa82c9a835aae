import { parseTime } from '../../../base/machinery/values/time.js';
import { attachmentName } from '../../../objects/apis/storage/csi-names.js';
import type { StoredClaim } from '../ephemeral-volume/ephemeral-claims.js';
import { podsByNode, type StoredPod } from '../frame/indexes.js';
import type { DeepPartial } from '../frame/loop-client.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import { keyOf, type ReconcileDependencies, ReconcileLoop, type Source, source } from '../frame/reconcile-loop.js';
import { isAlreadyExists } from '../frame/refusals.js';
import { readyStatus, type StoredNode } from '../node-lifecycle/node-silence.js';
import { claimsOf } from '../pvc-protection/claims-in-use.js';
import type { VolumeLoopMetrics } from '../volume-loop-metrics.js';
import type { WorkOutcome } from '../work-queue.js';
import { AttachEvents } from './attach-events.js';
import type { AttachableVolume, StoredDriver, StoredVolume } from './attachable-volume.js';
import { type DesiredVolume, DesiredVolumes } from './desired-volumes.js';
import { decideDetach } from './detach-rule.js';
import { otherUsersText } from './other-users.js';
import { OwnAttachments, type StoredAttachment } from './own-attachments.js';
import { hasLeftVolumes, mayAttach } from './wanted-volumes.js';

export interface AttachDetachDependencies extends ReconcileDependencies {
  readonly counters?: VolumeLoopMetrics | undefined;
}

/** How long the attacher of a driver may take until an event reports that it does not answer, in milliseconds. */
const attacherMs = 120_000;
/** How soon a node is checked again while its volume is being attached to another node, in milliseconds. */
const soonMs = 500;

/**
 * Attaches volumes to the nodes whose pods need them, and detaches them when no pod there needs them and the node has
 * unmounted them. A key is the name of a node. For CSI volumes it makes and deletes VolumeAttachments, which the
 * attacher of the driver acts on; the status of the node (`volumesAttached`) lists what it may mount. A volume leaves
 * that list before it is detached, so the node does not mount it meanwhile. Nodes without the annotation that hands
 * this work to the control loop are left alone.
 */
export class AttachDetachController extends ReconcileLoop {
  readonly name = 'attachdetach-controller';
  private readonly nodes = this.informer<StoredNode>('', 'nodes');
  private readonly pods = this.informer<StoredPod>('', 'pods');
  private readonly claims = this.informer<StoredClaim>('', 'persistentvolumeclaims');
  private readonly volumes = this.informer<StoredVolume>('', 'persistentvolumes');
  private readonly drivers = this.informer<StoredDriver>('storage', 'csidrivers');
  private readonly attachments = this.informer<StoredAttachment>('storage', 'volumeattachments');
  private readonly podsByNode = podsByNode(this.pods);
  private readonly podsByClaim = this.pods.index('claims in use', claimsOf);
  private readonly attachmentsOfNode = this.attachments.index('node', ({ spec }) => [spec.nodeName]);
  private readonly attachmentsOfVolume = this.attachments.index('volume', ({ spec }) =>
    spec.source.persistentVolumeName === undefined ? [] : [spec.source.persistentVolumeName],
  );
  private readonly nodesOfVolume = this.nodes.index('attached volumes', ({ status }) =>
    (status?.volumesAttached ?? []).map(({ name }) => name),
  );
  /** Since when nobody has needed an attached volume, by `<node> <volume>`. */
  private readonly unneeded = new Map<string, number>();
  /** The node to which each exclusive volume is being attached, until the informer shows the attachment. */
  private readonly reserved = new Map<string, string>();
  /** Nodes that wait until another node's attachment is gone, by the name of that attachment. */
  private readonly waiting = new Map<string, Set<string>>();
  /** The mounted volumes that deleted nodes last reported. */
  private readonly mountedBefore = new Map<string, readonly string[]>();

  private readonly reports = new AttachEvents(() => this.events);
  private readonly desired: DesiredVolumes;
  private readonly made: OwnAttachments;

  constructor(private readonly own: AttachDetachDependencies) {
    super(own);
    const { labelPrefix } = own.names;
    const { claims, volumes, drivers } = this;
    this.desired = new DesiredVolumes({ labelPrefix, podsByNode: this.podsByNode, claims, volumes, drivers });
    this.made = new OwnAttachments(labelPrefix, this.attachmentsOfNode, this.volumes);
  }

  protected override get queueName(): string {
    return 'attach_detach';
  }

  protected sources(): readonly Source[] {
    const nodeOf = (pod: StoredPod | undefined) =>
      pod !== undefined && mayAttach(pod) ? (pod.spec.nodeName ?? '') : '';
    return [
      source(this.nodes, (node, old) => this.nodeKeys(node, old)),
      source(this.pods, (pod, old) => {
        const [now, before] = [nodeOf(pod), nodeOf(old)];
        const isSame = now === before && pod !== undefined && old !== undefined;
        if (isSame && pod.metadata.uid === old.metadata.uid && hasLeftVolumes(pod) === hasLeftVolumes(old)) return [];
        return [now, before].filter((name) => name !== '');
      }),
      source(this.claims, (claim, old) => {
        if (claim === undefined) return [];
        const isSame = claim.spec.volumeName === old?.spec.volumeName && claim.status?.phase === old?.status?.phase;
        return isSame ? [] : this.nodesOfClaim(keyOf(claim));
      }),
      source(this.volumes, (volume, old) => {
        const { claimRef } = volume?.spec ?? {};
        if (claimRef === undefined || claimRef.uid === old?.spec.claimRef?.uid) return [];
        return this.nodesOfClaim(`${claimRef.namespace}/${claimRef.name}`);
      }),
      source(this.drivers, (driver, old) =>
        driver?.spec.attachRequired === old?.spec.attachRequired ? [] : [...this.nodes.all()].map(keyOf),
      ),
      source(this.attachments, (attachment, old) => this.attachmentKeys(attachment, old)),
    ];
  }

  protected override started(): void {
    const { desired, made, unneeded, reserved, waiting, mountedBefore } = this;
    for (const memory of [desired, made, unneeded, reserved, waiting, mountedBefore]) memory.clear();
    this.reports.forget();
  }

  private nodesOfClaim(claim: string): string[] {
    return [...this.podsByClaim.get(claim)].map(({ spec }) => spec.nodeName ?? '');
  }

  private nodeKeys(node: StoredNode | undefined, old: StoredNode | undefined): readonly string[] {
    const name = (node ?? old)?.metadata.name ?? '';
    if (node === undefined) this.mountedBefore.set(name, old?.status?.volumesInUse ?? []);
    else this.mountedBefore.delete(name);
    const info = (one: StoredNode | undefined) =>
      one === undefined
        ? ''
        : JSON.stringify([
            one.metadata.uid,
            one.status?.volumesInUse,
            one.status?.volumesAttached,
            readyStatus(one),
            this.isOutOfService(one),
            this.isManaged(one),
          ]);
    return info(node) === info(old) ? [] : [name];
  }

  private attachmentKeys(now: StoredAttachment | undefined, old: StoredAttachment | undefined): readonly string[] {
    const { metadata, spec } = (now ?? old) as StoredAttachment;
    const { name = '' } = metadata;
    if (now !== undefined) return [spec.nodeName];
    const waiting = this.waiting.get(name) ?? [];
    this.waiting.delete(name);
    this.made.forget(name);
    return [spec.nodeName, ...waiting];
  }

  private isManaged({ metadata }: Readonly<StoredNode>): boolean {
    const { labelPrefix } = this.dependencies.names;
    return metadata.annotations?.[`volumes.${labelPrefix}/controller-managed-attach-detach`] !== undefined;
  }

  private isOutOfService({ spec }: Readonly<StoredNode>): boolean {
    return (
      spec?.taints?.some(({ key }) => key === `node.${this.dependencies.names.labelPrefix}/out-of-service`) === true
    );
  }

  protected async reconcile(nodeName: string, work: ReconcileContext): Promise<WorkOutcome> {
    // By now the informers show the writes of the previous reconcile of this node.
    for (const [volume, holder] of this.reserved) if (holder === nodeName) this.reserved.delete(volume);
    const node = this.nodes.get('', nodeName);
    if (node !== undefined && !this.isManaged(node)) return 'done';
    const wanted = this.desired.on(nodeName, node !== undefined);
    const waits: number[] = [];
    const detached = await this.detachUnneeded(nodeName, node, wanted, work, waits);
    const attached = await this.attachWanted(nodeName, wanted, work, waits);
    if (node !== undefined) await this.reportAttached(node, attached, detached, wanted, work);
    return waits.length === 0 ? 'done' : Math.min(...waits);
  }

  /** Detaches what no pod needs any more. Resolves with the names of the volumes that the node must not mount now. */
  private async detachUnneeded(
    nodeName: string,
    node: StoredNode | undefined,
    wanted: ReadonlyMap<string, DesiredVolume>,
    work: ReconcileContext,
    waits: number[],
  ): Promise<ReadonlySet<string>> {
    const attachments = this.made.on(nodeName, node);
    const listed = (node?.status?.volumesAttached ?? []).map(({ name }) => name);
    const detached = new Set<string>();
    for (const uniqueName of new Set([...attachments.keys(), ...listed])) {
      const key = `${nodeName} ${uniqueName}`;
      if (wanted.has(uniqueName)) {
        this.unneeded.delete(key);
        continue;
      }
      this.reports.forget(nodeName, uniqueName);
      const now = this.dependencies.timers.elapsed();
      const since = this.unneeded.get(key) ?? now;
      this.unneeded.set(key, since);
      const decision = decideDetach({
        isInUse: (node?.status?.volumesInUse ?? this.mountedBefore.get(nodeName) ?? []).includes(uniqueName),
        isHealthy: node !== undefined && readyStatus(node) === 'True',
        isOutOfService: node !== undefined && this.isOutOfService(node),
        unneededMs: now - since,
      });
      if (decision.againMs !== undefined) waits.push(decision.againMs);
      if (decision.kind === 'wait') continue;
      const isForced = decision.kind === 'by force';
      if (!(await this.withdraw(node, uniqueName, isForced, work))) continue;
      detached.add(uniqueName);
      this.unneeded.delete(key);
      const attachment = attachments.get(uniqueName);
      if (attachment === undefined || attachment.metadata.deletionTimestamp !== undefined) continue;
      await this.client<StoredAttachment>('storage', 'volumeattachments').delete(work, attachment);
      if (decision.reason !== undefined) this.own.counters?.forcedDetach(decision.reason);
    }
    return detached;
  }

  /**
   * Removes a volume from the list of those that the node may mount. False when the node mounted it meanwhile and the
   * detachment is not forced.
   */
  private async withdraw(
    node: StoredNode | undefined,
    uniqueName: string,
    isForced: boolean,
    work: ReconcileContext,
  ): Promise<boolean> {
    if (node === undefined) return true;
    let isSafe = true;
    await this.client<StoredNode>('', 'nodes').updateStatus(work, node, (live) => {
      isSafe = isForced || live.status?.volumesInUse?.includes(uniqueName) !== true;
      const listed = live.status?.volumesAttached ?? [];
      if (!isSafe || !listed.some(({ name }) => name === uniqueName)) return undefined;
      return withAttached(
        live,
        listed.filter(({ name }) => name !== uniqueName),
      );
    });
    if (!isSafe || isForced) return isSafe;
    // A node that began to mount the volume before it left the list has reported that by now.
    const live = await this.client<StoredNode>('', 'nodes').get('', node.metadata.name ?? '');
    return live?.status?.volumesInUse?.includes(uniqueName) !== true;
  }

  /** Attaches the desired volumes. Resolves with the names of the attached ones. */
  private async attachWanted(
    nodeName: string,
    wanted: ReadonlyMap<string, DesiredVolume>,
    work: ReconcileContext,
    waits: number[],
  ): Promise<ReadonlySet<string>> {
    const attached = new Set<string>();
    const listed = this.nodes.get('', nodeName)?.status?.volumesAttached ?? [];
    for (const { volume, pods } of wanted.values()) {
      const { uniqueName, csi } = volume;
      const id = csi && attachmentName(csi, nodeName);
      const attachment = id === undefined ? undefined : this.attachments.get('', id);
      if (attachment !== undefined) {
        this.made.note(attachment, uniqueName);
        const isListed = listed.some(({ name }) => name === uniqueName);
        const isEnding = attachment.metadata.deletionTimestamp !== undefined;
        // An attachment that is being deleted still counts for pods that already use the volume, but not for new ones.
        if (attachment.status?.attached === true) {
          if (isListed || !isEnding) attached.add(uniqueName);
        } else if (!isEnding) {
          const problem = this.attachProblem(attachment, volume, waits);
          if (problem !== undefined) this.reports.failed(nodeName, volume, pods, problem);
        }
        continue;
      }
      if (this.nodes.get('', nodeName) === undefined) continue;
      if (!volume.isShared && this.isElsewhere(nodeName, volume, pods, waits)) continue;
      if (id === undefined) {
        attached.add(uniqueName);
        continue;
      }
      if (!volume.isShared) this.reserved.set(uniqueName, nodeName);
      try {
        await this.client<StoredAttachment>('storage', 'volumeattachments').create(work, {
          metadata: { name: id },
          spec: { attacher: csi?.driver, nodeName, source: { persistentVolumeName: volume.name } },
        } as DeepPartial<StoredAttachment>);
        waits.push(attacherMs);
      } catch (error) {
        if (!isAlreadyExists(error)) {
          const { message } = error as Error;
          this.reports.failed(nodeName, volume, pods, { text: message, version: String(work.now) });
        }
        throw error;
      }
    }
    return attached;
  }

  /** Why an attachment makes no progress. */
  private attachProblem({ metadata, status, spec }: StoredAttachment, volume: AttachableVolume, waits: number[]) {
    const { resourceVersion: version = '' } = metadata;
    const failure = status?.attachError;
    if (failure !== undefined) return { text: failure.message ?? '', version };
    const waitedMs = this.dependencies.timers.now() - parseTime(metadata.creationTimestamp ?? '');
    const leftMs = attacherMs - (waitedMs % attacherMs);
    waits.push(leftMs);
    if (waitedMs < attacherMs) return undefined;
    const text = `timed out waiting for external-attacher of ${spec.attacher} CSI driver to attach volume ${volume.csi?.handle}`;
    return { text, version: String(Math.floor(waitedMs / attacherMs)) };
  }

  /**
   * Whether a volume for one node at a time is attached, or being attached, to another node. Reports an attached one in
   * events.
   */
  private isElsewhere(
    nodeName: string,
    volume: AttachableVolume,
    pods: readonly StoredPod[],
    waits: number[],
  ): boolean {
    const { uniqueName } = volume;
    const holder = this.reserved.get(uniqueName);
    if (holder !== undefined && holder !== nodeName) {
      waits.push(soonMs);
      return true;
    }
    const others = new Set<string>();
    for (const { metadata, spec } of this.attachmentsOfVolume.get(volume.name)) {
      if (spec.nodeName === nodeName || spec.attacher !== volume.csi?.driver) continue;
      others.add(spec.nodeName);
      const { name = '' } = metadata;
      this.waiting.set(name, (this.waiting.get(name) ?? new Set()).add(nodeName));
    }
    for (const { metadata } of this.nodesOfVolume.get(uniqueName)) {
      if (metadata.name === nodeName) continue;
      others.add(metadata.name ?? '');
      // Without an attachment nothing reports that the other node has released it.
      if (volume.csi === undefined) waits.push(soonMs * 2);
    }
    if (others.size === 0) return false;
    const users = [...others].flatMap((other) => this.desired.on(other, true).get(uniqueName)?.pods ?? []);
    for (const pod of pods) {
      const text = `Waiting for detach for volume "${volume.name}" ${otherUsersText(pod, users)}`;
      this.reports.warnOnce(nodeName, `${uniqueName} ${pod.metadata.uid}`, [pod], text, '');
    }
    return true;
  }

  /** Lists in the status of the node the volumes that it may mount, and reports new entries to pods. */
  private async reportAttached(
    node: StoredNode,
    attached: ReadonlySet<string>,
    detached: ReadonlySet<string>,
    wanted: ReadonlyMap<string, DesiredVolume>,
    work: ReconcileContext,
  ): Promise<void> {
    // A volume that nobody needs stays listed until it may be detached.
    const stays = (name: string) => (wanted.has(name) ? attached.has(name) : !detached.has(name));
    const next = (listed: readonly { name: string; devicePath: string }[]) => {
      const names = new Set(listed.map(({ name }) => name));
      const added = [...attached].filter((name) => !names.has(name)).map((name) => ({ name, devicePath: '' }));
      return { added, kept: listed.filter(({ name }) => stays(name)) };
    };
    const shown = node.status?.volumesAttached ?? [];
    const { added, kept } = next(shown);
    if (added.length === 0 && kept.length === shown.length) return;
    let isWritten = false;
    await this.client<StoredNode>('', 'nodes').updateStatus(work, node, (live) => {
      const { added: more, kept: rest } = next(live.status?.volumesAttached ?? []);
      isWritten = true;
      return withAttached(live, [...rest, ...more]);
    });
    if (!isWritten) return;
    for (const { name } of added) {
      const entry = wanted.get(name);
      this.reports.attached(node.metadata.name ?? '', name, entry?.pods ?? [], entry?.volume.name);
    }
  }
}

function withAttached(node: StoredNode, attached: { name: string; devicePath: string }[]): StoredNode {
  const status = { ...node.status, volumesAttached: attached } as StoredNode['status'];
  if (attached.length === 0) delete (status as { volumesAttached?: unknown }).volumesAttached;
  return { ...node, status } as StoredNode;
}
