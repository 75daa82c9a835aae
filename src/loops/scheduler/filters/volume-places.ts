import { type Filter, refusal } from '../filter.js';
import type { NodeInfo } from '../node-info.js';
import type { PodInfo } from '../pod-info.js';
import { isBound } from '../volumes.js';

const otherZone = refusal('VolumeZone', 'node(s) had no available volume zone', true);
/** Separates the zones of a volume that is in several. */
const zoneSeparator = '__';

/** The labels that name the zone or region of an object, by today's node labels. */
function zoneLabels(prefix: string): readonly (readonly [string, string])[] {
  return ['zone', 'region'].map(
    (one) => [`topology.${prefix}/${one}`, `failure-domain.beta.${prefix}/${one}`] as const,
  );
}

/** Requires the zones that the labels of bound volumes name. */
export const volumeZone: Filter = {
  name: 'VolumeZone',
  prepare(pod, { clusterObjects, labelPrefix }) {
    const keys = zoneLabels(labelPrefix);
    const demands: { readonly names: readonly [string, string]; readonly values: ReadonlySet<string> }[] = [];
    for (const { name } of pod.claims) {
      const claim = clusterObjects.claim?.(pod.namespace, name);
      if (claim === undefined || !isBound(claim, labelPrefix)) continue;
      const labels = clusterObjects.volume?.(claim.spec.volumeName as string)?.metadata.labels ?? {};
      for (const names of keys) {
        const value = labels[names[0]] ?? labels[names[1]];
        if (value !== undefined) demands.push({ names, values: new Set(value.split(zoneSeparator)) });
      }
    }
    if (demands.length === 0) return undefined;
    const zoneOf = ({ labels }: NodeInfo, [today, before]: readonly [string, string]) =>
      labels[today] ?? labels[before];
    const check = (node: NodeInfo) => {
      // A node without a location counts as being everywhere.
      if (keys.every((names) => zoneOf(node, names) === undefined)) return undefined;
      const isThere = demands.every(({ names, values }) => {
        const zone = zoneOf(node, names);
        return zone !== undefined && values.has(zone);
      });
      return isThere ? undefined : otherZone;
    };
    return { check };
  },
};

const inUse = refusal(
  'VolumeRestrictions',
  'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod',
  false,
);
const diskTaken = refusal('VolumeRestrictions', 'node(s) had no available disk', false);

/** Keeps pods from sharing claims that only one pod may use, and disks that a node attaches for one pod only. */
export const volumeRestrictions: Filter = {
  name: 'VolumeRestrictions',
  prepare(pod, cluster) {
    const exclusive = new Set(
      pod.claims
        .map(({ name }) => name)
        .filter((name) =>
          cluster.clusterObjects.claim?.(pod.namespace, name)?.spec.accessModes?.includes('ReadWriteOncePod'),
        ),
    );
    const disks = disksOf(pod);
    if (exclusive.size === 0 && disks.length === 0) return undefined;
    let uses = 0;
    for (const name of exclusive) uses += cluster.usesOf(pod.namespace, name);
    return {
      check: (node) => {
        if (disks.length > 0 && [...node.pods.values()].some((other) => conflict(disks, disksOf(other))))
          return diskTaken;
        return uses > 0 ? inUse : undefined;
      },
      podChanged: (other, _node, by) => {
        if (other.namespace !== pod.namespace) return;
        for (const { name } of other.claims) if (exclusive.has(name)) uses += by;
      },
    };
  },
};

interface Disk {
  readonly id: string;
  /** Whether the disk may be shared with pods that also only read it. */
  readonly isReadOnly: boolean;
}

/** The disks that a pod names itself, of the sorts that can't be attached twice. */
function disksOf({ pod }: PodInfo): readonly Disk[] {
  const disks: Disk[] = [];
  for (const volume of pod.spec.volumes ?? []) {
    const { gcePersistentDisk, awsElasticBlockStore, iscsi, rbd } = volume;
    if (gcePersistentDisk) {
      disks.push({ id: `gce ${gcePersistentDisk.pdName}`, isReadOnly: gcePersistentDisk.readOnly === true });
    }
    if (awsElasticBlockStore) disks.push({ id: `aws ${awsElasticBlockStore.volumeID}`, isReadOnly: false });
    if (iscsi) disks.push({ id: `iscsi ${iscsi.iqn} ${iscsi.lun}`, isReadOnly: iscsi.readOnly === true });
    if (rbd) {
      for (const monitor of rbd.monitors ?? []) {
        disks.push({ id: `rbd ${monitor} ${rbd.pool} ${rbd.image}`, isReadOnly: rbd.readOnly === true });
      }
    }
  }
  return disks;
}

function conflict(disks: readonly Disk[], others: readonly Disk[]): boolean {
  return disks.some((disk) => others.some(({ id, isReadOnly }) => id === disk.id && !(isReadOnly && disk.isReadOnly)));
}
