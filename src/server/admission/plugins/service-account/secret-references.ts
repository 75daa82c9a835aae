import type { PodSpec } from '../../../../objects/apis/core/v1/pod-spec.types.js';
import { secretsOfVolume } from '../../../authorization/node/pod-references.js';
import type { AnyContainer } from '../../pods/containers-of.js';

/**
 * An error message for the first secret that a pod names although its service account does not list it; undefined when
 * there is none.
 *
 * @param pullSecrets the only secrets that may be used to pull images
 */
export function forbiddenSecret(
  spec: PodSpec,
  account: string,
  allowed: ReadonlySet<string>,
  pullSecrets: readonly string[],
): string | undefined {
  const refuse = (what: string, kind = 'secret') =>
    `${what} is not allowed because service account ${account} does not reference that ${kind}`;
  for (const volume of spec.volumes ?? []) {
    // Secrets of CSI drivers count too: a pod could choose a driver that exposes them.
    const name = secretsOfVolume(volume).find((each) => !allowed.has(each));
    if (name !== undefined) return refuse(`volume with secret.secretName=${JSON.stringify(name)}`);
  }
  const lists: readonly (readonly [string, readonly AnyContainer[]])[] = [
    ['init container', spec.initContainers ?? []],
    ['container', spec.containers ?? []],
  ];
  for (const [word, containers] of lists) {
    const found = forbiddenInContainers(word, containers, allowed);
    if (found !== undefined) return refuse(found);
  }
  for (const [i, { name }] of (spec.imagePullSecrets ?? []).entries()) {
    if (!pullSecrets.includes(name ?? ''))
      return refuse(`imagePullSecrets[${i}].name=${JSON.stringify(name ?? '')}`, 'imagePullSecret');
  }
  return undefined;
}

/** Like {@link forbiddenSecret}, for ephemeral containers that an update adds. */
export function forbiddenEphemeralSecret(
  spec: PodSpec,
  account: string,
  allowed: ReadonlySet<string>,
): string | undefined {
  const found = forbiddenInContainers('ephemeral container', spec.ephemeralContainers ?? [], allowed);
  if (found === undefined) return undefined;
  return `${found} is not allowed because service account ${account} does not reference that secret`;
}

function forbiddenInContainers(
  word: string,
  containers: readonly AnyContainer[],
  allowed: ReadonlySet<string>,
): string | undefined {
  for (const { name: container, env, envFrom } of containers) {
    for (const { name: variable, valueFrom } of env ?? []) {
      const name = valueFrom?.secretKeyRef?.name;
      if (valueFrom?.secretKeyRef !== undefined && !allowed.has(name ?? '')) {
        return `${word} ${container} with envVar ${variable} referencing secret.secretName=${JSON.stringify(name ?? '')}`;
      }
    }
    for (const { secretRef } of envFrom ?? []) {
      if (secretRef !== undefined && !allowed.has(secretRef.name ?? '')) {
        return `${word} ${container} with envFrom referencing secret.secretName=${JSON.stringify(secretRef.name ?? '')}`;
      }
    }
  }
  return undefined;
}
