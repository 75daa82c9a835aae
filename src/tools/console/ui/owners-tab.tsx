import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { shownVersion } from './moment.js';
import { type Branch, branchOf, type Known, knownOf, loadObjects, loadOwners, type Owner } from './owners.js';
import { formatRoute } from './routes.js';
import { api, kinds } from './session.js';
import type { ApiObject } from './yaml-text.js';

interface Shown {
  readonly owners: readonly Owner[];
  readonly branch: Branch | undefined;
  readonly problems: readonly string[];
}

/** What an object belongs to, and what belongs to it. */
export function OwnersTab({ object }: { readonly object: ApiObject }) {
  const shown = useSignal<Shown | undefined>(undefined);
  const problem = useSignal('');
  const { uid, namespace = '', ownerReferences } = object.metadata;
  const owners = JSON.stringify(ownerReferences ?? []);
  useEffect(() => {
    const stop = new AbortController();
    shown.value = undefined;
    problem.value = '';
    load(object, namespace, stop.signal).then(
      (loaded) => {
        shown.value = loaded;
      },
      (error: unknown) => {
        if (!stop.signal.aborted) problem.value = (error as Error).message;
      },
    );
    return () => stop.abort();
  }, [uid, owners, namespace, shownVersion()]);
  if (problem.value !== '') return <p class="problem">{problem.value}</p>;
  if (shown.value === undefined) return <p class="quiet">Looking for relations…</p>;
  const { branch, problems } = shown.value;
  return (
    <>
      <ul class="tree">
        {shown.value.owners.toReversed().map((owner) => (
          <li key={'known' in owner ? owner.known.metadata.uid : owner.reference.uid} class="owner">
            {'known' in owner ? (
              <ObjectLink known={owner.known} />
            ) : (
              <span>
                {owner.reference.kind} {owner.reference.name} <span class="problem">({owner.why})</span>
              </span>
            )}
          </li>
        ))}
        {branch === undefined ? <li>{object.metadata.name}</li> : <BranchView branch={branch} isRoot />}
      </ul>
      {problems.length > 0 && <p class="quiet">Not all kinds could be looked at: {problems.join('; ')}</p>}
    </>
  );
}

async function load(object: ApiObject, namespace: string, signal: AbortSignal): Promise<Shown> {
  const { all = [], suffix = '' } = kinds.value ?? {};
  const known = knownOf(all, object.apiVersion ?? '', object.kind ?? '', object.metadata);
  const scopes = namespace === '' ? [''] : [namespace];
  const [owners, ...loaded] = await Promise.all([
    loadOwners(api, all, object.metadata, signal),
    ...scopes.map((scope) => loadObjects(api, all, suffix, scope, signal)),
  ]);
  const objects = loaded.flatMap((each) => each.objects);
  return {
    owners,
    branch: known === undefined ? undefined : branchOf(known, objects),
    problems: loaded.flatMap((each) => each.problems),
  };
}

const mostShown = 200;

function BranchView({ branch: { known, dependents, more }, isRoot = false }: { branch: Branch; isRoot?: boolean }) {
  const left = more + Math.max(0, dependents.length - mostShown);
  return (
    <li>
      {isRoot ? <strong>{`${known.kind.kind} ${known.metadata.name}`}</strong> : <ObjectLink known={known} />}
      {dependents.length + more > 0 && (
        <ul>
          {dependents.slice(0, mostShown).map((branch) => (
            <BranchView key={branch.known.metadata.uid} branch={branch} />
          ))}
          {left > 0 && <li class="quiet">and {left} more</li>}
        </ul>
      )}
    </li>
  );
}

export function ObjectLink({ known: { kind, metadata } }: { readonly known: Known }) {
  const { group, version, resource } = kind;
  const { namespace = '', name } = metadata;
  return (
    <a
      href={formatRoute({ page: 'object', group, version, resource, namespace, name, tab: 'summary' })}
    >{`${kind.kind} ${name}`}</a>
  );
}
