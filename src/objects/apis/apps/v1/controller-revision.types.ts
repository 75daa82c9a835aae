import { always, type Infer, int64, kind, rawExtension, required } from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const controllerRevision = kind(
  { group: 'apps', version: 'v1', kind: 'ControllerRevision', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    data: always(2, rawExtension, { doc: 'The state.' }),
    revision: required(3, int64, { doc: 'Its number.' }),
  },
  { doc: 'A remembered state of something that is rolled out.' },
);
export type ControllerRevision = Infer<typeof controllerRevision>;

export const controllerRevisionList = listKind(controllerRevision);
export type ControllerRevisionList = Infer<typeof controllerRevisionList>;
