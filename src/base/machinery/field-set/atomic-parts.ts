import { isObject } from '../patch/json-value.js';
import { memberView } from './compare.js';
import type { TypeView } from './type-view.js';

/**
 * Paths of the lists, maps and structs in an applied object that are owned as a whole: applying them would replace what
 * other owners put there.
 */
export function atomicParts(view: TypeView, applied: unknown, path = ''): string[] {
  switch (view.kind) {
    case 'leaf':
      return isObject(applied) || Array.isArray(applied) ? [path] : [];
    case 'struct':
    case 'map':
      if (!isObject(applied)) return [];
      return Object.keys(applied).flatMap((name) =>
        atomicParts(memberView(view, name), applied[name], `${path}.${name}`),
      );
    case 'keyed': {
      if (!Array.isArray(applied)) return [];
      const { element } = view;
      return applied.flatMap((item, i) => atomicParts(element, item, `${path}[${i}]`));
    }
    default:
      return [];
  }
}
