import type { ApiObject } from '../../../base/machinery/api-object.js';
import { StartupError } from '../../../base/machinery/startup-error.js';
import { ApiFault } from '../cluster/api-fault.js';
import { chooseKinds, type KindNames } from '../cluster/kind-selection.js';
import type { ServedKind } from '../cluster/served-kind.js';
import type { BackupReader, FoundSection } from '../format/backup-reader.js';
import { resourceName } from '../format/lines.js';
import { cleanForCreate } from '../recreate/clean-for-create.js';
import { plainKind } from '../recreate/creation-order.js';
import { mapOwners } from '../recreate/map-owners.js';
import { type Contents, readContents } from './contents.js';
import { ImportRules, isGiven, type TakingOptions } from './import-rules.js';
import { overLive } from './over-live.js';
import { Pool } from './pool.js';
import { Tally } from './tally.js';
import { isDefinitions, objectKeyOf, type Present, type PresentObjects, type TargetCluster } from './target-cluster.js';

export interface ImportSettings extends TakingOptions, KindNames {
  readonly namespaces: readonly string[];
  /** What to do with objects that already exist in the cluster. */
  readonly existing: 'skip' | 'update' | 'fail';
  readonly withStatus: boolean;
  /** Whether only to plan, with every new object tried by the server. */
  readonly dryRun: boolean;
  /** The most requests at a time. */
  readonly parallel: number;
}

export interface ImportDependencies {
  readonly reader: BackupReader;
  readonly target: TargetCluster;
  readonly options: ImportSettings;
  readonly signal: AbortSignal;
  /** Receives each object. */
  readonly onObject: (resource: string) => void;
  readonly onPlan: (plan: Tally) => void;
}

/** The findings and results of an import; no result after a dry run. */
export interface ImportReport {
  readonly plan: Tally;
  readonly result: Tally | undefined;
}

/**
 * Brings the objects of a backup to a cluster: reads and checks all of the backup, plans, then creates, owners before
 * what they own. Objects that exist already are not created again, so that an interrupted import continues when it is
 * run again.
 *
 * @throws StartupError for a backup or a cluster that can't be used, before anything was written; or when the server
 * does not answer any more
 */
export async function importBackup(dependencies: ImportDependencies): Promise<ImportReport> {
  const { reader, target, options, signal, onPlan } = dependencies;
  const contents = await readContents(reader, signal);
  const sections = chooseSections(contents, options, reader);
  await target.learnKinds();
  const run = new Run(dependencies, contents, sections.sections);
  const notTaken = [...(await reader.end()).notTaken, ...sections.notTaken];
  const plan = await run.plan();
  plan.notTaken.push(...notTaken);
  onPlan(plan);
  if (options.dryRun) return { plan, result: undefined };
  const result = await run.apply();
  result.notTaken.push(...notTaken);
  return { plan, result };
}

function chooseSections({ sections }: Contents, options: ImportSettings, reader: BackupReader) {
  const { kinds, notTaken } = chooseKinds(sections, options);
  const sealed = kinds.filter((section) => section.sealed);
  if (sealed.length > 0 && !reader.isUnlocked) {
    const names = sealed.map(resourceName).join(',');
    throw new StartupError(`the backup has ${names} sealed: give the passphrase or key, or --exclude ${names}`);
  }
  return { sections: kinds, notTaken: notTaken.filter(({ why }) => why === 'excluded') };
}

/** How often to check whether the cluster serves new kinds. */
const mostLooks = 20;

class Run {
  private readonly uids = new Map<string, string>();
  /** Old uids of owners that exist or will be created. */
  private readonly expected = new Set<string>();
  /** Names of the resources that the backup defines. */
  private readonly defined = new Set<string>();
  private readonly pool: Pool;
  private tally = new Tally();

  constructor(
    private readonly dependencies: ImportDependencies,
    private readonly contents: Contents,
    private readonly sections: readonly FoundSection[],
  ) {
    this.pool = new Pool(dependencies.options.parallel);
  }

