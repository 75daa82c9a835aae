import { type ActionRequest } from './actions.js';
import { dig, listAt, numberAt, textAt } from './dig.js';
import { toYaml } from './yaml-text.js';

/** An earlier template of a workload. */
export interface Revision {
  readonly number: number;
  readonly created: string;
  /** Why it was made, where somebody wrote it down. */
  readonly cause: string;
  /** The pod template; of StatefulSets and DaemonSets as a part of `patch`. */
  readonly template: unknown;
  /** What a ControllerRevision holds: a strategic merge patch; undefined for Deployments. */
  readonly patch?: unknown;
}

const revisionAnnotation = 'deployment.kubernetes.io/revision';
const causeAnnotation = 'kubernetes.io/change-cause';

/**
 * The revisions of a workload, the newest first.
 *
 * @param kept the ReplicaSets of a Deployment, or the ControllerRevisions of others, of the namespace
 */
export function revisionsOf(workload: unknown, kept: readonly unknown[]): readonly Revision[] {
  const uid = textAt(workload, 'metadata', 'uid');
  return kept
    .filter((each) => listAt(each, 'metadata', 'ownerReferences').some((owner) => textAt(owner, 'uid') === uid))
    .map((each) => revisionOf(each))
    .filter(({ number }) => number > 0)
    .sort((a, b) => b.number - a.number);
}

function revisionOf(kept: unknown): Revision {
  const created = textAt(kept, 'metadata', 'creationTimestamp');
  const cause = textAt(kept, 'metadata', 'annotations', causeAnnotation);
  const patch = dig(kept, 'data');
  if (patch !== undefined) {
    const template = dig(patch, 'spec', 'template');
    return { number: numberAt(kept, 'revision'), created, cause, template, patch };
  }
  const number = Number(textAt(kept, 'metadata', 'annotations', revisionAnnotation)) || 0;
  return { number, created, cause, template: withoutHash(dig(kept, 'spec', 'template')) };
}

/** The label that a Deployment adds to the templates of its ReplicaSets. */
function withoutHash(template: unknown): unknown {
  const labels = dig(template, 'metadata', 'labels');
  if (typeof labels !== 'object' || labels === null) return template;
  const { 'pod-template-hash': _, ...rest } = labels as Readonly<Record<string, unknown>>;
  const metadata = { ...(dig(template, 'metadata') as object), labels: rest };
  return { ...(template as object), metadata };
}

/** A template as text, for a diff. */
export function templateText(template: unknown): string {
  const { creationTimestamp: _, ...metadata } = (dig(template, 'metadata') ?? {}) as Readonly<Record<string, unknown>>;
  const { $patch: _patch, ...rest } = (template ?? {}) as Readonly<Record<string, unknown>>;
  return toYaml({ ...rest, metadata });
}

/** Returns a workload to a revision, as `kubectl rollout undo` does. */
export function rollbackRequest(path: string, workload: unknown, revision: Revision): ActionRequest {
  if (revision.patch !== undefined) {
    const contentType = 'application/strategic-merge-patch+json';
    return { method: 'PATCH', path, contentType, body: revision.patch as object };
  }
  const version = textAt(workload, 'metadata', 'resourceVersion');
  const body = [
    { op: 'test', path: '/metadata/resourceVersion', value: version },
    { op: 'replace', path: '/spec/template', value: revision.template },
  ];
  return { method: 'PATCH', path, contentType: 'application/json-patch+json', body };
}
