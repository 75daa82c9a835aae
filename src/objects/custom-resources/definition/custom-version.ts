import type { ApiObject } from '../../../base/machinery/api-object.js';
import { type FieldError, type FieldErrorType, FieldPath } from '../../../base/machinery/field-error.js';
import { formatApiVersion, parseApiVersion } from '../../../base/machinery/group-version.js';
import { throwAsCostly } from '../../../base/machinery/large-work.js';
import { addWarning, type RequestContext } from '../../../base/machinery/request-context.js';
import { DecodeError, decode, type KindType } from '../../../base/machinery/schema/index.js';
import { internalError } from '../../../base/machinery/status-error.js';
import { tenantOf } from '../../../base/machinery/tenant-of.js';
import { inTurns, type Steps } from '../../../base/machinery/turns.js';
import type { ExpressionMetrics } from '../../../base/observability/expression-metrics.js';
import type { LatencySeries } from '../../../base/observability/series-histogram.js';
import type { Definer } from '../../../storage/storage.interface.js';
import type {
  ConvertingRequest,
  RemoteConversion,
  ServedVersion,
  StoredFormRules,
  StoredResource,
  TableColumn,
} from '../../registry/resource-definition.js';
import type { ResourceVerb } from '../../registry/resource-verb.js';
import type { Strategy, StrategyOptions } from '../../registry/strategy.js';
import type { SubresourceDefinition } from '../../registry/subresource-definition.js';
import { brokenWhereUnchanged, type CompiledRules, compileRulesInSteps, evaluateRules } from '../rules/index.js';
import {
  type StructuralSchema,
  structuralSchema,
  structuralSchemaInSteps,
  TooManyDefaultsError,
  validateValue,
  withDefaults,
} from '../structural/index.js';
import { customKind } from './custom-kind.js';
import { customScale } from './custom-scale.js';
import { customStatus, customStrategy, customStrategyOptions } from './custom-strategy.js';
import type { DefinitionSource, VersionSource } from './definition-source.js';
import { deprecationWarning } from './deprecation.js';
import { LongRules } from './long-rules.js';
import { printerColumns } from './printer-columns.js';
import { selectableNames, selectableValues } from './selectable-fields.js';
import { storedMark, storedMarkInSteps } from './stored-mark.js';
import { uncheckedRules } from './unchecked-rules.js';

const terminating = 'create not allowed while custom resource definition is terminating';

const statusPath = FieldPath.of('status');

function wholeErrors(schema: StructuralSchema, object: ApiObject, old: ApiObject | undefined): FieldError[] {
  return validateValue(schema, object, undefined, { old });
}

/** The schema errors of a write of the status, which can't repair faults elsewhere in the object. */
function statusErrors(schema: StructuralSchema, object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const part = schema.properties.get('status');
  if (part === undefined || object.status === undefined) return [];
  return validateValue(part, object.status, statusPath, { old: old?.status });
}