  /** Determines what would be done. @throws StartupError with `existing: fail` if something exists already */
  async plan(): Promise<Tally> {
    const { target, options, signal } = this.dependencies;
    const rules = new ImportRules(options);
    const spaces = new Set<string>();
    const there: string[] = [];
    this.tally = new Tally();
    for (const section of this.sections) {
      const resource = resourceName(section);
      const kind = target.kindOf(section);
      const present = kind === undefined ? undefined : await target.present(kind);
      this.noteVolumes(section, present, rules);
      if (resource === 'namespaces') for (const key of present?.keys() ?? []) spaces.add(key.slice(1));
      for await (const { key, object, taken } of this.objects(section, rules)) {
        signal.throwIfAborted();
        if (taken === undefined) continue;
        if (isDefinitions(section)) this.defined.add(object.metadata.name ?? '');
        if (kind === undefined && !this.defined.has(resource)) {
          this.countUnserved(section);
          continue;
        }
        const { uid } = object.metadata;
        if (uid !== undefined && this.contents.ownerUids.has(uid)) this.expected.add(uid);
        if (present?.has(key) === true) {
          this.tally.count(resource, options.existing === 'update' ? 'updated' : 'existed');
          if (!isGiven(object)) there.push(`${resource} ${key.replace(/^\//, '')}`);
          continue;
        }
        this.tally.count(resource, 'created');
        const { namespace } = object.metadata;
        if (!options.dryRun) continue;
        if (kind === undefined || (namespace !== undefined && !spaces.has(namespace))) {
          this.tally.note(resource, key, 'not tried: its namespace or kind is made by the import', false);
        } else await this.pool.add(() => this.attempt(kind, resource, key, taken));
      }
      await this.pool.drain();
    }
    if (options.existing === 'fail' && there.length > 0) {
      const some = there.slice(0, 10).join(', ');
      throw new StartupError(`${there.length} objects are there already, nothing was written: ${some}`);
    }
    return this.tally;
  }

  async apply(): Promise<Tally> {
    this.tally = new Tally();
    const rules = new ImportRules(this.dependencies.options);
    const waiting = new Map<FoundSection, ReadonlySet<string>>();
    for (const section of this.sections) {
      const left = await this.applySection(section, rules, undefined);
      if (left.size > 0) waiting.set(section, left);
      if (isDefinitions(section)) await this.awaitKinds(section);
    }
    // Owners of a later kind have been created meanwhile. In the end, owners that own each other are omitted.
    for (let isLast = false; waiting.size > 0; ) {
      let hasMoved = false;
      for (const [section, keys] of waiting) {
        if (isLast) this.expected.clear();
        const left = await this.applySection(section, rules, keys);
        if (left.size < keys.size) hasMoved = true;
        if (left.size === 0) waiting.delete(section);
        else waiting.set(section, left);
      }
      isLast = !hasMoved;
    }
    return this.tally;
  }

  /** Applies the objects of a section, or those with these keys. Returns the keys of those that wait for an owner. */
  private async applySection(
    section: FoundSection,
    rules: ImportRules,
    only: ReadonlySet<string> | undefined,
  ): Promise<ReadonlySet<string>> {
    const { target, signal, onObject } = this.dependencies;
    const resource = resourceName(section);
    const kind = target.kindOf(section);
    const present = kind === undefined ? undefined : await target.present(kind);
    this.noteVolumes(section, present, rules);
    for (let wanted = only; ; ) {
      const waiting = new Set<string>();
      for await (const { key, object, taken } of this.objects(section, rules, wanted)) {
        signal.throwIfAborted();
        if (taken === undefined) continue;
        if (kind === undefined) {
          this.countUnserved(section);
          continue;
        }
        if (this.waitsForOwner(object)) {
          waiting.add(key);
          continue;
        }
        await this.pool.add(async () => {
          await this.applyOne(kind, section, { key, object, taken }, present?.get(key));
          onObject(resource);
        });
      }
      await this.pool.drain();
      // Owners of the same kind exist now.
      if (waiting.size === 0 || waiting.size === wanted?.size) return waiting;
      wanted = waiting;
    }
  }

