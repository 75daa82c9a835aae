import { createHash } from 'node:crypto';
import { OpenApiBuilder, type OpenApiOptions, type StructType } from '../../../base/machinery/schema/index.js';
import { contentSchema, type DocumentInfo, descriptions, extensions } from './document-parts.js';
import type { OperationModel, ParameterModel, PathModel } from './operation-model.js';
import { sharedParameters } from './parameters.js';

type Json = Readonly<Record<string, unknown>>;

/** A piece of a Swagger 2.0 document: each member of these maps is in exactly one piece. */
export interface SwaggerPiece {
  /** Members other than the maps; only the first piece has them. */
  readonly head?: Json;
  readonly paths?: Json;
  readonly definitions?: Json;
}

/**
 * Builds a Swagger 2.0 document for these paths, with the definitions of all types that they use: one piece per path,
 * so that the whole document never has to be in memory.
 *
 * @param failure the type of error response bodies
 */
export async function* swaggerPieces(
  info: DocumentInfo,
  options: Omit<OpenApiOptions, 'version'>,
  paths: AsyncIterable<PathModel>,
  failure: StructType,
): AsyncGenerator<SwaggerPiece, void, undefined> {
  const builder = new OpenApiBuilder({ ...options, version: 2 });
  const bearer = { description: descriptions.bearer, type: 'apiKey', name: 'authorization', in: 'header' };
  yield {
    head: {
      swagger: '2.0',
      info,
      parameters: sharedDescriptions(),
      securityDefinitions: { BearerToken: bearer },
      security: [{ BearerToken: [] }],
    },
  };
  for await (const path of paths) {
    const item: Record<string, unknown> = {};
    for (const operation of path.operations) item[operation.method] = operationObject(builder, operation, failure);
    if (path.parameters.length > 0) item.parameters = path.parameters.map(referredParameter);
    yield { paths: { [path.path]: item }, definitions: builder.takeDefinitions() };
  }
}

function operationObject(
  builder: OpenApiBuilder,
  operation: OperationModel,
  failure: StructType,
): Record<string, unknown> {
  const { body } = operation;
  const parameters: unknown[] = operation.parameters.map(referredParameter);
  if (body !== undefined) {
    const schema = builder.reference(body.content);
    parameters.unshift({ name: 'body', in: 'body', ...(body.required ? { required: true } : {}), schema });
  }
  const responses: Record<string, unknown> = {};
  for (const code of operation.codes) {
    responses[code] = { description: descriptions[code], schema: contentSchema(builder, operation.answer) };
  }
  const schema = builder.reference(failure);
  responses[401] = { description: descriptions[401], schema };
  responses.default = { description: descriptions.default, schema };
  return {
    description: operation.description,
    consumes: operation.consumes,
    produces: operation.produces,
    schemes: ['https'],
    tags: [operation.tag],
    operationId: operation.id,
    ...(parameters.length === 0 ? {} : { parameters }),
    responses,
    ...extensions(operation),
  };
}

let shared: ReadonlyMap<ParameterModel, string> | undefined;

/** Names of the shared parameters. */
function sharedNames(): ReadonlyMap<ParameterModel, string> {
  shared ??= new Map(
    [...sharedParameters()].map((parameter) => {
      const digest = createHash('sha256').update(JSON.stringify(parameter)).digest('base64url');
      return [parameter, `${parameter.name}-${digest.slice(0, 8)}`];
    }),
  );
  return shared;
}

function sharedDescriptions(): Json {
  return Object.fromEntries([...sharedNames()].map(([parameter, name]) => [name, parameterObject(parameter)]));
}

function referredParameter(parameter: ParameterModel): Record<string, unknown> {
  const name = sharedNames().get(parameter);
  return name === undefined ? parameterObject(parameter) : { $ref: `#/parameters/${name}` };
}

function parameterObject({ name, in: place, type, description }: ParameterModel): Record<string, unknown> {
  const common = { uniqueItems: true, type, description, name, in: place };
  return place === 'path' ? { ...common, required: true } : common;
}
