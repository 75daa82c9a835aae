import { openFieldGates } from '../machinery/schema/index.js';
import { describeDeprecation, describeEnd } from './deprecation.js';
import type { FeatureStage } from './feature-stage.js';
import { releaseGateNeeds, releaseGates } from './release-gates.js';
import { nearest } from './suggest.js';

interface FeatureDeclaration {
  readonly stage: FeatureStage;
  readonly isOnByDefault: boolean;
  /** The feature can no longer be switched. */
  readonly isLocked?: boolean;
  /**
   * What switching the feature off does; for a locked feature, what it means. Unset for a gate that changes nothing
   * here.
   */
  readonly off?: string;
}

/** The deprecation notice shared by the gates of all settled features: setting these gates changes nothing. */
const settledEnd = { since: '0.1', until: '0.4' };

const alpha = { stage: 'ALPHA', isOnByDefault: false } as const;
const beta = { stage: 'BETA', isOnByDefault: true } as const;
const settled = { stage: 'GA', isOnByDefault: true, isLocked: true } as const;

/**
 * The gates of `--feature-gates` (specification 9.8) that change something here, and gates of settled features that
 * newer releases have removed but command lines still name.
 */
const featureDeclarations = {
  AdmissionWebhookMatchConditions: { ...settled, off: 'match conditions of webhooks' },
  AggregatedDiscoveryEndpoint: { ...settled, off: 'discovery in one document' },
  AnonymousAuthConfigurableEndpoints: { ...settled, off: 'paths that anonymous requests are for' },
  APIListChunking: { ...beta, off: 'limit and continue are ignored: every list is whole' },
  APIPriorityAndFairness: { ...beta, off: 'requests are limited by number alone, as with its flag' },
  APIServerIdentity: { ...beta, off: 'processes keep no identity leases' },
  APIServerTracing: { ...settled, off: 'traces' },
  CBORServingAndStorage: { ...alpha, off: 'CBOR is neither read nor written; what is stored is always JSON' },
  ConstrainedImpersonation: {
    ...beta,
    off:
      'only the verb impersonate allows impersonation; impersonate:<mode> with impersonate-on:<mode>:<verb> has ' +
      'no effect',
  },
  ContainerStopSignals: { ...alpha, off: 'the signals that end containers (lifecycle.stopSignal) are dropped' },
  CoordinatedLeaderElection: {
    stage: 'BETA',
    isOnByDefault: false,
    off: 'strategy and preferredHolder of leases are dropped',
  },
  CrossNamespaceVolumeDataSource: {
    ...alpha,
    off: 'the source of the data of a claim is dropped when it is in another namespace',
  },
  CompositePodGroup: { ...alpha, off: 'groups of groups of pods are not served' },
  ConsistentListFromCache: { ...beta, off: 'lists without a version are read from the database' },
  ComponentFlagz: { ...beta, off: '/flagz is not served' },
  ComponentStatusz: { ...beta, off: '/statusz is not served' },
  CRDValidationRatcheting: { ...settled, off: 'unchanged invalid values of custom resources are left alone' },
  CustomResourceFieldSelectors: { ...settled, off: 'selectable fields of custom resources' },
  CustomResourceValidationExpressions: { ...settled, off: 'rules in schemas of custom resources' },
  DryRun: { ...settled, off: 'dryRun' },
  EfficientWatchResumption: {
    ...beta,
    off: 'watches without changes of their own receive no newer versions to resume from',
  },
  EvictionRequestAPI: { ...alpha, off: 'the group of evictions is not served' },
  GenericWorkload: {
    stage: 'BETA',
    isOnByDefault: false,
    off: 'workloads and groups of pods are not served, and schedulingGroup of pods is dropped',
  },
  ListFromCacheSnapshot: { ...beta, off: 'lists of an exact version are read from the database' },
  MutatingAdmissionPolicy: { stage: 'GA', isOnByDefault: true, off: 'mutating admission policies are not applied' },
  OpenAPIV3: { ...settled, off: '/openapi/v3' },
  PodLogsQuerySplitStreams: { ...alpha, off: 'the query stream of a log is refused' },
  PodSecurity: { ...beta, off: 'the admission plugin of this name does not run' },
  PodTopologyLabelsAdmission: { ...beta, off: 'pods do not get the zone and the region of their node as labels' },
  RemainingItemCount: { ...beta, off: 'pages of lists do not report how many objects follow' },
  RetryGenerateName: { ...settled, off: 'another name is tried when a generated one is taken' },
  ServerSideApply: { ...settled, off: 'server-side apply' },
  ServerSideFieldValidation: {
    ...beta,
    off: 'fieldValidation is ignored: unknown fields are dropped without a warning',
  },
  StreamingCollectionEncodingToJSON: { ...settled, off: 'lists in JSON are sent in pieces' },
  StreamingCollectionEncodingToProtobuf: { ...settled, off: 'lists in protobuf are sent in pieces' },
  StructuredAuthenticationConfiguration: { ...settled, off: '--authentication-config' },
  StructuredAuthorizationConfiguration: { ...settled, off: '--authorization-config' },
  ValidatingAdmissionPolicy: { ...settled, off: 'validating admission policies' },
  WatchBookmark: { ...settled, off: 'bookmarks' },
  WatchList: { ...beta, off: 'sendInitialEvents is refused' },
} as const satisfies Readonly<Record<string, FeatureDeclaration>>;

