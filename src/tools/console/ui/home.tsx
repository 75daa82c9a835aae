import { canList } from './kinds.js';
import { formatRoute } from './routes.js';
import { kinds } from './session.js';

const usual = ['pods', 'deployments', 'services', 'configmaps', 'jobs', 'nodes', 'namespaces', 'events'];

export function Home() {
  const { all = [], missing = [] } = kinds.value ?? {};
  const shown = usual
    .map((resource) => all.find((kind) => kind.resource === resource && canList(kind)))
    .filter((kind) => kind !== undefined);
  return (
    <section class="home">
      <h1>Where to?</h1>
      <ul class="tiles">
        {shown.map((kind) => (
          <li key={kind.resource}>
            <a href={formatRoute({ page: 'list', ...kind, namespace: '', labels: '', fields: '', text: '' })}>
              {kind.resource}
            </a>
          </li>
        ))}
      </ul>
      <p class="quiet">
        <kbd>:</kbd> finds every kind, <kbd>?</kbd> shows all keys.
      </p>
      {missing.length > 0 && <p class="problem">These group versions can't be asked: {missing.join(', ')}</p>}
    </section>
  );
}
