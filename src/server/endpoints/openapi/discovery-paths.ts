import type { OperationModel, PathModel } from './operation-model.js';
import { capitalize, groupTitle, type PathContext, tagOf } from './resource-paths.js';

function discoveryPath(
  path: string,
  types: readonly string[],
  parts: Pick<OperationModel, 'id' | 'tag' | 'description' | 'answer'>,
): PathModel {
  const operation = {
    method: 'get',
    parameters: [],
    consumes: types,
    produces: types,
    codes: [200],
    ...parts,
  } as const;
  return { path, parameters: [], operations: [operation] };
}

/** `/api/`: versions of the core group. */
export function corePath({ kinds, accept }: PathContext): PathModel {
  const description = 'Versions of the core group.';
  return discoveryPath('/api/', accept.documentedTypes(), {
    id: 'getCoreAPIVersions',
    tag: 'core',
    description,
    answer: kinds.apiVersions,
  });
}

/** `/apis/`: the named groups. */
export function groupListPath({ kinds, accept }: PathContext): PathModel {
  const description = 'The named API groups.';
  const answer = kinds.apiGroupList;
  return discoveryPath('/apis/', accept.documentedTypes(), { id: 'getAPIVersions', tag: 'apis', description, answer });
}

/** `/apis/<group>/`. */
export function groupPath({ kinds, names, accept }: PathContext, group: string): PathModel {
  return discoveryPath(`/apis/${group}/`, accept.documentedTypes(), {
    id: `get${groupTitle(group, names)}APIGroup`,
    tag: tagOf(group, '', names),
    description: 'Versions of the group.',
    answer: kinds.apiGroup,
  });
}

/** `/apis/<group>/<version>/` and `/api/v1/`. */
export function groupVersionPath({ kinds, names, accept }: PathContext, group: string, version: string): PathModel {
  return discoveryPath(group === '' ? `/api/${version}/` : `/apis/${group}/${version}/`, accept.documentedTypes(), {
    id: `get${groupTitle(group, names)}${capitalize(version)}APIResources`,
    tag: tagOf(group, version, names),
    description: 'Resources of the group version.',
    answer: kinds.apiResourceList,
  });
}

/** `/version/`. */
export function versionPath({ kinds }: PathContext): PathModel {
  return discoveryPath('/version/', ['application/json'], {
    id: 'getCodeVersion',
    tag: 'version',
    description: 'Version of the server.',
    answer: kinds.versionInfo,
  });
}

/** The documents about the issuer of service account tokens, by their paths without slashes at the ends. */
export const issuerPaths: Readonly<Record<string, () => PathModel>> = {
  '.well-known/openid-configuration': () =>
    discoveryPath('/.well-known/openid-configuration/', ['application/json'], {
      id: 'getServiceAccountIssuerOpenIDConfiguration',
      tag: 'WellKnown',
      description: 'Where the keys of the issuer of service account tokens are.',
      answer: { type: 'text' },
    }),
  'openid/v1/jwks': () =>
    discoveryPath('/openid/v1/jwks/', ['application/jwk-set+json'], {
      id: 'getServiceAccountIssuerOpenIDKeyset',
      tag: 'openid',
      description: 'The keys of the issuer of service account tokens.',
      answer: { type: 'text' },
    }),
};