/** A feature that can be queried. */
export type FeatureName = keyof typeof featureDeclarations;

/** For a gate of the release, the stage, the default and the lock come from the release. */
const declarations: ReadonlyMap<string, FeatureDeclaration> = new Map([
  ...Object.entries<FeatureDeclaration>(featureDeclarations),
  ...releaseGates.flatMap(({ names, ...group }) =>
    words(names).map((name): [string, FeatureDeclaration] => [
      name,
      { ...(featureDeclarations as Readonly<Record<string, FeatureDeclaration>>)[name], ...group },
    ]),
  ),
]);
const needs: readonly (readonly [name: string, needed: readonly string[]])[] = releaseGateNeeds
  .trim()
  .split('\n')
  .map((line) => line.split(':'))
  .map(([name = '', needed = '']) => [name.trim(), words(needed)]);
/** Gates of the release. They are removed when the release removes them, not by a deprecation of ours. */
const ofRelease: ReadonlySet<string> = new Set(releaseGates.flatMap(({ names }) => words(names)));
const groups: ReadonlyMap<string, FeatureStage> = new Map([
  ['AllAlpha', 'ALPHA'],
  ['AllBeta', 'BETA'],
]);

/** The state of one gate. */
export interface FeatureState {
  readonly name: string;
  readonly stage: FeatureStage;
  readonly isOn: boolean;
}

/** Injection token of the {@link FeatureGates} of the process. */
export const FEATURE_GATES = Symbol('FeatureGates');

/** Which features are on. */
export class FeatureGates {
  private constructor(private readonly on: ReadonlySet<string>) {}

  /** @param pairs already checked by {@link featureGatesProblem}; of equal names the later one counts. */
  static of(pairs: readonly string[] = []): FeatureGates {
    const settings = new Map(pairs.map(readPair).map(({ name, value }) => [name, value]));
    const on = new Set<string>();
    for (const [name, { stage, isOnByDefault, isLocked }] of declarations) {
      const group = [...groups].find(([, of]) => of === stage)?.[0];
      const byGroup = group === undefined || isLocked ? undefined : settings.get(group);
      if (settings.get(name) ?? byGroup ?? isOnByDefault) on.add(name);
    }
    for (const name of groups.keys()) if (settings.get(name) === true) on.add(name);
    return new FeatureGates(on);
  }

  /** Keeps the fields of the gates that are on, in all schemas of this process. */
  openFields(): void {
    openFieldGates(this.on);
  }

  isOn(name: FeatureName): boolean {
    return this.on.has(name);
  }

  /** All gates, by name. */
  states(): readonly FeatureState[] {
    const states = [...declarations].map(([name, { stage }]) => ({ name, stage, isOn: this.on.has(name) }));
    // The groups are gates themselves: they show whether a whole stage was switched.
    for (const [name, stage] of groups) states.push({ name, stage, isOn: this.on.has(name) });
    return states.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }
}

/** Every feature at its default. */
export const defaultFeatureGates = FeatureGates.of();

/** The problem with one or more pairs `Name=true|false`; undefined when there is none. */
export function featureGatesProblem(pairs: readonly string[]): string | undefined {
  const problems = pairs.map(pairProblem).filter((problem) => problem !== undefined);
  if (problems.length === 0) problems.push(...missingNeeds(pairs));
  return problems.length === 0 ? undefined : problems.join('; ');
}

/** One line for each gate that is on without another gate that it needs. */
function missingNeeds(pairs: readonly string[]): string[] {
  const states = new Map(
    FeatureGates.of(pairs)
      .states()
      .map(({ name, isOn }) => [name, isOn]),
  );
  return needs.flatMap(([name, needed]) => {
    const missing = needed.filter((other) => states.get(other) !== true);
    return states.get(name) !== true || missing.length === 0
      ? []
      : [`${name} is on, but needs ${missing.join(', ')}, which ${missing.length === 1 ? 'is' : 'are'} off`];
  });
}

