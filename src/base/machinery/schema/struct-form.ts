import { jsonFields, resolveType } from './access.js';
import { isEmptyList, memberOf } from './given-body.js';
import type { Field, SchemaType, StructType } from './types.js';

/**
 * The form of a value in messages of the API's release: a struct with every field in declared order, absent ones as
 * null or zero, by the names of the release's own types (`AppProtocol`, `IP`). Metadata types keep their JSON form.
 * Undefined for a value that is not of the type.
 *
 * @param given the value as a client sent it, if that had empty lists
 */
export function structForm(type: SchemaType, value: unknown, given?: unknown): unknown {
  const resolved = resolveType(type);
  if (value === undefined || value === null) return resolved.type === 'list' && isEmptyList(given) ? given : null;
  switch (resolved.type) {
    case 'list':
      return Array.isArray(value) ? formsOf(value, resolved.element) : undefined;
    case 'map':
      return mapForm(resolved.value, value as Readonly<Record<string, unknown>>);
    case 'struct':
      return resolved.custom === undefined ? fieldsForm(resolved, value, given) : undefined;
    case 'variant':
    case 'custom':
      return undefined;
    default:
      return value;
  }
}

function formsOf(values: readonly unknown[], element: SchemaType): unknown[] | undefined {
  const forms = values.map((value) => structForm(element, value));
  return forms.includes(undefined) ? undefined : forms;
}

function mapForm(type: SchemaType, value: Readonly<Record<string, unknown>>): unknown {
  if (typeof value !== 'object') return undefined;
  const forms: Record<string, unknown> = {};
  for (const key of Object.keys(value).sort()) {
    const form = structForm(type, value[key]);
    if (form === undefined) return undefined;
    Object.defineProperty(forms, key, { value: form, enumerable: true });
  }
  return forms;
}

function fieldsForm(type: StructType, value: unknown, sent: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const given = value as Readonly<Record<string, unknown>>;
  const fields = jsonFields(type);
  if (type.name.startsWith('meta.v1.')) return metadataForm(given, fields);
  if (Object.keys(given).some((key) => !fields.has(key) && !ofKinds.has(key))) return undefined;
  const forms: Record<string, unknown> = {};
  for (const field of fields.values()) {
    const form = fieldForm(field, given[field.name], memberOf(sent, field.name));
    if (form === undefined) return undefined;
    // The release's types embed metadata: its fields appear as fields of the object.
    if (field.name === 'metadata') Object.assign(forms, form);
    else forms[ownNamesOf[type.name]?.[field.name] ?? ownNames[field.name] ?? exportedName(field.name)] = form;
  }
  return forms;
}

function fieldForm(field: Field, value: unknown, given: unknown): unknown {
  return value === undefined && !isEmptyList(given) ? absentForm(field) : structForm(field.type, value, given);
}

/** Neither kind nor apiVersion is shown for an object inside another one. */
const ofKinds: ReadonlySet<string> = new Set(['kind', 'apiVersion']);

function absentForm({ presence, nullable, type }: Field): unknown {
  return presence === 'pointer' || nullable ? null : zeroForm(type);
}

function zeroForm(type: SchemaType): unknown {
  const resolved = resolveType(type);
  if (resolved.type === 'struct') return structForm(resolved, {}) ?? null;
  if (resolved.type === 'enum') return '';
  if (resolved.type !== 'scalar') return null;
  switch (resolved.scalar) {
    case 'string':
      return '';
    case 'bool':
      return false;
    case 'int32':
    case 'int64':
    case 'double':
    case 'intOrString':
      return 0;
    case 'quantity':
      return '0';
    case 'duration':
      return '0s';
    default:
      return null;
  }
}

/** The JSON form of metadata and selectors, with the members of maps in order. */
function metadataForm(
  given: Readonly<Record<string, unknown>>,
  fields: ReturnType<typeof jsonFields>,
): Record<string, unknown> {
  const form: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    if (value === null || value === undefined) continue;
    const type = fields.get(name)?.type;
    form[name] = type !== undefined && resolveType(type).type === 'map' ? structForm(type, value) : value;
  }
  return form;
}

const rbdNames = { image: 'RBDImage', monitors: 'CephMonitors', pool: 'RBDPool', user: 'RadosUser' } as const;
const glusterfsNames = { endpoints: 'EndpointsName' } as const;

/** Names that only one type has. */
const ownNamesOf: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'core.v1.GlusterfsPersistentVolumeSource': glusterfsNames,
  'core.v1.GlusterfsVolumeSource': glusterfsNames,
  'core.v1.RBDPersistentVolumeSource': rbdNames,
  'core.v1.RBDVolumeSource': rbdNames,
};

/** Names that follow none of the rules below. */
const ownNames: Readonly<Record<string, string>> = {
  serviceAccount: 'DeprecatedServiceAccount',
  storageos: 'StorageOS',
  cel: 'CEL',
  cephfs: 'CephFS',
  chapAuthDiscovery: 'DiscoveryCHAPAuth',
  chapAuthSession: 'SessionCHAPAuth',
  diskURI: 'DataDiskURI',
  iqn: 'IQN',
  pdID: 'PdID',
  sslEnabled: 'SSLEnabled',
  wwids: 'WWIDs',
  targetWWNs: 'TargetWWNs',
};

/** Abbreviations that begin JSON names in lower case, the longer ones first. */
const abbreviations =
  /^(iscsi|cidrs|https|gmsa|grpc|http|json|uids|aws|api|csi|dns|gce|ips|nfs|qos|rbd|tcp|tls|ttl|tty|uid|uri|url|cidr|ca|fc|fs|id|ip|os|pd|se)(?=[A-Z]|$)/;

function exportedName(name: string): string {
  const [short] = abbreviations.exec(name) ?? [];
  if (short === undefined) return name.charAt(0).toUpperCase() + name.slice(1);
  const plural = short.length > 2 && short.endsWith('s') && !/^(aws|dns|nfs|qos|tls|https)$/.test(short);
  const upper = plural ? `${short.slice(0, -1).toUpperCase()}s` : short.toUpperCase();
  return upper + name.slice(short.length);
}
