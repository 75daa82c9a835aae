import { OpenApiBuilder, type OpenApiOptions, type OpenApiSchema } from '../../machinery/schema/index.js';
import { contentSchema, type DocumentInfo, descriptions, extensions } from './document-parts.js';
import type { OperationModel, ParameterModel, PathModel } from './operation-model.js';

/** An OpenAPI 3.0 document of these paths, with the schemas of everything they use. */
export function openApi3Document(
  info: DocumentInfo,
  options: Omit<OpenApiOptions, 'version'>,
  paths: readonly PathModel[],
): Record<string, unknown> {
  const builder = new OpenApiBuilder({ ...options, version: 3 });
  const items: Record<string, unknown> = {};
  for (const path of paths) {
    const item: Record<string, unknown> = {};
    for (const operation of path.operations) item[operation.method] = operationObject(builder, operation);
    if (path.parameters.length > 0) item.parameters = path.parameters.map(parameterObject);
    items[path.path] = item;
  }
  const bearer = { type: 'apiKey', description: descriptions.bearer, name: 'authorization', in: 'header' };
  return {
    openapi: '3.0.0',
    info,
    paths: items,
    components: { schemas: builder.definitions, securitySchemes: { BearerToken: bearer } },
    security: [{ BearerToken: [] }],
  };
}

function operationObject(builder: OpenApiBuilder, operation: OperationModel): Record<string, unknown> {
  const { body } = operation;
  const schema = contentSchema(builder, operation.answer);
  const content = contentObject(operation.produces, schema);
  const responses: Record<string, unknown> = {};
  for (const code of operation.codes) responses[code] = { description: descriptions[code], content };
  responses[401] = { description: descriptions[401] };
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
