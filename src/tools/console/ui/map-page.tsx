import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect } from 'preact/hooks';
import { Blank } from './blank.js';
import { bindKeys } from './keys.js';
import { pathOf } from './kinds.js';
import {
  type MapEdge,
  type MapNode,
  type NamespaceMap,
  namespaceMap,
  type Selecting,
  selectingKinds,
} from './map-graph.js';
import { shownVersion } from './moment.js';
import { chosenNamespace } from './navigation.js';
import { loadObjects } from './owners.js';
import { formatRoute } from './routes.js';
import { api, kinds, namespaces } from './session.js';
import { Wide } from './wide.js';

interface Loaded {
  readonly map: NamespaceMap;
  readonly problems: readonly string[];
}

const [cellWidth, cellHeight, boxWidth, boxHeight] = [240, 56, 190, 40];

/** The relations between the objects of a namespace: owners, selectors, routes. */
export function MapPage({ namespace }: { readonly namespace: string }) {
  const shown = useSignal<Loaded | undefined>(undefined);
  const problem = useSignal('');
  const round = useSignal(0);
  useEffect(() => {
    const stop = new AbortController();
    // While the slider moves, the map of the moment before stays in sight.
    if (chosenNamespace.value !== namespace || shownVersion() === '') shown.value = undefined;
    problem.value = '';
    chosenNamespace.value = namespace;
    if (namespace !== '') {
      load(namespace, stop.signal).then(
        (loaded) => {
          shown.value = loaded;
        },
        (error: unknown) => {
          if (!stop.signal.aborted) problem.value = (error as Error).message;
        },
      );
    }
    return () => stop.abort();
  }, [namespace, round.value, shownVersion()]);
  useLayoutEffect(() => bindKeys([{ keys: ['r'], run: () => round.value++ }]), []);
  return (
    <section class="page">
      <header class="tools">
        <h1>{namespace === '' ? 'Map' : `Map of ${namespace}`}</h1>
        <span class="gap" />
        {namespace !== '' && (
          <button type="button" onClick={() => round.value++} title="r">
            Read again
          </button>
        )}
      </header>
      <p role="status" class="problem">
        {problem.value}
        {shown.value?.problems.join('; ')}
      </p>
      {namespace === '' && <Choice />}
      {namespace !== '' && shown.value === undefined && problem.value === '' && (
        <p class="quiet">Looking for relations…</p>
      )}
      {shown.value?.map.nodes.length === 0 && (
        <Blank icon="map" title="Nothing here has to do with anything else">
          <p>The map shows owners, selectors and routes.</p>
        </Blank>
      )}
      {shown.value !== undefined && shown.value.map.nodes.length > 0 && <Drawing map={shown.value.map} />}
    </section>
  );
}

/** How many namespaces are offered; the field at the top takes any. */
const mostOffered = 12;

function Choice() {
  const offered = namespaces.value.slice(0, mostOffered);
  return (
    <Blank icon="map" title="Choose a namespace">
      <p>Its map shows who owns whom, what services and policies select, and where routes lead.</p>
      {offered.map((name) => (
        <a key={name} class="button" href={formatRoute({ page: 'map', namespace: name })}>
          {name}
        </a>
      ))}
      {namespaces.value.length > offered.length && <p>The others are in the field at the top (n).</p>}
    </Blank>
  );
}

async function load(namespace: string, signal: AbortSignal): Promise<Loaded> {
  const { all = [], suffix = '' } = kinds.value ?? {};
  const { objects, problems } = await loadObjects(api, all, suffix, namespace, signal);
  const specs = new Map<string, Readonly<Record<string, unknown>>>();
  const present = new Set(objects.map(({ kind }) => kind).filter(({ resource }) => selectingKinds.has(resource)));
  await Promise.all(
    [...present].map(async (kind) => {
      const list = await api.json<{ items?: { metadata: { uid: string }; spec?: Record<string, unknown> }[] }>(
        `${pathOf(kind, namespace)}?limit=500`,
        { signal },
      );
      for (const { metadata, spec = {} } of list.items ?? []) specs.set(metadata.uid, spec);
    }),
  );
  const selecting: Selecting[] = objects.map((each) => ({ ...each, spec: specs.get(each.metadata.uid ?? '') ?? {} }));
  return { map: namespaceMap(selecting), problems };
}

function Drawing({ map }: { readonly map: NamespaceMap }) {
  const places = new Map(map.nodes.map((node) => [node.id, node]));
  return (
    <>
      <p class="quiet legend">
        <span class="owns">owns</span> <span class="selects">selects</span> <span class="routes">routes to</span>
      </p>
      <Wide>
        {/* biome-ignore lint/a11y/useSemanticElements: a drawing of links has no element of its own */}
        <svg
          class="map"
          width={map.columns * cellWidth}
          height={map.rows * cellHeight + 8}
          role="group"
          aria-label="Objects of the namespace and what belongs to what"
        >
          {map.edges.map((edge) => (
            <Line
              key={`${edge.from} ${edge.to} ${edge.how}`}
              edge={edge}
              from={places.get(edge.from)}
              to={places.get(edge.to)}
            />
          ))}
          {map.nodes.map((node) => (
            <Box key={node.id} node={node} />
          ))}
        </svg>
      </Wide>
    </>
  );
}

function Line({ edge, from, to }: { edge: MapEdge; from: MapNode | undefined; to: MapNode | undefined }) {
  if (from === undefined || to === undefined) return null;
  const [x1, y1] = [from.column * cellWidth + boxWidth + 4, from.row * cellHeight + 4 + boxHeight / 2];
  const [x2, y2] = [to.column * cellWidth + 4, to.row * cellHeight + 4 + boxHeight / 2];
  const middle = (x1 + x2) / 2;
  return <path class={edge.how} d={`M${x1},${y1} C${middle},${y1} ${middle},${y2} ${x2},${y2}`} />;
}

const mostLetters = 24;

function Box({ node: { known, more, column, row } }: { readonly node: MapNode }) {
  const { kind, metadata } = known;
  const { group, version, resource } = kind;
  const { name, namespace = '' } = metadata;
  const [x, y] = [column * cellWidth + 4, row * cellHeight + 4];
  const short = name.length > mostLetters ? `${name.slice(0, mostLetters - 1)}…` : name;
  return (
    <a href={formatRoute({ page: 'object', group, version, resource, namespace, name, tab: 'summary' })}>
      <title>{`${kind.kind} ${name}`}</title>
      <rect x={x} y={y} width={boxWidth} height={boxHeight} rx={5} />
      <text class="kind" x={x + 8} y={y + 15}>
        {kind.kind}
      </text>
      <text x={x + 8} y={y + 32}>
        {more === 0 ? short : `${short} and ${more} more`}
      </text>
    </a>
  );
}
