import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type Right, refusalText } from './right.js';
import { api, kinds, session } from './session.js';

/** The server's decision; `why` is for those that are refused. */
export interface Decision {
  readonly isAllowed: boolean;
  readonly why: string;
}

interface Review {
  readonly status?: { readonly allowed?: boolean; readonly reason?: string; readonly evaluationError?: string };
}

const reads: ReadonlySet<string> = new Set(['get', 'list', 'watch']);
/** Rights change seldom, and each action is decided upon again when it is sent. */
const keptMs = 60_000;
const asked = new Map<string, { readonly at: number; readonly decision: Promise<Decision> }>();
session.subscribe(() => asked.clear());

/** Asks the server whether the user may do something. Where it can't be asked, the action itself will show it. */
export function mayI(right: Right): Promise<Decision> {
  if (session.peek()?.readOnly === true && !reads.has(right.verb)) {
    return Promise.resolve({ isAllowed: false, why: 'This console is read-only.' });
  }
  const key = JSON.stringify(right);
  const known = asked.get(key);
  if (known !== undefined && Date.now() - known.at < keptMs) return known.decision;
  const decision = review(right).catch(() => ({ isAllowed: true, why: '' }));
  asked.set(key, { at: Date.now(), decision });
  return decision;
}

async function review(right: Right): Promise<Decision> {
  const group = `authorization.${kinds.value?.suffix ?? 'k8s.io'}`;
  const { verb, resource, subresource, namespace, name } = right;
  const resourceAttributes = { verb, group: right.group, resource, subresource, namespace, name };
  const body = JSON.stringify({
    apiVersion: `${group}/v1`,
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes },
  });
  const path = `/apis/${group}/v1/selfsubjectaccessreviews`;
  const { status } = await api.json<Review>(path, { method: 'POST', body });
  const isAllowed = status?.allowed === true;
  return { isAllowed, why: isAllowed ? '' : refusalText(right, status?.reason ?? '') };
}

/** The decisions about several rights, by their names; those that are not known yet are missing. */
export function useRights(rights: Readonly<Record<string, Right>>): Signal<Readonly<Record<string, Decision>>> {
  const known = useSignal<Readonly<Record<string, Decision>>>({});
  const key = JSON.stringify(rights);
  useEffect(() => {
    let isGone = false;
    known.value = {};
    void Promise.all(
      Object.entries(rights).map(async ([name, right]) => {
        const decision = await mayI(right);
        if (!isGone) known.value = { ...known.value, [name]: decision };
      }),
    );
    return () => {
      isGone = true;
    };
  }, [key]);
  return known;
}