  /** The objects of a section that the selection has, each fit for creation unless a rule leaves it out. */
  private async *objects(section: FoundSection, rules: ImportRules, only?: ReadonlySet<string>) {
    const { reader, options } = this.dependencies;
    const resource = resourceName(section);
    const isSpaces = plainKind(section.apiVersion, section.kind) === '/Namespace';
    for await (const object of reader.objectsOf(section)) {
      const key = objectKeyOf(object.metadata);
      if (only !== undefined && !only.has(key)) continue;
      if (options.namespaces.length > 0) {
        const space = isSpaces ? object.metadata.name : object.metadata.namespace;
        const isNamed = options.include.length > 0 && !options.include.includes('*');
        if (space === undefined ? !isNamed : !options.namespaces.includes(space)) continue;
      }
      const taking = rules.take(object);
      if ('why' in taking) {
        this.tally.count(resource, 'leftOut');
        this.tally.note(resource, shown(key), taking.why, false);
        yield { key, object, taken: undefined };
      } else yield { key, object, taken: taking.object };
    }
  }

  private async applyOne(
    kind: ServedKind,
    section: FoundSection,
    { key, object, taken }: { key: string; object: ApiObject; taken: ApiObject },
    known: Present | undefined,
  ): Promise<void> {
    const { target, options } = this.dependencies;
    const resource = resourceName(section);
    const name = shown(key);
    const { object: own, lost } = mapOwners({ ...taken, apiVersion: kind.apiVersion }, this.uids);
    if (lost.length > 0) {
      const owners = lost.map((owner) => `${owner.kind} ${owner.name}`).join(', ');
      this.tally.note(resource, name, `lost an owner that is not there: ${owners}`, false);
    }
    try {
      let made: ApiObject | undefined;
      let present = known;
      if (present === undefined) {
        try {
          made = await this.create(kind, resource, name, own, object);
          this.tally.count(resource, 'created');
        } catch (error) {
          // Another client, or a control loop, was faster.
          if (!(error instanceof ApiFault && error.reason === 'AlreadyExists')) throw error;
          const live = await target.get(kind, own.metadata);
          present = { uid: live.metadata.uid ?? '', lacksStatus: false };
        }
      }
      if (present !== undefined) {
        const isBare = options.existing !== 'update' && isGiven(object) && hasContent(own);
        if (options.existing === 'update') {
          made = await target.replace(kind, own.metadata, { part: 'object', merge: (live) => overLive(own, live) });
          this.tally.count(resource, 'updated');
        } else if (isBare && !hasContent(await target.get(kind, own.metadata))) {
          await target.replace(kind, own.metadata, { part: 'object', merge: (live) => overLive(own, live) });
          this.tally.count(resource, 'updated');
        } else this.tally.count(resource, 'existed');
      }
      this.remember(object, made?.metadata.uid ?? present?.uid);
      if (options.withStatus && (made !== undefined || present?.lacksStatus === true)) {
        await this.writeStatus(kind, object, made, resource, name);
      }
    } catch (error) {
      if (!(error instanceof ApiFault)) throw error;
      this.tally.count(resource, 'failed');
      this.tally.note(resource, name, error.message, true);
      this.expected.delete(object.metadata.uid ?? '');
    }
  }

  /** Creates an object; a service whose old addresses are taken gets new ones. */
  private async create(
    kind: ServedKind,
    resource: string,
    name: string,
    own: ApiObject,
    object: ApiObject,
  ): Promise<ApiObject> {
    const { target, options } = this.dependencies;
    const noteDropped = ({ made, dropped }: { made: ApiObject; dropped: string }) => {
      if (dropped !== '')
        this.tally.note(resource, name, `lost fields that this cluster does not know: ${dropped}`, true);
      return made;
    };
    try {
      return noteDropped(await target.create(kind, own, false));
    } catch (error) {
      const isOfAddresses =
        error instanceof ApiFault &&
        error.status === 422 &&
        options.keepAddresses &&
        resource === 'services' &&
        /clusterIP|nodePort|ipFamilies|healthCheckNodePort/i.test(`${error.message} ${error.causes.join(' ')}`);
      if (!isOfAddresses) throw error;
      const anew = { ...cleanForCreate(object), metadata: own.metadata };
      const made = noteDropped(await target.create(kind, anew, false));
      this.tally.note(resource, name, `got new addresses: ${error.message}`, false);
      return made;
    }
  }

