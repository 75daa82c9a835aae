import type { ApiObject } from '../../src/base/machinery/api-object.js';
import { formatGroupResource } from '../../src/base/machinery/group-version.js';
import type { SharedListers } from '../../src/objects/registry/informers/shared-listers.js';

/** Listers of objects that a test may add and remove, by resource (`pods`, `storageclasses.storage.k8s.io`). */
export function fixedListers(objects: Readonly<Record<string, object[]>>): Pick<SharedListers, 'of'> {
  return {
    of: (resource, project) => {
      const list = () => (objects[formatGroupResource(resource)] ?? []) as ApiObject[];
      const isIn = (namespace: string) => (object: ApiObject) => (object.metadata.namespace ?? '') === namespace;
      return {
        get: (namespace, name) => {
          const found = list().find((object) => isIn(namespace)(object) && object.metadata.name === name);
          return found && project(found);
        },
        inNamespace: (namespace) => list().filter(isIn(namespace)).map(project).values(),
        all: function* () {
          yield* list().map(project);
        },
        changes: 0,
        lostForMs: 0,
      };
    },
  };
}
