import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Blank, Skeleton } from './blank.js';
import { now } from './clock.js';
import { type HelmRevision, helmSecretType, newestOf, revisionsIn } from './helm-release.js';
import { shownVersion } from './moment.js';
import { formatRoute } from './routes.js';
import { api, kinds } from './session.js';
import type { Tone } from './status.js';
import { StatusText } from './status-badge.js';
import { TableHead } from './table-head.js';
import { agoText } from './times.js';
import { Wide } from './wide.js';

const tones: Readonly<Record<string, Tone>> = {
  deployed: 'good',
  superseded: 'idle',
  uninstalled: 'idle',
  failed: 'bad',
  uninstalling: 'busy',
};

/** The tone of a status of Helm; all others are of something under way, or stuck in it. */
export function toneOfRelease(status: string): Tone {
  return Object.hasOwn(tones, status) ? (tones[status] ?? 'warn') : 'warn';
}

/** Reads the revisions of all releases of a namespace, or of one, without what they hold. */
export async function readRevisions(namespace: string, name = ''): Promise<readonly HelmRevision[]> {
  const scope = namespace === '' ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  const labelSelector = name === '' ? 'owner=helm' : `owner=helm,name=${name}`;
  const query = new URLSearchParams({ fieldSelector: `type=${helmSecretType}`, labelSelector, limit: '2000' });
  const accept = `application/json;as=PartialObjectMetadataList;v=v1;g=meta.${kinds.value?.suffix},application/json`;
  const { items = [] } = await api.json<{ readonly items?: readonly unknown[] }>(`/api/v1${scope}/secrets?${query}`, {
    accept,
  });
  return revisionsIn(items);
}

/** The releases of Helm: what is installed, and how it stands. */
export function HelmPage({ namespace }: { readonly namespace: string }) {
  const found = useSignal<readonly HelmRevision[] | undefined>(undefined);
  const problem = useSignal('');
  useEffect(() => {
    let isGone = false;
    found.value = undefined;
    problem.value = '';
    readRevisions(namespace).then(
      (revisions) => {
        if (!isGone) found.value = newestOf(revisions);
      },
      (error: unknown) => {
        if (!isGone) problem.value = (error as Error).message;
      },
    );
    return () => {
      isGone = true;
    };
  }, [namespace, shownVersion()]);
  return (
    <section class="page helm">
      <h1>Helm releases</h1>
      <p class="quiet">{namespace === '' ? 'In all namespaces' : `In ${namespace}`}</p>
      <p role="alert" class="problem">
        {problem.value}
      </p>
      {found.value === undefined && problem.value === '' && <Skeleton lines={6} />}
      {found.value?.length === 0 && (
        <Blank title="No releases here">
          <p>What Helm 3 and later install with their usual storage (Secrets) is shown here.</p>
        </Blank>
      )}
      {found.value !== undefined && found.value.length > 0 && <Releases releases={found.value} />}
    </section>
  );
}

function Releases({ releases }: { readonly releases: readonly HelmRevision[] }) {
  return (
    <Wide>
      <table class="plain">
        <TableHead titles={['Name', 'Namespace', 'Status', 'Revision', 'Changed']} />
        <tbody>
          {releases.map(({ namespace, name, revision, status, changed }) => (
            <tr key={`${namespace}/${name}`}>
              <td>
                <a href={formatRoute({ page: 'release', namespace, name, revision: '' })}>{name}</a>
              </td>
              <td>{namespace}</td>
              <td>
                <StatusText tone={toneOfRelease(status)} text={status} />
              </td>
              <td class="number">{revision}</td>
              <td class="time" title={changed}>
                {agoText(changed, now.value)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}
