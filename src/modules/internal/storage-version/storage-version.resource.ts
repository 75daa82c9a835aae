import { duplicate, type FieldError, FieldPath, invalid, required } from '../../../base/machinery/field-error.js';
import { isDns1035Label, isDns1123Subdomain, isQualifiedName } from '../../../base/machinery/names.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import {
  type ServerStorageVersion,
  type StorageVersion,
  storageVersion,
} from '../../../objects/apis/apiserverinternal/v1alpha1/storage-version.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { clientMetadata, statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import {
  defineResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';

const statusPath = FieldPath.of('status');
const maxShown = 3;

const columns: readonly TableColumn<StorageVersion>[] = [
  nameColumn,
  {
    name: 'CommonEncodingVersion',
    type: 'string',
    description: 'The version that all servers store, if it is the same.',
    cell: ({ status }) => status.commonEncodingVersion ?? '<unset>',
  },
  { name: 'StorageVersions', type: 'string', description: 'Versions that the servers store.', cell: versionsCell },
  ageColumn,
];

/** `storageversions`: the versions in which the servers of a cluster store a resource. */
export function storageVersionResource(names: VendorNames): ResourceDefinition {
  return defineResource<StorageVersion>({
    group: groupName('internal', names),
    resource: 'storageversions',
    singular: 'storageversion',
    kind: 'StorageVersion',
    namespaced: false,
    versions: [{ version: 'v1alpha1', type: storageVersion }],
    strategyOptions: { allowUnconditionalUpdate: false },
    strategy: {
      validateName: nameErrors,
      validate: (_context, { status }) => validateStatus(status),
    },
    columns,
    subresources: [
      statusSubresource<StorageVersion>({
        keptMetadata: clientMetadata,
        validate: ({ status }) => validateStatus(status),
      }),
    ],
  });
}

function nameErrors(name: string): string[] {
  const dot = name.lastIndexOf('.');
  if (dot < 0) return ['name must be in the form of <group>.<resource>'];
  return [
    ...isDns1123Subdomain(name.slice(0, dot)).map((message) => `the group segment ${message}`),
    ...isDns1035Label(name.slice(dot + 1)).map((message) => `the resource segment ${message}`),
  ];
}

function validateStatus(status: StorageVersion['status']): FieldError[] {
  const { storageVersions: servers = [], commonEncodingVersion: common, conditions = [] } = status;
  const path = statusPath.child('storageVersions');
  const errors: FieldError[] = [];
  const ids = new Set<string>();
  for (const [i, server] of servers.entries()) {
    const id = server.apiServerID ?? '';
    if (ids.has(id)) errors.push(duplicate(path.index(i).child('apiServerID'), id));
    ids.add(id);
    errors.push(...validateServer(server, path.index(i)));
  }
  const versions = new Set(servers.map(({ encodingVersion }) => encodingVersion ?? ''));
  const actual = versions.size === 1 ? [...versions][0] : undefined;
  if (actual !== common) {
    const detail =
      actual === undefined
        ? 'should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet'
        : `the ${common === undefined ? '' : 'actual '}common encoding version is ${actual}`;
    errors.push(invalid(statusPath.child('commonEncodingVersion'), common ?? null, detail));
  }
  for (const [i, condition] of conditions.entries()) {
    const at = statusPath.index(i);
    for (const field of ['type', 'status'] as const) {
      for (const m of isQualifiedName(condition[field])) errors.push(invalid(at.child(field), condition[field], m));
    }
    if (condition.reason === '') errors.push(required(at.child('reason')));
    if ((condition.message ?? '') === '') errors.push(required(at.child('message')));
  }
  return errors;
}

function validateServer(server: ServerStorageVersion, path: FieldPath): FieldError[] {
  const { apiServerID = '', encodingVersion = '', decodableVersions = [], servedVersions = [] } = server;
  const errors = isDns1123Subdomain(apiServerID).map((m) => invalid(path.child('apiServerID'), apiServerID, m));
  errors.push(...versionErrors(encodingVersion, path.child('encodingVersion')));
  const decodable = path.child('decodableVersions');
  for (const [i, version] of decodableVersions.entries()) errors.push(...versionErrors(version, decodable.index(i)));
  if (!decodableVersions.includes(encodingVersion)) {
    const detail = `decodableVersions must include encodingVersion ${encodingVersion}`;
    errors.push(invalid(decodable, decodableVersions, detail));
  }
  for (const [i, version] of servedVersions.entries()) {
    const at = path.child('servedVersions').index(i);
    errors.push(...versionErrors(version, at));
    if (decodableVersions.includes(version)) continue;
    const detail = `individual served version : ${version} must be included in decodableVersions : [${decodableVersions.join(' ')}]`;
    errors.push(invalid(at, version, detail));
  }
  return errors;
}

function versionErrors(text: string, path: FieldPath): FieldError[] {
  const parts = text.split('/');
  const [group, version = ''] = parts.length === 2 ? parts : [undefined, parts[0]];
  const problems = [
    ...(group === undefined ? [] : isDns1123Subdomain(group).map((message) => `group part: ${message}`)),
    ...isDns1035Label(version).map((message) => `version part: ${message}`),
  ];
  return problems.length === 0 ? [] : [invalid(path, text, problems.join(','))];
}

function versionsCell({ status: { storageVersions: servers = [] } }: StorageVersion): string {
  const shown = servers.slice(0, maxShown).map((server) => `${server.apiServerID}=${server.encodingVersion}`);
  if (servers.length > maxShown) return `${shown.join(',')} + ${servers.length - maxShown} more...`;
  return shown.join(',') || '<unset>';
}
