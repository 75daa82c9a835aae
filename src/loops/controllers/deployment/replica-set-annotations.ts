import {
  type DeploymentAnnotations,
  parseRevision,
  revisionOf,
  type StoredDeployment,
  type StoredReplicaSet,
} from './deployment-annotations.js';
import { maxSurge, wantedReplicasOf } from './deployment-replicas.js';

type Annotations = Readonly<Record<string, string>>;

const maxHistoryLength = 2000;

/** The revision that the set of the present template has, or should get: one above all others. */
export function newRevision(oldSets: readonly StoredReplicaSet[], annotations: DeploymentAnnotations): bigint {
  let highest = 0n;
  for (const set of oldSets) {
    const revision = revisionOf(set, annotations);
    if (revision > highest) highest = revision;
  }
  return highest + 1n;
}

/** The annotations of the new set: those of the deployment, and its revision, with those that it had before. */
export function newSetAnnotations(
  deployment: StoredDeployment,
  before: Annotations,
  revision: bigint,
  annotations: DeploymentAnnotations,
): Annotations {
  const copied = Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => !annotations.own.has(key));
  const next = { ...before, ...Object.fromEntries(copied) };
  const former = before[annotations.revision];
  if (parseRevision(former) >= revision) return next;
  next[annotations.revision] = String(revision);
  if (former) next[annotations.revisionHistory] = extended(before[annotations.revisionHistory], former);
  return next;
}

/** Adds a revision to a list; drops the first ones of a list that gets too long. */
function extended(history: string | undefined, revision: string): string {
  const entries = history ? [...history.split(','), revision] : [revision];
  while (entries.length > 1 && entries.join(',').length > maxHistoryLength) entries.shift();
  return entries.join(',');
}

/** The annotations of a set that is scaled as part of the deployment. */
export function sizeAnnotations(deployment: StoredDeployment, { desired, max }: DeploymentAnnotations): Annotations {
  const wanted = wantedReplicasOf(deployment);
  return { [desired]: String(wanted), [max]: String(wanted + maxSurge(deployment)) };
}
