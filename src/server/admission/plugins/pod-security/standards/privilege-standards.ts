import type { AnyContainer } from '../../../pods/containers-of.js';
import {
  containersText,
  containersWhere,
  type PodCheck,
  quoted,
  type Standard,
  settersText,
  sortedSet,
  unlessInUserNamespace,
  unlessWindows,
  userNamespaceRelaxation,
} from './standard.js';

/** Capabilities that a container runtime grants by default. */
const defaultCapabilities: ReadonlySet<string> = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
]);
const restrictedCapabilities: ReadonlySet<string> = new Set(['NET_BIND_SERVICE']);

const checkPrivileged: PodCheck = (pod) => {
  const bad = containersWhere(pod, ({ securityContext }) => securityContext?.privileged === true);
  if (bad.length === 0) return undefined;
  return { reason: 'privileged', detail: `${containersText(bad)} must not set securityContext.privileged=true` };
};

/** Reports which containers add which forbidden capabilities; undefined when none does. */
function addedCapabilities(containers: readonly AnyContainer[], allowed: ReadonlySet<string>): string | undefined {
  const bad: string[] = [];
  const added: string[] = [];
  for (const { name, securityContext } of containers) {
    const forbidden = (securityContext?.capabilities?.add ?? []).filter((capability) => !allowed.has(capability));
    if (forbidden.length === 0) continue;
    bad.push(name);
    added.push(...forbidden);
  }
  if (bad.length === 0) return undefined;
  return `${containersText(bad)} must not include ${quoted(sortedSet(added))} in securityContext.capabilities.add`;
}

const checkCapabilities: PodCheck = ({ containers }) => {
  const detail = addedCapabilities(containers, defaultCapabilities);
  return detail === undefined ? undefined : { reason: 'non-default capabilities', detail };
};

const checkCapabilitiesStrictly: PodCheck = (pod) => {
  const details: string[] = [];
  const keeping = containersWhere(pod, ({ securityContext }) => !securityContext?.capabilities?.drop?.includes('ALL'));
  if (keeping.length > 0) {
    details.push(`${containersText(keeping)} must set securityContext.capabilities.drop=["ALL"]`);
  }
  const added = addedCapabilities(pod.containers, restrictedCapabilities);
  if (added !== undefined) details.push(added);
  return details.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: details.join('; ') };
};

const checkEscalation: PodCheck = (pod) => {
  const bad = containersWhere(pod, ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false);
  if (bad.length === 0) return undefined;
  const detail = `${containersText(bad)} must set securityContext.allowPrivilegeEscalation=false`;
  return { reason: 'allowPrivilegeEscalation != false', detail };
};

const checkNonRoot: PodCheck = (pod) => {
  const ofPod = pod.spec.securityContext?.runAsNonRoot;
  const explicit = containersWhere(pod, ({ securityContext }) => securityContext?.runAsNonRoot === false);
  const reason = 'runAsNonRoot != true';
  if (ofPod === false || explicit.length > 0) {
    return {
      reason,
      detail: `${settersText(ofPod === false, explicit)} must not set securityContext.runAsNonRoot=false`,
    };
  }
  if (ofPod === true) return undefined;
  const silent = containersWhere(pod, ({ securityContext }) => securityContext?.runAsNonRoot === undefined);
  if (silent.length === 0) return undefined;
  return { reason, detail: `pod or ${containersText(silent)} must set securityContext.runAsNonRoot=true` };
};

const checkUser: PodCheck = (pod) => {
  const isPodBad = isRoot(pod.spec.securityContext?.runAsUser);
  const bad = containersWhere(pod, ({ securityContext }) => isRoot(securityContext?.runAsUser));
  if (!isPodBad && bad.length === 0) return undefined;
  return { reason: 'runAsUser=0', detail: `${settersText(isPodBad, bad)} must not set runAsUser=0` };
};

function isRoot(user: number | undefined): boolean {
  return user !== undefined && Number(user) === 0;
}

const checkProcMount: PodCheck = ({ containers }) => {
  const bad: string[] = [];
  const types: string[] = [];
  for (const { name, securityContext } of containers) {
    const type = securityContext?.procMount;
    if (type === undefined || type === 'Default') continue;
    bad.push(name);
    types.push(type);
  }
  if (bad.length === 0) return undefined;
  const detail = `${containersText(bad)} must not set securityContext.procMount to ${quoted(sortedSet(types))}`;
  return { reason: 'procMount', detail };
};

/** The rules about privileges of containers, and the users they run as. */
export const privilegeStandards: readonly Standard[] = [
  {
    id: 'allowPrivilegeEscalation',
    level: 'restricted',
    versions: [
      { since: 8, check: checkEscalation },
      { since: 25, check: unlessWindows(checkEscalation) },
    ],
  },
  { id: 'capabilities_baseline', level: 'baseline', versions: [{ since: 0, check: checkCapabilities }] },
  {
    id: 'capabilities_restricted',
    level: 'restricted',
    overrides: ['capabilities_baseline'],
    versions: [
      { since: 22, check: checkCapabilitiesStrictly },
      { since: 25, check: unlessWindows(checkCapabilitiesStrictly) },
    ],
  },
  { id: 'privileged', level: 'baseline', versions: [{ since: 0, check: checkPrivileged }] },
  {
    id: 'procMount',
    level: 'baseline',
    versions: [
      { since: 0, check: checkProcMount },
      { since: userNamespaceRelaxation, check: unlessInUserNamespace(checkProcMount) },
    ],
  },
  {
    id: 'procMount_restricted',
    level: 'restricted',
    overrides: ['procMount'],
    versions: [{ since: userNamespaceRelaxation, check: checkProcMount }],
  },
  {
    id: 'runAsNonRoot',
    level: 'restricted',
    versions: [
      { since: 0, check: checkNonRoot },
      { since: userNamespaceRelaxation, check: unlessInUserNamespace(checkNonRoot) },
    ],
  },
  {
    id: 'runAsUser',
    level: 'restricted',
    versions: [
      { since: 23, check: checkUser },
      { since: userNamespaceRelaxation, check: unlessInUserNamespace(checkUser) },
    ],
  },
];
