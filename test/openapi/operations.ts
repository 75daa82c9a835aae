import assert from 'node:assert/strict';
import type { Answer, DocumentClient } from './document-client.js';
import { DocumentSchemas, type Json } from './document-schemas.js';

export const methods = ['get', 'put', 'post', 'delete', 'patch'] as const;
export type Method = (typeof methods)[number];

/** One operation, as both versions of OpenAPI describe it. */
export interface Operation {
  readonly path: string;
  readonly method: Method;
  /** Parameters of the path and of the method. */
  readonly parameters: readonly Json[];
  readonly v3: Json;
  readonly v2: Json;
  readonly document: ApiDocument;
}

/** A document with its validator. */
export interface ApiDocument {
  readonly content: Json;
  readonly schemas: DocumentSchemas;
}

/** All documents of the server about itself. */
export interface Documents {
  readonly swagger: ApiDocument;
  readonly operations: readonly Operation[];
  /** The differences between the two versions of OpenAPI. */
  readonly differences: readonly string[];
}

async function readDocument(client: DocumentClient, path: string): Promise<ApiDocument> {
  const { status, value, text } = await client.send('GET', path);
  assert.equal(status, 200, `${path}: ${text.slice(0, 300)}`);
  return { content: value, schemas: new DocumentSchemas(value) };
}

/** Reads the Swagger document and those of OpenAPI 3.0 for every group version. */
export async function readDocuments(client: DocumentClient): Promise<Documents> {
  const swagger = await readDocument(client, '/openapi/v2');
  const operations: Operation[] = [];
  const differences: string[] = [];
  const index = await client.send('GET', '/openapi/v3');
  // The index is labelled as plain text, as the release does it.
  for (const { serverRelativeURL } of Object.values<Json>(JSON.parse(index.text).paths)) {
    const document = await readDocument(client, serverRelativeURL);
    for (const [path, item] of Object.entries<Json>(document.content.paths)) {
      const item2 = swagger.content.paths[path] ?? {};
      differences.push(...parameterDifferences(path, item.parameters, parametersOf(swagger, item2)));
      for (const method of methods) {
        const v3 = item[method];
        const v2 = item2[method] && { ...item2[method], parameters: parametersOf(swagger, item2[method]) };
        if (v3 !== undefined && v2 !== undefined) {
          const parameters = [...(item.parameters ?? []), ...(v3.parameters ?? [])];
          operations.push({ path, method, parameters, v3, v2, document });
          differences.push(...operationDifferences(`${method} ${path}`, v3, v2));
        } else if (v3 !== v2) differences.push(`${method} ${path}: only in one version`);
      }
    }
  }
  const paths = new Set(operations.map(({ path }) => path));
  for (const path of Object.keys(swagger.content.paths)) {
    if (!paths.has(path)) differences.push(`${path}: only in v2`);
  }
  return { swagger, operations, differences };
}

/** The parameters of a path or an operation in Swagger, where shared ones are references. */
function parametersOf({ content }: ApiDocument, { parameters }: Json): readonly Json[] | undefined {
  return parameters?.map((parameter: Json) => {
    const name = parameter.$ref?.replace('#/parameters/', '');
    return name === undefined ? parameter : content.parameters[name];
  });
}

function parameterDifferences(where: string, v3: readonly Json[] = [], v2: readonly Json[] = []): string[] {
  const describe = ({ name, in: place, required = false, type, schema }: Json) =>
    `${place} ${name}: ${type ?? schema.type}${required ? ', required' : ''}`;
  const one = v3.map(describe).sort().join('; ');
  const other = v2
    .filter((parameter) => parameter.in !== 'body')
    .map(describe)
    .sort()
    .join('; ');
  return one === other ? [] : [`${where}: parameters are ${one} in v3, ${other} in v2`];
}

