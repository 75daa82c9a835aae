import { jsonFields, resolveType } from '../../../base/machinery/schema/access.js';
import type { CustomShape, ScalarName, SchemaType, StructType } from '../../../base/machinery/schema/index.js';
import { type CelType, listOf, mapOf, types } from '../../../objects/cel/index.js';

const { bool, dyn, int, string } = types;

/**
 * The types of scalars in canonical JSON, which expressions read: times and quantities are strings there. A double is
 * read as an int if it is whole, so its type stays open.
 */
const scalars: Readonly<Record<ScalarName, CelType>> = {
  string,
  int32: int,
  int64: int,
  bool,
  double: dyn,
  bytes: string,
  quantity: string,
  time: string,
  microTime: string,
  duration: string,
  intOrString: dyn,
  rawExtension: dyn,
  fieldsV1: dyn,
  anyJson: dyn,
};

const known = new WeakMap<StructType, CelType>();

/**
 * The type that the values of a declaration have in expressions. The fields of a struct are looked up when an expression
 * names them, and each struct is made once, so a type may contain itself.
 */
export function declaredType(schema: SchemaType): CelType {
  const type = resolveType(schema);
  switch (type.type) {
    case 'scalar':
      return scalars[type.scalar];
    case 'enum':
      return string;
    case 'list':
      return listOf(declaredType(type.element));
    case 'map':
      return mapOf(string, declaredType(type.value));
    case 'variant':
      return dyn;
    case 'custom':
      return shapeType(type.form.shape());
    case 'struct':
      return structType(type);
  }
}

/**
 * The type of a part of a custom resource. A string with a format stays a string here, and a number is as in {@link
 * scalars}.
 */
function shapeType(shape: CustomShape): CelType {
  switch (shape.kind) {
    case 'any':
    case 'number':
      return dyn;
    case 'string':
      return string;
    case 'boolean':
      return bool;
    case 'integer':
      return int;
    case 'list':
      return listOf(shapeType(shape.element));
    case 'map':
      return mapOf(string, shapeType(shape.value));
    case 'object':
      return {
        kind: 'object',
        name: 'object',
        fields: (name) => {
          const field = shape.field(name);
          if (field !== undefined) return shapeType(field);
          return shape.isOpen ? dyn : undefined;
        },
      };
  }
}

function structType(struct: StructType): CelType {
  const made = known.get(struct);
  if (made !== undefined) return made;
  const isKind = struct.kind !== undefined;
  const type: CelType = {
    kind: 'object',
    name: struct.name,
    fields: (name) => {
      const field = jsonFields(struct).get(name);
      if (field !== undefined) return declaredType(field.type);
      if (isKind && (name === 'kind' || name === 'apiVersion')) return string;
      return struct.custom?.others === undefined ? undefined : dyn;
    },
  };
  known.set(struct, type);
  return type;
}
