import type { VendorNames } from '../../../../base/machinery/vendor.js';
import type { ObjectMeta } from '../../meta/v1/object-meta.types.js';
import type { Affinity, NodeAffinity, PodAffinity } from './affinity.types.js';
import { containerWarnings } from './container-warnings.js';
import { deprecatedNodeLabel } from './deprecated-labels.js';
import { fractionalBytes } from './fractional-bytes.js';
import type { NodeSelectorTerm } from './node-selector.types.js';
import type { PodSpec } from './pod-spec.types.js';
import { profileAnnotations } from './profile-annotations.js';
import type { Volume } from './volume.types.js';

interface PodLike {
  readonly metadata: Pick<ObjectMeta, 'annotations'>;
  readonly spec: PodSpec;
}

/**
 * Warnings about settings of a pod or a template that may surprise users: deprecated names, values without effect,
 * definitions that hide others.
 *
 * @param path of the pod in its object, ending in a dot; empty for a pod
 */
export function podWarnings({ metadata, spec }: PodLike, path: string, names: VendorNames): string[] {
  const at = `${path}spec`;
  const annotations = metadata.annotations ?? {};
  return [
    ...nodeSelectorWarnings(spec.nodeSelector ?? {}, `${at}.nodeSelector`, names),
    ...(spec.affinity === undefined ? [] : affinityWarnings(spec.affinity, `${at}.affinity`, names)),
    ...spreadWarnings(spec, at, names),
    ...annotationWarnings(annotations, `${path}metadata.annotations`, names),
    ...(spec.volumes ?? []).flatMap((volume, i) => volumeWarnings(volume, `${at}.volumes[${i}]`)),
    ...duplicateWarnings(spec, at),
    ...Object.entries(spec.overhead ?? {}).flatMap(([name, amount]) =>
      name === 'memory' || name === 'ephemeral-storage' ? fractionalBytes(amount, `${at}.overhead[${name}]`) : [],
    ),
    ...seccompWarnings(spec, annotations, `${path}metadata.annotations`, names),
    ...(path === '' ? [] : appArmorWarnings(spec, annotations, `${path}metadata.annotations`, names)),
    ...containerWarnings(spec, at),
    ...(Number(spec.terminationGracePeriodSeconds) < 0
      ? [`${at}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`]
      : []),
  ];
}

function nodeSelectorWarnings(selector: Readonly<Record<string, string>>, path: string, names: VendorNames): string[] {
  return Object.keys(selector).flatMap((key) => {
    const text = deprecatedNodeLabel(key, names);
    return text === undefined ? [] : [`${path}[${key}]: ${text}`];
  });
}

function affinityWarnings(affinity: Affinity, path: string, names: VendorNames): string[] {
  return [
    ...nodeAffinityWarnings(affinity.nodeAffinity, `${path}.nodeAffinity`, names),
    ...podAffinityWarnings(affinity.podAffinity, `${path}.podAffinity`),
    ...podAffinityWarnings(affinity.podAntiAffinity, `${path}.podAntiAffinity`),
  ];
}

function nodeAffinityWarnings(affinity: NodeAffinity | undefined, path: string, names: VendorNames): string[] {
  const terms = affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const preferred = affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return [
    ...nodeTermWarnings(terms, `${path}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`, names),
    ...preferred.flatMap(({ preference }, i) =>
      keyWarnings(preference, `${path}.preferredDuringSchedulingIgnoredDuringExecution[${i}].preference`, names),
    ),
  ];
}

/** Warnings about the labels in the terms of a node selector. */
export function nodeTermWarnings(terms: readonly NodeSelectorTerm[], path: string, names: VendorNames): string[] {
  return terms.flatMap((term, i) => keyWarnings(term, `${path}[${i}]`, names));
}

function keyWarnings(term: NodeSelectorTerm, path: string, names: VendorNames): string[] {
  return (term.matchExpressions ?? []).flatMap(({ key }, i) => {
    const text = deprecatedNodeLabel(key, names);
    return text === undefined ? [] : [`${path}.matchExpressions[${i}].key: ${key} is ${text}`];
  });
}

const matchesNothing = 'a null labelSelector results in matching no pod';

function podAffinityWarnings(affinity: PodAffinity | undefined, path: string): string[] {
  const required = affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const preferred = affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return [
    ...required.flatMap(({ labelSelector }, i) =>
      labelSelector === undefined
        ? [`${path}.requiredDuringSchedulingIgnoredDuringExecution[${i}].labelSelector: ${matchesNothing}`]
        : [],
    ),
    ...preferred.flatMap(({ podAffinityTerm }, i) =>
      podAffinityTerm.labelSelector === undefined
        ? [
            `${path}.preferredDuringSchedulingIgnoredDuringExecution[${i}].podAffinityTerm.labelSelector: ${matchesNothing}`,
          ]
        : [],
    ),
  ];
}

function spreadWarnings({ topologySpreadConstraints = [] }: PodSpec, path: string, names: VendorNames): string[] {
  return topologySpreadConstraints.flatMap(({ topologyKey, labelSelector }, i) => {
    const at = `${path}.topologySpreadConstraints[${i}]`;
    const text = deprecatedNodeLabel(topologyKey, names);
    return [
      ...(text === undefined ? [] : [`${at}.topologyKey: ${topologyKey} is ${text}`]),
      ...(labelSelector === undefined ? [`${at}.labelSelector: ${matchesNothing}`] : []),
    ];
  });
}

