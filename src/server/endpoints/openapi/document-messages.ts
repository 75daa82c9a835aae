/**
 * Field numbers of the protobuf forms of OpenAPI documents (packages `openapi.v2` and `openapi.v3` of gnostic), limited
 * to the fields that our documents use.
 */

/** The protobuf form of one member of a JSON document. */
export interface Slot {
  readonly number: number;
  /**
   * How the value is encoded. `any`: YAML in a message; `anys`: a list of such messages; `default`: one field per JSON
   * type; a function: a message of that shape.
   */
  readonly as: 'text' | 'flag' | 'number' | 'count' | 'any' | 'anys' | 'default' | (() => Shape | Union);
  /** Set if the member is a map: the field number of its name-value pairs. */
  readonly entries?: number;
  /** Names in the map that have a field of their own instead of a pair, with the field's number. */
  readonly own?: Readonly<Record<string, number>>;
  /** Field numbers of the messages that enclose the value, outermost first. */
  readonly wrap?: readonly number[];
  /** Field number to use in the enclosing message if the value is a boolean. */
  readonly flag?: number;
}

/** A message: its fields by member name. */
export interface Shape {
  readonly fields: Readonly<Record<string, Slot>>;
  /** Field number of the name-value pairs for `x-` members. */
  readonly extensions?: number;
}

/** A message that has one of several shapes, depending on the value. */
export type Union = (value: Readonly<Record<string, unknown>>) => {
  readonly wrap: readonly number[];
  readonly shape: Shape;
};

type Wrap = readonly number[];

const text = (number: number, wrap?: Wrap): Slot => ({ number, as: 'text', ...(wrap === undefined ? {} : { wrap }) });
const flag = (number: number): Slot => ({ number, as: 'flag' });
const limit = (number: number): Slot => ({ number, as: 'number' });
const count = (number: number): Slot => ({ number, as: 'count' });
const message = (number: number, as: () => Shape | Union, wrap?: Wrap): Slot => ({
  number,
  as,
  ...(wrap === undefined ? {} : { wrap }),
});
const map = (number: number, entries: number, as: () => Shape | Union, wrap?: Wrap): Slot => ({
  ...message(number, as, wrap),
  entries,
});

const stringArray: Shape = { fields: {} };

const reference: Shape = { fields: { $ref: text(1) } };

const externalDocs: Shape = { fields: { description: text(1), url: text(2) }, extensions: 3 };

const schema2: Shape = {
  fields: {
    $ref: text(1),
    format: text(2),
    title: text(3),
    description: text(4),
    default: { number: 5, as: 'any' },
    multipleOf: limit(6),
    maximum: limit(7),
    exclusiveMaximum: flag(8),
    minimum: limit(9),
    exclusiveMinimum: flag(10),
    maxLength: count(11),
    minLength: count(12),
    pattern: text(13),
    maxItems: count(14),
    minItems: count(15),
    uniqueItems: flag(16),
    maxProperties: count(17),
    minProperties: count(18),
    required: text(19),
    enum: { number: 20, as: 'anys' },
    additionalProperties: { ...message(21, () => schema2, [1]), flag: 2 },
    type: text(22, [1]),
    items: message(23, () => schema2, [1]),
    allOf: message(24, () => schema2),
    properties: map(25, 1, () => schema2),
    externalDocs: message(29, () => externalDocs),
    example: { number: 30, as: 'any' },
  },
  extensions: 31,
};

const bodyParameter2: Shape = {
  fields: { description: text(1), name: text(2), in: text(3), required: flag(4), schema: message(5, () => schema2) },
};
const queryParameter2: Shape = {
  fields: { required: flag(1), in: text(2), description: text(3), name: text(4), type: text(6), uniqueItems: flag(20) },
};
const pathParameter2: Shape = {
  fields: { required: flag(1), in: text(2), description: text(3), name: text(4), type: text(5), uniqueItems: flag(19) },
};
const sharedParameter2: Union = (value) =>
  value.in === 'path' ? { wrap: [2, 4], shape: pathParameter2 } : { wrap: [2, 3], shape: queryParameter2 };

const parameter2: Union = (value) => {
  if (value.$ref !== undefined) return { wrap: [2], shape: reference };
  if (value.in === 'body') return { wrap: [1, 1], shape: bodyParameter2 };
  if (value.in === 'path') return { wrap: [1, 2, 4], shape: pathParameter2 };
  return { wrap: [1, 2, 3], shape: queryParameter2 };
};

const response2: Shape = { fields: { description: text(1), schema: message(2, () => schema2, [1]) } };

