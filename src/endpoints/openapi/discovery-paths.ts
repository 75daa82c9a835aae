import type { VendorNames } from '../../machinery/vendor.js';
import type { OperationModel, PathModel } from './operation-model.js';
import { capitalize, groupTitle, mediaTypes, type PathContext, tagOf } from './resource-paths.js';

function discoveryPath(
  path: string,
  names: VendorNames,
  parts: Pick<OperationModel, 'id' | 'tag' | 'description' | 'answer'>,
): PathModel {
  const types = mediaTypes(names);
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
export function corePath({ kinds, names }: PathContext): PathModel {
  const description = 'Versions of the core group.';
  return discoveryPath('/api/', names, {
    id: 'getCoreAPIVersions',
    tag: 'core',
    description,
    answer: kinds.apiVersions,
  });
}

/** `/apis/`: the named groups. */
export function groupListPath({ kinds, names }: PathContext): PathModel {
  const description = 'The named API groups.';
  return discoveryPath('/apis/', names, { id: 'getAPIVersions', tag: 'apis', description, answer: kinds.apiGroupList });
}

/** `/apis/<group>/`. */
export function groupPath({ kinds, names }: PathContext, group: string): PathModel {
  return discoveryPath(`/apis/${group}/`, names, {
    id: `get${groupTitle(group, names)}APIGroup`,
    tag: tagOf(group, '', names),
    description: 'Versions of the group.',
    answer: kinds.apiGroup,
  });
}

/** `/apis/<group>/<version>/` and `/api/v1/`. */
export function groupVersionPath({ kinds, names }: PathContext, group: string, version: string): PathModel {
  return discoveryPath(group === '' ? `/api/${version}/` : `/apis/${group}/${version}/`, names, {
    id: `get${groupTitle(group, names)}${capitalize(version)}APIResources`,
    tag: tagOf(group, version, names),
    description: 'Resources of the group version.',
    answer: kinds.apiResourceList,
  });
}

const versionProperties = [
  'buildDate',
  'compiler',
  'gitCommit',
  'gitTreeState',
  'gitVersion',
  'goVersion',
  'major',
  'minor',
  'platform',
] as const;

/** `/version/`. */
export function versionPath({ names }: PathContext): PathModel {
  const path = discoveryPath('/version/', names, {
    id: 'getCodeVersion',
    tag: 'version',
    description: 'Version of the server.',
    answer: { type: 'inline', properties: versionProperties },
  });
  const json = ['application/json'];
  return { ...path, operations: path.operations.map((o) => ({ ...o, consumes: json, produces: json })) };
}
