import type { CelType } from '../../cel/index.js';

/**
 * A type whose objects have names by their place below it, as messages about rules show them: `selfType1.spec`, and
 * `selfType1.ports.@idx` for an item of a list. Objects of different places are different types, so a rule that
 * compares them does not compile.
 */
export function namedType(type: CelType, name: string): CelType {
  switch (type.kind) {
    case 'list':
      return { ...type, element: namedType(type.element, `${name}.@idx`) };
    case 'map':
      return { ...type, value: namedType(type.value, `${name}.@elem`) };
    case 'object': {
      const known = new Map<string, CelType | undefined>();
      return {
        ...type,
        name,
        fields: (field) => {
          if (!known.has(field)) {
            const found = type.fields(field);
            known.set(field, found === undefined ? undefined : namedType(found, `${name}.${field}`));
          }
          return known.get(field);
        },
      };
    }
    default:
      return type;
  }
}