const operation2: Shape = {
  fields: {
    tags: text(1),
    description: text(3),
    operationId: text(5),
    produces: text(6),
    consumes: text(7),
    parameters: message(8, () => parameter2),
    responses: map(9, 1, () => response2, [1]),
    schemes: text(10),
  },
  extensions: 13,
};

const pathItem2: Shape = {
  fields: {
    get: message(2, () => operation2),
    put: message(3, () => operation2),
    post: message(4, () => operation2),
    delete: message(5, () => operation2),
    options: message(6, () => operation2),
    head: message(7, () => operation2),
    patch: message(8, () => operation2),
    parameters: message(9, () => parameter2),
  },
};

/** `openapi.v2.Document`. */
export const swaggerMessage: Shape = {
  fields: {
    swagger: text(1),
    info: message(2, () => ({ fields: { title: text(1), version: text(2) } })),
    paths: map(8, 2, () => pathItem2),
    definitions: map(9, 1, () => schema2),
    parameters: map(10, 1, () => sharedParameter2),
    security: map(12, 1, () => stringArray),
    securityDefinitions: map(
      13,
      1,
      () => ({ fields: { type: text(1), name: text(2), in: text(3), description: text(4) } }),
      [2],
    ),
  },
};

const schemaOrReference3: Union = (value) =>
  value.$ref === undefined ? { wrap: [1], shape: schema3 } : { wrap: [2], shape: reference };

const schema3: Shape = {
  fields: {
    nullable: flag(1),
    externalDocs: message(6, () => externalDocs),
    example: { number: 7, as: 'any' },
    title: text(9),
    multipleOf: limit(10),
    maximum: limit(11),
    exclusiveMaximum: flag(12),
    minimum: limit(13),
    exclusiveMinimum: flag(14),
    maxLength: count(15),
    minLength: count(16),
    pattern: text(17),
    maxItems: count(18),
    minItems: count(19),
    uniqueItems: flag(20),
    maxProperties: count(21),
    minProperties: count(22),
    required: text(23),
    enum: { number: 24, as: 'anys' },
    type: text(25),
    allOf: message(26, () => schemaOrReference3),
    oneOf: message(27, () => schemaOrReference3),
    anyOf: message(28, () => schemaOrReference3),
    not: message(29, () => schema3),
    items: message(30, () => schemaOrReference3, [1]),
    properties: map(31, 1, () => schemaOrReference3),
    additionalProperties: { ...message(32, () => schemaOrReference3, [1]), flag: 2 },
    default: { number: 33, as: 'default' },
    description: text(34),
    format: text(35),
  },
  extensions: 36,
};

const content3: Shape = { fields: { schema: message(1, () => schemaOrReference3) } };

const parameter3: Shape = {
  fields: {
    name: text(1),
    in: text(2),
    description: text(3),
    required: flag(4),
    schema: message(10, () => schemaOrReference3),
  },
};

const response3: Shape = { fields: { description: text(1), content: map(3, 1, () => content3) } };
const responseOrReference3: Union = (value) =>
  value.$ref === undefined ? { wrap: [1], shape: response3 } : { wrap: [2], shape: reference };

const operation3: Shape = {
  fields: {
    tags: text(1),
    description: text(3),
    operationId: text(5),
    parameters: message(6, () => parameter3, [1]),
    requestBody: message(7, () => ({ fields: { content: map(2, 1, () => content3), required: flag(3) } }), [1]),
    responses: { ...map(8, 2, () => responseOrReference3), own: { default: 1 } },
  },
  extensions: 13,
};

const pathItem3: Shape = {
  fields: {
    get: message(4, () => operation3),
    put: message(5, () => operation3),
    post: message(6, () => operation3),
    delete: message(7, () => operation3),
    options: message(8, () => operation3),
    head: message(9, () => operation3),
    patch: message(10, () => operation3),
    parameters: message(13, () => parameter3, [1]),
  },
};

/** `openapi.v3.Document`. */
export const openApi3Message: Shape = {
  fields: {
    openapi: text(1),
    info: message(2, () => ({ fields: { title: text(1), version: text(6) } })),
    paths: map(4, 1, () => pathItem3),
    components: message(5, () => ({
      fields: {
        schemas: map(1, 1, () => schemaOrReference3),
        responses: map(2, 1, () => responseOrReference3),
        securitySchemes: map(
          7,
          1,
          () => ({ fields: { type: text(1), description: text(2), name: text(3), in: text(4) } }),
          [1],
        ),
      },
    })),
    security: map(6, 1, () => stringArray),
  },
};