/** The name of the schema that a schema refers to; the first one if there are several. */
function referred(schema: Json): string | undefined {
  return (schema?.anyOf?.[0] ?? schema)?.$ref?.replace(/^.*\//, '');
}

function operationDifferences(where: string, v3: Json, v2: Json): string[] {
  const found = parameterDifferences(where, v3.parameters, v2.parameters);
  const compare = (what: string, one: unknown, other: unknown) => {
    const texts = [JSON.stringify(one), JSON.stringify(other)];
    if (texts[0] !== texts[1]) found.push(`${where}: ${what} is ${texts[0]} in v3, ${texts[1]} in v2`);
  };
  compare('the id', v3.operationId, v2.operationId);
  compare('the list of codes', Object.keys(v3.responses), Object.keys(v2.responses));
  for (const [code, { content = {} }] of Object.entries<Json>(v3.responses)) {
    const [mediaType] = Object.entries<Json>(content);
    if (mediaType === undefined) continue;
    compare(`the list of media types of ${code}`, Object.keys(content).sort(), [...v2.produces].sort());
    compare(`the answer of ${code}`, referred(mediaType[1].schema), referred(v2.responses[code].schema));
  }
  const body2 = v2.parameters?.find((parameter: Json) => parameter.in === 'body');
  compare('whether a body is required', v3.requestBody?.required ?? false, body2?.required ?? false);
  if (body2 === undefined) return found;
  compare('the list of types of bodies', Object.keys(v3.requestBody.content), v2.consumes);
  compare('the body', referred(Object.values<Json>(v3.requestBody.content)[0].schema), referred(body2.schema));
  return found;
}

/** The description of a code in a document of version 3, following a reference. */
function describedResponse({ v3, document }: Operation, status: number): Json {
  const response = v3.responses[status] ?? v3.responses.default;
  const name = response?.$ref?.replace('#/components/responses/', '');
  return name === undefined ? response : document.content.components.responses[name];
}

/**
 * The schema of the answer's own kind, where the release describes another one: a delete may answer with the object in
 * place of a Status, and a binding or an eviction is answered with a Status.
 */
function answersWithAnother({ method, document }: Operation, value: Json, described: Json): Json {
  const [name] =
    Object.entries<Json>(document.content.components.schemas).find(([, schema]) =>
      (schema['x-kubernetes-group-version-kind'] ?? []).some(
        ({ group, version, kind }: Json) =>
          kind === value?.kind && (group === '' ? version : `${group}/${version}`) === value?.apiVersion,
      ),
    ) ?? [];
  if (name === undefined || referred(described) === name) return undefined;
  const mayDiffer =
    method === 'delete' || (value.kind === 'Status' && /\.(Binding|Eviction)$/.test(referred(described) ?? ''));
  return mayDiffer ? { $ref: `#/components/schemas/${name}` } : undefined;
}

/** The differences between an answer and the description of the operation in both documents. */
export function answerFaults(operation: Operation, answer: Answer, swagger: ApiDocument): string[] {
  const { v3, v2, document } = operation;
  const { status, mediaType, value, text, events } = answer;
  const shown = () => text.slice(0, 300);
  if (status >= 500) return [`${status} ${shown()}`];
  if (status < 400 && (v3.responses[status] === undefined || v2.responses[status] === undefined)) {
    return [`${status} is not described`];
  }
  const content = describedResponse(operation, status)?.content?.[mediaType];
  if (content === undefined) return [`${status} with ${mediaType || 'no media type'} is not described: ${shown()}`];
  if (status < 400 && !v2.produces.includes(mediaType)) return [`v2 does not describe ${mediaType}`];
  if (status >= 400 && (value.kind !== 'Status' || value.code !== status)) return [`${status} with ${shown()}`];
  const schema2 = (v2.responses[status] ?? v2.responses.default).schema;
  const own = status < 300 ? answersWithAnother(operation, value, content.schema) : undefined;
  if (own !== undefined) return document.schemas.faults(own, value).map((fault) => `${status} ${mediaType}: ${fault}`);
  if (events !== undefined) {
    const faults = events.flatMap((event) => document.schemas.faults(content.schema, event));
    return faults.map((fault) => `${status} event: ${fault}`);
  }
  return [
    ...document.schemas.faults(content.schema, value).map((fault) => `${status} v3 ${mediaType}: ${fault}`),
    ...swagger.schemas.faults(schema2, value).map((fault) => `${status} v2 ${mediaType}: ${fault}`),
  ];
}
