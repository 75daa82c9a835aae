import { createHash, type Hash } from 'node:crypto';
import type { CustomForm } from '../../../base/machinery/schema/index.js';
import type { Steps } from '../../../base/machinery/turns.js';
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  WebhookConversion,
} from '../../apis/apiextensions/v1/custom-resource-definition.types.js';
import type { JSONSchemaProps } from '../../apis/apiextensions/v1/json-schema.types.js';
import { isConditionTrue } from './definition-conditions.js';
import { PackedJson } from './packed-json.js';

/** A top-level field of a custom kind, besides kind, apiVersion and metadata. */
export interface TopField {
  readonly name: string;
  readonly column: CustomForm['column'];
}

/** The data kept of one version of a definition. */
export interface VersionSource {
  readonly name: string;
  readonly isServed: boolean;
  readonly schema: PackedJson<JSONSchemaProps>;
  /** The top-level fields, sorted by name. */
  readonly fields: readonly TopField[];
  readonly subresources: CustomResourceSubresources;
  readonly columns: readonly CustomResourceColumnDefinition[];
  /** JSON paths of the selectable fields; undefined: none. */
  readonly selectableFields: readonly string[] | undefined;
  /** The warning for clients of a deprecated version; empty: the default warning. */
  readonly deprecation: string | undefined;
}

/** The data kept of a definition, so that thousands take little memory. Never changed. */
export interface DefinitionSource {
  /** Definitions with equal digests serve the same resource, except that one may be terminating. */
  readonly digest: string;
  /** `<plural>.<group>`. */
  readonly name: string;
  readonly uid: string;
  readonly group: string;
  readonly isNamespaced: boolean;
  /** Names that no other definition has. */
  readonly names: {
    readonly plural: string;
    readonly singular: string;
    readonly kind: string;
    readonly listKind: string;
    readonly shortNames: readonly string[] | undefined;
    readonly categories: readonly string[] | undefined;
  };
  /** All versions, the storage version first. */
  readonly versions: readonly [VersionSource, ...VersionSource[]];
  /** Converts objects from version to version; undefined: changing their apiVersion is enough. */
  readonly conversionWebhook: WebhookConversion | undefined;
  /** Whether all objects are stored in the storage version. */
  readonly isUniform: boolean;
  /** Whether the objects are being deleted, and the definition with them. */
  readonly isTerminating: boolean;
}

/**
 * The data kept for serving a definition; undefined while nothing is served, because its names are not accepted or it
 * has not been established yet. In several steps, as schemas may be long.
 */
export function* definitionSource(definition: CustomResourceDefinition): Steps<DefinitionSource | undefined> {
  const { metadata, spec, status } = definition;
  const storage = spec.versions?.find((version) => version.storage);
  if (!isConditionTrue(definition, 'Established') || storage === undefined) return undefined;
  const { plural, singular, kind, listKind, shortNames, categories } = status.acceptedNames;
  // A client with access to the status may write one without these names; the control loop corrects it.
  if (plural === '' || kind === '') return undefined;
  const others = (spec.versions ?? []).filter((version) => version !== storage);
  const { versions: _versions, ...rest } = spec;
  const hash = createHash('sha256').update(JSON.stringify([metadata.uid, rest, status.acceptedNames]));
  const versions: VersionSource[] = [];
  for (const version of [storage, ...others]) versions.push(yield* versionSource(version, hash));
  return {
    digest: hash.digest('base64'),
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    group: spec.group,
    isNamespaced: spec.scope === 'Namespaced',
    names: {
      plural,
      singular: singular || kind.toLowerCase(),
      kind,
      listKind: listKind || `${kind}List`,
      shortNames: nonEmpty(shortNames),
      categories: nonEmpty(categories),
    },
    versions: versions as [VersionSource, ...VersionSource[]],
    conversionWebhook: spec.conversion?.strategy === 'Webhook' ? spec.conversion.webhook : undefined,
    isUniform: (status.storedVersions ?? []).every((name) => name === storage.name),
    isTerminating: isConditionTrue(definition, 'Terminating'),
  };
}

function nonEmpty(names: readonly string[] | undefined): readonly string[] | undefined {
  return names === undefined || names.length === 0 ? undefined : names;
}

function* versionSource(version: CustomResourceDefinitionVersion, hash: Hash): Steps<VersionSource> {
  const { schema: given, ...rest } = version;
  const schema = given?.openAPIV3Schema ?? { 'x-kubernetes-preserve-unknown-fields': true };
  hash.update(JSON.stringify(rest));
  return {
    name: version.name,
    isServed: version.served,
    schema: yield* PackedJson.pack(schema, (text) => hash.update(text)),
    fields: topFields(schema),
    subresources: version.subresources ?? {},
    columns: version.additionalPrinterColumns ?? [],
    selectableFields: nonEmpty(version.selectableFields?.map(({ jsonPath }) => jsonPath)),
    deprecation: version.deprecated === true ? (version.deprecationWarning ?? '') : undefined,
  };
}

const ofEveryKind: readonly string[] = ['apiVersion', 'kind', 'metadata'];

function topFields({ properties = {} }: JSONSchemaProps): TopField[] {
  return Object.keys(properties)
    .filter((name) => !ofEveryKind.includes(name))
    .sort()
    .map((name) => ({ name, column: columnOf(properties[name] as JSONSchemaProps) }));
}

function columnOf({ type, format }: JSONSchemaProps): TopField['column'] {
  if (type !== 'string') return 'jsonb';
  return format === 'date-time' ? 'time' : 'text';
}
