import {
  OpenApiBuilder,
  type OpenApiOptions,
  type OpenApiSchema,
  type StructType,
} from '../../../base/machinery/schema/index.js';
import type { Steps } from '../../../base/machinery/turns.js';
import { contentSchema, type DocumentInfo, descriptions, extensions } from './document-parts.js';
import type { OperationModel, ParameterModel, PathModel } from './operation-model.js';

/** Name of the shared description of error responses, which every operation refers to. */
const failureName = 'Failure';

/**
 * Builds an OpenAPI 3.0 document for these paths, one in each step, with the schemas of all types that they use.
 *
 * @param failure the type of error response bodies
 * @param failureTypes their media types
 */
export function* openApi3Document(
  info: DocumentInfo,
  options: Omit<OpenApiOptions, 'version'>,
  paths: Iterable<PathModel>,
  failure: StructType,
  failureTypes: readonly string[],
): Steps<Record<string, unknown>> {
  const builder = new OpenApiBuilder({ ...options, version: 3 });
  const items: Record<string, unknown> = {};
  for (const path of paths) {
    const item: Record<string, unknown> = {};
    for (const operation of path.operations) item[operation.method] = operationObject(builder, operation);
    if (path.parameters.length > 0) item.parameters = path.parameters.map(parameterObject);
    items[path.path] = item;
    yield;
  }
  const failed = contentObject(failureTypes, builder.reference(failure));
  const bearer = { type: 'apiKey', description: descriptions.bearer, name: 'authorization', in: 'header' };
  return {
    openapi: '3.0.0',
    info,
    paths: items,
    components: {
      schemas: builder.definitions,
      responses: { [failureName]: { description: descriptions.default, content: failed } },
      securitySchemes: { BearerToken: bearer },
    },
    security: [{ BearerToken: [] }],
  };
}

function operationObject(builder: OpenApiBuilder, operation: OperationModel): Record<string, unknown> {
  const { body } = operation;
  const content = contentObject(operation.produces, contentSchema(builder, operation.answer));
  const responses: Record<string, unknown> = {};
  for (const code of operation.codes) responses[code] = { description: descriptions[code], content };
  const failure = { $ref: `#/components/responses/${failureName}` };
  responses[401] = failure;
  responses.default = failure;
  return {
    tags: [operation.tag],
    description: operation.description,
    operationId: operation.id,
    ...(operation.parameters.length === 0 ? {} : { parameters: operation.parameters.map(parameterObject) }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            content: contentObject(operation.consumes, builder.reference(body.content)),
            ...(body.required ? { required: true } : {}),
          },
        }),
    responses,
    ...extensions(operation),
  };
}

function contentObject(mediaTypes: readonly string[], schema: OpenApiSchema): Record<string, unknown> {
  return Object.fromEntries(mediaTypes.map((type) => [type, { schema }]));
}

function parameterObject({ name, in: place, type, description }: ParameterModel): Record<string, unknown> {
  const required = place === 'path' ? { required: true } : {};
  return { name, in: place, description, ...required, schema: { type, uniqueItems: true } };
}
