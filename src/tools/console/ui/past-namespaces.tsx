import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Blank, Skeleton } from './blank.js';
import { formatRoute } from './routes.js';
import { api, liveApi } from './session.js';

interface Names {
  /** Those that are gone now; they are what most people look for. */
  readonly gone: readonly string[];
  readonly kept: readonly string[];
}

/** How many namespaces are offered; the field at the top takes any. */
const mostOffered = 24;

/** Offers the namespaces of the moment that is shown for a restore. */
export function PastNamespaces({ version }: { readonly version: string }) {
  const names = useSignal<Names | undefined>(undefined);
  const problem = useSignal('');
  useEffect(() => {
    const stop = new AbortController();
    readNames(stop.signal).then(
      (read) => {
        names.value = read;
      },
      (error: unknown) => {
        if (!stop.signal.aborted) problem.value = (error as Error).message;
      },
    );
    return () => stop.abort();
  }, [version]);
  if (problem.value !== '') return <p class="problem">{problem.value}</p>;
  if (names.value === undefined) return <Skeleton lines={4} />;
  const { gone, kept } = names.value;
  return (
    <Blank icon="time" title="Which namespace?">
      {gone.length > 0 && (
        <>
          <p>Deleted since then:</p>
          <Links names={gone} isMain />
        </>
      )}
      {kept.length > 0 && (
        <>
          <p>Still there:</p>
          <Links names={kept} />
        </>
      )}
      {gone.length + kept.length > mostOffered && <p>The field at the top takes the others (n).</p>}
    </Blank>
  );
}

function Links({ names, isMain = false }: { readonly names: readonly string[]; readonly isMain?: boolean }) {
  return (
    <p class="actions">
      {names.slice(0, mostOffered).map((name) => (
        <a
          key={name}
          class={isMain ? 'button main' : 'button'}
          href={formatRoute({ page: 'restore', namespace: name, of: '' })}
        >
          {name}
        </a>
      ))}
    </p>
  );
}

interface NamespaceList {
  readonly items?: readonly { readonly metadata: { readonly name: string; readonly deletionTimestamp?: string } }[];
}

async function readNames(signal: AbortSignal): Promise<Names> {
  const path = '/api/v1/namespaces?limit=1000';
  const [then, now] = await Promise.all([
    api.json<NamespaceList>(path, { signal }),
    liveApi.json<NamespaceList>(path, { signal }),
  ]);
  const present = new Set(
    (now.items ?? []).flatMap(({ metadata }) => (metadata.deletionTimestamp === undefined ? [metadata.name] : [])),
  );
  const all = (then.items ?? []).map(({ metadata }) => metadata.name);
  return { gone: all.filter((name) => !present.has(name)), kept: all.filter((name) => present.has(name)) };
}
