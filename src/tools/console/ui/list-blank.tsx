import { Blank } from './blank.js';
import { createRoute, createText, templateOf } from './create-text.js';
import type { Kind } from './kinds.js';
import { chosenNamespace, go } from './navigation.js';
import type { ListRoute } from './routes.js';

interface ListBlankProps {
  readonly route: ListRoute;
  readonly kind: Kind | undefined;
  readonly title: string;
  /** How many rows there are, of which none fits the words. */
  readonly total: number;
  readonly change: (more: Partial<ListRoute>) => void;
}

/** Says why a list is empty, and offers what helps. */
export function ListBlank({ route, kind, title, total, change }: ListBlankProps) {
  const { namespace, labels, fields, text } = route;
  const said = title.slice(0, 1).toLowerCase() + title.slice(1);
  if (labels !== '' || fields !== '' || text !== '') {
    return (
      <Blank title={`No ${said} fit these filters`}>
        {total > 0 && <p>{total} are hidden by the words of the search.</p>}
        <button type="button" class="main" onClick={() => change({ labels: '', fields: '', text: '' })}>
          Clear the filters
        </button>
      </Blank>
    );
  }
  const isIn = kind?.namespaced === true && namespace !== '';
  return (
    <Blank icon="workloads" title={isIn ? `No ${said} in ${namespace}` : `No ${said} yet`}>
      {isIn && (
        <button type="button" onClick={() => change({ namespace: '' })}>
          Look in all namespaces
        </button>
      )}
      {kind?.verbs.includes('create') === true && (
        <button
          type="button"
          class="main"
          onClick={() => {
            createText.value = templateOf(kind, chosenNamespace.value);
            go(createRoute);
          }}
        >
          Create one from YAML
        </button>
      )}
    </Blank>
  );
}
