import { Blank, Skeleton } from './blank.js';
import { now } from './clock.js';
import { titleOfKind } from './kind-title.js';
import { type OverviewData, useOverview, usePods } from './overview-data.js';
import { NodeList, PodProblems, QuotaList, WarningList } from './overview-lists.js';
import { countPods, nodeProblems, podProblems, quotaProblems, warningsOf } from './problems.js';
import { formatRoute, listRoute } from './routes.js';
import { kinds, session } from './session.js';
import type { Tone } from './status.js';
import { StatusMark, StatusText } from './status-badge.js';
import type { LiveTable } from './table.js';
import { kindOfTarget } from './target-link.js';
import { type Measured, Usage } from './usage.js';
import { allocatableOf } from './usage-limits.js';

/** How the cluster, or a namespace, stands: what is wrong first. */
export function OverviewPage({ namespace }: { readonly namespace: string }) {
  const pods = usePods(namespace);
  const data = useOverview(namespace).value;
  const missing = kinds.value?.missing ?? [];
  const isLoading = pods.state === 'loading' && pods.all.length === 0;
  return (
    <section class="page overview">
      <header class="heading">
        <div>
          <p class="crumbs">{session.value?.server.replace(/^https?:\/\//, '')}</p>
          <h1>{namespace === '' ? 'The cluster' : namespace}</h1>
        </div>
        <Verdict pods={pods} data={data} />
      </header>
      {missing.length > 0 && <p class="problem notice">These group versions can't be asked: {missing.join(', ')}</p>}
      {pods.state === 'failed' ? (
        <Blank icon="access" title="You may not see all pods here">
          <p>{pods.message}</p>
          <p>Choose a namespace of yours at the top (n).</p>
        </Blank>
      ) : isLoading ? (
        <Skeleton lines={10} />
      ) : (
        <>
          <Cards pods={pods} data={data} namespace={namespace} />
          {namespace === '' && <Usage measured={everyNode} limits={allocatableOf(data?.nodes ?? [])} />}
          <Problems pods={pods} data={data} />
        </>
      )}
    </section>
  );
}

const everyNode: Measured = { resource: 'nodes', namespace: '', name: '' };

interface PartProps {
  readonly pods: LiveTable;
  readonly data: OverviewData | undefined;
}

function Verdict({ pods, data }: PartProps) {
  if (data === undefined || pods.state === 'loading' || pods.state === 'failed' || pods.isFilling) return null;
  const count =
    podProblems(pods.columns, pods.all, now.value).length +
    nodeProblems(data.nodes ?? []).length +
    quotaProblems(data.quotas ?? []).length;
  const tone: Tone = count === 0 ? 'good' : 'warn';
  const text =
    count === 0
      ? 'Nothing needs attention'
      : count === 1
        ? '1 thing needs attention'
        : `${count} things need attention`;
  return (
    <p class={`verdict ${tone}`} role="status">
      <StatusText tone={tone} text={text} />
    </p>
  );
}

const toneTexts: readonly (readonly [Tone, string])[] = [
  ['good', 'running'],
  ['busy', 'starting'],
  ['warn', 'not ready'],
  ['bad', 'failing'],
  ['idle', 'completed'],
];

function Cards({ pods, data, namespace }: PartProps & { readonly namespace: string }) {
  const { total, byTone } = countPods(pods.columns, pods.all);
  const known = kinds.value;
  const nodeKind = known === undefined ? undefined : kindOfTarget(known, '', 'nodes');
  const podKind = known === undefined ? undefined : kindOfTarget(known, '', 'pods');
  const nodes = data?.nodes;
  return (
    <div class="cards-row">
      {podKind !== undefined && (
        <a class="card big" href={formatRoute(listRoute(podKind, namespace))}>
          <span class="label">Pods</span>
          <strong>{total}</strong>
          <Bar parts={toneTexts.map(([tone]) => [tone, byTone[tone]] as const)} />
          <span class="legend-row">
            {toneTexts
              .filter(([tone]) => byTone[tone] > 0)
              .map(([tone, text]) => (
                <span key={tone} class="status">
                  <StatusMark tone={tone} /> {byTone[tone]} {text}
                </span>
              ))}
          </span>
        </a>
      )}
      {nodeKind !== undefined && nodes !== undefined && (
        <ShareCard
          title="Nodes"
          href={formatRoute(listRoute(nodeKind, ''))}
          total={nodes.length}
          ready={nodes.length - nodeProblems(nodes).filter(({ state }) => state.tone === 'bad').length}
        />
      )}
      {data?.workloads.map(({ kind, total: all, ready }) => (
        <ShareCard
          key={kind.resource}
          title={titleOfKind(kind)}
          href={formatRoute(listRoute(kind, namespace))}
          total={all}
          ready={ready}
        />
      ))}
      {data !== undefined && (
        <ul class="card counts">
          {data.counts.map(({ kind, count }) => (
            <li key={kind.resource}>
              <a href={formatRoute(listRoute(kind, namespace))}>{titleOfKind(kind)}</a>
              <span>{count}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

interface ShareCardProps {
  readonly title: string;
  readonly href: string;
  readonly total: number;
  readonly ready: number;
}

function ShareCard({ title, href, total, ready }: ShareCardProps) {
  const left = total - ready;
  return (
    <a class="card" href={href}>
      <span class="label">{title}</span>
      <strong>{total}</strong>
      <Bar parts={[['good', ready] as const, ['bad', left] as const]} />
      <span class="legend-row">
        {left === 0 ? (
          <span class="status">
            <StatusMark tone={total === 0 ? 'idle' : 'good'} /> {total === 0 ? 'none' : 'all ready'}
          </span>
        ) : (
          <span class="status">
            <StatusMark tone="bad" /> {left} not ready
          </span>
        )}
      </span>
    </a>
  );
}

/** Shares as a line of colours; the numbers stand beside it. */
function Bar({ parts }: { readonly parts: readonly (readonly [Tone, number])[] }) {
  const total = parts.reduce((sum, [, count]) => sum + count, 0);
  return (
    <span class="share" aria-hidden="true">
      {parts
        .filter(([, count]) => count > 0)
        .map(([tone, count]) => (
          <span key={tone} class={tone} style={{ flexGrow: count / total }} />
        ))}
    </span>
  );
}

/** The text that is shown if no pod has a problem. */
function fineText({ columns, all }: LiveTable): string {
  if (all.length === 0) return 'There are no pods yet';
  const { busy, warn } = countPods(columns, all).byTone;
  const young = busy + warn;
  if (young === 0) return 'All pods run';
  return `${young} ${young === 1 ? 'pod begins or ends' : 'pods begin or end'}; all others run`;
}

function Problems({ pods, data }: PartProps) {
  const found = podProblems(pods.columns, pods.all, now.value);
  const nodes = nodeProblems(data?.nodes ?? []);
  const quotas = quotaProblems(data?.quotas ?? []);
  return (
    <div class="problems">
      <section aria-labelledby="pods-title">
        <h2 id="pods-title">Pods that don't run</h2>
        {found.length === 0 ? (
          <p class="fine">
            <StatusText tone="good" text={fineText(pods)} />
          </p>
        ) : (
          <PodProblems problems={found} />
        )}
      </section>
      {nodes.length > 0 && (
        <section>
          <h2>Nodes</h2>
          <NodeList problems={nodes} />
        </section>
      )}
      {quotas.length > 0 && (
        <section>
          <h2>Quotas near their end</h2>
          <QuotaList problems={quotas} />
        </section>
      )}
      <section>
        <h2>Warnings, the newest first</h2>
        {data === undefined ? <Skeleton lines={4} /> : <WarningList warnings={warningsOf(data.warnings ?? [])} />}
      </section>
    </div>
  );
}
