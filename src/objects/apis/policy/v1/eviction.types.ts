import { always, type Infer, kind, pointer } from '../../../../base/machinery/schema/index.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { deleteOptions } from '../../meta/v1/options.types.js';

export const eviction = kind(
  { group: 'policy', version: 'v1', kind: 'Eviction', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    deleteOptions: pointer(2, deleteOptions, { doc: 'How the pod is deleted.' }),
  },
  { doc: 'Asks to take a pod away as far as budgets allow.' },
);
export type Eviction = Infer<typeof eviction>;