function pairProblem(pair: string): string | undefined {
  const { name, value } = readPair(pair);
  if (name === '' || !pair.includes('=')) return `${JSON.stringify(pair)} is not Name=true or Name=false`;
  const declared = declarations.get(name);
  if (declared === undefined && !groups.has(name)) {
    const meant = nearest(name, [...declarations.keys(), ...groups.keys()]);
    return `there is no feature gate ${name}${meant === undefined ? '' : `; did you mean ${meant}?`}`;
  }
  if (value === undefined) return `${name} must be true or false`;
  if (declared?.isLocked !== true || value === declared.isOnByDefault) return undefined;
  return `${name} can't be set to ${value}: it is locked to ${declared.isOnByDefault}`;
}

/** Warnings about gates that will be removed or change nothing here, at most one per gate that is set. */
export function featureGateWarnings(pairs: readonly string[]): readonly string[] {
  const settings = new Map(pairs.map(readPair).map(({ name, value }) => [name, value]));
  return [...settings].flatMap(([name, value]) => {
    const declared = declarations.get(name);
    if (declared === undefined) return [];
    const { stage, isLocked, off, isOnByDefault } = declared;
    if (!ofRelease.has(name)) {
      if (isLocked !== true) return [];
      const end = describeDeprecation({ ...settledEnd, advice: 'the feature is settled' });
      return [`the feature gate ${name} is deprecated ${end}`];
    }
    if (stage === 'GA') return [`the feature gate ${name} will go with a later release: the feature is settled`];
    if (stage === 'DEPRECATED') return [`the feature gate ${name} is deprecated and will go with a later release`];
    if (off !== undefined || value === isOnByDefault) return [];
    return [`the feature gate ${name} has no effect here: ${whyNoEffect(stage, value === true)}`];
  });
}

function whyNoEffect(stage: FeatureStage, isOn: boolean): string {
  if (isOn) return 'this server does not have the feature';
  return stage === 'BETA' ? 'the feature cannot be switched off, or belongs to another program' : 'it is always on';
}

/** Every pair that is valid alone: pairs that require another gate to be switched too are left out. */
export const featureGateTexts: readonly string[] = [
  ...[...declarations].filter(([, { isLocked }]) => isLocked !== true).map(([name]) => name),
  ...groups.keys(),
].flatMap((name) =>
  (['true', 'false'] as const).filter((value) => standsAlone(name, value)).map((value) => `${name}=${value}`),
);

function standsAlone(name: string, value: 'true' | 'false'): boolean {
  const isOnAlone = (other: string) => declarations.get(other)?.isOnByDefault === true;
  if (name === 'AllAlpha') return value === 'false';
  if (value === 'false') return !needs.some(([other, needed]) => needed.includes(name) && isOnAlone(other));
  return needs.every(([other, needed]) => other !== name || needed.every(isOnAlone));
}

/** Describes the gates for `--help` in a few sentences. */
export function describeFeatureGates(): string {
  const sorted = [...declarations].sort(([a], [b]) => (a < b ? -1 : 1));
  const namesOf = (wanted: (declaration: FeatureDeclaration, name: string) => boolean) =>
    sorted.flatMap(([name, declaration]) => (wanted(declaration, name) ? [name] : [])).join(', ');
  const own = sorted.filter(([, { off, isLocked }]) => off !== undefined && isLocked !== true);
  const one = ([name, { stage, isOnByDefault, off }]: [string, FeatureDeclaration]) =>
    `${name} (${stage}, default ${isOnByDefault}; off: ${off})`;
  const idle = ({ off, isLocked }: FeatureDeclaration) => off === undefined && isLocked !== true;
  return [
    `Gates: ${own.map(one).join(', ')}.`,
    `Known, as in release 1.37, and without effect here; on: ${namesOf((g) => idle(g) && g.isOnByDefault)}; off: ${namesOf((g) => idle(g) && !g.isOnByDefault)}.`,
    `Locked: ${namesOf((g, name) => g.isLocked === true && ofRelease.has(name))}.`,
    `Settled and locked, deprecated ${describeEnd(settledEnd)}: ${namesOf((g, name) => g.isLocked === true && !ofRelease.has(name))}.`,
  ].join(' ');
}

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}

const trueTexts: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const falseTexts: ReadonlySet<string> = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

/** A name may have the prefix `kube:`, the component that these gates belong to. */
function readPair(pair: string): { readonly name: string; readonly value: boolean | undefined } {
  const equals = pair.indexOf('=');
  const name = (equals < 0 ? pair : pair.slice(0, equals)).trim().replace(/^kube:/, '');
  const text = equals < 0 ? '' : pair.slice(equals + 1).trim();
  return { name, value: trueTexts.has(text) ? true : falseTexts.has(text) ? false : undefined };
}
