import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Blank, Skeleton } from './blank.js';
import { pathOf } from './kinds.js';
import { shownVersion } from './moment.js';
import type { ObjectRoute } from './routes.js';
import { Values } from './sections-view.js';
import { api, kinds } from './session.js';
import { kindOfTarget } from './target-link.js';
import { askedVerbs, type Holder, type RbacObjects, whoMay } from './who-may.js';
import { Wide } from './wide.js';

const group = 'rbac.authorization';

async function readRules(namespace: string): Promise<RbacObjects> {
  const list = async (resource: string, scope: string) => {
    const kind = kinds.value === undefined ? undefined : kindOfTarget(kinds.value, group, resource);
    if (kind === undefined) throw new Error('the server has no RBAC');
    const { items = [] } = await api.json<{ readonly items?: readonly unknown[] }>(pathOf(kind, scope));
    return items;
  };
  const [clusterRoles, clusterRoleBindings, roles, roleBindings] = await Promise.all([
    list('clusterroles', ''),
    list('clusterrolebindings', ''),
    namespace === '' ? [] : list('roles', namespace),
    namespace === '' ? [] : list('rolebindings', namespace),
  ]);
  return { clusterRoles, clusterRoleBindings, roles, roleBindings };
}

/** Who may do what to an object, by the rules of RBAC. */
export function AccessTab({ route }: { readonly route: ObjectRoute }) {
  const { group: asked, resource, namespace, name } = route;
  const holders = useSignal<readonly Holder[] | undefined>(undefined);
  const problem = useSignal('');
  useEffect(() => {
    let isGone = false;
    holders.value = undefined;
    problem.value = '';
    readRules(namespace).then(
      (rules) => {
        if (!isGone) holders.value = whoMay({ group: asked, resource, namespace, name }, rules);
      },
      (error: unknown) => {
        if (!isGone) problem.value = (error as Error).message;
      },
    );
    return () => {
      isGone = true;
    };
  }, [asked, resource, namespace, name, shownVersion()]);
  if (problem.value !== '') {
    return (
      <Blank icon="access" title="You may not see who may">
        <p>{problem.value}</p>
      </Blank>
    );
  }
  if (holders.value === undefined) return <Skeleton lines={6} />;
  return (
    <>
      <p class="quiet">
        By the roles and bindings of RBAC. Members of the group system:masters may do everything; other authorizers of
        the server, such as webhooks, are not asked.
      </p>
      {holders.value.length === 0 ? (
        <Blank icon="access" title="Nobody, by RBAC" />
      ) : (
        <Matrix holders={holders.value} />
      )}
    </>
  );
}

function Matrix({ holders }: { readonly holders: readonly Holder[] }) {
  return (
    <Wide>
      <table class="plain matrix">
        <thead>
          <tr>
            <th scope="col">Who</th>
            {askedVerbs.map((verb) => (
              <th key={verb} scope="col">
                {verb}
              </th>
            ))}
            <th scope="col">Through</th>
          </tr>
        </thead>
        <tbody>
          {holders.map((holder) => (
            <tr key={`${holder.kind}/${holder.namespace}/${holder.name}`}>
              <th scope="row">
                <Who holder={holder} />
              </th>
              {askedVerbs.map((verb) => (
                <td key={verb} class={holder.verbs.has(verb) ? 'yes' : 'quiet'}>
                  {holder.verbs.has(verb) ? 'yes' : '–'}
                </td>
              ))}
              <td>
                <Values values={holder.through.map(throughLink)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

function Who({ holder: { kind, name, namespace } }: { readonly holder: Holder }) {
  const to = { group: '', resource: 'serviceaccounts', namespace, name };
  return (
    <>
      <span class="quiet">{kind === 'ServiceAccount' ? 'Service account' : kind}</span>{' '}
      <Values values={[kind === 'ServiceAccount' ? { text: `${namespace}/${name}`, to } : { text: name }]} />
    </>
  );
}

function throughLink({ binding, role, namespace }: Holder['through'][number]) {
  const resource = namespace === '' ? 'clusterrolebindings' : 'rolebindings';
  return {
    text: binding === role ? binding : `${binding} (${role})`,
    to: { group, resource, namespace, name: binding },
  };
}