  private async writeStatus(
    kind: ServedKind,
    { metadata, status }: ApiObject,
    known: ApiObject | undefined,
    resource: string,
    name: string,
  ): Promise<void> {
    if (!kind.hasStatus || typeof status !== 'object' || status === null || Object.keys(status).length === 0) return;
    try {
      const merge = (live: ApiObject) => ({ ...live, status });
      await this.dependencies.target.replace(kind, metadata, {
        part: 'status',
        merge,
        ...(known === undefined ? {} : { known }),
      });
    } catch (error) {
      if (!(error instanceof ApiFault)) throw error;
      this.tally.note(resource, name, `has no status: ${error.message}`, true);
    }
  }

  /** Asks the server whether it would accept an object. */
  private async attempt(kind: ServedKind, resource: string, key: string, taken: ApiObject): Promise<void> {
    try {
      const { object } = mapOwners({ ...taken, apiVersion: kind.apiVersion }, new Map());
      const { dropped } = await this.dependencies.target.create(kind, object, true);
      if (dropped !== '') this.tally.note(resource, shown(key), `would lose fields: ${dropped}`, true);
    } catch (error) {
      if (!(error instanceof ApiFault)) throw error;
      this.tally.note(resource, shown(key), `would be refused: ${error.message}`, true);
    }
  }

  private waitsForOwner({ metadata: { uid: own, ownerReferences = [] } }: ApiObject): boolean {
    return ownerReferences.some(({ uid }) => uid !== own && this.expected.has(uid) && !this.uids.has(uid));
  }

  private remember({ metadata: { uid } }: ApiObject, now: string | undefined): void {
    if (uid !== undefined && now !== undefined && this.contents.ownerUids.has(uid)) this.uids.set(uid, now);
  }

  private noteVolumes({ apiVersion, kind }: FoundSection, present: PresentObjects, rules: ImportRules): void {
    if (plainKind(apiVersion, kind) !== '/PersistentVolume') return;
    for (const key of present?.keys() ?? []) rules.hasVolume(key.slice(1));
  }

  private countUnserved(section: FoundSection): void {
    const what = resourceName(section);
    this.tally.count(what, 'failed');
    if (this.tally.notTaken.some((known) => known.what === what)) return;
    const why = `the cluster does not serve ${section.apiVersion}, nor the kind in another version`;
    this.tally.notTaken.push({ what, why, asked: false });
  }

  /** Waits until the kinds that were just defined are served. */
  private async awaitKinds(section: FoundSection): Promise<void> {
    const { target, reader } = this.dependencies;
    const kind = target.kindOf(section);
    if (kind === undefined) return;
    for await (const { metadata } of reader.objectsOf(section)) {
      const { name = '' } = metadata;
      try {
        if (!(await target.established(kind, name))) {
          this.tally.note(resourceName(section), name, 'is not established', true);
        }
      } catch (error) {
        // The object could not be made, which was recorded.
        if (!(error instanceof ApiFault)) throw error;
      }
    }
    const custom = this.sections.filter((one) => one.count > 0 && this.defined.has(resourceName(one)));
    for (let look = 1; look <= mostLooks; look++) {
      await target.learnKinds();
      if (custom.every((one) => target.kindOf(one) !== undefined)) return;
      if (look < mostLooks) await target.rest();
    }
  }
}

/** Whether an object that every cluster has contains more than its name. */
function hasContent({ metadata: { labels, annotations }, imagePullSecrets }: ApiObject): boolean {
  const own = Object.keys(labels ?? {}).filter((label) => !/\/metadata\.name$/.test(label));
  return (
    own.length > 0 ||
    Object.keys(annotations ?? {}).length > 0 ||
    (Array.isArray(imagePullSecrets) && imagePullSecrets.length > 0)
  );
}

function shown(key: string): string {
  return key.replace(/^\//, '');
}
