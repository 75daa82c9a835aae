import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Skeleton } from './blank.js';
import { now } from './clock.js';
import { CodeEditor } from './code-editor.js';
import { DiffView } from './diff-view.js';
import { textAt } from './dig.js';
import { readRevisions, toneOfRelease } from './helm-page.js';
import { type HelmRelease, type HelmRevision, isEmpty, objectsIn, readRelease } from './helm-release.js';
import { kindOf } from './kinds.js';
import { shownVersion } from './moment.js';
import { formatRoute } from './routes.js';
import { ScrolledText } from './scrolled-text.js';
import { api, kinds } from './session.js';
import { StatusText } from './status-badge.js';
import { agoText } from './times.js';
import { toYaml } from './yaml-text.js';

interface ReleaseProps {
  readonly namespace: string;
  readonly name: string;
  /** The revision to show; empty: the newest. */
  readonly revision: string;
}

interface Shown {
  readonly of: HelmRevision;
  readonly release: HelmRelease;
  /** The revision before, if it is kept. */
  readonly before: HelmRelease | undefined;
}

async function read({ namespace, secret }: HelmRevision): Promise<HelmRelease> {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets/${encodeURIComponent(secret)}`;
  return readRelease(textAt(await api.json<unknown>(path), 'data', 'release'));
}

/** A release of Helm: its revisions, and what one of them holds. */
export function ReleasePage({ namespace, name, revision }: ReleaseProps) {
  const revisions = useSignal<readonly HelmRevision[]>([]);
  const shown = useSignal<Shown | undefined>(undefined);
  const problem = useSignal('');
  useEffect(() => {
    let isGone = false;
    const load = async () => {
      const all = await readRevisions(namespace, name);
      if (isGone) return;
      revisions.value = all;
      const at = revision === '' ? 0 : all.findIndex((each) => String(each.revision) === revision);
      const of = all[at];
      if (of === undefined) throw new Error('there is no such revision');
      const release = await read(of);
      const earlier = all[at + 1];
      const before = earlier === undefined ? undefined : await read(earlier).catch(() => undefined);
      if (!isGone) shown.value = { of, release, before };
    };
    problem.value = '';
    load().catch((error: unknown) => {
      if (!isGone) problem.value = (error as Error).message;
    });
    return () => {
      isGone = true;
    };
  }, [namespace, name, revision, shownVersion()]);
  return (
    <section class="page helm">
      <header class="heading">
        <div>
          <p class="crumbs">
            <a href={formatRoute({ page: 'helm', namespace })}>Helm releases</a> in <strong>{namespace}</strong>
          </p>
          <h1 class="name">{name}</h1>
        </div>
      </header>
      <p role="alert" class="problem">
        {problem.value}
      </p>
      {shown.value === undefined ? (
        problem.value === '' && <Skeleton lines={8} />
      ) : (
        <div class="summary">
          <Heading {...shown.value} />
          <Revisions all={revisions.value} shown={shown.value.of.revision} />
          <Contents key={shown.value.of.secret} {...shown.value} />
        </div>
      )}
    </section>
  );
}

function Heading({ of, release }: Shown) {
  const details = [
    ['Chart', `${release.chart} ${release.chartVersion}`],
    ['Version of the application', release.appVersion],
    ['Revision', String(of.revision)],
    ['Deployed', agoText(release.deployed, now.value)],
    ['What happened', release.description],
  ].filter(([, text]) => text !== '');
  return (
    <section class="details">
      <p>
        <StatusText tone={toneOfRelease(release.status)} text={release.status} />
      </p>
      <dl>
        {details.map(([label, text]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Revisions({ all, shown }: { readonly all: readonly HelmRevision[]; readonly shown: number }) {
  return (
    <section class="details">
      <h2>Revisions</h2>
      <ul class="chips">
        {all.map(({ namespace, name, revision, status, changed }) => (
          <li key={revision}>
            <a
              href={formatRoute({ page: 'release', namespace, name, revision: String(revision) })}
              aria-current={revision === shown ? 'page' : undefined}
              title={changed}
            >
              {revision}
              <span>{status}</span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

const views = ['Objects', 'Notes', 'Values', 'Manifest', 'Changes'] as const;
type View = (typeof views)[number];

function Contents({ of, release, before }: Shown) {
  const view = useSignal<View>('Objects');
  const offered = views.filter((each) => each !== 'Changes' || before !== undefined);
  return (
    <section>
      <div class="tabs" role="tablist" aria-label="What the revision holds">
        {offered.map((each) => (
          <button
            key={each}
            type="button"
            role="tab"
            aria-selected={view.value === each}
            onClick={() => {
              view.value = each;
            }}
          >
            {each}
          </button>
        ))}
      </div>
      <div role="tabpanel" aria-label={view.value}>
        {view.value === 'Objects' && <Objects manifest={release.manifest} namespace={of.namespace} />}
        {view.value === 'Notes' &&
          (release.notes === '' ? (
            <p class="quiet">The chart has no notes.</p>
          ) : (
            <ScrolledText class="yaml">{release.notes}</ScrolledText>
          ))}
        {view.value === 'Values' && <Values release={release} />}
        {view.value === 'Manifest' && <CodeEditor text={release.manifest} label="The manifest" />}
        {view.value === 'Changes' && before !== undefined && <Changes release={release} before={before} />}
      </div>
    </section>
  );
}

function Objects({ manifest, namespace }: { readonly manifest: string; readonly namespace: string }) {
  const objects = objectsIn(manifest);
  if (objects.length === 0) return <p class="quiet">It has no objects.</p>;
  return (
    <ul class="plain-list">
      {objects.map(({ apiVersion, kind: kindName, name, namespace: own }, index) => {
        const kind = kindOf(kinds.value?.all ?? [], apiVersion, kindName);
        const scope = kind?.namespaced === true ? own || namespace : '';
        return (
          <li key={index}>
            <span class="quiet">{kindName}</span>{' '}
            {kind === undefined ? (
              name
            ) : (
              <a href={formatRoute({ page: 'object', ...kind, namespace: scope, name, tab: 'summary' })}>{name}</a>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function Values({ release: { values, defaults } }: { readonly release: HelmRelease }) {
  return (
    <>
      <h2>Set for this release</h2>
      {isEmpty(values) ? (
        <p class="quiet">Nothing.</p>
      ) : (
        <CodeEditor text={toYaml(values)} label="Values of the release" />
      )}
      <h2>Set by the chart</h2>
      {isEmpty(defaults) ? (
        <p class="quiet">Nothing.</p>
      ) : (
        <CodeEditor text={toYaml(defaults)} label="Values of the chart" />
      )}
    </>
  );
}

function Changes({ release, before }: { readonly release: HelmRelease; readonly before: HelmRelease }) {
  return (
    <>
      <h2>Values, since the revision before</h2>
      <DiffView before={toYaml(before.values)} after={toYaml(release.values)} label="Changes of values" />
      <h2>Manifest, since the revision before</h2>
      <DiffView before={before.manifest} after={release.manifest} label="Changes of the manifest" />
    </>
  );
}