function annotationWarnings(
  annotations: Readonly<Record<string, string>>,
  path: string,
  { labelPrefix }: VendorNames,
): string[] {
  const replaced = [
    [`scheduler.alpha.${labelPrefix}/critical-pod`, 'non-functional in v1.16+', 'priorityClassName'],
    [`security.alpha.${labelPrefix}/sysctls`, 'non-functional in v1.11+', 'sysctls'],
    [`security.alpha.${labelPrefix}/unsafe-sysctls`, 'non-functional in v1.11+', 'sysctls'],
  ] as const;
  return replaced.flatMap(([key, text, field]) =>
    Object.hasOwn(annotations, key) ? [`${path}[${key}]: ${text}; use the "${field}" field instead`] : [],
  );
}

function seccompWarnings(
  spec: PodSpec,
  annotations: Readonly<Record<string, string>>,
  path: string,
  names: VendorNames,
): string[] {
  const warnings: string[] = [];
  if (!Object.keys(annotations).some((key) => key.includes('seccomp'))) return warnings;
  const { seccompPod, seccompPrefix } = profileAnnotations(names);
  const check = (key: string, isReplaced: boolean) => {
    if (!Object.hasOwn(annotations, key) || isReplaced) return;
    warnings.push(`${path}[${key}]: non-functional in v1.27+; use the "seccompProfile" field instead`);
  };
  check(seccompPod, spec.securityContext?.seccompProfile !== undefined);
  for (const { name, securityContext } of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    check(`${seccompPrefix}${name}`, securityContext?.seccompProfile !== undefined);
  }
  return warnings;
}

/** Warns about the annotations of a template that its pods will have; those of a pod become fields before. */
function appArmorWarnings(
  spec: PodSpec,
  annotations: Readonly<Record<string, string>>,
  path: string,
  names: VendorNames,
): string[] {
  const { appArmorPrefix } = profileAnnotations(names);
  if (spec.securityContext?.appArmorProfile !== undefined) return [];
  return [...(spec.initContainers ?? []), ...(spec.containers ?? [])].flatMap(({ name, securityContext }) => {
    const key = `${appArmorPrefix}${name}`;
    const isReplaced = securityContext?.appArmorProfile !== undefined;
    return Object.hasOwn(annotations, key) && !isReplaced
      ? [`${path}[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`]
      : [];
  });
}

/** Kinds of volumes that were removed, or will be removed. */
const deprecatedVolumes = {
  photonPersistentDisk: 'deprecated in v1.11, non-functional in v1.16+',
  gitRepo: 'deprecated in v1.11, and disabled by default in v1.33+',
  scaleIO: 'deprecated in v1.16, non-functional in v1.22+',
  flocker: 'deprecated in v1.22, non-functional in v1.25+',
  storageos: 'deprecated in v1.22, non-functional in v1.25+',
  quobyte: 'deprecated in v1.22, non-functional in v1.25+',
  glusterfs: 'deprecated in v1.25, non-functional in v1.26+',
  cephfs: 'deprecated in v1.28, non-functional in v1.31+',
  rbd: 'deprecated in v1.28, non-functional in v1.31+',
} as const;

/** Warnings about the kind of a volume. `path` is the path of its owner. */
export function volumeKindWarnings(source: object, path: string): string[] {
  return Object.entries(deprecatedVolumes).flatMap(([kind, text]) =>
    (source as Record<string, unknown>)[kind] === undefined
      ? []
      : [`${path}.${kind === 'storageos' ? 'storageOS' : kind}: ${text}`],
  );
}

function volumeWarnings(volume: Volume, path: string): string[] {
  const template = volume.ephemeral?.volumeClaimTemplate;
  const at = `${path}.ephemeral.volumeClaimTemplate.spec.resources.requests[storage]`;
  const empty = (volume.projected?.sources ?? []).filter((source) => Object.keys(source).length === 0);
  return [
    ...volumeKindWarnings(volume, path),
    ...empty.map(() => `volume ${JSON.stringify(volume.name)} (Projected) has no sources provided`),
    ...fractionalBytes(template?.spec.resources?.requests?.storage, at),
  ];
}

function duplicateWarnings(spec: PodSpec, path: string): string[] {
  const warnings: string[] = [];
  const addresses = new Set<string>();
  spec.hostAliases?.forEach(({ ip }, i) => {
    if (addresses.has(ip)) warnings.push(`${path}.hostAliases[${i}].ip: duplicate ip ${JSON.stringify(ip)}`);
    addresses.add(ip);
  });
  const secrets = new Set<string>();
  spec.imagePullSecrets?.forEach(({ name = '' }, i) => {
    const at = `${path}.imagePullSecrets[${i}].name`;
    if (name === '') warnings.push(`${at}: invalid empty name ""`);
    else if (secrets.has(name)) warnings.push(`${at}: duplicate name ${JSON.stringify(name)}`);
    secrets.add(name);
  });
  return warnings;
}
