import type { OpenApiBuilder, OpenApiSchema } from '../../../base/machinery/schema/index.js';
import type { ContentModel, OperationModel } from './operation-model.js';

export interface DocumentInfo {
  readonly title: string;
  readonly version: string;
}

/** Shared descriptions, by response code or name. */
export const descriptions: Readonly<Record<string | number, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  401: 'Unauthorized',
  default: 'Any failure, with its reason.',
  bearer: 'Bearer Token authentication',
};

/** The extensions by which clients find the operation of a kind. */
export function extensions({ action, gvk }: OperationModel): Record<string, unknown> {
  if (action === undefined || gvk === undefined) return {};
  const { group, kind, version } = gvk;
  return { 'x-kubernetes-action': action, 'x-kubernetes-group-version-kind': { group, kind, version } };
}

/** The schema of a request or response body; a reference for a declared type. */
export function contentSchema(builder: OpenApiBuilder, content: ContentModel): OpenApiSchema {
  if (content.type === 'struct') return builder.reference(content);
  return { type: 'string' };
}