/** Schema errors that could make expressions fail: with one of them, the rules are not evaluated. */
const blocking: ReadonlySet<FieldErrorType> = new Set<FieldErrorType>([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

/** Converts objects into another version of their kind, like `RemoteConversion` but without its schema. */
export type ObjectConverter = <R>(
  objects: readonly ApiObject[],
  apiVersion: string,
  request: ConvertingRequest,
  finish: (object: ApiObject, isConverted: boolean) => R,
) => Promise<readonly R[]>;

/** The properties of a custom resource that change while it is served. */
export interface CustomState {
  /** Whether the definition is being deleted, so that no more objects may be created. */
  isTerminating: boolean;
  /** Whether all objects are stored in the storage version: `status.storedVersions` names no other. */
  isUniform: boolean;
}

/**
 * The definition of a custom resource, in its storage version; the other versions have their own. Everything that needs
 * the schema is made when it is first needed: thousands of definitions cost little until somebody uses them.
 *
 * @param definitions where definitions are stored
 * @param converter converts between the versions; undefined: only their apiVersion and unknown fields differ
 * @param times where the time of its rules is counted
 */
export function customResource(
  source: DefinitionSource,
  definitions: string,
  state: Readonly<CustomState>,
  converter: ObjectConverter | undefined,
  times: ExpressionMetrics,
): StoredResource {
  const definedBy = { resource: definitions, name: source.name, uid: source.uid };
  const versions = source.versions.map(
    (version) => new CustomVersion(source, version, definedBy, state, converter, times),
  );
  const [storage] = versions as [CustomVersion, ...CustomVersion[]];
  const served = versions.map((version) => version.servedAs(storage)) as [ServedVersion, ...ServedVersion[]];
  for (const version of versions) version.join(served, storage, versions);
  return storage;
}

/** The verbs of custom kinds, in the order in which release 1.37 lists them and `kubectl api-resources` prints them. */
const customVerbs: readonly ResourceVerb[] = [
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'create',
  'update',
  'watch',
];

/** One version of a custom kind, as requests in that version see its resource. */
class CustomVersion implements StoredResource {
  readonly type = 'stored';
  readonly verbs = customVerbs;
  readonly group: string;
  readonly resource: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[] | undefined;
  readonly categories: readonly string[] | undefined;
  readonly selectableFieldNames: readonly string[];
  readonly selectableFields: StoredResource['selectableFields'];
  readonly strategy: Strategy;
  readonly strategyOptions: StrategyOptions;
  readonly subresources: readonly SubresourceDefinition[];
  readonly storedForm: StoredFormRules;
  readonly conversion: RemoteConversion | undefined;
  readonly declared: KindType;
  versions!: readonly [ServedVersion, ...ServedVersion[]];
  private storage!: CustomVersion;
  private all!: readonly CustomVersion[];
  private knownSchema: StructuralSchema | undefined;
  private knownColumns: readonly TableColumn[] | undefined;
  private knownMark: string | undefined;
  private reading: Promise<void> | undefined;
  /** The compiled expressions of the schema, once `hasRules` is set; undefined when it has none. */
  private rules: CompiledRules | undefined;
  private hasRules = false;
  private compiling: Promise<void> | undefined;
  private readonly longRules = new LongRules();

  constructor(
    private readonly source: DefinitionSource,
    private readonly version: VersionSource,
    readonly definedBy: Definer,
    private readonly state: Readonly<CustomState>,
    private readonly converter: ObjectConverter | undefined,
    private readonly times: ExpressionMetrics,
  ) {
    const { group, names, isNamespaced } = source;
    const { subresources, selectableFields } = version;
    this.group = group;
    this.resource = names.plural;
    this.singular = names.singular;
    this.kind = names.kind;
    this.listKind = names.listKind;
    this.namespaced = isNamespaced;
    this.shortNames = names.shortNames;
    this.categories = names.categories;
    this.selectableFieldNames = selectableNames(selectableFields ?? []);
    this.selectableFields = selectableFields === undefined ? undefined : selectableValues(selectableFields);
    const rules = {
      subresources,
      schemaErrors: this.schemaErrors.bind(this, wholeErrors),
      statusErrors: this.schemaErrors.bind(this, statusErrors),
      completeStored: (object: ApiObject) => this.storage.applyDefaults(object),
      prepare: () => this.compileRules(),
    };
    this.strategy = customStrategy(rules);
    this.strategyOptions = customStrategyOptions(subresources);
    this.subresources = [
      ...(subresources.status === undefined ? [] : [customStatus(rules)]),
      ...(subresources.scale === undefined ? [] : [customScale(subresources.scale)]),
    ];
    this.storedForm = new StoredCustomForm(this);
    this.conversion =
      converter === undefined
        ? undefined
        : {
            convert: async (...asked) => this.convert(converter, ...asked),
            get isUniform() {
              return state.isUniform;
            },
          };
    this.declared = customKind(source, version, () => this.schema);
  }

  /** Sets the references to the other versions; called once, before the version is used. */
  join(
    versions: readonly [ServedVersion, ...ServedVersion[]],
    storage: CustomVersion,
    all: readonly CustomVersion[],
  ): void {
    this.versions = versions;
    this.storage = storage;
    this.all = all;
  }

  get refusesCreate(): string | undefined {
    return this.state.isTerminating ? terminating : undefined;
  }

  get name(): string {
    return this.version.name;
  }

  get apiVersion(): string {
    return formatApiVersion({ group: this.group, version: this.name });
  }

  get schema(): StructuralSchema {
    this.knownSchema ??= structuralSchema(this.version.schema.unpack());
    return this.knownSchema;
  }

  prepare(): Promise<void> | undefined {
    const mine = this.read();
    const stored = this.storage === this ? undefined : this.storage.read();
    return mine === undefined ? stored : mine.then(() => stored);
  }

  /** Reads a long schema in turns with other work; undefined when there is nothing to wait for. */
  private read(): Promise<void> | undefined {
    if (this.knownMark !== undefined || !this.version.schema.isLong) return undefined;
    this.reading ??= this.readInTurns();
    return this.reading;
  }

  private async readInTurns(): Promise<void> {
    this.knownSchema ??= await inTurns(structuralSchemaInSteps(await this.version.schema.unpackInTurns()));
    this.knownMark = await inTurns(storedMarkInSteps(this.knownSchema));
  }

  get columns(): readonly TableColumn[] {
    this.knownColumns ??= printerColumns(this.version.columns);
    return this.knownColumns;
  }

  /** The mark of stored JSON that the schema of this version would not change. */
  get mark(): string {
    this.knownMark ??= storedMark(this.schema);
    return this.knownMark;
  }

  get storageVersion(): CustomVersion {
    return this.storage;
  }

  servedAs(storage: CustomVersion): ServedVersion {
    const warning = deprecationWarning(this.source, this.version);
    return {
      version: this.name,
      type: this.declared,
      isServed: this.version.isServed,
      definition: this,
      applyDefaults: (object) => this.applyDefaults(object),
      ...(this === storage ? {} : this.conversions()),
      ...(warning === undefined ? {} : { deprecated: { warning, removedRelease: '' } }),
    };
  }

  /** Conversions from and to the storage version, in which only apiVersion and unknown fields differ. */
  private conversions(): Pick<ServedVersion, 'fromStored' | 'toStored'> {
    if (this.converter === undefined) return { fromStored: (object) => this.fromStorage(object) };
    // Converting an object as if it had another version would damage it.
    const check = (object: ApiObject, { apiVersion }: CustomVersion): ApiObject => {
      if (object.apiVersion === apiVersion) return object;
      throw internalError(`an object of ${object.apiVersion ?? 'no version'} was not converted to ${apiVersion}`);
    };
    return { fromStored: (object) => check(object, this), toStored: (object) => check(object, this.storage) };
  }

  /**
   * The converter's objects without fields that their new version does not have. Defaults are those of the version that
   * an object is written in, and of the one that it is stored in: an object that is only read gets no others.
   */
  private convert<R>(
    converter: ObjectConverter,
    objects: readonly ApiObject[],
    apiVersion: string,
    request: ConvertingRequest,
    finish: (object: ApiObject) => R,
  ): Promise<readonly R[]> {
    const target = this.all.find((version) => version.apiVersion === apiVersion);
    if (target === undefined) throw internalError(`${apiVersion} is not a version of ${this.source.name}`);
    return converter(objects, apiVersion, request, (object, isConverted) => {
      if (!isConverted) return finish(object);
      const fitting = target.prune(object);
      if (target === this.storage) target.completeDefaults(fitting);
      return finish(fitting);
    });
  }

  /** Fills in the defaults of the schema, in place. */
  applyDefaults(object: ApiObject): void {
    const filled = withDefaults(this.schema, object) as ApiObject;
    if (filled !== object) replaceContent(object, filled);
  }

  /**
   * Like {@link applyDefaults}, for an object that was stored before: with too many new defaults it stays unchanged.
   */
  completeDefaults(object: ApiObject): void {
    try {
      this.applyDefaults(object);
    } catch (error) {
      if (!(error instanceof TooManyDefaultsError)) throw error;
    }
  }

  /** The object without fields that this version does not have. */
  prune(object: ApiObject): ApiObject {
    try {
      return decode(this.declared, object).value as ApiObject;
    } catch (error) {
      // The object was stored before a rule about embedded objects existed. It stays unchanged, for its owner to see.
      if (error instanceof DecodeError) return object;
      throw error;
    }
  }

  /** Converts an object of the storage version to this version. */
  private fromStorage(object: ApiObject): ApiObject {
    return this.mark === this.storage.mark ? object : this.prune(object);
  }

  /** The version that an object was written in; the storage version if that is no longer one. */
  writtenIn({ apiVersion = '' }: ApiObject): CustomVersion {
    const name = parseApiVersion(apiVersion)?.version;
    return this.all.find((version) => version.name === name) ?? this.storage;
  }

  /** Compiles the expressions of the schema in turns with other work, once; undefined when they are compiled. */
  private compileRules(): Promise<void> | undefined {
    if (this.hasRules) return undefined;
    this.compiling ??= inTurns(timed(compileRulesInSteps(this.schema), this.times.compilations)).then((rules) => {
      this.rules = rules;
      this.hasRules = true;
    });
    return this.compiling;
  }

  /** The errors of an object in the storage version, whose apiVersion alone differs from that of the request. */
  private schemaErrors(
    validate: typeof wholeErrors,
    context: RequestContext,
    object: ApiObject,
    old: ApiObject | undefined,
  ): FieldError[] {
    const { apiVersion } = this;
    // An object that a converter made for the store was checked before, in the version of the request.
    if (this.converter !== undefined && object.apiVersion !== apiVersion) return [];
    const value = { ...object, apiVersion };
    const before = old === undefined ? undefined : { ...old, apiVersion };
    const errors = validate(this.schema, value, before);
    if (this.rules === undefined) return errors;
    if (errors.some(({ type }) => blocking.has(type))) return [...errors, uncheckedRules];
    const tenant = tenantOf(context.user?.name ?? '');
    if (this.longRules.isExpected(tenant)) throwAsCostly(context);
    const leave = () => {
      this.longRules.seen(tenant);
      throwAsCostly(context);
    };
    const begin = performance.now();
    const broken = evaluateRules(this.rules, value, before, { leave });
    if (before !== undefined) this.warnOfUnchanged(this.rules, context, value, before);
    this.times.evaluations.observe((performance.now() - begin) / 1000);
    return [...errors, ...broken];
  }

  private warnOfUnchanged(rules: CompiledRules, context: RequestContext, value: ApiObject, before: ApiObject): void {
    for (const { field, message } of brokenWhereUnchanged(rules, value, before)) {
      if (!addWarning(context, `${field}: ${message}`)) return;
    }
  }
}

/** Runs the steps and records their own time at the end, without the time of other work in between. */
function* timed<T>(steps: Steps<T>, durations: LatencySeries): Steps<T> {
  let milliseconds = 0;
  for (;;) {
    const begin = performance.now();
    const step = steps.next();
    milliseconds += performance.now() - begin;
    if (step.done === true) {
      durations.observe(milliseconds / 1000);
      return step.value;
    }
    yield step.value;
  }
}

/** The form of stored JSON, which follows the schema of the storage version. */
class StoredCustomForm implements StoredFormRules {
  constructor(private readonly version: CustomVersion) {}

  get mark(): string {
    return this.version.storageVersion.mark;
  }

  /** Drops fields of a stored object that the schema no longer knows, and fills in defaults that it has now. */
  complete(object: ApiObject): ApiObject {
    const written = this.version.writtenIn(object);
    const storage = this.version.storageVersion;
    let upToDate = written.prune(object);
    written.completeDefaults(upToDate);
    // Only the webhook could convert the object; requests have it convert objects before they write them.
    if (written !== storage && written.conversion !== undefined) return upToDate;
    if (written !== storage && written.mark !== storage.mark) upToDate = storage.prune(upToDate);
    upToDate.kind = storage.kind;
    upToDate.apiVersion = storage.apiVersion;
    return upToDate;
  }

  /** Makes an object that this version accepted fit the schema of the storage version. */
  beforeStorage(object: ApiObject): ApiObject {
    const { version } = this;
    const storage = version.storageVersion;
    if (version.mark === storage.mark || version.conversion !== undefined) return object;
    const fitting = storage.prune(object);
    storage.applyDefaults(fitting);
    return fitting;
  }
}

function replaceContent(object: ApiObject, content: ApiObject): void {
  const copy = { ...content };
  for (const key of Object.keys(object)) delete object[key];
  Object.assign(object, copy);
}
