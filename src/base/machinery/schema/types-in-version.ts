import type { Field, SchemaType, StructType } from './types.js';

/**
 * Derives the types of a version from those of another version that has the same ones: every struct of the package gets
 * a twin with the name of this version. Structs of other packages are shared.
 *
 * @param own types of the version that differ, by short name (`Device`); they replace twins. May be filled after this
 * call, since they consist of twins themselves.
 */
export function typesInVersion(
  version: string,
  own: Readonly<Record<string, StructType>> = {},
): <S extends StructType>(type: S) => S {
  const twins = new Map<string, StructType>();
  return <S extends StructType>(type: S) => {
    const { packageName, version: before } = partsOf(type.name);
    const twinOf = (struct: StructType): StructType => {
      const parts = partsOf(struct.name);
      if (parts.packageName !== packageName || parts.version !== before) return struct;
      const known = own[parts.short] ?? twins.get(parts.short);
      if (known !== undefined) return known;
      const twin = {
        ...struct,
        name: `${packageName}.${version}.${parts.short}`,
        kind: struct.kind === undefined ? undefined : { ...struct.kind, version },
        fields: struct.fields.map((field): Field => ({ ...field, type: convert(field.type) })),
      };
      twins.set(parts.short, twin);
      return twin;
    };
    const convert = (schema: SchemaType): SchemaType => {
      switch (schema.type) {
        case 'struct':
          return twinOf(schema);
        case 'list':
          return { ...schema, element: convert(schema.element) };
        case 'map':
          return { ...schema, value: convert(schema.value) };
        case 'lazy':
          return { ...schema, resolve: () => twinOf(schema.resolve()) };
        default:
          return schema;
      }
    };
    return twinOf(type) as S;
  };
}

function partsOf(name: string): { packageName: string; version: string; short: string } {
  const [packageName = '', version = '', short = ''] = name.split('.');
  return { packageName, version, short };
}
