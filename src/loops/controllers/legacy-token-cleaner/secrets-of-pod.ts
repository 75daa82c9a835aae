import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';

/**
 * The names of all secrets that a pod may use: those below any field that refers to a secret (`secretName`,
 * `secretRef`, `secretKeyRef`, `nodePublishSecretRef`, `imagePullSecrets`, ...). May return too many names, but misses
 * none.
 */
export function secretsOfPod({ spec }: Pick<Pod, 'spec'>): ReadonlySet<string> {
  const found = new Set<string>();
  visit(spec, false, found);
  return found;
}

function visit(value: unknown, isSecret: boolean, found: Set<string>): void {
  if (Array.isArray(value)) {
    for (const one of value) visit(one, isSecret, found);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, content] of Object.entries(value)) {
    if (typeof content !== 'string') visit(content, /secret/i.test(key), found);
    else if (key === 'secretName' || (isSecret && key === 'name')) found.add(content);
  }
}
