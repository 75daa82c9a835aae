import { type PodCheck, plural, quoted, type Standard, sortedSet } from './standard.js';

/** Kernel parameters that affect only the pod that sets them, and the minor version since which each is allowed. */
const safeSysctls: Readonly<Record<string, number>> = {
  'kernel.shm_rmid_forced': 0,
  'net.ipv4.ip_local_port_range': 0,
  'net.ipv4.ip_unprivileged_port_start': 0,
  'net.ipv4.ping_group_range': 0,
  'net.ipv4.tcp_syncookies': 0,
  'net.ipv4.ip_local_reserved_ports': 27,
  'net.ipv4.tcp_fin_timeout': 29,
  'net.ipv4.tcp_keepalive_intvl': 29,
  'net.ipv4.tcp_keepalive_probes': 29,
  'net.ipv4.tcp_keepalive_time': 29,
  'net.ipv4.tcp_rmem': 32,
  'net.ipv4.tcp_wmem': 32,
};

function sysctlCheck(minor: number): PodCheck {
  const isSafe = (name: string): boolean => Object.hasOwn(safeSysctls, name) && (safeSysctls[name] ?? 0) <= minor;
  return ({ spec }) => {
    const bad = (spec.securityContext?.sysctls ?? []).map(({ name }) => name).filter((name) => !isSafe(name));
    return bad.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: bad.join(', ') };
  };
}

const restrictedVolumeTypes: ReadonlySet<string> = new Set([
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
]);

const checkVolumeTypes: PodCheck = ({ spec }) => {
  const bad: string[] = [];
  const types: string[] = [];
  for (const { name, ...sources } of spec.volumes ?? []) {
    const type = Object.entries(sources).find(([, source]) => source !== undefined)?.[0];
    if (type !== undefined && restrictedVolumeTypes.has(type)) continue;
    bad.push(name);
    types.push(type ?? 'unknown');
  }
  if (bad.length === 0) return undefined;
  const different = sortedSet(types);
  const use = bad.length === 1 ? 'uses' : 'use';
  return {
    reason: 'restricted volume types',
    detail: `${plural('volume', bad)} ${quoted(bad)} ${use} restricted volume ${plural('type', different)} ${quoted(different)}`,
  };
};

/** The rules about kernel parameters and volumes. */
export const otherStandards: readonly Standard[] = [
  {
    id: 'restrictedVolumes',
    level: 'restricted',
    overrides: ['hostPathVolumes'],
    versions: [{ since: 0, check: checkVolumeTypes }],
  },
  {
    id: 'sysctls',
    level: 'baseline',
    versions: [0, 27, 29, 32].map((since) => ({ since, check: sysctlCheck(since) })),
  },
];
